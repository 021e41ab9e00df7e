/* The charts of `papertape sweep --chart`: those of its page. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page/charts.h"
#include "cli/page/sweep.h"
#include "cli/text.h"
#include "tui/chart_bars.h"
#include "tui/chart_curves.h"
#include "tui/dashboard.h"
#include "tui/heat.h"
#include "tui/panel/frame.h"

enum {
    MAP_ROWS = 24, /* places upward at most, as on the dashboard's page */
    POINT_ROWS = 12,
    POINT_DECIMALS = 4,
    TITLE = 1,   /* rows above the cells, */
    BELOW = 2,   /* and below them: values along, and the legend */
    MARGINS = 4, /* columns, of both sides */
    TITLE_WORDS = 600,
};

struct sheet {
    int width;
    FILE *out;
};

/* ---- two parameters ---- */

/* Columns for the values beside the rows. */
static int left_of(const struct report_heat *heat)
{
    int left = 0;
    for (int i = 0; i < heat->rows; i++) {
        const int wide = cli_text_width(heat->y_labels[i]);
        left = wide > left ? wide : left;
    }
    return left + 1 < CHART_LABELS ? left + 1 : CHART_LABELS;
}

static void draw_heat(const struct area *all, const struct report_heat *heat)
{
    const int left = left_of(heat), cells = heat->columns * heat->rows;
    const struct area plot = tui_area_part(all, 0, TITLE, all->width, heat->rows + 1);
    const struct area inner = tui_area_part(&plot, left, 0, all->width - left, heat->rows);
    const struct heat_grid grid = tui_heat_lay_out(&inner, heat->columns, heat->rows, 0, 0);
    double low = NAN, high = NAN;
    for (int i = 0; i < cells; i++) {
        low = fmin(low, heat->values[i]); /* of NaN and a number the number */
        high = fmax(high, heat->values[i]);
    }
    int x = tui_area_text(all, 2, 0, STYLE_STRONG, heat->title);
    tui_area_printf(all, x + 2, 0, STYLE_DIM, "across %s, up %s", heat->x_name, heat->y_name);
    for (int i = 0; i < cells; i++)
        tui_heat_cell(&grid, i % heat->columns, i / heat->columns, low, high, heat->values[i],
                      !isnan(heat->values[i]));
    tui_heat_labels(&plot, &grid, left, heat->x_labels, heat->y_labels, -1, -1);
    tui_heat_legend(all, all->height - 1, heat->value_name, low, high, "- n/a");
}

static int print_heat(void *ctx, const struct report_heat *heat, const char *caption)
{
    const struct sheet *sheet = ctx;
    struct canvas canvas;
    const int map = TITLE + heat->rows + BELOW,
              words = panel_frame_wrap_rows(caption, sheet->width - MARGINS);
    int r = tui_canvas_init(&canvas, sheet->width, map + words, tui_dashboard_glyphs());
    if (r < 0)
        return r;
    const struct area all = tui_canvas_area(&canvas), top = tui_area_part(&all, 0, 0, all.width, map),
                      below = tui_area_part(&all, MARGINS / 2, map, all.width - MARGINS, words);
    draw_heat(&top, heat);
    panel_frame_wrap(&below, 0, words, STYLE_DIM, caption);
    fputc('\n', sheet->out);
    tui_canvas_print(&canvas, sheet->out);
    tui_canvas_finish(&canvas);
    return 0;
}

/* ---- one ---- */

static int by_x(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

static int print_points(void *ctx, const struct report_points *points, const char *caption)
{
    const struct sheet *sheet = ctx;
    const size_t n = points->n;
    double *pairs = malloc((2 * n + 1) * sizeof *pairs), *xy = malloc((2 * n + 1) * sizeof *xy);
    int r = pairs && xy ? 0 : -ENOMEM;
    (void)caption; /* each point is a run, and they are joined */
    if (r == 0) {
        memcpy(pairs, points->xy, 2 * n * sizeof *pairs);
        qsort(pairs, n, 2 * sizeof *pairs, by_x);
        for (size_t i = 0; i < n; i++) {
            xy[i] = pairs[2 * i];
            xy[n + i] = pairs[2 * i + 1];
        }
        const struct chart_curve curve = {.x = xy, .y = xy + n, .n = n};
        const struct chart_curves curves = {.title = points->title,
                                            .curves = &curve,
                                            .n = 1,
                                            .rows = POINT_ROWS,
                                            .decimals = POINT_DECIMALS,
                                            .also = NAN};
        r = tui_chart_curves_print(&curves, sheet->width, sheet->out);
    }
    free(pairs);
    free(xy);
    return r;
}

/* ---- all ---- */

int tui_sweep_chart(const struct sweep *sweep, int width, FILE *out)
{
    struct sheet sheet = {width, out};
    const int columns = width - CHART_LABELS;
    const struct page_sweep_draw draw = {columns < REPORT_HEAT_SIDE_MAX ? columns : REPORT_HEAT_SIDE_MAX,
                                         MAP_ROWS, print_heat, print_points, &sheet};
    char title[TITLE_WORDS], name[SWEEP_METRIC_NAME_MAX];
    int r = cli_page_sweep_draw(sweep, &draw);
    double *values = r == 0 ? cli_page_sweep_metric(sweep) : NULL;
    if (r == 0 && !values)
        r = -ENOMEM;
    if (r == 0 && cli_page_sweep_more(sweep))
        fprintf(out, "\n  %s\n", cli_page_sweep_more(sweep));
    if (r == 0) {
        cli_sweep_metric_name(sweep->metric, name);
        snprintf(title, sizeof title, "%s of all runs", name);
        r = tui_chart_bars_print(title, values, sweep->runs.n, width, out);
    }
    free(values);
    return r;
}
