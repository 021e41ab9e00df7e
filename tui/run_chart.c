#include "cli/page/run_chart.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/format.h"
#include "report/histogram.h"
#include "tui/chart.h"
#include "tui/dashboard.h"

enum {
    WIDTH_DEFAULT = 80,
    WIDTH_LEAST = 40,
    WIDTH_MOST = 200,
    LABELS = 11, /* columns left of the curves */
    EQUITY_ROWS = 12,
    DROP_ROWS = 6,
    BAR_ROWS = 8,
    TITLE = 1, /* rows above the curves, and below them */
    TIMES = 1,
    DATE = sizeof "2024-01-31 12:00" - 1,
    EIGHTHS = 8,
};

int tui_run_chart_width(void)
{
    struct winsize size;
    bool known = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    int width = known ? size.ws_col : WIDTH_DEFAULT;
    return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

/* ---- curves ---- */

/* Two values a column: its lowest and its highest point, in their order of time, so that no extreme is lost;
 * NaN where it has none. */
static void reduce(const double *y, size_t n, int columns, double *ret)
{
    for (int i = 0; i < columns; i++) {
        size_t from = (size_t)i * n / (size_t)columns, to = ((size_t)i + 1) * n / (size_t)columns;
        size_t low = SIZE_MAX, high = SIZE_MAX;
        to = to > from ? to : from + 1; /* of fewer points than columns */
        for (size_t k = from; k < to; k++) {
            if (!isfinite(y[k]))
                continue;
            low = low == SIZE_MAX || y[k] < y[low] ? k : low;
            high = high == SIZE_MAX || y[k] > y[high] ? k : high;
        }
        ret[2 * i] = low == SIZE_MAX ? NAN : y[low < high ? low : high];
        ret[2 * i + 1] = low == SIZE_MAX ? NAN : y[low < high ? high : low];
    }
}

/* One or two curves over the run's time. */
struct curves {
    const char *title;
    const double *first, *second; /* [n + 1]; NULL */
    const char *names[2];
    int rows, decimals;
    double also; /* in view, too; NaN */
};

static void draw_labels(const struct area *all, const struct curves *curves, double low, double high)
{
    char cell[FORMAT_MAX];
    tui_area_text_right(all, LABELS - 1, TITLE, STYLE_DIM, cli_format_number(cell, high, curves->decimals));
    tui_area_text_right(all, LABELS - 1, TITLE + curves->rows - 1, STYLE_DIM,
                        cli_format_number(cell, low, curves->decimals));
}

static void draw_times(const struct area *all, const struct page_run *run)
{
    char from[FORMAT_MAX], to[FORMAT_MAX];
    cli_format_time(from, run->x[0])[DATE] = '\0';
    cli_format_time(to, run->x[run->n])[DATE] = '\0';
    tui_area_text(all, LABELS, all->height - 1, STYLE_DIM, from);
    tui_area_text_right(all, all->width, all->height - 1, STYLE_DIM, to);
}

static void draw_title(const struct area *all, const struct curves *curves)
{
    const bool plain = all->canvas->glyphs == GLYPHS_ASCII;
    int x = tui_area_printf(all, 2, 0, STYLE_STRONG, "%s", curves->title);
    if (curves->names[0] && curves->second)
        tui_area_printf(all, x + 2, 0, STYLE_DIM, "%s, and dotted %s%s", curves->names[0],
                        plain ? "(:) " : "", curves->names[1]);
}

/* The second curve in every second column, so that it looks dotted. */
static void thin_out(double *values, int n)
{
    for (int i = 0; i < n; i++)
        values[i] = i % 4 < 2 ? values[i] : NAN;
}

static int draw_curves(struct canvas *canvas, const struct page_run *run, const struct curves *curves)
{
    struct area all = tui_canvas_area(canvas);
    const struct area inner = tui_area_part(&all, LABELS, TITLE, all.width - LABELS, curves->rows);
    const int columns = 2 * inner.width;
    double *values = malloc((2 * (size_t)columns + 1) * sizeof *values), low, high;
    if (!values)
        return -ENOMEM;
    reduce(curves->first, run->n + 1, inner.width, values);
    if (curves->second)
        reduce(curves->second, run->n + 1, inner.width, values + columns);
    values[2 * columns] = curves->also;
    if (!curves->second)
        values[columns] = curves->also;
    draw_title(&all, curves);
    if (tui_chart_range(values, curves->second ? 2 * columns + 1 : columns + 1, &low, &high)) {
        draw_labels(&all, curves, low, high);
        tui_chart_line(&inner, values, columns, low, high, STYLE_CHART);
        if (curves->second) {
            thin_out(values + columns, columns);
            tui_chart_overlay(&inner, values + columns, columns, low, high, STYLE_LINE);
        }
    }
    draw_times(&all, run);
    free(values);
    return 0;
}

static int print_curves(const struct page_run *run, int width, const struct curves *curves, FILE *out)
{
    struct canvas canvas;
    int r = tui_canvas_init(&canvas, width, TITLE + curves->rows + TIMES, tui_dashboard_glyphs());
    if (r < 0)
        return r;
    r = draw_curves(&canvas, run, curves);
    if (r == 0) {
        fputc('\n', out);
        tui_canvas_print(&canvas, out);
    }
    tui_canvas_finish(&canvas);
    return r;
}

/* ---- the distribution ---- */

/* A column of `rows` cells, so many of their eighths full. */
static void draw_bar(const struct area *area, int x, int columns, int eighths)
{
    const bool plain = area->canvas->glyphs == GLYPHS_ASCII;
    for (int row = 0; row < area->height; row++) {
        int full = eighths - row * EIGHTHS;
        full = full > EIGHTHS ? EIGHTHS : full;
        if (full <= 0)
            break;
        wchar_t c = plain ? full >= EIGHTHS / 2 || row == 0 ? L'#' : L' ' : (wchar_t)(0x2580 + full);
        for (int i = 0; i < columns; i++)
            tui_area_char(area, x + i, area->height - 1 - row, STYLE_CHART, c);
    }
}

static void draw_bars(struct canvas *canvas, const struct report_histogram *histogram, const char *title)
{
    struct area all = tui_canvas_area(canvas);
    const struct area inner = tui_area_part(&all, LABELS, TITLE, all.width - LABELS, BAR_ROWS);
    const int columns = inner.width / histogram->n > 4 ? 4 : inner.width / histogram->n;
    double most = 0;
    char cell[FORMAT_MAX];
    for (int i = 0; i < histogram->n; i++)
        most = fmax(most, histogram->bars[i]);
    for (int i = 0; i < histogram->n; i++) {
        int eighths = (int)ceil(histogram->bars[i] / most * BAR_ROWS * EIGHTHS);
        draw_bar(&inner, i * columns, columns > 1 ? columns - 1 : columns, eighths);
    }
    tui_area_printf(&all, 2, 0, STYLE_STRONG, "%s", title);
    tui_area_text_right(&all, LABELS - 1, TITLE, STYLE_DIM, cli_format_count(cell, most));
    tui_area_text(&all, LABELS, all.height - 1, STYLE_DIM, cli_format_number(cell, histogram->low, 2));
    tui_area_text_right(&all, LABELS + histogram->n * columns, all.height - 1, STYLE_DIM,
                        cli_format_number(cell, histogram->high, 2));
    if (histogram->low < 0 && histogram->high > 0) {
        int zero = LABELS +
                   columns * (int)lround(-histogram->low / (histogram->high - histogram->low) * histogram->n);
        tui_area_text(&all, zero, all.height - 1, STYLE_DIM, "0");
    }
}

/* Neighbours together, in pairs, so that 0 stays an edge. */
static struct report_histogram halved(const struct report_histogram *all)
{
    const double width = (all->high - all->low) / all->n;
    const int odd = all->low < 0 ? (int)lround(-all->low / width) % 2 : 0;
    struct report_histogram made = {
        .n = (all->n - 1 + odd) / 2 + 1, .low = all->low - odd * width, .counted = all->counted};
    made.high = made.low + 2 * width * made.n;
    for (int i = 0; i < all->n; i++)
        made.bars[(i + odd) / 2] += all->bars[i];
    return made;
}

static int print_distribution(const struct page_run *run, int width, FILE *out)
{
    double *returns = malloc((run->n + 1) * sizeof *returns);
    struct report_histogram histogram;
    struct canvas canvas;
    bool days;
    if (!returns)
        return -ENOMEM;
    size_t n = cli_page_run_returns(run, &days, returns);
    int r = report_histogram_count(returns, n, &histogram);
    free(returns);
    if (r < 0)
        return r == -ENODATA ? 0 : r;
    while (histogram.n > width - LABELS)
        histogram = halved(&histogram);
    r = tui_canvas_init(&canvas, width, TITLE + BAR_ROWS + TIMES, tui_dashboard_glyphs());
    if (r < 0)
        return r;
    draw_bars(&canvas, &histogram, days ? "returns of days, %" : "returns of rows, %");
    fputc('\n', out);
    tui_canvas_print(&canvas, out);
    tui_canvas_finish(&canvas);
    return 0;
}

int tui_run_chart(const struct page_run *run, int width, FILE *out)
{
    char title[PAGE_NAME_MAX + 64];
    snprintf(title, sizeof title, "equity %s, %s", run->spec->currency, run->name);
    const struct curves equity = {.title = title,
                                  .first = run->equity,
                                  .second = run->held,
                                  .names = {"line", run->source->benchmark},
                                  .rows = EQUITY_ROWS,
                                  .decimals = 2,
                                  .also = run->equity[0]};
    const struct curves drop = {
        .title = "drawdown, %", .first = run->drawdown, .rows = DROP_ROWS, .decimals = 2, .also = 0};
    int r = print_curves(run, width, &equity, out);
    r = r < 0 ? r : print_curves(run, width, &drop, out);
    return r < 0 ? r : print_distribution(run, width, out);
}
