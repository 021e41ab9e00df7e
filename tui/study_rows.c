#include "tui/study_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tui/list_held.h"

int tui_study_rows_param(const struct tui_study_page *page, int rank)
{
    return rank >= 0 && rank < page->n_params ? page->ranked[rank] : -1;
}

int tui_study_rows_sorts(const struct tui_study_page *page)
{
    return SORT_PARAMS + page->n_params;
}

int tui_study_rows_columns(const struct tui_study_page *page, int sort, int *ret, int cap)
{
    int n = 0, first = sort >= SORT_PARAMS ? tui_study_rows_param(page, sort - SORT_PARAMS) : -1;

    if (first >= 0 && n < cap)
        ret[n++] = first;
    for (int i = 0; i < page->n_params && n < cap; i++)
        if (page->ranked[i] != first)
            ret[n++] = page->ranked[i];
    return n;
}

const char *tui_study_rows_name(const struct tui_study_page *page, int sort)
{
    static const char *const names[SORT_PARAMS] = {"newest",   "value",   "state",
                                                   "duration", "started", "ended"};

    if (page && sort >= SORT_PARAMS && tui_study_rows_param(page, sort - SORT_PARAMS) >= 0)
        return page->params[tui_study_rows_param(page, sort - SORT_PARAMS)];
    return names[sort > 0 && sort < SORT_PARAMS ? sort : SORT_NEWEST];
}

/* ---- The filter. ---- */

const char *tui_study_rows_state(const struct tui_study_trial *trial)
{
    static const char *const words[TRIAL_STATES] = {[TRIAL_RUNNING] = "RUN",
                                                    [TRIAL_COMPLETE] = "ok",
                                                    [TRIAL_PRUNED] = "pruned",
                                                    [TRIAL_FAIL] = "FAIL",
                                                    [TRIAL_WAITING] = "wait"};

    return trial->violation > 0 && trial->state == TRIAL_COMPLETE ? "infs" : words[trial->state];
}

/* The columns of trials that a filter may name. */
enum trial_column { VALUE, DURATION, TRIES, STARTED, ENDED, TRIAL, STATE, WORKER, FAILURE, COLUMNS };

static const char *const column_names[COLUMNS] = {"value", "duration", "tries",  "started", "ended",
                                                  "trial", "state",    "worker", "failure"};

const char *tui_study_rows_filter(const struct tui_study_page *page, int i)
{
    if (i < COLUMNS)
        return column_names[i];
    const int param = tui_study_rows_param(page, i - COLUMNS);
    return param >= 0 ? page->params[param] : NULL;
}

static enum trial_column column_of(const struct db_list_filter *filter)
{
    int i = 0;

    while (i < COLUMNS && !db_list_filter_names(filter, column_names[i]))
        i++;
    return (enum trial_column)i;
}

/* The parameter that the words before the sign name; -1: none, or several. */
static int param_of(const struct tui_study_page *page, const struct db_list_filter *filter)
{
    int found = -1;

    for (int i = 0; i < page->n_params; i++)
        if (db_list_filter_names(filter, page->params[i]))
            return i;
    for (int i = 0; filter->name > 0 && i < page->n_params; i++) {
        const char *at = memmem(page->params[i], strlen(page->params[i]), filter->words, filter->name);
        if (at && found >= 0)
            return -1;
        found = at ? i : found;
    }
    return found;
}

static bool is_choice(const struct tui_study_page *page, const struct tui_study_cell *cell)
{
    return !isnan(cell->value) && page->distributions[cell->distribution].kind == DISTRIBUTION_CATEGORICAL;
}

static const enum db_list_value column_values[COLUMNS] = {
    [VALUE] = DB_LIST_NUMBER, [DURATION] = DB_LIST_SPAN, [TRIES] = DB_LIST_NUMBER,
    [STARTED] = DB_LIST_TIME, [ENDED] = DB_LIST_TIME,
};

bool tui_study_rows_names(const struct tui_study_page *page, const struct db_list_filter *filter,
                          enum db_list_value *ret)
{
    const enum trial_column column = column_of(filter);
    const int param = column < COLUMNS ? -1 : param_of(page, filter);

