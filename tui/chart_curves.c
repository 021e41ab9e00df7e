#include "tui/chart_curves.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/chart.h"
#include "tui/dashboard.h"

enum {
    TITLE = 1, /* rows above the curves, and below them */
    ENDS = 1,
    DATE = sizeof "2024-01-31" - 1,
    TIME = sizeof "2024-01-31 12:00" - 1,
    LEGEND_WORDS = 160,
    LEGEND_SPACE = 3, /* columns between names */
};

static double x_of(const struct chart_curve *curve, size_t i)
{
    return curve->time ? (double)curve->time[i] : curve->x[i];
}

/* ---- points in columns ---- */

/* Two values a column, its lowest and its highest point in their order, so that no extreme is lost. */
struct columns {
    double *values; /* [2 n] NaN where a column has no point */
    int n;
    int last;    /* the column that has the newest values; -1: there are no values yet */
    bool broken; /* a gap since then */
};

/* The straight line from the newest values to the column's, through the columns between. */
static void join(struct columns *columns, int column, double y)
{
    if (columns->last < 0 || columns->broken || column <= columns->last + 1)
        return;
    const double *from = &columns->values[2 * columns->last + 1];
    const int steps = 2 * (column - columns->last) - 1;
    for (int i = 1; i < steps; i++)
        columns->values[2 * columns->last + 1 + i] = *from + (y - *from) * i / steps;
}

static void put(struct columns *columns, int column, double first, double second)
{
    join(columns, column, first);
    columns->values[2 * column] = first;
    columns->values[2 * column + 1] = second;
    columns->last = column;
    columns->broken = false;
}

static int column_of(double x, double from, double to, int n)
{
    int column = to > from ? (int)((x - from) / (to - from) * n) : 0;
    return column < 0 ? 0 : column >= n ? n - 1 : column;
}

static void reduce(const struct chart_curve *curve, double from, double to, int n, double *ret)
{
    struct columns columns = {.values = ret, .n = n, .last = -1};
    for (int i = 0; i < 2 * n; i++)
        ret[i] = NAN;
    for (size_t i = 0; i < curve->n;) {
        const int column = column_of(x_of(curve, i), from, to, n);
        size_t low = SIZE_MAX, high = SIZE_MAX, counted = 0;
        double sum = 0;
        for (; i < curve->n && column_of(x_of(curve, i), from, to, n) == column; i++) {
            if (!isfinite(curve->y[i]))
                continue;
            low = low == SIZE_MAX || curve->y[i] < curve->y[low] ? i : low;
            high = high == SIZE_MAX || curve->y[i] > curve->y[high] ? i : high;
            sum += curve->y[i];
            counted++;
        }
        if (low == SIZE_MAX)
            columns.broken = true;
        else if (curve->mean)
            put(&columns, column, sum / (double)counted, sum / (double)counted);
        else
            put(&columns, column, curve->y[low < high ? low : high], curve->y[low < high ? high : low]);
    }
}

/* ---- words ---- */

static bool is_plain(void)
{
    return tui_dashboard_glyphs() == GLYPHS_ASCII;
}

static const char *legend_of(const struct chart_curves *curves, int i, char ret[static LEGEND_WORDS])
{
    const struct chart_curve *curve = &curves->curves[i];
    const char *dots = is_plain() ? ":" : "·";
    if (curves->n > 2 && curve->dotted)
        snprintf(ret, LEGEND_WORDS, "%s %s", dots, curve->name);
    else if (curves->n > 2)
        snprintf(ret, LEGEND_WORDS, "%d %s", i + 1, curve->name);
    else
        snprintf(ret, LEGEND_WORDS, "%s %s",
                 i == 0       ? "line"
                 : is_plain() ? "dotted (:)"
                              : "dotted",
                 curve->name);
    return ret;
}

/* The names in as many rows as they need from row y on, drawn where there is an area. Returns the row after
 * them. */
static int legend(const struct area *area, int width, int y, const struct chart_curves *curves)
{
    char words[LEGEND_WORDS];
    int x = CHART_LABELS;
    if (!curves->curves[0].name)
        return y;
    for (int i = 0; i < curves->n; i++) {
        const int wide = cli_text_width(legend_of(curves, i, words));
        if (x > CHART_LABELS && x + wide > width) {
            x = CHART_LABELS;
            y++;
        }
        if (area)
            tui_area_text(area, x, y, STYLE_DIM, words);
        x += wide + LEGEND_SPACE;
    }
    return y + 1;
}

