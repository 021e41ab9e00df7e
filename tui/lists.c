#include "tui/lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "tui/model.h"

static const enum panel panels[LIST_ALL] = {
    [DB_LIST_ORDERS] = PANEL_ORDERS,    [DB_LIST_FILLS] = PANEL_FILLS,      [DB_LIST_ALERTS] = PANEL_ALERTS,
    [DB_LIST_LOG] = PANEL_LOG,          [DB_LIST_TRIPS] = PANEL_TRIPS,      [DB_LIST_LEDGER] = PANEL_LEDGER,
    [DB_LIST_BARS] = PANEL_BARS,        [LIST_TRAININGS] = PANEL_TRAININGS, [LIST_POLICIES] = PANEL_POLICIES,
    [LIST_POSITIONS] = PANEL_POSITIONS, [LIST_PRICES] = PANEL_PRICES,       [LIST_TRIALS] = PANEL_TRIALS,
};

int tui_lists_of(enum panel panel)
{
    int list = 0;

    while (list < LIST_ALL && panels[list] != panel)
        list++;
    return list;
}

enum panel tui_lists_panel(int list)
{
    return panels[list];
}

const char *tui_lists_sort(int list, int column)
{
    return list < DB_LISTS ? db_list_column((enum db_list)list, column) : tui_list_held_column(list, column);
}

int tui_lists_sorts(int list)
{
    return list < DB_LISTS ? db_list_columns((enum db_list)list) : tui_list_held_columns(list);
}

const char *tui_lists_sorted(const struct view *view, const struct model *model, int list)
{
    const int sort = view->lists[list].sort;

    return list < DB_LISTS ? tui_lists_sort(list, sort) : tui_list_held_sort(model, list, sort);
}

void tui_lists_sort_next(struct view *view, const struct model *model, int list)
{
    const int n = list < DB_LISTS ? tui_lists_sorts(list) : tui_list_held_sorts(model, list);

    view->lists[list].sort = (view->lists[list].sort + 1) % n;
}

/* Rows stand before the others in the usual order alone: any other has them where they belong. */
static bool has_heads(const struct list_choice *list)
{
    return list->sort == 0 && !list->invert && !list->filter[0];
}

static void put_head(struct lists_rows *rows, int64_t id, const void *row)
{
    if (rows->items.n_heads == LIST_HEADS_MAX)
        return;
    rows->heads[rows->items.n_heads] = row;
    rows->items.heads[rows->items.n_heads++] = id;
}

static void put_heads(const struct model *model, int list, struct lists_rows *rows)
{
    const struct status *status = &model->status;
    const struct history *h = &model->history;

    if (list == DB_LIST_ORDERS) {
        rows->live = status->n_orders;
        rows->externals = status->n_externals;
        for (int i = 0; i < status->n_orders; i++)
            put_head(rows, status->orders[i].id, NULL);
        for (int i = 0; i < status->n_externals; i++) /* they have no number here */
            put_head(rows, -1 - i, NULL);
    }
    for (int i = 0; list == DB_LIST_ALERTS && i < h->n_alerts; i++)
        if (h->alerts[i].unstored)
            put_head(rows, (int64_t)h->alerts[i].id, &h->alerts[i]);
}

static bool is_head(const struct list_items *items, int64_t id)
{
    for (int i = 0; id && i < items->n_heads; i++)
        if (items->heads[i] == id)
            return true;
    return false;
}

/* What the history has of a row of the list; NULL: nothing. */
static const void *history_row(const struct history *h, int list, int64_t id)
{
    for (int i = 0; list == DB_LIST_ORDERS && i < h->n_orders; i++)
        if (h->orders[i].id == id)
            return &h->orders[i];
    for (int i = 0; list == DB_LIST_ALERTS && i < h->n_alerts; i++)
        if (h->alerts[i].id == id)
            return &h->alerts[i];
    return NULL;
}

/* The others were read without what stood before them then: an order that has ended since, an alert that has
 * been stored since stays a row until they are read again. */
static void put_former(const struct model *model, int list, struct lists_rows *rows)
{
    for (const char *c = model->lists[list].without; *c && *c != ']';) {
        char *end;
        const int64_t id = strtoll(c + 1, &end, 10);
        const void *row = history_row(&model->history, list, id);
        if (row && !is_head(&rows->items, id))
            put_head(rows, id, row);
        c = end;
    }
}

