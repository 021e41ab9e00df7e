#include "tui/sweep_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "record/json.h"
#include "tui/press.h"

struct sweep_page *tui_sweep_page_create(const char *bars)
{
    struct sweep_page *page = calloc(1, sizeof(*page));

    if (page) {
        snprintf(page->bars, sizeof(page->bars), "%s", bars);
        page->wants = SWEEP_WANTS_READ;
    }
    return page;
}

void tui_sweep_page_destroy(struct sweep_page *page)
{
    if (!page)
        return;
    tui_sweep_list_finish(&page->list);
    tui_sweep_detail_finish(&page->detail);
    tui_sweep_form_destroy(page->form);
    json_decref(page->pending);
    free(page);
}

struct sweep_entry *tui_sweep_page_chosen(struct sweep_page *page)
{
    return tui_sweep_list_find(&page->list, page->chosen);
}

static struct sweep_list_view *view_of(struct sweep_page *page)
{
    return page->mode == SWEEP_LIST ? &page->of_list : &page->of_table;
}

static int *rows_of(const struct sweep_page *page, int *ret_n)
{
    return page->mode == SWEEP_LIST ? tui_sweep_page_entries(page, ret_n) : tui_sweep_page_rows(page, ret_n);
}

static void say(struct sweep_page *page, bool failed, const char *words)
{
    snprintf(page->words, sizeof(page->words), "%s", words);
    page->failed = failed;
}

/* The cursor at a row of those that are shown, or the nearest there is. */
static void go(struct sweep_page *page, int row)
{
    struct sweep_list_view *view = view_of(page);
    int n, *rows = rows_of(page, &n);

    view->row = row >= n ? n - 1 : row;
    view->row = view->row < 0 ? 0 : view->row;
    if (page->mode == SWEEP_LIST)
        snprintf(page->chosen, sizeof(page->chosen), "%s",
                 n > 0 ? page->list.entries[rows[view->row]].id : "");
    free(rows);
}

/* The cursor stays on the sweep that it was on. */
static void stay(struct sweep_page *page)
{
    int n, *rows = rows_of(page, &n), at = page->of_list.row;

    for (int i = 0; i < n && page->mode == SWEEP_LIST; i++)
        at = strcmp(page->list.entries[rows[i]].id, page->chosen) == 0 ? i : at;
    free(rows);
    go(page, page->mode == SWEEP_LIST ? at : view_of(page)->row);
}

/* ---- pages ---- */

static void open_list(struct sweep_page *page)
{
    page->mode = SWEEP_LIST;
    tui_sweep_detail_finish(&page->detail);
    stay(page);
}

static void read_detail(struct sweep_page *page)
{
    const struct sweep_entry *entry = tui_sweep_page_chosen(page);

    if (!entry || (entry->state != SWEEP_DONE && entry->state != SWEEP_STOPPED))
        tui_sweep_detail_finish(&page->detail);
    else if (strcmp(page->detail.id, entry->id) != 0 && entry->outcome.runs > 0)
        tui_sweep_detail_read(&page->detail, entry);
}

static void open_table(struct sweep_page *page)
{
    page->mode = SWEEP_TABLE;
    read_detail(page);
    page->of_table = (struct sweep_list_view){0};
}

static void open_map(struct sweep_page *page)
{
    const struct sweep_entry *entry = tui_sweep_page_chosen(page);
    int metric = entry ? backtest_sweep_metric_parse(entry->outcome.metric) : -1;

    if (page->detail.n_runs == 0) {
        say(page, true, "there is no map before the sweep has ended");
        return;
    }
    if (tui_sweep_map_open(&page->map, &page->detail, metric < 0 ? SWEEP_DSR : metric) < 0)
        say(page, true, "out of memory");
    else
        page->mode = SWEEP_MAP;
}

/* A new form, or of an entry its values. */
static void open_form(struct sweep_page *page, const struct sweep_entry *entry)
{
    if (entry || !page->form) {
        tui_sweep_form_destroy(page->form);
        page->form = tui_sweep_form_create(page->bars);
        page->plan = (struct sweep_form_plan){0};
    }
    if (!page->form) {
        say(page, true, "out of memory");
        return;
    }
    page->mode = SWEEP_FORM;
    if (!entry)
        return;
    tui_sweep_form_put(page->form, "strategy", tui_sweep_entry_field(entry, "strategy"));
    if (!tui_sweep_form_describe(page->form)) {
        page->wants |= SWEEP_WANTS_DESCRIPTION;
        json_decref(page->pending);
        page->pending = json_incref(entry->fields);
    }
    tui_sweep_form_load(page->form, entry->fields);
}