static void draw_title(const struct area *all, const struct chart_curves *curves)
{
    int x = tui_area_text(all, 2, 0, STYLE_STRONG, curves->title);
    if (!curves->curves[0].name && curves->n > 1)
        tui_area_printf(all, x + 2, 0, STYLE_DIM, "line, and dotted %s%s", is_plain() ? "(:) " : "",
                        curves->curves[1].name);
}

static void draw_labels(const struct area *all, int top, const struct chart_curves *curves, double low,
                        double high)
{
    char cell[FORMAT_MAX];
    tui_area_text_right(all, CHART_LABELS - 1, top, STYLE_DIM,
                        cli_format_fit(cell, high, curves->decimals, CHART_LABELS - 1));
    tui_area_text_right(all, CHART_LABELS - 1, top + curves->rows - 1, STYLE_DIM,
                        cli_format_fit(cell, low, curves->decimals, CHART_LABELS - 1));
}

/* Of a time without room for both its date alone. */
static const char *end_text(const struct chart_curve *curve, double x, int room, char ret[static FORMAT_MAX])
{
    if (curve->time)
        cli_format_time(ret, (int64_t)x)[room > 2 * TIME ? TIME : DATE] = '\0';
    else
        snprintf(ret, FORMAT_MAX, "%.10g", x);
    return ret;
}

static void draw_ends(const struct area *all, const struct chart_curves *curves, double from, double to)
{
    const int room = all->width - CHART_LABELS;
    char text[FORMAT_MAX];
    tui_area_text(all, CHART_LABELS, all->height - 1, STYLE_DIM,
                  end_text(&curves->curves[0], from, room, text));
    tui_area_text_right(all, all->width, all->height - 1, STYLE_DIM,
                        end_text(&curves->curves[0], to, room, text));
}

/* ---- all ---- */

/* Every second column, so that it looks dotted. */
static void thin_out(double *values, int n)
{
    for (int i = 0; i < n; i++)
        values[i] = i % 4 < 2 ? values[i] : NAN;
}

static void draw_lines(const struct area *inner, const struct chart_curves *curves, double *values,
                       double low, double high)
{
    const int n = 2 * inner->width;
    if (curves->n > 2) {
        for (int i = 0; i < curves->n; i++)
            tui_chart_marks(inner, values + i * n, n, low, high, STYLE_CHART,
                            !curves->curves[i].dotted ? (wchar_t)(L'1' + i)
                            : is_plain()              ? L':'
                                                      : L'·');
        return;
    }
    tui_chart_line(inner, values, n, low, high, STYLE_CHART);
    if (curves->n == 2) {
        thin_out(values + n, n);
        tui_chart_overlay(inner, values + n, n, low, high, STYLE_LINE);
    }
}

static int draw(const struct area *all, int top, const struct chart_curves *curves)
{
    const struct area inner = tui_area_part(all, CHART_LABELS, top, all->width - CHART_LABELS, curves->rows);
    const int each = 2 * inner.width;
    double *values = malloc((size_t)(each * curves->n + 1) * sizeof *values);
    double from = INFINITY, to = -INFINITY, low, high;
    if (!values)
        return -ENOMEM;
    for (int i = 0; i < curves->n; i++)
        if (curves->curves[i].n > 0) {
            from = fmin(from, x_of(&curves->curves[i], 0));
            to = fmax(to, x_of(&curves->curves[i], curves->curves[i].n - 1));
        }
    for (int i = 0; i < curves->n; i++)
        reduce(&curves->curves[i], from, to, inner.width, values + i * each);
    values[each * curves->n] = curves->also;
    draw_title(all, curves);
    legend(all, all->width, TITLE, curves);
    if (tui_chart_range(values, each * curves->n + 1, &low, &high)) {
        draw_labels(all, top, curves, low, high);
        draw_lines(&inner, curves, values, low, high);
    }
    if (from <= to)
        draw_ends(all, curves, from, to);
    free(values);
    return 0;
}

int tui_chart_curves_print(const struct chart_curves *curves, int width, FILE *out)
{
    const int top = legend(NULL, width, TITLE, curves);
    struct canvas canvas;
    int r = tui_canvas_init(&canvas, width, top + curves->rows + ENDS, tui_dashboard_glyphs());
    if (r < 0)
        return r;
    const struct area all = tui_canvas_area(&canvas);
    r = draw(&all, top, curves);
    if (r == 0) {
        fputc('\n', out);
        tui_canvas_print(&canvas, out);
    }
    tui_canvas_finish(&canvas);
    return r;
}
