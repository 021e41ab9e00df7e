#include "tui/chart_bars.h"

#include <errno.h>
#include <math.h>

#include "cli/format.h"
#include "report/histogram.h"
#include "tui/chart_curves.h"
#include "tui/dashboard.h"

enum {
    TITLE = 1, /* rows above the bars, and below them */
    ENDS = 1,
    BAR_ROWS = 8,
    EIGHTHS = 8,
    BAR_WIDTH_MOST = 4,
};

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
    const struct area inner = tui_area_part(&all, CHART_LABELS, TITLE, all.width - CHART_LABELS, BAR_ROWS);
    const int columns =
        inner.width / histogram->n > BAR_WIDTH_MOST ? BAR_WIDTH_MOST : inner.width / histogram->n;
    double most = 0;
    char cell[FORMAT_MAX];
    for (int i = 0; i < histogram->n; i++)
        most = fmax(most, histogram->bars[i]);
    for (int i = 0; i < histogram->n; i++) {
        int eighths = (int)ceil(histogram->bars[i] / most * BAR_ROWS * EIGHTHS);
        draw_bar(&inner, i * columns, columns > 1 ? columns - 1 : columns, eighths);
    }
    tui_area_printf(&all, 2, 0, STYLE_STRONG, "%s", title);
    tui_area_text_right(&all, CHART_LABELS - 1, TITLE, STYLE_DIM, cli_format_count(cell, most));
    tui_area_text(&all, CHART_LABELS, all.height - 1, STYLE_DIM, cli_format_number(cell, histogram->low, 2));
    tui_area_text_right(&all, CHART_LABELS + histogram->n * columns, all.height - 1, STYLE_DIM,
                        cli_format_number(cell, histogram->high, 2));
    if (histogram->low < 0 && histogram->high > 0) {
        int zero = CHART_LABELS +
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

int tui_chart_bars_print(const char *title, const double *values, size_t n, int width, FILE *out)
{
    struct report_histogram histogram;
    struct canvas canvas;
    int r = report_histogram_count(values, n, &histogram);
    if (r < 0)
        return r == -ENODATA ? 0 : r;
    while (histogram.n > width - CHART_LABELS)
        histogram = halved(&histogram);
    r = tui_canvas_init(&canvas, width, TITLE + BAR_ROWS + ENDS, tui_dashboard_glyphs());
    if (r < 0)
        return r;
    draw_bars(&canvas, &histogram, title);
    fputc('\n', out);
    tui_canvas_print(&canvas, out);
    tui_canvas_finish(&canvas);
    return 0;
}