void tui_sweep_page_described(struct sweep_page *page, const char *report, const char *why)
{
    if (!page->form)
        return;
    if (!report)
        say(page, true, why);
    else if (!tui_sweep_form_take(page->form, report))
        say(page, true, page->form->words);
    else if (page->pending)
        tui_sweep_form_load(page->form, page->pending);
    json_decref(page->pending);
    page->pending = NULL;
}

static void open_run(struct sweep_page *page, const char *set)
{
    page->run_from = page->mode;
    page->mode = SWEEP_RUN;
    snprintf(page->run_set, sizeof(page->run_set), "%s", set);
    page->run.state = BACKTEST_NONE;
    page->wants |= SWEEP_WANTS_RUN;
}

static void open_row(struct sweep_page *page)
{
    int n, *rows = rows_of(page, &n);

    if (n > 0 && page->mode == SWEEP_LIST) {
        open_table(page);
    } else if (n > 0) {
        const struct sweep_row *row = &page->detail.rows[rows[page->of_table.row]];
        page->run_figures =
            (struct sweep_run_figures){row->sharpe, row->return_pct, row->drawdown_pct, row->trades};
        open_run(page, row->set);
    }
    free(rows);
}

static void open_cell(struct sweep_page *page)
{
    const struct sweep_cell *cell = tui_sweep_map_chosen(&page->map);
    char set[SWEEP_VALUES_MAX];

    if (cell->sets == 0) {
        say(page, false, "no set that was run is there");
        return;
    }
    const struct sweep_run_row *run = &page->detail.runs[cell->best];
    page->run_figures = (struct sweep_run_figures){run->metrics[SWEEP_SHARPE], run->metrics[SWEEP_RETURN],
                                                   run->metrics[SWEEP_MAX_DRAWDOWN], run->trades};
    open_run(page, tui_sweep_run_set(&page->detail, run, set));
}

/* ---- what acts ---- */

static void stop(struct sweep_page *page)
{
    const struct sweep_entry *entry = tui_sweep_page_chosen(page);

    if (entry && entry->state == SWEEP_RUNNING)
        page->wants |= SWEEP_WANTS_STOP;
    else
        say(page, false, "it does not run");
}

static void again(struct sweep_page *page)
{
    const struct sweep_entry *entry = tui_sweep_page_chosen(page);

    if (entry && (entry->state == SWEEP_STOPPED || entry->state == SWEEP_FAILED))
        page->wants |= SWEEP_WANTS_AGAIN;
    else
        say(page, false, entry ? "a sweep that was stopped, or has failed, continues" : "there is no sweep");
}

static void ask_remove(struct sweep_page *page)
{
    const struct sweep_entry *entry = tui_sweep_page_chosen(page);

    if (!entry || entry->state == SWEEP_RUNNING)
        say(page, false, entry ? "it runs: stop it first" : "there is no sweep");
    else
        page->asks = SWEEP_ASKS_REMOVE;
}

static void plan(struct sweep_page *page, bool starts)
{
    double sets = tui_sweep_form_sets(page->form);

    page->starts = false;
    if (isnan(sets))
        return;
    page->starts = starts;
    page->plan = (struct sweep_form_plan){.state = SWEEP_PLANNING, .sets = sets};
    page->wants |= SWEEP_WANTS_PLAN;
}

/* It takes longer than `papertape sweep` runs without a question. */
static void start(struct sweep_page *page)
{
    page->starts = false;
    if (page->plan.seconds > (double)page->plan.asks_above_s)
        page->asks = SWEEP_ASKS_LONG;
    else
        page->wants |= SWEEP_WANTS_START;
}

void tui_sweep_page_planned(struct sweep_page *page, const char *report, const char *why)
{
    if (page->plan.state != SWEEP_PLANNING) /* of a form that has changed since */
        return;
    json_t *object = report ? json_loads(report, 0, NULL) : NULL;
    const char *schema = json_string_value(json_object_get(object, "schema"));
    if (schema && strcmp(schema, "papertape.sweep_plan/1") == 0) {
        page->plan.state = SWEEP_PLANNED;
        page->plan.sets = record_json_number(object, "asked");
        page->plan.seconds = record_json_number(object, "seconds");
        page->plan.left = (int64_t)json_integer_value(json_object_get(object, "left"));
        page->plan.asks_above_s = (int64_t)json_integer_value(json_object_get(object, "asks_above_s"));
        if (page->starts)
            start(page);
    } else {
        page->plan.state = SWEEP_PLAN_FAILED;
        page->starts = false;
        cli_text_clean(page->plan.words, sizeof(page->plan.words),
                       why ? why : "how long it takes is not understood");
    }
    json_decref(object);
}