/* What the history has, until the list has been read; of the ledger and of bars nothing. */
static void put_history(const struct model *model, int list, struct lists_rows *rows)
{
    const struct history *h = &model->history;
    const void *all[] = {
        [DB_LIST_ORDERS] = h->orders, [DB_LIST_FILLS] = h->fills, [DB_LIST_ALERTS] = h->alerts,
        [DB_LIST_LOG] = h->log,       [DB_LIST_TRIPS] = NULL, /* none before they have been read */
        [DB_LIST_LEDGER] = NULL,      [DB_LIST_BARS] = NULL};
    const int n[] = {[DB_LIST_ORDERS] = h->n_orders,
                     [DB_LIST_FILLS] = h->n_fills,
                     [DB_LIST_ALERTS] = h->n_alerts,
                     [DB_LIST_LOG] = h->n_log,
                     [DB_LIST_TRIPS] = 0,
                     [DB_LIST_LEDGER] = 0,
                     [DB_LIST_BARS] = 0};
    struct list_items *items = &rows->items;

    for (int i = 0; all[list] && i < n[list] && items->n < LIST_ROWS_MAX; i++) {
        int64_t id = list == DB_LIST_ORDERS   ? (int64_t)h->orders[i].id
                     : list == DB_LIST_FILLS  ? (int64_t)h->fills[i].id
                     : list == DB_LIST_ALERTS ? (int64_t)h->alerts[i].id
                                              : 0;
        if (is_head(items, id))
            continue;
        rows->unread[items->n] = NULL;
        rows->rows[items->n] = (const char *)all[list] + (size_t)i * tui_list_row_size(list);
        items->ids[items->n++] = id;
    }
    items->count = items->total = items->n;
    items->partial = list == DB_LIST_LEDGER || list == DB_LIST_BARS ||
                     n[list] >= (list == DB_LIST_LOG ? HISTORY_ROWS_MAX / 2 : HISTORY_ROWS_MAX);
}

/* Which part of a list is shown: the round trips of one account, the bars of the chart's symbol and
 * timeframe.
 */
static void put_part(const struct view *view, const struct model *model, struct db_list_query *query)
{
    if (query->list == DB_LIST_TRIPS)
        snprintf(query->account, sizeof(query->account), "%s", tui_view_trips_account(view, model));
    const struct status_symbol *symbol = query->list == DB_LIST_BARS ? tui_view_symbol(view, model) : NULL;
    if (symbol && bar_interval_parse(tui_view_timeframe(view, model, symbol), &query->interval_ns) == 0)
        memcpy(query->symbol, symbol->symbol, sizeof(query->symbol));
}

/* Were the rows read for another order or filter? The last of them is not the last to come. */
static bool is_pending(const struct list_choice *choice, const struct db_list_query *query)
{
    return choice->sort != query->sort || choice->invert != query->invert ||
           strcmp(choice->filter, query->filter) != 0;
}

/* Are rows shown that the filter of now may not leave: the answer to it has not come? */
static bool awaits_filter(const struct view *view, const struct model *model, int list)
{
    const struct list_rows *read = &model->lists[list];
    const char *filter = view->lists[list].filter;

    return filter[0] && !(read->have && strcmp(read->query.filter, filter) == 0);
}

/* The name that a list's row is chosen by; NULL: it is chosen by its number. */
static const char *chosen_name(const struct view *view, int list)
{
    return list == LIST_TRAININGS  ? view->training
           : list == LIST_POLICIES ? view->policy
           : list == LIST_PRICES   ? view->symbol
                                   : NULL;
}

/* Of a list that the model holds: the row that was chosen, whatever its filter; NULL: it is not there. */
static const void *held_row(const struct view *view, const struct model *model, int list)
{
    const char *name = chosen_name(view, list);
    const int64_t id = view->lists[list].id;

    if (list == LIST_TRIALS)
        return model->study_page && view->trial_study[0]
                   ? tui_study_page_trial(model->study_page, view->trial_study, view->trial)
                   : NULL;
    for (int i = 0; (name ? name[0] != '\0' : id != 0) && i < tui_list_held_total(model, list); i++) {
        const void *row = tui_list_held_row(model, list, i);
        if (name ? strcmp(tui_list_held_name(model, list, row), name) == 0
                 : tui_list_held_id(model, list, row) == id)
            return row;
    }
    return NULL;
}

