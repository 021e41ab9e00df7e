/* All trials as rows, a column a parameter: its value, and its place in the range that it was drawn from. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/panel/list.h"
#include "tui/panel/study_words.h"
#include "tui/study_rows.h"

enum {
    NAME_COLUMNS = 7,
    STATE_COLUMNS = 6,
    VALUE_COLUMNS = 8,
    TIME_COLUMNS = 8,
    WORKER_COLUMNS = 14,
    WORKER_FROM = 130, /* columns of the panel from which on workers are named */
    CELL_COLUMNS = STUDY_CELL_COLUMNS,
    MARK_COLUMNS = 5, /* of the range */
    PARAM_COLUMNS = CELL_COLUMNS + 1 + MARK_COLUMNS,
    PARAMS_MAX = 64,
};

/* A range as a short line with the value's place on it. */
static void mark(const struct area *area, int x, int y, double place, enum style style)
{
    bool plain = area->canvas->glyphs == GLYPHS_ASCII;

    if (isnan(place))
        return;
    tui_area_line(area, x, y, MARK_COLUMNS, STYLE_DIM, plain ? L'-' : L'─');
    tui_area_char(area, x + (int)lround(place * (MARK_COLUMNS - 1)), y, style, plain ? L'|' : L'┃');
}

struct trials_grid {
    const struct area *area;
    const struct scene *scene;
    const struct tui_study_page *page;
    int values; /* columns of the value */
    bool worker;
    int params[PARAMS_MAX], n_params; /* that fit */
};

static void right(const struct area *area, int x, int width, int y, enum style style, const char *text)
{
    if (cli_text_width(text) <= width)
        tui_area_text_right(area, x + width, y, style, text);
    else
        tui_area_text_cut(area, x, y, width, style, text);
}

static void labels(const struct trials_grid *grid)
{
    const struct view *view = grid->scene->view;
    const char *sorted = tui_study_rows_name(grid->page, view->trial_sort);
    char text[160];
    int x = 1 + NAME_COLUMNS + 1;

    tui_area_text(grid->area, 1, 0, STYLE_DIM, "trial");
    tui_area_text(grid->area, x, 0, STYLE_DIM, "state");
    x += STATE_COLUMNS + 1;
    right(grid->area, x, grid->values, 0, STYLE_DIM,
          grid->page->study.n_objectives == 1 ? "value" : "values");
    x += grid->values + 1;
    right(grid->area, x, TIME_COLUMNS, 0, STYLE_DIM, "duration");
    x += TIME_COLUMNS + 1;
    if (grid->worker) {
        tui_area_text(grid->area, x, 0, STYLE_DIM, "worker");
        x += WORKER_COLUMNS + 1;
    }
    for (int i = 0; i < grid->n_params; i++, x += PARAM_COLUMNS + 1) {
        const char *name = grid->page->params[grid->params[i]];
        snprintf(text, sizeof(text), "%.150s", name);
        tui_area_text_cut(grid->area, x, 0,
                          PARAM_COLUMNS < cli_text_width(text) ? PARAM_COLUMNS : cli_text_width(text),
                          strcmp(name, sorted) == 0 ? STYLE_STRONG : STYLE_DIM, text);
    }
}

static void row(const struct trials_grid *grid, int y, const struct tui_study_trial *trial, bool best)
{
    const struct tui_study_page *page = grid->page;
    enum freshness freshness = tui_model_trial_freshness(trial, grid->scene->now);
    enum style style, plain = trial->state == TRIAL_PRUNED || trial->state == TRIAL_FAIL || freshness != FRESH
                                  ? STYLE_DIM
                                  : STYLE_NORMAL;
    char text[256], age[FORMAT_MAX];
    int x = 1;

    tui_area_text_cut(grid->area, x, y, NAME_COLUMNS, best ? STYLE_STRONG : plain,
                      tui_study_trial_name(page, trial, text, sizeof(text)));
    x += NAME_COLUMNS + 1;
    const char *state = panel_study_trial_state(trial, grid->scene->now, &style);
    tui_area_text(grid->area, x, y, style, state);
    x += STATE_COLUMNS + 1;
    if (trial->values)
        panel_study_values(text, sizeof(text), page, trial);
    else if (!isnan(tui_study_trial_value(trial)) && freshness != GONE) /* so far */
        tui_study_number(text, sizeof(text), tui_study_trial_value(trial));
    else
        snprintf(text, sizeof(text), "-");
    right(grid->area, x, grid->values, y, best ? STYLE_STRONG : plain, text);
    x += grid->values + 1;
    int64_t ms = tui_study_trial_duration_ms(trial, grid->scene->now.wall_ns / 1000);
    right(grid->area, x, TIME_COLUMNS, y, STYLE_DIM, ms < 0 ? "-" : cli_format_age(age, ms));
    x += TIME_COLUMNS + 1;
    if (grid->worker) {
        const char *worker = trial->worker[0] ? trial->worker : "-";
        int width = cli_text_width(worker);
        tui_area_text_cut(grid->area, x, y, width < WORKER_COLUMNS ? width : WORKER_COLUMNS, STYLE_DIM,
                          worker);
        x += WORKER_COLUMNS + 1;
    }
    for (int i = 0; i < grid->n_params; i++, x += PARAM_COLUMNS + 1) {
        const struct tui_study_cell *cell = &trial->cells[grid->params[i]];
        tui_study_cell_text(page, cell, text, sizeof(text));
        right(grid->area, x, CELL_COLUMNS, y, text[0] ? plain : STYLE_DIM, text[0] ? text : "-");
        mark(grid->area, x + CELL_COLUMNS + 1, y, tui_study_cell_place(page, cell),
             best ? STYLE_STRONG : STYLE_CHART);
    }
}