static void answer(struct sweep_page *page, int key)
{
    const enum sweep_question asked = page->asks;

    page->asks = SWEEP_ASKS_NOTHING;
    if (key != 'y')
        say(page, false, "nothing is done");
    else
        page->wants |= asked == SWEEP_ASKS_LONG ? SWEEP_WANTS_START : SWEEP_WANTS_REMOVE;
}

/* ---- keys ---- */

static bool moves(struct sweep_page *page, int height, int key)
{
    const int at = view_of(page)->row, by = height > 1 ? height : 1;

    if (key == PRESS_UP || key == 'k')
        go(page, at - 1);
    else if (key == PRESS_DOWN || key == 'j')
        go(page, at + 1);
    else if (key == PRESS_PAGE_UP)
        go(page, at - by);
    else if (key == PRESS_PAGE_DOWN)
        go(page, at + by);
    else if (key == PRESS_HOME || key == 'g')
        go(page, 0);
    else if (key == PRESS_END || key == 'G')
        go(page, INT32_MAX);
    else
        return false;
    return true;
}

/* Sort and filter, as of the other lists. */
static bool arranges(struct sweep_page *page, int key)
{
    struct sweep_list_view *view = view_of(page);
    char words[64];

    if (key == 'o') {
        const bool no_metric = page->mode == SWEEP_TABLE && !page->detail.has_metric;
        view->sort = (view->sort + 1) % tui_sweep_page_columns(page);
        view->sort += view->sort == 1 && no_metric; /* the metric is another column */
        view->invert = false;
    } else if (key == 'I') {
        view->invert = !view->invert;
    } else if (key == '/') {
        page->filtering = true;
        return true;
    } else {
        return false;
    }
    snprintf(words, sizeof(words), "sorted by %s%s", tui_sweep_page_sort(page),
             view->invert ? ", the other way round" : "");
    say(page, false, words);
    stay(page);
    return true;
}

static void press_filter(struct sweep_page *page, int key)
{
    struct sweep_list_view *view = view_of(page);

    if (key == PRESS_ESCAPE)
        view->filter[0] = '\0';
    if (key == PRESS_ESCAPE || key == PRESS_ENTER)
        page->filtering = false;
    else
        tui_line_edit_word(view->filter, sizeof(view->filter), ' ', key);
    stay(page);
}

static enum form_action press_list(struct sweep_page *page, int height, int key)
{
    if (moves(page, height, key) || arranges(page, key))
        return FORM_ACTION_NONE;
    switch (key) {
    case PRESS_ENTER:
        open_row(page);
        break;
    case 's':
        open_form(page, NULL);
        break;
    case 'r':
        if (tui_sweep_page_chosen(page))
            open_form(page, tui_sweep_page_chosen(page));
        break;
    case 'x':
        stop(page);
        break;
    case 'e':
        again(page);
        break;
    case 'd':
        ask_remove(page);
        break;
    case 'm':
        if (page->mode == SWEEP_LIST && tui_sweep_page_chosen(page))
            open_table(page);
        open_map(page);
        break;
    case 'q':
    case PRESS_ESCAPE:
        if (view_of(page)->filter[0] && key == PRESS_ESCAPE) {
            view_of(page)->filter[0] = '\0';
            stay(page);
        } else if (page->mode == SWEEP_LIST) {
            return FORM_ACTION_LEAVE;
        } else {
            open_list(page);
        }
        break;
    default:
        break;
    }
    return FORM_ACTION_NONE;
}

static enum form_action press_form(struct sweep_page *page, int key)
{
    struct sweep_form *form = page->form;
    char before[SWEEP_VALUE_MAX];
    const int row = form->row;

    snprintf(before, sizeof(before), "%s", form->fields[row].value);
    enum form_action action = tui_sweep_form_press(form, key);
    bool changed = strcmp(before, form->fields[row].value) != 0;
    if (changed)
        page->plan.state = SWEEP_UNPLANNED;
    const bool leaves = form->row != row || action == FORM_ACTION_CHECK || action == FORM_ACTION_SEND;
    if ((changed || leaves) && !tui_sweep_form_describe(form) && leaves)
        page->wants |= SWEEP_WANTS_DESCRIPTION;
    if (action == FORM_ACTION_LEAVE)
        open_list(page);
    else if (action == FORM_ACTION_CHECK || action == FORM_ACTION_SEND)
        plan(page, action == FORM_ACTION_SEND);
    else if (action == FORM_ACTION_HELP)
        return action;
    return FORM_ACTION_NONE;
}

static void turn_metric(struct sweep_page *page)
{
    page->map.metric = (page->map.metric + 1) % SWEEP_RUN_METRICS;
    if (tui_sweep_map_make(&page->map, &page->detail) < 0)
        say(page, true, "out of memory");
}