/* The rows of such a list as they are chosen, for free(); of trials none while the study's page is not read.
 */
static const void **held_rows(const struct view *view, const struct model *model, int list, int *ret_n)
{
    *ret_n = 0;
    if (list == LIST_TRIALS && !tui_view_study_page(view, model))
        return NULL;
    return tui_list_held_rows(model, list, &view->lists[list], ret_n);
}

/* A row's place among some; -1: it is not one of them. */
static int place_in(const void *const *rows, int n, const void *row)
{
    for (int i = 0; row && i < n; i++)
        if (rows[i] == row)
            return i;
    return -1;
}

/* The rows that the model holds: of all of them those up to the cursor, as many as a screen has, and some
 * after it. */
static void put_held(const struct view *view, const struct model *model, int list, struct lists_rows *ret)
{
    struct list_items *items = &ret->items;
    int n = 0;
    const void **rows = held_rows(view, model, list, &n);
    int at = place_in(rows, n, held_row(view, model, list)), first;

    at = at >= 0 ? at : view->cursor[panels[list]];
    first = (at < n ? at : n) + LIST_AHEAD - LIST_ROWS_MAX;
    first = first > 0 ? first : 0;
    *items = (struct list_items){.first = first, .count = n, .total = tui_list_held_total(model, list)};
    ret->list = list;
    ret->have =
        list == LIST_TRIALS ? tui_view_study_page(view, model) != NULL : model->source != MODEL_NOTHING;
    ret->live = ret->externals = ret->former = 0;
    for (; items->n < LIST_ROWS_MAX && first + items->n < n; items->n++) {
        ret->rows[items->n] = rows[first + items->n];
        ret->unread[items->n] = NULL;
        items->ids[items->n] = tui_list_held_id(model, list, ret->rows[items->n]);
    }
    free(rows);
}

/* The choice of a list, with the number of the row that is chosen by its name. */
static struct list_choice choice_of(const struct view *view, const struct model *model, int list)
{
    struct list_choice choice = view->lists[list];
    const bool named = list == LIST_TRIALS || (list >= DB_LISTS && chosen_name(view, list));
    const void *row = named ? held_row(view, model, list) : NULL;

    if (named)
        choice.id = row ? tui_list_held_id(model, list, row) : 0;
    return choice;
}

void tui_lists_choose(struct view *view, const struct model *model, int list, const void *row)
{
    const char *name = row ? tui_list_held_name(model, list, row) : "";

    view->lists[list].id = row ? tui_list_held_id(model, list, row) : 0;
    if (list == LIST_TRIALS) {
        const int number = row ? ((const struct tui_study_trial *)row)->number : -1;
        if (number != view->trial || strcmp(view->trial_study, name) != 0)
            view->cursor[PANEL_TRIAL] = 0;
        snprintf(view->trial_study, sizeof(view->trial_study), "%s", name);
        view->trial = number;
    }
    if (list == LIST_TRAININGS)
        snprintf(view->training, sizeof(view->training), "%s", name);
    else if (list == LIST_POLICIES)
        snprintf(view->policy, sizeof(view->policy), "%s", name);
    else if (list == LIST_PRICES)
        snprintf(view->symbol, sizeof(view->symbol), "%s", name);
}