/* "Trials (3 of 40) by value", as panel_list_frame() has it. */
static void title_words(const struct scene *scene, const struct tui_study_page *page, int n, char *buf,
                        size_t size)
{
    const struct view *view = scene->view;
    const char *sorted = tui_study_rows_name(page, view->trial_sort);
    const char *inverted = view->trial_invert ? ", inverted" : "";
    int cursor = panel_frame_window(scene, PANEL_TRIALS, n, 1).cursor;
    char chosen[24] = "";

    if (cursor >= 0)
        snprintf(chosen, sizeof(chosen), "%d of ", cursor + 1);
    if (view->prompt != PROMPT_FILTER && !view->trial_filter[0])
        snprintf(buf, size, "Trials (%s%d) by %.40s%s", chosen, n, sorted, inverted);
    else
        snprintf(buf, size, "Trials (%s%d filtered, %d in all) by %.40s%s  /%.39s", chosen, n, page->n_trials,
                 sorted, inverted, view->trial_filter);
}

void panel_trials(const struct area *area, const struct scene *scene)
{
    const struct tui_study_page *page = tui_view_study_page(scene->view, scene->model);
    const struct view *view = scene->view;
    const struct tui_study_trial *const *rows = NULL;
    char title[160] = "Trials", sentence[PANEL_SENTENCE_MAX];
    int n = 0;

    if (page) {
        rows = tui_study_rows(page, view->trial_sort, view->trial_invert, view->trial_filter, &n);
        title_words(scene, page, n, title, sizeof(title));
    }
    struct area body = panel_study_frame(area, scene, PANEL_TRIALS, title, &page);
    if (!page)
        return;
    if (!rows || n == 0 || tui_model_studies_freshness(scene->model, scene->now) == GONE) {
        panel_frame_empty(&body, page->n_trials == 0 ? "no trials yet"
                                 : n == 0            ? panel_frame_sentence(
                                                           scene, "no trial has that: `/` another, or nothing", sentence)
                                          : "-");
        return;
    }
    const bool heads = body.height > 1;
    const struct window window = panel_frame_window(scene, PANEL_TRIALS, n, body.height - heads);
    const struct area rows_area = tui_area_part(&body, 0, heads, body.width, body.height - heads);
    panel_list_bar(&rows_area, &window, n);
    body.width -= body.width > 1 && n > rows_area.height; /* the bar's */
    struct trials_grid grid = {.area = &body,
                               .scene = scene,
                               .page = page,
                               .values =
                                   VALUE_COLUMNS * (page->study.n_objectives < 2   ? 1
                                                    : page->study.n_objectives < 4 ? page->study.n_objectives
                                                                                   : 3),
                               .worker = body.width >= WORKER_FROM};
    int fixed = 1 + NAME_COLUMNS + STATE_COLUMNS + grid.values + TIME_COLUMNS + 4 +
                (grid.worker ? WORKER_COLUMNS + 1 : 0);
    int room = (body.width - fixed + 1) / (PARAM_COLUMNS + 1);
    room = room < 0 ? 0 : room > PARAMS_MAX ? PARAMS_MAX : room;
    grid.n_params = tui_study_rows_columns(page, view->trial_sort, grid.params, room);
    if (heads)
        labels(&grid);
    const char *best_study = page->study.have_best ? page->members[page->study.best_member] : "";
    for (int i = window.first; i < window.end; i++) {
        int y = heads + i - window.first;
        bool best = rows[i]->number == page->study.best_number &&
                    strcmp(page->members[rows[i]->member], best_study) == 0;
        row(&grid, y, rows[i], best);
        panel_frame_row(&body, y, &window, i);
    }
}