    *ret = column < COLUMNS ? column_values[column] : DB_LIST_NUMBER;
    for (int i = 0; param >= 0 && i < page->n_trials && *ret != DB_LIST_TEXT; i++)
        if (is_choice(page, &page->trials[i].cells[param]))
            *ret = DB_LIST_TEXT;
    return column < COLUMNS || param >= 0;
}

static double time_ns(int64_t us)
{
    return us == STUDY_NO_TIME ? NAN : (double)us * 1000;
}

static bool has_time(int64_t us, const char *words)
{
    return us != STUDY_NO_TIME && tui_list_held_time(us * 1000, words);
}

static double number_of(const struct tui_study_trial *trial, enum trial_column column)
{
    const int64_t ms = tui_study_trial_duration_ms(trial, 0);

    switch (column) {
    case VALUE:
        return tui_study_trial_value(trial);
    case DURATION:
        return trial_state_finished(trial->state) && ms >= 0 ? (double)ms / 1000 : NAN;
    case TRIES:
        return trial->retries;
    case STARTED:
        return time_ns(trial->started_us);
    case ENDED:
        return time_ns(trial->completed_us);
    default:
        return NAN;
    }
}

/* A choice that is a number is compared as one, where the filter has one too. */
static bool choice_matches(const char *choice, const struct db_list_filter *filter)
{
    const struct db_list_filter itself = {.op = '=', .words = choice, .value = choice};

    if (!choice[0] || db_list_filter_wrong(&itself, DB_LIST_NUMBER))
        return choice[0] && strcasestr(choice, filter->value);
    return filter->value[0] && !db_list_filter_wrong(filter, DB_LIST_NUMBER)
               ? db_list_filter_compares(filter, DB_LIST_NUMBER, strtod(choice, NULL))
               : strcasestr(choice, filter->value) != NULL;
}

/* Of a column, or of a parameter, which the filter names. Words of the state, the worker, the failure, a
 * choice are in its text; numbers are compared. */
static bool column_matches(const struct tui_study_page *page, const struct tui_study_trial *trial,
                           const struct db_list_filter *filter, enum trial_column column, int param)
{
    const bool words =
        param >= 0 ? is_choice(page, &trial->cells[param]) : column_values[column] == DB_LIST_TEXT;
    const enum db_list_value value = param >= 0 || words ? DB_LIST_NUMBER : column_values[column];
    char text[128];

    if (filter->op != '=' || !words)
        return tui_list_held_value(filter, value,
                                   param >= 0 ? trial->cells[param].value : number_of(trial, column));
    switch (column) {
    case STATE:
        return strcasestr(study_trial_state_name(trial->state), filter->value) ||
               strcasestr(tui_study_rows_state(trial), filter->value);
    case WORKER:
        return strcasestr(trial->worker, filter->value);
    case FAILURE:
        return trial->failure && strcasestr(trial->failure, filter->value);
    case TRIAL:
        return strcasestr(tui_study_trial_name(page, trial, text, sizeof(text)), filter->value);
    default:
        return choice_matches(tui_study_cell_text(page, &trial->cells[param], text, sizeof(text)), filter);
    }
}

static bool matches(const struct tui_study_page *page, const struct tui_study_trial *trial,
                    const char *filter)
{
    char name[32], cell[128], text[256];

    tui_study_trial_name(page, trial, name, sizeof(name));
    if (strcasestr(name, filter) || strcasestr(study_trial_state_name(trial->state), filter) ||
        strcasecmp(tui_study_rows_state(trial), filter) == 0 || strcasestr(trial->worker, filter) ||
        (trial->failure && strcasestr(trial->failure, filter)) || has_time(trial->started_us, filter) ||
        has_time(trial->completed_us, filter))
        return true;
    for (int i = 0; i < page->n_params; i++) {
        tui_study_cell_text(page, &trial->cells[i], cell, sizeof(cell));
        snprintf(text, sizeof(text), "%.120s=%s", page->params[i], cell);
        if (cell[0] && strcasestr(text, filter))
            return true;
    }
    return false;
}

bool tui_study_rows_match(const struct tui_study_page *page, const struct tui_study_trial *trial,
                          const char *text)
{
    const struct db_list_filter filter = db_list_filter_parse(text);
    const enum trial_column column = filter.op ? column_of(&filter) : COLUMNS;
    const int param = filter.op && column == COLUMNS ? param_of(page, &filter) : -1;

    if (column < COLUMNS || param >= 0)
        return column_matches(page, trial, &filter, column, param) != filter.inverse;
    if (filter.op && db_list_filter_named(&filter))
        return false;
    return !filter.words[0] || matches(page, trial, filter.words) != filter.inverse;
}

