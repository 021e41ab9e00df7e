/* Order lists are asked for and cancelled. */
#include <string.h>

#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/order_list_text.h"
#include "exchange/replay/binance/order_page.h"
#include "exchange/replay/binance/order_text.h"
#include "exchange/replay/keyed.h"

enum { NO_LIST = -2018, UNKNOWN_LIST = -2011 };

/* By a number and a client id, which must fit each other; 0, or a refusal of code `unknown`. */
static int find_list(struct order_call *c, const char *client_name, int unknown,
                     const struct broker_list **ret)
{
    int64_t id;
    const char *client_id = replay_order_param(c, client_name);
    const int status = replay_order_number(c, "orderListId", 0, &id);
    if (status != 0)
        return status;
    if (id == 0 && !client_id)
        return replay_order_missing_both(c->body, client_name, "orderListId");
    *ret = replay_broker_list_find(c->o->broker, c->caller->account, id, id ? NULL : client_id);
    if (*ret && (!client_id || strcmp((*ret)->client_id, client_id) == 0))
        return 0;
    return replay_order_refuse(c->body, ORDER_CALL_BAD, unknown,
                               unknown == NO_LIST ? "Order list does not exist."
                                                  : "Unknown order list sent.");
}

static void write_list(struct order_call *c, const struct broker_list *list, bool open)
{
    const char *symbol = c->o->source->tape->symbols[list->symbol].name; /* listed or not */
    replay_list_text(c->body, &c->caller->clock, c->o->broker, list, symbol, open);
}

int replay_list_get(struct order_call *c)
{
    const struct broker_list *list = NULL;
    const int status = find_list(c, "origClientOrderId", NO_LIST, &list);
    if (status == 0)
        write_list(c, list, false);
    return status == 0 ? ORDER_CALL_OK : status;
}

void replay_list_write_cancelled(struct order_call *c, const struct broker_list *list)
{
    size_t n;
    const struct broker_order *orders = replay_broker_orders(c->o->broker, &n);
    struct symbol listed;
    if (!replay_orders_symbol(c->o, list->symbol, &listed))
        return;
    write_list(c, list, true);
    text_lit(c->body, ",\"orderReports\":[");
    for (int i = 0; i < list->n; i++) {
        const struct broker_order *order = &orders[list->orders[i]];
        if (order->state != BROKER_CANCELED)
            continue;
        keyed_comma(c->body);
        replay_order_text_cancelled(c->body, &c->caller->clock, order, &listed);
    }
    text_lit(c->body, "]}");
}

int replay_list_cancel(struct order_call *c)
{
    const struct broker_list *list = NULL;
    char id[ORDER_CLIENT_ID_MAX];
    int status = replay_order_symbol(c);
    if (status == 0)
        status = find_list(c, "listClientOrderId", UNKNOWN_LIST, &list);
    if (status == 0)
        status = replay_order_id_or_new(c, "newClientOrderId", id);
    if (status != 0)
        return status;
    if (list->symbol != c->symbol ||
        !replay_broker_list_cancel(c->o->broker, c->caller->account, list->id, id))
        return replay_order_refuse(c->body, ORDER_CALL_BAD, UNKNOWN_LIST, "Unknown order list sent.");
    replay_list_write_cancelled(c, list);
    return ORDER_CALL_OK;
}

static bool in_page(const struct order_call *c, const struct order_page *page, size_t at)
{
    size_t n;
    const struct broker_list *list = &replay_broker_lists(c->o->broker, &n)[at];
    return list->account == c->caller->account && replay_page_has(page, list->id, list->time_ns);
}

static void write_lists(struct order_call *c, const struct order_page *page, bool open_only)
{
    size_t n;
    const struct broker_list *all = replay_broker_lists(c->o->broker, &n);
    text_lit(c->body, "[");
    for (size_t i = page->first; i < page->end && text_ok(c->body); i++) {
        if (!in_page(c, page, i) || (open_only && all[i].done))
            continue;
        keyed_comma(c->body);
        write_list(c, &all[i], false);
    }
    text_lit(c->body, "]");
}

int replay_list_all(struct order_call *c)
{
    struct order_page page;
    size_t n;
    const int status = replay_page_read(c, "fromId", &page);
    if (status != 0)
        return status;
    if (page.from_id >= 0 && (page.from_ns >= 0 || page.to_ns >= 0))
        return replay_page_bad(c);
    replay_broker_lists(c->o->broker, &n);
    replay_page_find(c, &page, n, in_page);
    write_lists(c, &page, false);
    return ORDER_CALL_OK;
}

int replay_list_open(struct order_call *c)
{
    struct order_page page = {.from_id = -1, .from_ns = -1, .to_ns = -1};
    replay_broker_lists(c->o->broker, &page.end);
    write_lists(c, &page, true);
    return ORDER_CALL_OK;
}
