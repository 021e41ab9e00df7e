/* Parallel coordinates: the objective's axis, then an axis a parameter, the most important first; a line each
 * result, those of the best apart from all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/text.h"
#include "tui/chart.h"
#include "tui/panel/study_plots.h"
#include "tui/study_rows.h"

enum {
    AXES_MAX = 32,
    AXIS_COLUMNS = 12, /* between two axes at least */
    CELLS_MAX = 24,    /* lines of all are drawn between so many places of an axis */
    POINTS_MAX = 2 * CANVAS_SIDE_MAX,
    DOTTED = 3,      /* of lines that are not of the best every third dot */
    SCALE_FROM = 5,  /* rows from which on an axis has the labels of its ends */
    LEGEND_FROM = 7, /* and what is drawn is said */
};

struct parallel {
    struct plot_scene *plot;
    struct area inside;
    int n;
    struct study_axis *axes;
    int *columns; /* of the axes, in `inside` */
    const struct tui_study_trial *best[PLOT_BEST_MAX];
    int n_best;
};

/* A line from one place of its left edge to one of its right edge; of all trials, or of one of the best. */
static void draw_line(const struct area *area, double from, double to, bool best, enum style style)
{
    static double values[POINTS_MAX];
    bool braille = area->canvas->glyphs == GLYPHS_BRAILLE;
    int n = (braille ? 2 : 1) * area->width;

    for (int i = 0; i < n && i < POINTS_MAX; i++)
        values[i] = braille && !best && i % DOTTED ? NAN : n > 1 ? from + (to - from) * i / (n - 1) : from;
    if (braille && best) {
        tui_chart_line(area, values, n, 0, 1, style);
    } else if (braille || !best) {
        tui_chart_overlay(area, values, n, 0, 1, style);
    } else {
        for (int i = 0; i < n && i < POINTS_MAX; i++)
            tui_area_char(area, i, area->height - 1 - (int)lround(values[i] * (area->height - 1)), style,
                          area->canvas->glyphs == GLYPHS_ASCII ? L'o' : L'•');
    }
}

static void draw_all(const struct parallel *parallel, const struct area *between, int left, int cells)
{
    const struct tui_study_page *page = parallel->plot->page;
    bool *pairs = calloc((size_t)cells * (size_t)cells, sizeof(*pairs));

    if (!pairs)
        return;
    tui_study_pairs(page, &parallel->axes[left], &parallel->axes[left + 1], cells, pairs);
    for (int i = 0; i < cells * cells; i++)
        if (pairs[i])
            draw_line(between, tui_study_pair_place(i / cells, cells), tui_study_pair_place(i % cells, cells),
                      false, STYLE_DIM);
    free(pairs);
}

static void draw_best(const struct parallel *parallel, const struct area *between, int left)
{
    const struct tui_study_page *page = parallel->plot->page;

    for (int i = parallel->n_best - 1; i >= 0; i--) {
        double from = tui_study_axis_place(page, &parallel->axes[left], parallel->best[i]);
        double to = tui_study_axis_place(page, &parallel->axes[left + 1], parallel->best[i]);
        if (!isnan(from) && !isnan(to))
            draw_line(between, from, to, true,
                      panel_frame_style(parallel->plot->freshness, i == 0 ? STYLE_STRONG : STYLE_CHART));
    }
}

static void draw_lines(const struct parallel *parallel)
{
    int cells = parallel->inside.height < CELLS_MAX ? parallel->inside.height : CELLS_MAX;

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i + 1 < parallel->n; i++) {
            struct area between =
                tui_area_part(&parallel->inside, parallel->columns[i] + 1, 0,
                              parallel->columns[i + 1] - parallel->columns[i] - 1, parallel->inside.height);
            if (pass == 0)
                draw_all(parallel, &between, i, cells);
            else
                draw_best(parallel, &between, i);
        }
    bool plain = parallel->inside.canvas->glyphs == GLYPHS_ASCII;
    for (int i = 0; i < parallel->n; i++)
        for (int y = 0; y < parallel->inside.height; y++)
            tui_area_char(&parallel->inside, parallel->columns[i], y, STYLE_RULE, plain ? L'|' : L'│');
}

/* Texts at their axes, from row y on; that of the last one, which is at the right edge, ends there. */
static void put_labels(const struct parallel *parallel, int y, const char *const *texts,
                       const enum style *styles)
{
    const struct area *body = parallel->plot->body;
    int last = parallel->n - 1, width = cli_text_width(texts[last]), from = parallel->inside.x - body->x;
    int room = (parallel->columns[last] - parallel->columns[last - 1]) / 2;

    width = width < room ? width : room;
    int end = body->width - width;
    tui_area_text_cut(body, end, y, width, styles[last], texts[last]);
    for (int i = last - 1; i >= 0; i--) {
        int x = from + parallel->columns[i], most = end - 1 - x;
        int own = cli_text_width(texts[i]);
        tui_area_text_cut(body, x, y, own < most ? own : most, styles[i], texts[i]);
        end = x;
    }
}

