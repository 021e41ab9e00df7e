#include "report/chart.h"

#include <math.h>
#include <stdio.h>

#include "report/svg.h"
#include "report/thin.h"

enum { COLUMNS_MAX = 700, SERIES_MAX = 16, MARK = 4 /* pixels between marks that are both drawn */ };

/* ---- what is in view ---- */

struct extent {
    int64_t low, high; /* of x; low > high: there is no point */
    struct report_range y;
};

static void add(struct extent *extent, const int64_t *x, const double *y, size_t n)
{
    struct extent all = *extent;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(y[i]))
            continue;
        all.low = x[i] < all.low ? x[i] : all.low;
        all.high = x[i] > all.high ? x[i] : all.high;
        all.y.low = y[i] < all.y.low ? y[i] : all.y.low;
        all.y.high = y[i] > all.y.high ? y[i] : all.y.high;
    }
    *extent = all;
}

static struct extent extent_of(const struct report_chart *chart)
{
    struct extent extent = {INT64_MAX, INT64_MIN, {INFINITY, -INFINITY}};
    for (int i = 0; i < chart->n; i++) {
        const struct report_series *series = &chart->series[i];
        add(&extent, series->x, series->y, series->n);
        if (series->shape == REPORT_BAND)
            add(&extent, series->x, series->low, series->n);
        if (series->shape == REPORT_DROP)
            report_range_widen(&extent.y, 0);
    }
    report_range_widen(&extent.y, chart->also);
    return extent;
}

bool report_chart_is_wide(const double *y, size_t n)
{
    struct report_range range = {INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++)
        report_range_widen(&range, y[i]);
    return range.low > 0 && range.high > 10 * range.low;
}

/* One point, and less time than there are ticks for, is widened to both sides. */
static void settle_x(const struct report_chart *chart, struct extent *extent)
{
    int64_t least = chart->time ? REPORT_TIME_LEAST : 1;
    if ((double)extent->high - (double)extent->low >= (double)least)
        return;
    int64_t room = least / 2 + 1;
    extent->low = extent->low < INT64_MIN + room ? INT64_MIN : extent->low - room;
    extent->high = extent->high > INT64_MAX - room ? INT64_MAX : extent->high + room;
}

/* ---- curves ---- */

static struct report_view view_of(const struct svg *svg, const struct report_chart *chart,
                                  const struct extent *extent)
{
    int columns = (int)(svg->right - svg->left);
    return (struct report_view){extent->low, extent->high, columns < COLUMNS_MAX ? columns : COLUMNS_MAX,
                                chart->gap};
}

/* Where a run of points that are joined ends: the next one that breaks. */
static size_t run_end(const struct report_kept *kept, size_t from, size_t n)
{
    size_t end = from + 1;
    while (end < n && !kept[end].breaks)
        end++;
    return end;
}

static void place(struct svg *svg, double x, double y)
{
    text_format(svg->text, " %.2f,%.2f", report_svg_x(svg, x), report_svg_y(svg, y));
}

static void dot(struct svg *svg, int colour, double x, double y)
{
    text_format(svg->text, "<circle class=\"p%d\" cx=\"%.2f\" cy=\"%.2f\" r=\"1.6\"/>\n", colour,
                report_svg_x(svg, x), report_svg_y(svg, y));
}

static void draw_line(struct svg *svg, const struct report_view *view, const struct report_series *series)
{
    struct report_kept kept[4 * COLUMNS_MAX];
    size_t n = report_thin(view, series->x, series->y, series->n, kept);
    for (size_t i = 0, end; i < n; i = end) {
        end = run_end(kept, i, n);
        if (end == i + 1) {
            dot(svg, series->colour, (double)series->x[kept[i].at], series->y[kept[i].at]);
            continue;
        }
        if (series->shape == REPORT_DROP) {
            text_format(svg->text, "<polygon class=\"a%d\" points=\"", series->colour);
            place(svg, (double)series->x[kept[i].at], 0);
            for (size_t k = i; k < end; k++)
                place(svg, (double)series->x[kept[k].at], series->y[kept[k].at]);
            place(svg, (double)series->x[kept[end - 1].at], 0);
            text_lit(svg->text, "\"/>\n");
        }
        text_format(svg->text, "<polyline class=\"c%d\" points=\"", series->colour);
        for (size_t k = i; k < end; k++)
            place(svg, (double)series->x[kept[k].at], series->y[kept[k].at]);
        text_lit(svg->text, "\"/>\n");
    }
}