/* ---- The order. ---- */

struct keyed {
    const struct tui_study_trial *trial;
    int rank;   /* least first, whichever way the keys go */
    double key; /* least first; NaN last */
    bool known;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *p = a, *q = b;

    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    if (p->known != q->known)
        return p->known ? -1 : 1;
    if (p->known && p->key != q->key)
        return p->key < q->key ? -1 : 1;
    if (p->trial->number != q->trial->number)
        return p->trial->number > q->trial->number ? -1 : 1;
    return p->trial->member - q->trial->member;
}

/* By value: first those with a result, then those that were pruned, then those that violate constraints,
 * then those without a result. */
static int rank_of(const struct tui_study_trial *trial, int sort)
{
    if (sort != SORT_VALUE)
        return 0;
    if (trial->state != TRIAL_COMPLETE && trial->state != TRIAL_PRUNED)
        return 3;
    if (trial->violation > 0)
        return 2;
    return trial->state == TRIAL_PRUNED;
}

static double key_of(const struct tui_study_page *page, const struct tui_study_trial *trial, int sort,
                     int param)
{
    static const int states[TRIAL_STATES] = {
        [TRIAL_RUNNING] = 0, [TRIAL_WAITING] = 1, [TRIAL_COMPLETE] = 2, [TRIAL_PRUNED] = 3, [TRIAL_FAIL] = 4};

    if (sort == SORT_VALUE) {
        double value = tui_study_trial_value(trial);
        return page->study.directions[0] == STUDY_MAXIMIZE ? -value : value;
    }
    if (sort == SORT_STATE)
        return states[trial->state];
    if (sort == SORT_DURATION) {
        int64_t ms = trial_state_finished(trial->state) ? tui_study_trial_duration_ms(trial, 0) : -1;
        return ms < 0 ? NAN : -(double)ms;
    }
    if (sort == SORT_STARTED || sort == SORT_ENDED)
        return -time_ns(sort == SORT_STARTED ? trial->started_us : trial->completed_us);
    if (param >= 0)
        return trial->cells[param].value;
    return trial->state == TRIAL_RUNNING ? 0 : 1; /* equal keys: by number, newest first */
}

static bool make(const struct tui_study_page *page, struct tui_study_order *order)
{
    int param = order->sort >= SORT_PARAMS ? tui_study_rows_param(page, order->sort - SORT_PARAMS) : -1,
        n = 0;
    struct keyed *keyed = malloc(((size_t)page->n_trials + 1) * sizeof(*keyed));
    const struct tui_study_trial **rows = malloc(((size_t)page->n_trials + 1) * sizeof(*rows));

    if (!keyed || !rows) {
        free(keyed);
        free(rows);
        return false;
    }
    for (int i = 0; i < page->n_trials; i++) {
        const struct tui_study_trial *trial = &page->trials[i];
        if (!tui_study_rows_match(page, trial, order->filter))
            continue;
        double key = key_of(page, trial, order->sort, param);
        keyed[n++] = (struct keyed){trial, rank_of(trial, order->sort),
                                    order->invert && order->sort > SORT_NEWEST ? -key : key, !isnan(key)};
    }
    qsort(keyed, (size_t)n, sizeof(*keyed), by_key);
    for (int i = 0; i < n; i++)
        rows[order->invert && order->sort <= SORT_NEWEST ? n - 1 - i : i] = keyed[i].trial;
    free(keyed);
    order->rows = rows;
    order->n = n;
    return true;
}

const struct tui_study_trial *const *tui_study_rows(const struct tui_study_page *page, int sort, bool invert,
                                                    const char *filter, int *ret_n)
{
    struct tui_study_order *order = page->order;

    *ret_n = 0;
    if (!order->made || order->sort != sort || order->invert != invert ||
        strcmp(order->filter, filter) != 0) {
        free(order->rows);
        *order = (struct tui_study_order){.sort = sort, .invert = invert};
        snprintf(order->filter, sizeof(order->filter), "%s", filter);
        order->made = make(page, order);
    }
    if (!order->made)
        return NULL;
    *ret_n = order->n;
    return order->rows;
}