static void turn_axis(struct sweep_page *page, bool up, int by)
{
    tui_sweep_map_turn(&page->map, &page->detail, up, by);
    if (tui_sweep_map_make(&page->map, &page->detail) < 0)
        say(page, true, "out of memory");
}

/* Up is the greater value. */
static void move_cell(struct sweep_map *map, int right, int up)
{
    int column = map->column + right, row = map->row + up;

    map->column = column < 0 ? 0 : column >= map->along.n ? map->along.n - 1 : column;
    map->row = row < 0 ? 0 : row >= map->up.n ? map->up.n - 1 : row;
}

static void press_map(struct sweep_page *page, int key)
{
    const bool left = key == PRESS_LEFT || key == 'h', right = key == PRESS_RIGHT || key == 'l';
    const bool down = key == PRESS_DOWN || key == 'j', up = key == PRESS_UP || key == 'k';

    if (left || right || down || up)
        move_cell(&page->map, right - left, up - down);
    else if (key == '[' || key == ']')
        turn_axis(page, false, key == ']' ? 1 : -1);
    else if (key == '{' || key == '}')
        turn_axis(page, true, key == '}' ? 1 : -1);
    else if (key == 'i')
        turn_metric(page);
    else if (key == PRESS_ENTER)
        open_cell(page);
    else if (key == PRESS_ESCAPE || key == 'm' || key == 'q')
        page->mode = SWEEP_TABLE;
}

static void press_run(struct sweep_page *page, int key)
{
    if (key == 'x' && page->run.state == BACKTEST_RUNNING) {
        page->wants |= SWEEP_WANTS_NO_RUN;
    } else if (key == PRESS_ESCAPE || key == 'q') {
        page->wants |= SWEEP_WANTS_NO_RUN;
        page->mode = page->run_from;
    }
}

enum form_action tui_sweep_page_press(struct sweep_page *page, int height, int key)
{
    if (page->asks != SWEEP_ASKS_NOTHING) {
        answer(page, key);
        return FORM_ACTION_NONE;
    }
    page->words[0] = '\0';
    if (page->filtering) {
        press_filter(page, key);
        return FORM_ACTION_NONE;
    }
    if (key == PRESS_HELP || (key == '?' && page->mode != SWEEP_FORM))
        return FORM_ACTION_HELP;
    switch (page->mode) {
    case SWEEP_LIST:
    case SWEEP_TABLE:
        return press_list(page, height, key);
    case SWEEP_FORM:
        return press_form(page, key);
    case SWEEP_MAP:
        press_map(page, key);
        break;
    case SWEEP_RUN:
        press_run(page, key);
    }
    return FORM_ACTION_NONE;
}

void tui_sweep_page_paste(struct sweep_page *page, const int *keys, size_t n)
{
    if (page->mode == SWEEP_FORM && page->asks == SWEEP_ASKS_NOTHING) {
        tui_sweep_form_paste(page->form, keys, n);
        page->plan.state = SWEEP_UNPLANNED;
        tui_sweep_form_describe(page->form);
    }
    for (size_t i = 0; page->filtering && i < n; i++)
        press_filter(page, keys[i] < ' ' ? ' ' : keys[i]);
}

enum form_action tui_sweep_page_click(struct sweep_page *page, int height, int index)
{
    if (page->asks != SWEEP_ASKS_NOTHING || page->filtering)
        return FORM_ACTION_NONE;
    if (page->mode == SWEEP_MAP) {
        const int row = index / SWEEP_MAP_COLUMNS, column = index % SWEEP_MAP_COLUMNS;
        if (row == page->map.row && column == page->map.column)
            return tui_sweep_page_press(page, height, PRESS_ENTER);
        page->map.row = row < page->map.up.n ? row : page->map.row;
        page->map.column = column < page->map.along.n ? column : page->map.column;
    } else if (page->mode == SWEEP_FORM) {
        for (int n = page->form->n; n > 0 && page->form->row != index; n--)
            tui_sweep_page_press(page, height, PRESS_DOWN);
    } else if (page->mode != SWEEP_RUN) {
        if (view_of(page)->row == index)
            return tui_sweep_page_press(page, height, PRESS_ENTER);
        go(page, index);
    }
    return FORM_ACTION_NONE;
}

bool tui_sweep_page_types(const struct sweep_page *page)
{
    return page->filtering || page->mode == SWEEP_FORM;
}

void tui_sweep_page_read(struct sweep_page *page)
{
    if (page->mode == SWEEP_LIST) {
        stay(page);
    } else if (page->mode == SWEEP_TABLE) {
        read_detail(page);
        go(page, page->of_table.row);
    }
}