/* ---- bands ---- */

/* A band's run of columns [from, end): there along its upper edge, back along its lower one. */
static void draw_area(struct svg *svg, int colour, const struct report_column *columns, size_t from,
                      size_t end)
{
    text_format(svg->text, "<polygon class=\"a%d\" points=\"", colour);
    for (size_t i = from; i < end; i++)
        place(svg, columns[i].x, columns[i].high);
    for (size_t i = end; i-- > from;)
        place(svg, columns[i].x, columns[i].low);
    text_lit(svg->text, "\"/>\n");
}

static void draw_means(struct svg *svg, int colour, const struct report_column *columns, size_t from,
                       size_t end)
{
    if (end == from + 1) {
        dot(svg, colour, columns[from].x, columns[from].mean);
        return;
    }
    text_format(svg->text, "<polyline class=\"c%d\" points=\"", colour);
    for (size_t i = from; i < end; i++)
        place(svg, columns[i].x, columns[i].mean);
    text_lit(svg->text, "\"/>\n");
}

static void draw_columns(struct svg *svg, const struct report_series *series,
                         const struct report_column *columns, size_t n)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && !columns[end].breaks;)
            end++;
        draw_area(svg, series->colour, columns, i, end);
        if (series->shape == REPORT_SPREAD)
            draw_means(svg, series->colour, columns, i, end);
    }
}

static void draw_spread(struct svg *svg, const struct report_view *view, const struct report_series *series)
{
    struct report_column columns[COLUMNS_MAX];
    draw_columns(svg, series, columns, report_columns(view, series->x, series->y, series->n, columns));
}

/* The columns of the upper edge and of the lower one are of the same points. */
static void draw_band(struct svg *svg, const struct report_view *view, const struct report_series *series)
{
    struct report_column high[COLUMNS_MAX], low[COLUMNS_MAX];
    size_t n = report_columns(view, series->x, series->y, series->n, high);
    size_t m = report_columns(view, series->x, series->low, series->n, low);
    for (size_t i = 0; i < n && i < m; i++)
        high[i].low = low[i].low;
    draw_columns(svg, series, high, n < m ? n : m);
}

/* ---- marks ---- */

/* Is there no mark in this cell of the picture yet? */
static bool is_free(const struct svg *svg, uint8_t *cells, double x, double y)
{
    int across = (int)(svg->right - svg->left) / MARK + 1;
    int at = (int)((y - svg->top) / MARK) * across + (int)((x - svg->left) / MARK);
    bool is = !(cells[at / 8] >> at % 8 & 1);
    cells[at / 8] |= (uint8_t)(1 << at % 8);
    return is;
}

static void draw_marks(struct svg *svg, const struct report_series *series)
{
    uint8_t cells[(COLUMNS_MAX / MARK + 2) * (COLUMNS_MAX / MARK + 2) / 8] = {0};
    const char *mark = series->shape == REPORT_BUYS ? "l-4 8h8z" : "l-4 -8h8z";
    text_format(svg->text, "<path class=\"m%d\" d=\"", series->colour);
    for (size_t i = 0; i < series->n; i++) {
        double x = report_svg_x(svg, (double)series->x[i]), y = report_svg_y(svg, series->y[i]);
        if (isfinite(y) && is_free(svg, cells, x, y))
            text_format(svg->text, "M%.1f %.1f%s", x, y, mark);
    }
    text_lit(svg->text, "\"/>\n");
}

