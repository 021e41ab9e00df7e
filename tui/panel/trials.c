/* All trials as rows, a column a parameter: its value, and its place in the range that it was drawn from. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/panel/list.h"
#include "tui/panel/study_words.h"
#include "tui/study_rows.h"

/* As tui_list_columns() has them. */
enum { NAME, STATE, VALUE, DURATION, STARTED, ENDED, TRIES, WORKER, FAILURE, PARAMETERS, FIXED };

enum {
    WORKER_FROM = 130, /* columns of the panel from which on workers are named, unless they are chosen */
    CELL_COLUMNS = STUDY_CELL_COLUMNS,
    MARK_COLUMNS = 5, /* of the range */
    PARAM_COLUMNS = CELL_COLUMNS + 1 + MARK_COLUMNS,
    PARAMS_MAX = COLUMNS_MAX - FIXED,
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
    struct area body; /* with the labels */
    const struct scene *scene;
    const struct tui_study_page *page;
    struct column columns[COLUMNS_MAX]; /* the fixed ones, then parameters */
    int params[PARAMS_MAX], n_params;
    struct table table;
};

/* The parameters as columns: those that are chosen by their names, with `all` then the others; one of these
 * that is sorted by is the first. */
static void put_params(struct trials_grid *grid, bool all)
{
    const struct view *view = grid->scene->view;
    const char *choice = view->settings.columns[LIST_TRIALS];
    const int sorted = tui_study_rows_param(grid->page, view->lists[LIST_TRIALS].sort - SORT_PARAMS);

    for (int pass = 0; pass < (all ? 3 : 2); pass++)
        for (int i = 0; i < grid->page->n_params && grid->n_params < PARAMS_MAX; i++) {
            const int param = grid->page->ranked[i];
            const bool chosen = tui_list_columns_param(choice, grid->page->params[param]);
            if ((all || chosen) && pass == (param == sorted ? 0 : chosen ? 1 : 2))
                grid->params[grid->n_params++] = param;
        }
}

/* What is chosen; of parameters as many as there are, of which the last are left out first. */
static void lay_out(struct trials_grid *grid, bool heads)
{
    const struct view *view = grid->scene->view;
    const int objectives = grid->page->study.n_objectives;
    int n = panel_list_columns(grid->scene, LIST_TRIALS, grid->columns), used = 0;
    const bool usual = strcmp(view->settings.columns[LIST_TRIALS], LIST_COLUMNS_AUTO) == 0;

    grid->columns[VALUE].width *= objectives < 2 ? 1 : objectives < 4 ? objectives : 3;
    if (objectives > 1)
        grid->columns[VALUE].label = "values";
    if (usual && grid->body.width < WORKER_FROM)
        grid->columns[WORKER].rank = 0;
    const int rank = grid->columns[PARAMETERS].rank;
    grid->columns[PARAMETERS].rank = 0;
    put_params(grid, rank > 0);
    for (int i = 0; i < grid->n_params; i++)
        grid->columns[n++] = (struct column){"", PARAM_COLUMNS, false, FIXED + i};
    for (int i = 0; i < n; i++) {
        used += grid->columns[i].rank > 0 ? grid->columns[i].width + 1 : 0;
        if (!heads)
            grid->columns[i].label = "";
    }
    if (used < grid->body.width) /* they stand together */
        grid->body.width = used;
    grid->table = panel_frame_table(&grid->body, -1, grid->columns, n);
}

static void labels(const struct trials_grid *grid)
{
    const char *sorted = tui_lists_sorted(grid->scene->view, grid->scene->model, LIST_TRIALS);
    char text[160];

    for (int i = 0; i < grid->n_params; i++) {
        const char *name = grid->page->params[grid->params[i]];
        int x = grid->table.x[FIXED + i];
        if (x < 0)
            continue;
        snprintf(text, sizeof(text), "%.150s", name);
        tui_area_text_cut(&grid->body, x, 0,
                          PARAM_COLUMNS < cli_text_width(text) ? PARAM_COLUMNS : cli_text_width(text),
                          strcmp(name, sorted) == 0 ? STYLE_STRONG : STYLE_DIM, text);
    }
}

/* "08-08 14:02" */
static const char *when(char buf[static FORMAT_MAX], int64_t us)
{
    char text[FORMAT_MAX];

    if (us == STUDY_NO_TIME)
        return "-";
    snprintf(buf, FORMAT_MAX, "%.11s", cli_format_time(text, us * 1000) + 5);
    return buf;
}

static void parameters(const struct trials_grid *grid, int y, const struct tui_study_trial *trial,
                       enum style plain, bool best)
{
    char text[256];