static void draw_labels(const struct parallel *parallel, bool scales)
{
    const struct tui_study_page *page = parallel->plot->page;
    char ends[2][AXES_MAX][FORMAT_MAX];
    const char *names[AXES_MAX], *highs[AXES_MAX], *lows[AXES_MAX];
    enum style styles[AXES_MAX], dim[AXES_MAX];

    for (int i = 0; i < parallel->n; i++) {
        const struct study_axis *axis = &parallel->axes[i];
        names[i] = axis->param < 0 ? "value" : page->params[axis->param];
        highs[i] = panel_study_end(axis, true, ends[0][i]);
        lows[i] = panel_study_end(axis, false, ends[1][i]);
        styles[i] = axis->param == parallel->plot->param ? STYLE_STRONG : STYLE_DIM;
        dim[i] = STYLE_DIM;
    }
    put_labels(parallel, 0, names, styles);
    if (!scales)
        return;
    put_labels(parallel, 1, highs, dim);
    put_labels(parallel, 2 + parallel->inside.height, lows, dim);
}

/* How many of the results lack a place on one of the axes: their lines have gaps. */
static int count_gaps(const struct parallel *parallel)
{
    const struct tui_study_page *page = parallel->plot->page;
    int gaps = 0;

    for (int i = 0; i < page->n_trials; i++) {
        bool gap = false;
        if (tui_study_axis_omission(page, &parallel->axes[0], &page->trials[i]) != OMITTED_NOT)
            continue;
        for (int k = 1; k < parallel->n && !gap; k++)
            gap = tui_study_axis_omission(page, &parallel->axes[k], &page->trials[i]) != OMITTED_NOT;
        gaps += gap;
    }
    return gaps;
}

static void draw_legend(const struct parallel *parallel, int y)
{
    const struct tui_study_page *page = parallel->plot->page;
    const struct plot_count *count = &parallel->plot->count;
    int n = count->n[OMITTED_NOT], gaps = count_gaps(parallel);
    char words[400], omitted[240];
    int at = snprintf(words, sizeof(words), "best %d of %d", n < PLOT_BEST_MAX ? n : PLOT_BEST_MAX, n);

    if (parallel->n - 1 < page->n_params)
        at += snprintf(words + at, sizeof(words) - (size_t)at, ", %d of %d parameters", parallel->n - 1,
                       page->n_params);
    if (gaps > 0)
        at += snprintf(words + at, sizeof(words) - (size_t)at, ", %d without one: a gap", gaps);
    if (panel_study_omitted(parallel->plot, &parallel->axes[0], omitted, sizeof(omitted))[0])
        snprintf(words + at, sizeof(words) - (size_t)at, "; %s", omitted);
    panel_study_legend(parallel->plot, y, words);
}

void panel_study_parallel(struct plot_scene *plot)
{
    const struct tui_study_page *page = plot->page;
    const struct area *body = plot->body;
    bool scales = body->height >= SCALE_FROM, legend = body->height >= LEGEND_FROM;
    int rows = body->height - 1 - 2 * scales - legend, columns = body->width - 2, params[AXES_MAX], most = 0;
    struct study_axis axes[AXES_MAX];
    int at[AXES_MAX];

    if (rows < 1 || columns < AXIS_COLUMNS)
        return;
    struct parallel parallel = {.plot = plot, .axes = axes, .columns = at};
    int room = columns / AXIS_COLUMNS < AXES_MAX - 1 ? columns / AXIS_COLUMNS : AXES_MAX - 1;
    int n = tui_study_rows_columns(page, SORT_PARAMS + plot->rank, params, room);
    tui_study_axis_make(page, PLOT_OBJECTIVE, true, &axes[0]);
    tui_study_histogram(page, &axes[0], 1, &most, &plot->count);
    if (plot->count.n[OMITTED_NOT] == 0)
        return;
    for (int i = 0; i < n; i++)
        tui_study_axis_make(page, params[i], true, &axes[i + 1]);
    parallel.n = n + 1;
    parallel.n_best = tui_study_best(page, PLOT_BEST_MAX, parallel.best);
    for (int i = 0; i <= n; i++)
        at[i] = i * (columns - 1) / n;
    parallel.inside = tui_area_part(body, 1, 1 + scales, columns, rows);
    draw_lines(&parallel);
    draw_labels(&parallel, scales);
    if (legend)
        draw_legend(&parallel, body->height - 1);
}
