#include "tui/item_keys.h"

#include <stdio.h>
#include <string.h>

#include "tui/lists.h"

/* The chosen order; one from elsewhere has a number below zero, by its place among the status's. */
static bool order_of(const struct view *view, const struct model *model, struct item *ret)
{
    const struct status *s = &model->status;
    int64_t id = tui_lists_chosen(view, model, DB_LIST_ORDERS);

    if (id >= 0) {
        *ret = (struct item){.kind = ITEM_ORDER, .id = id};
        return id > 0;
    }
    if (-1 - id >= s->n_externals)
        return false;
    *ret = (struct item){.kind = ITEM_EXTERNAL};
    snprintf(ret->name, sizeof(ret->name), "%.*s", (int)sizeof(ret->name) - 1,
             s->externals[-1 - id].client_id);
    return true;
}

static bool fill_of(const struct history_fill *fill, struct item *ret)
{
    if (fill)
        *ret = (struct item){.kind = ITEM_FILL, .id = fill->id, .order = fill->order};
    return fill != NULL;
}

static bool trip_of(const struct history_trip *trip, struct item *ret)
{
    if (trip)
        *ret =
            (struct item){.kind = ITEM_TRIP, .id = trip->id, .order = trip->order, .first = trip->first_fill};
    return trip != NULL;
}

static bool ledger_of(const struct history_ledger *entry, struct item *ret)
{
    if (entry)
        *ret = (struct item){.kind = ITEM_LEDGER, .id = entry->id, .order = entry->order};
    return entry != NULL;
}

static bool log_of(const struct history_log *line, struct item *ret)
{
    if (!line)
        return false;
    *ret = (struct item){.id = line->id};
    if (strcmp(line->kind, "order") == 0)
        ret->kind = ITEM_ORDER;
    else if (strcmp(line->kind, "alert") == 0)
        ret->kind = ITEM_ALERT;
    else if (strcmp(line->kind, "command") == 0)
        ret->kind = ITEM_COMMAND;
    return ret->kind != ITEM_NONE;
}

static bool named(struct item *ret, enum item_kind kind, const char *name, const char *account)
{
    *ret = (struct item){.kind = kind};
    snprintf(ret->name, sizeof(ret->name), "%s", name);
    snprintf(ret->account, sizeof(ret->account), "%s", account);
    return true;
}

bool tui_item_keys_chosen(const struct view *view, const struct model *model, enum panel focus,
                          struct item *ret)
{
    const struct status *s = &model->status;
    const struct status_position *position;
    struct lists_rows rows;
    int n = tui_view_rows(view, model, focus), at = tui_view_cursor(view, model, focus);

    at = at < n ? at : n - 1;
    if (at < 0)
        return false;
    switch (focus) {
    case PANEL_ORDERS:
        return order_of(view, model, ret);
    case PANEL_FILLS:
        tui_lists_rows(view, model, DB_LIST_FILLS, &rows);
        return fill_of(tui_lists_row(&rows, at), ret);
    case PANEL_TRIPS:
        tui_lists_rows(view, model, DB_LIST_TRIPS, &rows);
        return trip_of(tui_lists_row(&rows, at), ret);
    case PANEL_ALERTS:
        *ret = (struct item){.kind = ITEM_ALERT, .id = tui_lists_chosen(view, model, DB_LIST_ALERTS)};
        return ret->id > 0;
    case PANEL_LOG:
        tui_lists_rows(view, model, DB_LIST_LOG, &rows);
        return log_of(tui_lists_row(&rows, at), ret);
    case PANEL_LEDGER:
        tui_lists_rows(view, model, DB_LIST_LEDGER, &rows);
        return ledger_of(tui_lists_row(&rows, at), ret);
    case PANEL_ACCOUNTS:
    case PANEL_STRATEGIES:
        return named(ret, ITEM_ACCOUNT, s->accounts[at].account, "");
    case PANEL_POSITIONS:
        position = tui_lists_held_chosen(view, model, LIST_POSITIONS);
        return named(ret, ITEM_POSITION, position->symbol, position->account);
    case PANEL_PRICES:
        return named(ret, ITEM_SYMBOL, tui_view_symbol(view, model)->symbol, "");
    case PANEL_POLICIES:
        return named(ret, ITEM_POLICY, tui_view_policy(view, model)->policy, "");
    default:
        return false;
    }
}

bool tui_item_keys_enter(struct view *view, const struct model *model, enum panel focus)
{
    int64_t order = view->item.order;
    struct item item;

    if ((view->item.kind == ITEM_TRIP || view->item.kind == ITEM_LEDGER) &&
        tui_item_equal(&view->item, &model->item.item))
        order = model->item.item.order;
    if (order > 0) {
        view->item = (struct item){.kind = ITEM_ORDER, .id = order};
    } else if (view->item.kind != ITEM_NONE || !tui_item_keys_chosen(view, model, focus, &item)) {
        return false;
    } else {
        view->item = item;
        view->item_from = focus;
    }
    view->focus = PANEL_ITEM;
    view->cursor[PANEL_ITEM] = 0;
    return true;
}

void tui_item_keys_open(struct view *view, const struct item *item)
{
    static const struct {
        enum tab tab;
        enum panel panel;
    } lists[ITEM_KINDS] = {
        [ITEM_ORDER] = {TAB_ORDERS, PANEL_ORDERS},
        [ITEM_EXTERNAL] = {TAB_ORDERS, PANEL_ORDERS},
        [ITEM_FILL] = {TAB_ORDERS, PANEL_FILLS},
        [ITEM_ALERT] = {TAB_ALERTS, PANEL_ALERTS},
        [ITEM_COMMAND] = {TAB_LOG, PANEL_LOG},
        [ITEM_TRIP] = {TAB_POSITIONS, PANEL_TRIPS},
        [ITEM_LEDGER] = {TAB_LOG, PANEL_LEDGER},
        [ITEM_ACCOUNT] = {TAB_POSITIONS, PANEL_ACCOUNTS},
        [ITEM_POSITION] = {TAB_POSITIONS, PANEL_POSITIONS},
        [ITEM_SYMBOL] = {TAB_MARKET, PANEL_PRICES},
        [ITEM_POLICY] = {TAB_STUDY, PANEL_POLICIES},
    };

    view->tab = lists[item->kind].tab;
    if (item->kind == ITEM_TRIP) { /* the window of the list has it */
        view->foot = FOOT_TRIPS;
        view->lists[DB_LIST_TRIPS].id = item->id;
        view->cursor[PANEL_TRIPS] = LIST_END;
    }
    view->item_from = lists[item->kind].panel;
    view->item = *item;
    view->ledger = item->kind == ITEM_LEDGER;
    view->focus = PANEL_ITEM;
}

bool tui_item_keys_back(struct view *view)
{
    if (view->item.kind == ITEM_NONE)
        return false;
    view->item = (struct item){0};
    view->focus = view->item_from;
    return true;
}