    for (int i = 0; i < grid->n_params; i++) {
        const struct tui_study_cell *cell = &trial->cells[grid->params[i]];
        const int x = grid->table.x[FIXED + i];
        if (x < 0)
            continue;
        tui_study_cell_text(grid->page, cell, text, sizeof(text));
        if (cli_text_width(text) <= CELL_COLUMNS)
            tui_area_text_right(&grid->body, x + CELL_COLUMNS, y, text[0] ? plain : STYLE_DIM,
                                text[0] ? text : "-");
        else
            tui_area_text_cut(&grid->body, x, y, CELL_COLUMNS, plain, text);
        mark(&grid->body, x + CELL_COLUMNS + 1, y, tui_study_cell_place(grid->page, cell),
             best ? STYLE_STRONG : STYLE_CHART);
    }
}

static void row(const struct trials_grid *grid, int y, const struct tui_study_trial *trial, bool best)
{
    const struct tui_study_page *page = grid->page;
    const struct table *table = &grid->table;
    const struct moment now = grid->scene->now;
    enum freshness freshness = tui_model_trial_freshness(trial, now);
    enum style style, plain = trial->state == TRIAL_PRUNED || trial->state == TRIAL_FAIL || freshness != FRESH
                                  ? STYLE_DIM
                                  : STYLE_NORMAL;
    char text[256], age[FORMAT_MAX];

    panel_table_text(table, NAME, y, best ? STYLE_STRONG : plain,
                     tui_study_trial_name(page, trial, text, sizeof(text)));
    const char *state = panel_study_trial_state(trial, now, &style);
    panel_table_text(table, STATE, y, style, state);
    if (trial->values)
        panel_study_values(text, sizeof(text), page, trial);
    else if (!isnan(tui_study_trial_value(trial)) && freshness != GONE) /* so far */
        tui_study_number(text, sizeof(text), tui_study_trial_value(trial));
    else
        snprintf(text, sizeof(text), "-");
    panel_table_text(table, VALUE, y, best ? STYLE_STRONG : plain, text);
    int64_t ms = tui_study_trial_duration_ms(trial, now.wall_ns / 1000);
    panel_table_text(table, DURATION, y, STYLE_DIM, ms < 0 ? "-" : cli_format_age(age, ms));
    panel_table_text(table, STARTED, y, STYLE_DIM, when(age, trial->started_us));
    panel_table_text(table, ENDED, y, STYLE_DIM, when(age, trial->completed_us));
    panel_table_text(table, TRIES, y, STYLE_DIM, cli_format_count(age, trial->retries));
    panel_table_text(table, WORKER, y, STYLE_DIM, trial->worker[0] ? trial->worker : "-");
    panel_table_text(table, FAILURE, y, trial->failure ? STYLE_BAD : STYLE_DIM,
                     trial->failure ? trial->failure : "-");
    parameters(grid, y, trial, plain, best);
}

void panel_trials(const struct area *area, const struct scene *scene)
{
    const struct tui_study_page *page = tui_view_study_page(scene->view, scene->model);
    struct list_frame frame;

    if (!page) {
        panel_study_frame(area, scene, PANEL_TRIALS, "Trials", &page);
        return;
    }
    panel_list_frame(area, scene, PANEL_TRIALS, "Trials", "", &frame);
    panel_study_age(area, scene, "Trials", frame.title_end);
    const int n = (int)tui_list_count(&frame.rows.items);
    if (n > 0 && tui_model_studies_freshness(scene->model, scene->now) == GONE) {
        panel_frame_empty(&frame.body, "-");
        return;
    }
    panel_list_empty(&frame, scene, "no trials yet");
    const bool heads = frame.body.height > 1;
    const struct window window = panel_list_window(scene, &frame, PANEL_TRIALS, heads);
    const struct area whole = tui_area_part(area, 0, 1 + heads, area->width, area->height - 1 - heads);
    if (heads && area->width > 1) /* the bar begins below them */
        tui_area_char(area, area->width - 1, 1, STYLE_NORMAL, L' ');
    panel_list_bar(&whole, &window, n);
    struct trials_grid grid = {.body = frame.body, .scene = scene, .page = page};
    grid.body.width -= grid.body.width == area->width && area->width > 1 && n > whole.height; /* the bar's */
    const struct area body = grid.body;
    if (n == 0)
        return;
    lay_out(&grid, heads);
    if (heads)
        labels(&grid);
    const char *best_study = page->study.have_best ? page->members[page->study.best_member] : "";
    for (int i = window.first; i < window.end; i++) {
        const struct tui_study_trial *trial = tui_lists_row(&frame.rows, i);
        int y = heads + i - window.first;
        panel_frame_row(&body, y, &window, i);
        if (trial)
            row(&grid, y, trial,
                trial->number == page->study.best_number &&
                    strcmp(page->members[trial->member], best_study) == 0);
        else
            panel_list_unread(&frame, &body, y, i);
    }
}
