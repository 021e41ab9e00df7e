#include "tui/panel/study_plots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/study_keys.h"
#include "tui/study_rows.h"

enum { RULE_COLUMNS = 4, TICK_COLUMNS = 10, TICK_ROWS = 3 };

int panel_study_span(int at, int cells, int columns, int *ret_first)
{
    *ret_first = (int)((long)at * columns / cells);
    return (int)((long)(at + 1) * columns / cells) - *ret_first;
}

int panel_study_middle(int at, int cells, int columns)
{
    int first, width = panel_study_span(at, cells, columns, &first);

    return first + width / 2 - (width > 1 && width % 2 == 0);
}

/* The column of a number, where its trials are. */
static int column_of(const struct study_axis *axis, double value, int columns)
{
    int cells = tui_study_axis_cells(axis, columns);
    int at = (int)(tui_study_axis_place_of(axis, value) * cells);

    return panel_study_middle(at < cells ? at : cells - 1, cells, columns);
}

/* A value of an axis in few columns. */
static const char *label(char buf[static FORMAT_MAX], double value)
{
    int digits = 5;

    do
        snprintf(buf, FORMAT_MAX, "%.*g", --digits, value);
    while (digits > 1 && strlen(buf) >= PLOT_SCALE_COLUMNS);
    return buf;
}

const char *panel_study_end(const struct study_axis *axis, bool high, char buf[static FORMAT_MAX])
{
    char number[FORMAT_MAX];

    if (!axis->known)
        return "n/a";
    if (axis->categorical)
        return axis->categories[high ? axis->n_categories - 1 : 0];
    snprintf(buf, FORMAT_MAX, "%s%.*s",
             high            ? axis->n_above ? ">" : ""
             : axis->n_below ? "<"
                             : "",
             FORMAT_MAX - 2, label(number, high ? axis->high : axis->low));
    return buf;
}

const char *panel_study_omitted(const struct plot_scene *plot, const struct study_axis *value, char *buf,
                                size_t size)
{
    int n = value->n_below + value->n_above;
    size_t at = n ? (size_t)snprintf(buf, size, "%d worse than %.4g, at that end", n,
                                     value->n_below ? value->low : value->high)
                  : 0;
    char words[160];

    if (at < size)
        snprintf(buf + at, size - at, "%s%s",
                 at && tui_study_omitted(words, sizeof(words), &plot->count)[0] ? "; " : "",
                 tui_study_omitted(words, sizeof(words), &plot->count));
    return buf;
}

void panel_study_axis_row(const struct area *area, int x, int y, int columns, const struct study_axis *axis)
{
    double tick[PLOT_TICKS_MAX];
    char text[FORMAT_MAX];
    int first;

    for (int i = 0; i < axis->n_categories; i++) {
        int room = panel_study_span(i, axis->n_categories, columns, &first) - 1;
        int width = cli_text_width(axis->categories[i]);
        if (room > 0)
            tui_area_text_cut(area, x + first, y, width < room ? width : room, STYLE_DIM,
                              axis->categories[i]);
    }
    if (axis->categorical || !axis->known)
        return;
    int end = columns - cli_text_width(panel_study_end(axis, true, text));
    if (end > 0)
        tui_area_text(area, x + end, y, STYLE_DIM, text);
    int at = tui_area_text(area, x, y, STYLE_DIM, panel_study_end(axis, false, text)) - x + 2;
    int n = tui_study_axis_ticks(axis, columns / TICK_COLUMNS, tick);
    for (int i = 0; i < n; i++) {
        int width = cli_text_width(label(text, tick[i]));
        int from = column_of(axis, tick[i], columns) - width / 2;
        if (from < at || from + width + 2 > end)
            continue;
        at = tui_area_text(area, x + from, y, STYLE_DIM, text) - x + 2;
    }
}

/* The categories at their rows; those that share one are in one text. */
static void category_rows(const struct area *area, int x, int y, int rows, const struct study_axis *axis)
{
    int cells = tui_study_axis_cells(axis, rows), first;
    char text[256];

    for (int cell = 0; cell < cells; cell++) {
        size_t at = 0;
        for (int i = 0; i < axis->n_categories && at < sizeof(text); i++)
            if ((int)((long)i * cells / axis->n_categories) == cell)
                at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? ", " : "",
                                       axis->categories[i]);
        int height = panel_study_span(cell, cells, rows, &first), width = cli_text_width(text);
        tui_area_text_cut(area, x, y + rows - 1 - first - height / 2,
                          width < PLOT_SCALE_COLUMNS ? width : PLOT_SCALE_COLUMNS, STYLE_DIM, text);
    }
}