static void draw_dots(struct svg *svg, const struct report_series *series)
{
    uint8_t cells[(COLUMNS_MAX / MARK + 2) * (COLUMNS_MAX / MARK + 2) / 8] = {0};
    for (size_t i = 0; i < series->n; i++)
        if (isfinite(series->y[i]) &&
            is_free(svg, cells, report_svg_x(svg, (double)series->x[i]), report_svg_y(svg, series->y[i])))
            dot(svg, series->colour, (double)series->x[i], series->y[i]);
}

/* ---- the chart ---- */

static void draw_series(struct svg *svg, const struct report_view *view, const struct report_series *series)
{
    switch (series->shape) {
    case REPORT_LINE:
    case REPORT_DROP:
        draw_line(svg, view, series);
        break;
    case REPORT_SPREAD:
        draw_spread(svg, view, series);
        break;
    case REPORT_BAND:
        draw_band(svg, view, series);
        break;
    case REPORT_DOTS:
        draw_dots(svg, series);
        break;
    case REPORT_BUYS:
    case REPORT_SELLS:
        draw_marks(svg, series);
        break;
    }
}

static const char *x_ticks(const struct extent *extent, const struct report_chart *chart,
                           struct report_ticks *ret, char name[static 64])
{
    if (!chart->time) {
        report_ticks_count((double)extent->low, (double)extent->high, ret);
        return chart->x_name;
    }
    report_ticks_time(extent->low, extent->high, ret);
    return chart->x_name ? chart->x_name : report_axis_day(extent->low, ret, name);
}

static int entries(const struct report_chart *chart, char classes[][4], struct svg_entry *ret)
{
    static const char marks[] = {
        [REPORT_LINE] = '-', [REPORT_DROP] = '#', [REPORT_SPREAD] = '-', [REPORT_BAND] = '#',
        [REPORT_DOTS] = 'o', [REPORT_BUYS] = '^', [REPORT_SELLS] = 'v'};
    static const char kinds[] = {
        [REPORT_LINE] = 'c', [REPORT_DROP] = 'a', [REPORT_SPREAD] = 'c', [REPORT_BAND] = 'a',
        [REPORT_DOTS] = 'p', [REPORT_BUYS] = 'm', [REPORT_SELLS] = 'm'};
    int n = 0;
    for (int i = 0; i < chart->n && n < SERIES_MAX; i++) {
        const struct report_series *series = &chart->series[i];
        if (!series->name)
            continue;
        snprintf(classes[n], 4, "%c%d", kinds[series->shape], series->colour % 10);
        ret[n] = (struct svg_entry){series->name, classes[n], marks[series->shape]};
        n++;
    }
    return n;
}

void report_chart_draw(struct text *text, const struct report_chart *chart)
{
    struct svg_entry legend[SERIES_MAX];
    struct report_ticks ticks;
    char classes[SERIES_MAX][4], day[64];
    struct extent extent = extent_of(chart);
    int n = entries(chart, classes, legend);
    int lines = report_svg_legend(NULL, chart->size, chart->y_name, legend, n);
    struct svg svg = report_svg_begin(text, chart->size, lines, chart->title);
    report_svg_legend(&svg, chart->size, chart->y_name, legend, n);
    if (extent.low > extent.high) {
        report_svg_empty(&svg);
        return;
    }
    settle_x(chart, &extent);
    const struct report_view view = view_of(&svg, chart, &extent);
    svg.logarithmic = chart->logarithmic && extent.y.low > 0;
    svg.x = (struct report_range){(double)extent.low, (double)extent.high};
    svg.y = svg.logarithmic ? report_range_settle_log(extent.y) : report_range_settle(extent.y);
    report_svg_y_ticks(&svg, &ticks);
    report_svg_y_axis(&svg, &ticks);
    const char *name = x_ticks(&extent, chart, &ticks, day);
    report_svg_x_axis(&svg, &ticks, name);
    if (isfinite(chart->also))
        report_svg_line(&svg, "axis", svg.left, report_svg_y(&svg, chart->also), svg.right,
                        report_svg_y(&svg, chart->also));
    for (int i = chart->n - 1; i >= 0; i--)
        draw_series(&svg, &view, &chart->series[i]);
    report_svg_end(&svg);
}