void tui_lists_rows(const struct view *view, const struct model *model, int list, struct lists_rows *ret)
{
    if (list >= DB_LISTS) {
        put_held(view, model, list, ret);
        return;
    }
    const struct list_rows *read = &model->lists[list];
    const struct db_list_window *w = &read->window;
    struct db_list_query part = {.list = (enum db_list)list};
    struct list_items *items = &ret->items;

    ret->list = list;
    put_part(view, model, &part);
    ret->have = read->have && strcmp(part.account, read->query.account) == 0 &&
                strcmp(part.symbol, read->query.symbol) == 0 && part.interval_ns == read->query.interval_ns;
    ret->live = ret->externals = items->n_heads = items->n = 0;
    items->first = w->first;
    items->count = w->count;
    items->total = w->total;
    items->partial = ret->have && (w->partial || is_pending(&view->lists[list], &read->query));
    if (has_heads(&view->lists[list]))
        put_heads(model, list, ret);
    ret->former = items->n_heads;
    if (ret->have && has_heads(&view->lists[list]))
        put_former(model, list, ret);
    if (!ret->have) {
        items->first = 0;
        put_history(model, list, ret);
        return;
    }
    for (int i = 0; i < w->n; i++) {
        if (is_head(items, w->ids[i])) { /* since it was read */
            items->count--;
            continue;
        }
        const bool bad = read->unread && read->unread[i][0];
        ret->rows[items->n] = bad ? NULL : (const char *)read->rows + (size_t)i * tui_list_row_size(list);
        ret->unread[items->n] = bad ? read->unread[i] : NULL;
        items->ids[items->n++] = w->ids[i];
    }
}

int tui_lists_count(const struct view *view, const struct model *model, int list)
{
    struct lists_rows rows;

    tui_lists_rows(view, model, list, &rows);
    return (int)tui_list_count(&rows.items);
}

/* The cursor's place among the rows. */
static int64_t cursor_in(const struct view *view, const struct model *model, const struct lists_rows *rows)
{
    const struct list_choice choice = choice_of(view, model, rows->list);

    return tui_list_cursor(&choice, &rows->items, view->cursor[panels[rows->list]]);
}

int tui_lists_cursor(const struct view *view, const struct model *model, int list)
{
    struct lists_rows rows;

    tui_lists_rows(view, model, list, &rows);
    return (int)cursor_in(view, model, &rows);
}

int64_t tui_lists_chosen(const struct view *view, const struct model *model, int list)
{
    struct lists_rows rows;

    if (list < DB_LISTS && awaits_filter(view, model, list))
        return 0;
    tui_lists_rows(view, model, list, &rows);
    return tui_list_id(&rows.items, cursor_in(view, model, &rows));
}

bool tui_lists_unread(const struct view *view, const struct model *model, int list)
{
    struct lists_rows rows;

    if (list >= DB_LISTS || model->lists[list].words[0] || model->database_words[0])
        return false;
    if (awaits_filter(view, model, list))
        return true;
    tui_lists_rows(view, model, list, &rows);
    if (rows.items.partial && !view->lists[list].id && view->cursor[panels[list]] == LIST_END)
        return true;
    if (tui_list_count(&rows.items) == 0)
        return !rows.have;
    const int64_t at = cursor_in(view, model, &rows);
    return tui_list_id(&rows.items, at) == 0 && !tui_lists_row(&rows, at);
}

const void *tui_lists_held_chosen(const struct view *view, const struct model *model, int list)
{
    struct lists_rows rows;

    tui_lists_rows(view, model, list, &rows);
    return tui_lists_row(&rows, cursor_in(view, model, &rows));
}

const void *tui_lists_held_find(const struct view *view, const struct model *model, int list,
                                const char *words, bool back)
{
    int n = 0, at = tui_lists_cursor(view, model, list);
    const void **rows = held_rows(view, model, list, &n), *found = NULL;

    for (int k = 1; k <= n && !found; k++) {
        const void *row = rows[(back ? at - k + n : at + k) % n];
        if (tui_list_held_matches(model, list, row, words))
            found = row;
    }
    free(rows);
    return found;
}

const void *tui_lists_held_at(const struct view *view, const struct model *model, int list, int64_t place)
{
    int n = 0;
    const void **rows = held_rows(view, model, list, &n);
    const void *row = place >= 0 && place < n ? rows[place] : NULL;

    free(rows);
    return row;
}

const void *tui_lists_row(const struct lists_rows *rows, int64_t place)
{
    int64_t at = place - rows->items.n_heads - rows->items.first;

    if (place >= 0 && place < rows->items.n_heads)
        return rows->heads[place];
    return place >= 0 && at >= 0 && at < rows->items.n ? rows->rows[at] : NULL;
}

const char *tui_lists_row_unread(const struct lists_rows *rows, int64_t place)
{
    int64_t at = place - rows->items.n_heads - rows->items.first;

    return place >= rows->items.n_heads && at >= 0 && at < rows->items.n ? rows->unread[at] : NULL;
}