void panel_study_axis_column(const struct area *area, int x, int y, int rows, const struct study_axis *axis)
{
    double tick[PLOT_TICKS_MAX];
    char text[FORMAT_MAX];

    if (axis->categorical)
        category_rows(area, x, y, rows, axis);
    if (axis->categorical || !axis->known)
        return;
    tui_area_text(area, x, y, STYLE_DIM, panel_study_end(axis, true, text));
    if (rows > 1)
        tui_area_text(area, x, y + rows - 1, STYLE_DIM, panel_study_end(axis, false, text));
    int n = tui_study_axis_ticks(axis, rows / TICK_ROWS, tick), before = rows - 1;
    for (int i = 0; i < n; i++) {
        int row = rows - 1 - column_of(axis, tick[i], rows);
        if (row < 2 || row > before - 2)
            continue;
        tui_area_text(area, x, y + row, STYLE_DIM, label(text, tick[i]));
        before = row;
    }
}

void panel_study_legend(const struct plot_scene *plot, int y, const char *words)
{
    const struct area *body = plot->body;

    if (words[0] && y < body->height)
        tui_area_text_cut(body, 1, y, body->width - 1, STYLE_DIM, words);
}

/* "68 of 82 trials", at the right of the rule: so many are in it. */
static void draw_count(const struct area *area, const char *title, const struct plot_scene *plot)
{
    int room = area->width - cli_text_width(title) - RULE_COLUMNS, n = plot->count.n[OMITTED_NOT];
    char words[48];

    if (plot->freshness != FRESH) /* its age is there */
        return;
    snprintf(words, sizeof(words), " %d of %d trials ", n, plot->page->n_trials);
    if (cli_text_width(words) > room)
        snprintf(words, sizeof(words), " %d of %d ", n, plot->page->n_trials);
    if (cli_text_width(words) <= room)
        tui_area_text_right(area, area->width - 1, 0, STYLE_DIM, words);
}

/* With the parameters' names cut where the title would have more than `columns`. */
static void make_title(struct canvas *canvas, char *buf, size_t size, const struct scene *scene,
                       const struct plot_scene *plot, const struct tui_study_page *page, int columns)
{
    static const char slice[] = "Slice of ", contour[] = "Contour: ";
    char first[96], second[96];
    const char *param = plot->param >= 0 ? page->params[plot->param] : "no parameter";
    const char *other = plot->second >= 0 ? page->params[plot->second] : "none";
    int room = columns - (int)sizeof(contour) - 1, half = room / 2;

    switch (scene->view->study_plot) {
    case PLOT_SLICE:
        panel_frame_middle(canvas, first, sizeof(first), param, columns - (int)sizeof(slice) + 1);
        snprintf(buf, size, "%s%s", slice, first);
        break;
    case PLOT_CONTOUR: /* a short name leaves its room to the other */
        panel_frame_middle(canvas, second, sizeof(second), other,
                           cli_text_width(param) < half ? room - cli_text_width(param) : half);
        panel_frame_middle(canvas, first, sizeof(first), param, room - cli_text_width(second));
        snprintf(buf, size, "%s%s, %s", contour, first, second);
        break;
    case PLOT_HISTOGRAM:
        snprintf(buf, size, "Values%s", page && page->study.n_objectives > 1 ? ", first objective" : "");
        break;
    default:
        snprintf(buf, size, "Parallel coordinates");
    }
}

void panel_study_plot(const struct area *area, const struct scene *scene)
{
    static void (*const draw[STUDY_PLOTS])(struct plot_scene *) = {[PLOT_SLICE] = panel_study_slice,
                                                                   [PLOT_HISTOGRAM] = panel_study_histogram,
                                                                   [PLOT_CONTOUR] = panel_study_contour,
                                                                   [PLOT_PARALLEL] = panel_study_parallel};
    const struct tui_study_page *page, *known = tui_view_study_page(scene->view, scene->model);
    enum study_plot which = scene->view->study_plot;
    struct plot_scene plot = {
        .freshness = tui_model_studies_freshness(scene->model, scene->now), .param = -1, .second = -1};
    char title[256];

    int count = known ? snprintf(NULL, 0, " %d of %d ", known->n_trials, known->n_trials) : 0;
    if (known) {
        plot.rank = tui_study_keys_rank(scene->view, known);
        plot.param = tui_study_rows_param(known, plot.rank);
        plot.second = tui_study_rows_param(known, tui_study_keys_second(scene->view, known));
    }
    make_title(area->canvas, title, sizeof(title), scene, &plot, known, area->width - RULE_COLUMNS - count);
    struct area body = panel_study_frame(area, scene, PANEL_IMPORTANCE, title, &page);
    if (!page)
        return;
    bool gone = plot.freshness == GONE, bare = which != PLOT_HISTOGRAM && plot.param < 0;
    if (gone || bare || (which == PLOT_CONTOUR && plot.second < 0)) {
        panel_frame_empty(&body, gone   ? "-"
                                 : bare ? "no parameters"
                                        : "n/a: one parameter, a contour is of two");
        return;
    }
    plot.page = page;
    plot.body = &body;
    draw[which](&plot);
    if (plot.count.n[OMITTED_NOT] == 0)
        panel_frame_empty(&body, which == PLOT_SLICE ? "no trial has a value" : "no trial has completed");
    draw_count(area, title, &plot);
}
