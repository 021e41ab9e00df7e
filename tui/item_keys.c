#include "tui/item_keys.h"

#include <stdio.h>
#include <string.h>

#include "tui/panel/panel.h"

/* Row `at` of the orders: those alive, then those from elsewhere, then those that have ended. */
static bool order_at(const struct model *model, int at, struct item *ret)
{
    const struct status *s = &model->status;
    const struct status_order *order = panel_orders_row(model, at);

    if (at >= s->n_orders && at < s->n_orders + s->n_externals) {
        const struct status_external *external = &s->externals[at - s->n_orders];
        *ret = (struct item){.kind = ITEM_EXTERNAL};
        snprintf(ret->name, sizeof(ret->name), "%s", external->client_id);
        return true;
    }
    if (order)
        *ret = (struct item){.kind = ITEM_ORDER, .id = order->id};
    return order != NULL;
}

static bool log_at(const struct history_log *line, struct item *ret)
{
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
    const struct history *h = &model->history;
    int n = tui_view_rows(view, model, focus), at = tui_view_cursor(view, model, focus);

    at = at < n ? at : n - 1;
    if (at < 0)
        return false;
    switch (focus) {
    case PANEL_ORDERS:
        return order_at(model, at, ret);
    case PANEL_FILLS:
        *ret = (struct item){.kind = ITEM_FILL, .id = h->fills[at].id, .order = h->fills[at].order};
        return true;
    case PANEL_ALERTS:
        *ret = (struct item){.kind = ITEM_ALERT, .id = h->alerts[at].id};
        return true;
    case PANEL_LOG:
        return log_at(&h->log[at], ret);
    case PANEL_ACCOUNTS:
    case PANEL_STRATEGIES:
        return named(ret, ITEM_ACCOUNT, s->accounts[at].account, "");
    case PANEL_POSITIONS:
        return named(ret, ITEM_POSITION, s->positions[at].symbol, s->positions[at].account);
    case PANEL_PRICES:
        return named(ret, ITEM_SYMBOL, s->symbols[at].symbol, "");
    case PANEL_POLICIES:
        return named(ret, ITEM_POLICY, s->policies[at].policy, "");
    default:
        return false;
    }
}

bool tui_item_keys_enter(struct view *view, const struct model *model, enum panel focus)
{
    struct item item;

    if (view->item.kind == ITEM_FILL && view->item.order > 0) {
        view->item = (struct item){.kind = ITEM_ORDER, .id = view->item.order};
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

bool tui_item_keys_back(struct view *view)
{
    if (view->item.kind == ITEM_NONE)
        return false;
    view->item = (struct item){0};
    view->focus = view->item_from;
    return true;
}