/* The heads' numbers, which the database's rows are to be without, so not of former ones; "" for none. */
static void put_without(const struct lists_rows *rows, char buf[static LIST_NUMBERS_MAX])
{
    const struct list_items *items = &rows->items;
    size_t n = 0;

    for (int i = 0; i < rows->former; i++)
        if (items->heads[i] > 0)
            n += (size_t)snprintf(buf + n, LIST_NUMBERS_MAX - n, "%s%lld", n ? "," : "[",
                                  (long long)items->heads[i]);
    if (n)
        snprintf(buf + n, LIST_NUMBERS_MAX - n, "]");
}

/* The round trips are read for their sums and for the page of one too. */
static bool is_shown(const struct view *view, const struct layout *layout, int list)
{
    if (list == DB_LIST_TRIPS && (view->item.kind == ITEM_TRIP || tui_layout_find(layout, PANEL_BY_SYMBOL) ||
                                  tui_layout_find(layout, PANEL_BY_STRATEGY)))
        return true;
    return tui_layout_find(layout, panels[list]) != NULL;
}

void tui_lists_want(struct view *view, const struct model *model, const struct layout *layout,
                    struct lists_want *ret)
{
    struct lists_rows rows;

    memset(ret, 0, sizeof(*ret));
    for (int i = 0; i < DB_LISTS; i++) {
        struct list_choice *list = &view->lists[i];
        struct list_want *want = &ret->list[i];
        want->used = is_shown(view, layout, i);
        if (!want->used)
            continue;
        tui_lists_rows(view, model, i, &rows);
        want->at_ns = view->at_ns;
        want->query.list = (enum db_list)i;
        want->query.sort = list->sort;
        want->query.invert = list->invert;
        want->query.local = cli_format_is_local();
        snprintf(want->query.filter, sizeof(want->query.filter), "%s", list->filter);
        put_part(view, model, &want->query);
        put_without(&rows, want->without);
        tui_list_anchor(list, &rows.items, view->cursor[panels[i]], &want->id, &want->at);
        if (list->asked == list->answered)
            continue;
        want->asked = list->asked;
        want->back = list->back;
        want->from = tui_lists_chosen(view, model, i);
        snprintf(want->find, sizeof(want->find), "%s", list->find);
    }
}

void tui_lists_report_none(struct view *view, const char *words, struct moment now)
{
    char text[DB_LIST_WORDS_MAX + 40];

    snprintf(text, sizeof(text), "no row has \"%s\"", words);
    tui_view_report(view, OUTCOME_NOTE, "find:", text, now);
}

/* Moves the cursor to what a search has found. */
static void take_answer(struct view *view, int list, const struct list_rows *read, struct moment now)
{
    struct list_choice *state = &view->lists[list];

    if (read->answered != state->asked)
        return;
    state->answered = read->answered;
    if (read->result) {
        state->id = state->anchor_id = read->result;
        state->anchor_at = read->window.at;
        tui_list_search(state);
        return;
    }
    state->waiting = 0;
    tui_lists_report_none(view, state->find, now);
}

void tui_lists_take(struct view *view, struct model *model, struct list_rows read[static DB_LISTS],
                    struct moment now)
{
    struct lists_rows rows;

    for (int i = 0; i < DB_LISTS; i++) {
        if (read[i].have && read[i].at_ns != view->at_ns) /* it was left since */
            tui_list_rows_finish(&read[i]);
        if (!read[i].have)
            continue;
        tui_list_rows_keep_sums(&read[i], &model->lists[i]);
        tui_list_rows_finish(&model->lists[i]);
        model->lists[i] = read[i];
        if (read[i].answered)
            take_answer(view, i, &read[i], now);
        tui_lists_rows(view, model, i, &rows);
        view->cursor[panels[i]] = (int)tui_list_read(&view->lists[i], &rows.items, view->cursor[panels[i]]);
    }
}

int64_t tui_lists_order(const struct view *view, const struct model *model, enum panel focus)
{
    return view->item.kind == ITEM_ORDER ? view->item.id
           : focus == PANEL_ORDERS       ? tui_lists_chosen(view, model, DB_LIST_ORDERS)
                                         : 0;
}
