/* The best value of the results by two parameters, in shades. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/panel/study_plots.h"

enum {
    STEPS = 4,
    LEGEND_FROM = 6,
    CELLS_MIN = 4, /* along an axis, and a trial a cell at most if they were spread evenly */
};

static const wchar_t shades[STEPS] = {L'░', L'▒', L'▓', L'█'}, plain_shades[STEPS] = {L'.', L':', L'+', L'#'};
static const enum style styles[STEPS] = {STYLE_DIM, STYLE_LINE, STYLE_CHART, STYLE_STRONG};

/* The values of the worst cell, as far as the objective's axis goes, and of the best. */
static void cell_range(const struct tui_study_page *page, const struct plot_cell *cells, int n,
                       double *ret_worst, double *ret_best)
{
    struct study_axis value;
    enum study_direction direction = page->study.directions[0];

    *ret_worst = *ret_best = NAN;
    for (int i = 0; i < n; i++) {
        if (isnan(cells[i].best))
            continue;
        if (isnan(*ret_best) || tui_study_better(direction, cells[i].best, *ret_best))
            *ret_best = cells[i].best;
        if (isnan(*ret_worst) || tui_study_better(direction, *ret_worst, cells[i].best))
            *ret_worst = cells[i].best;
    }
    tui_study_axis_make(page, PLOT_OBJECTIVE, true, &value);
    *ret_worst = fmin(fmax(*ret_worst, value.low), value.high);
}

static wchar_t shade(const struct plot_scene *plot, int step)
{
    return plot->body->canvas->glyphs == GLYPHS_ASCII ? plain_shades[step] : shades[step];
}

/* "best in a cell: ░ 0.59 ▒ 0.94 …": from which value on each shade is. */
static void draw_steps(const struct plot_scene *plot, int y, double worst, double best)
{
    char a[FORMAT_MAX];
    int x = tui_area_text(plot->body, 1, y, STYLE_DIM, "best in a cell from") + 1;

    for (int i = worst == best ? STEPS - 1 : 0; i < STEPS; i++) {
        tui_area_char(plot->body, x, y, panel_frame_style(plot->freshness, styles[i]), shade(plot, i));
        x = tui_area_text(plot->body, x + 2, y, STYLE_DIM,
                          tui_study_number(a, sizeof(a), worst + (best - worst) * i / STEPS)) +
            2;
    }
}

static void draw_cells(const struct plot_scene *plot, const struct plot_cell *cells, int x_cells, int y_cells,
                       int columns, int rows)
{
    double worst, best;
    int first, row;

    cell_range(plot->page, cells, x_cells * y_cells, &worst, &best);
    for (int i = 0; i < x_cells * y_cells; i++) {
        if (isnan(cells[i].best))
            continue;
        int width = panel_study_span(i % x_cells, x_cells, columns, &first);
        int height = panel_study_span(i / x_cells, y_cells, rows, &row);
        int step = tui_study_step(cells[i].best, worst, best, STEPS);
        for (int y = 0; y < height; y++)
            tui_area_line(plot->body, 1 + first, rows - 1 - row - y, width,
                          panel_frame_style(plot->freshness, styles[step]), shade(plot, step));
        if (cells[i].best == best)
            tui_area_char(plot->body, 1 + first + width / 2, rows - 1 - row - height / 2,
                          panel_frame_style(plot->freshness, STYLE_GOOD),
                          plot->body->canvas->glyphs == GLYPHS_ASCII ? L'*' : L'★');
    }
    if (plot->body->height >= LEGEND_FROM)
        draw_steps(plot, rows + 1, worst, best);
}

void panel_study_contour(struct plot_scene *plot)
{
    const struct area *body = plot->body;
    int legend = body->height >= LEGEND_FROM ? 2 : 0;
    int columns = body->width - PLOT_SCALE_COLUMNS - 2, rows = body->height - 1 - legend;
    struct study_axis x, y;
    char words[160];
    int all;

    tui_study_axis_make(plot->page, plot->param, true, &x);
    tui_study_axis_make(plot->page, plot->second, true, &y);
    if (columns < 4 || rows < 1)
        return;
    tui_study_histogram(plot->page, &x, 1, &all, &plot->count);
    int most = CELLS_MIN + (int)sqrt(all);
    int x_cells = tui_study_axis_cells(&x, most < columns ? most : columns);
    int y_cells = tui_study_axis_cells(&y, most < rows ? most : rows);
    struct plot_cell *cells = calloc((size_t)x_cells * (size_t)y_cells, sizeof(*cells));
    if (!cells)
        return;
    tui_study_plot_grid(plot->page, &x, x_cells, &y, y_cells, cells, &plot->count);
    if (plot->count.n[OMITTED_NOT] > 0) {
        draw_cells(plot, cells, x_cells, y_cells, columns, rows);
        panel_study_axis_row(body, 1, rows, columns, &x);
        panel_study_axis_column(body, columns + 2, 0, rows, &y);
        if (legend)
            panel_study_legend(plot, rows + 2, tui_study_omitted(words, sizeof(words), &plot->count));
    }
    free(cells);
}
