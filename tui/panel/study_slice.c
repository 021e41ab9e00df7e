/* A parameter's values against the objective's, and the distribution of the objective's values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/panel/study_plots.h"

enum { LEGEND_FROM = 6 /* rows of the body from which on signs and omissions have rows */ };

static const struct {
    wchar_t one, several, plain_one, plain_several;
    const char *words;
    enum style style;
} signs[SIGNS] = {
    [SIGN_COMPLETE] = {L'•', L'●', L'o', L'O', "ok", STYLE_CHART},
    [SIGN_RUNNING] = {L'+', L'+', L'+', L'+', "run", STYLE_LINE},
    [SIGN_INFEASIBLE] = {L'!', L'!', L'!', L'!', "infs", STYLE_BAD},
    [SIGN_PRUNED] = {L'×', L'×', L'x', L'x', "pruned", STYLE_DIM},
    [SIGN_OTHER] = {L'?', L'?', L'?', L'?', "other", STYLE_DIM},
};

static const struct tui_study_trial *best_trial(const struct tui_study_page *page)
{
    const struct tui_study *study = &page->study;

    return study->have_best
               ? tui_study_page_trial(page, page->members[study->best_member], study->best_number)
               : NULL;
}

/* The signs that are there, with how many trials each has. */
static void draw_signs(const struct plot_scene *plot, int y, const int n[static SIGNS], bool best)
{
    const struct area *body = plot->body;
    bool plain = body->canvas->glyphs == GLYPHS_ASCII;
    char name[STATUS_WORD_MAX];
    int x = 1;

    for (int i = 0; i < SIGNS; i++) {
        if (n[i] == 0)
            continue;
        tui_area_char(body, x, y, panel_frame_style(plot->freshness, signs[i].style),
                      plain ? signs[i].plain_one : signs[i].one);
        x = tui_area_printf(body, x + 2, y, STYLE_DIM, "%s %d", signs[i].words, n[i]) + 2;
    }
    if (best) {
        tui_area_char(body, x, y, panel_frame_style(plot->freshness, STYLE_STRONG), plain ? L'*' : L'★');
        tui_area_printf(body, x + 2, y, STYLE_DIM, "best %s", tui_study_best_name(&plot->page->study, name));
    }
}

/* One cell: the sign of the state that matters most in it. */
static void draw_cell(const struct plot_scene *plot, int x, int y, const struct plot_cell *cell)
{
    bool plain = plot->body->canvas->glyphs == GLYPHS_ASCII;
    int all = 0, first = -1;

    for (int i = 0; i < SIGNS; i++) {
        all += cell->n[i];
        first = first < 0 && cell->n[i] > 0 ? i : first;
    }
    if (first < 0)
        return;
    wchar_t one = plain ? signs[first].plain_one : signs[first].one;
    wchar_t several = plain ? signs[first].plain_several : signs[first].several;
    tui_area_char(plot->body, x, y, panel_frame_style(plot->freshness, signs[first].style),
                  all > 1 ? several : one);
}

void panel_study_slice(struct plot_scene *plot)
{
    const struct area *body = plot->body;
    int legend = body->height >= LEGEND_FROM ? 2 : 0;
    int columns = body->width - PLOT_SCALE_COLUMNS - 2, rows = body->height - 1 - legend;
    const struct tui_study_trial *best = best_trial(plot->page);
    struct study_axis x, y;
    char words[240];
    int n[SIGNS] = {0};

    tui_study_axis_make(plot->page, plot->param, false, &x);
    tui_study_axis_make(plot->page, PLOT_OBJECTIVE, false, &y);
    int x_cells = tui_study_axis_cells(&x, columns), y_cells = rows;
    if (columns < 4 || rows < 1)
        return;
    struct plot_cell *cells = calloc((size_t)x_cells * (size_t)y_cells, sizeof(*cells));
    if (!cells)
        return;
    tui_study_plot_grid(plot->page, &x, x_cells, &y, y_cells, cells, &plot->count);
    for (int i = 0; i < x_cells * y_cells; i++) {
        draw_cell(plot, 1 + panel_study_middle(i % x_cells, x_cells, columns), rows - 1 - i / x_cells,
                  &cells[i]);
        for (int k = 0; k < SIGNS; k++)
            n[k] += cells[i].n[k];
    }
    free(cells);
    if (plot->count.n[OMITTED_NOT] == 0)
        return;
    int at = best ? tui_study_axis_cell(plot->page, &x, best, x_cells) : -1;
    int row = best ? tui_study_axis_cell(plot->page, &y, best, y_cells) : -1;
    if (at >= 0 && row >= 0)
        tui_area_char(body, 1 + panel_study_middle(at, x_cells, columns), rows - 1 - row,
                      panel_frame_style(plot->freshness, STYLE_STRONG),
                      body->canvas->glyphs == GLYPHS_ASCII ? L'*' : L'★');
    panel_study_axis_row(body, 1, rows, columns, &x);
    panel_study_axis_column(body, columns + 2, 0, rows, &y);
    if (legend) {
        draw_signs(plot, rows + 1, n, at >= 0 && row >= 0);
        panel_study_legend(plot, rows + 2, panel_study_omitted(plot, &y, words, sizeof(words)));
    }
}

/* A bar of `eighths` eighths of a row. */
static void draw_bar(const struct plot_scene *plot, int x, int width, int rows, int eighths, enum style style)
{
    bool plain = plot->body->canvas->glyphs == GLYPHS_ASCII;

    for (int y = rows - 1; y >= 0 && eighths > 0; y--, eighths -= 8)
        tui_area_line(plot->body, x, y, width, style,
                      plain ? eighths >= 4 ? L'#' : L'.' : (wchar_t)(0x2580 + (eighths > 8 ? 8 : eighths)));
}

void panel_study_histogram(struct plot_scene *plot)
{
    const struct area *body = plot->body;
    int legend = body->height >= LEGEND_FROM;
    int columns = body->width - PLOT_SCALE_COLUMNS - 2, rows = body->height - 1 - legend, most = 0;
    const struct tui_study_trial *best = best_trial(plot->page);
    struct study_axis axis;
    char words[240], a[FORMAT_MAX];

    tui_study_axis_make(plot->page, PLOT_OBJECTIVE, true, &axis);
    if (columns < 4 || rows < 1)
        return;
    tui_study_histogram(plot->page, &axis, 1, &most, &plot->count); /* how many there are */
    int n = tui_study_histogram_bins(plot->count.n[OMITTED_NOT], columns);
    int *bins = calloc((size_t)n, sizeof(*bins));
    if (!bins || plot->count.n[OMITTED_NOT] == 0) {
        free(bins);
        return;
    }
    tui_study_histogram(plot->page, &axis, n, bins, &plot->count);
    most = 0;
    for (int i = 0; i < n; i++)
        most = bins[i] > most ? bins[i] : most;
    int best_bin = best ? tui_study_axis_cell(plot->page, &axis, best, n) : -1;
    for (int i = 0; i < n; i++) {
        int first, width = panel_study_span(i, n, columns, &first);
        int eighths = (int)lround((double)bins[i] / most * rows * 8);
        draw_bar(plot, 1 + first, width > 1 ? width - 1 : width, rows,
                 bins[i] > 0 && eighths < 1 ? 1 : eighths,
                 panel_frame_style(plot->freshness, i == best_bin ? STYLE_STRONG : STYLE_CHART));
    }
    tui_area_text(body, columns + 2, 0, STYLE_DIM, cli_format_count(a, most));
    if (rows > 1)
        tui_area_text(body, columns + 2, rows - 1, STYLE_DIM, "0");
    panel_study_axis_row(body, 1, rows, columns, &axis);
    if (legend)
        panel_study_legend(plot, rows + 1, panel_study_omitted(plot, &axis, words, sizeof(words)));
    free(bins);
}
