/* What each call about orders and accounts does; order_text.c writes the answers. */
#include <stdio.h>
#include <string.h>

#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/order_text.h"

#define NS_PER_MS 1000000LL

enum { LIST_MAX = 1000, LIST_USUAL = 500 };

static int place(struct order_call *c)
{
    static const char *const refusals[] = {
        [BROKER_POOR] = "Account has insufficient balance for requested action.",
        [BROKER_CROSSES] = "Order would immediately match and take.",
        [BROKER_TRIGGERS] = "Stop price would trigger immediately.",
        [BROKER_EMPTY] = "Market is closed.",
        [BROKER_TWICE] = "Duplicate order sent.",
        [BROKER_MEMORY] = "Internal error; unable to process your request. Please try again.",
    };
    const struct broker_order *order;
    struct broker_terms terms;
    size_t before, n;
    int status = replay_order_terms(c, &terms);
    if (status != 0)
        return status;
    const char *type = replay_order_param(c, "newOrderRespType");
    if (type && strcmp(type, "ACK") != 0 && strcmp(type, "RESULT") != 0 && strcmp(type, "FULL") != 0)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1132, "Invalid newOrderRespType.");
    replay_broker_fills(c->o->broker, &before);
    enum broker_refusal refusal = replay_broker_place(c->o->broker, &terms, &order);
    if (refusal != BROKER_TAKEN)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2010, refusals[refusal]);
    const struct broker_fill *fills = replay_broker_fills(c->o->broker, &n);
    const bool plain = terms.type == ORDER_MARKET || terms.type == ORDER_LIMIT;
    if (!type)
        type = plain && !terms.post_only ? "FULL" : "ACK";
    replay_order_text_placed(c->body, order, &c->listed, type[0], fills + before, n - before);
    return ORDER_CALL_OK;
}

int replay_order_place(struct order_call *c)
{
    return replay_order_with_faults(c, place);
}

static int test_order(struct order_call *c)
{
    struct broker_terms terms;
    int status = replay_order_terms(c, &terms);
    if (status == 0)
        text_lit(c->body, "{}");
    return status == 0 ? ORDER_CALL_OK : status;
}

int replay_order_by(struct order_call *c, const char *id_name, const char *client_name, int unknown,
                    const struct broker_order **ret)
{
    char msg[128];
    int64_t id;
    const char *client_id = replay_order_param(c, client_name);
    int status = replay_order_symbol(c);
    if (status == 0)
        status = replay_order_number(c, id_name, 0, &id);
    if (status != 0)
        return status;
    if (id == 0 && !client_id) {
        snprintf(msg, sizeof(msg), "Param '%s' or '%s' must be sent, but both were empty/null!", client_name,
                 id_name);
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1102, msg);
    }
    *ret = replay_broker_find(c->o->broker, c->caller->account, c->symbol, id, id ? NULL : client_id);
    if (*ret)
        return 0;
    return replay_order_refuse(c->body, ORDER_CALL_BAD, unknown,
                               unknown == -2013 ? "Order does not exist." : "Unknown order sent.");
}

static int find_order(struct order_call *c, int unknown, const struct broker_order **ret)
{
    return replay_order_by(c, "orderId", "origClientOrderId", unknown, ret);
}

static int get_order(struct order_call *c)
{
    const struct broker_order *order;
    int status = find_order(c, -2013, &order);
    if (status == 0)
        replay_order_text_queried(c->body, order, &c->listed);
    return status == 0 ? ORDER_CALL_OK : status;
}

static int delete_order(struct order_call *c)
{
    const struct broker_order *order;
    const char *id;
    int status = find_order(c, -2011, &order);
    if (status == 0)
        status = replay_order_client_id(c, &id);
    if (status != 0)
        return status;
    order = replay_broker_cancel(c->o->broker, c->caller->account, order->id, id);
    if (!order)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2011, "Unknown order sent.");
    replay_order_text_cancelled(c->body, order, &c->listed);
    return ORDER_CALL_OK;
}

/* Calls `write` for each of the caller's orders of the symbol (or of all, -1) that `wanted` has. */
static void write_orders(struct order_call *c, int symbol, bool open_only, int64_t from_id, int64_t limit,
                         bool cancelled)
{
    size_t n;
    int64_t written = 0;
    struct symbol listed;
    const struct broker_order *all = replay_broker_orders(c->o->broker, &n);
    text_lit(c->body, "[");
    for (size_t i = 0; i < n && written < limit; i++) {
        const struct broker_order *order = &all[i];
        if (order->terms.account != c->caller->account || order->id < from_id ||
            (symbol >= 0 && order->terms.symbol != symbol) || (open_only && !broker_is_open(order)) ||
            !replay_orders_symbol(c->o, order->terms.symbol, &listed))
            continue;
        if (written++ > 0)
            text_lit(c->body, ",");
        if (cancelled)
            replay_order_text_cancelled(
                c->body, replay_broker_cancel(c->o->broker, c->caller->account, order->id, NULL), &listed);
        else
            replay_order_text_queried(c->body, order, &listed);
    }
    text_lit(c->body, "]");
}

static int get_open_orders(struct order_call *c)
{
    int status = replay_order_param(c, "symbol") ? replay_order_symbol(c) : 0;
    if (status != 0)
        return status;
    write_orders(c, replay_order_param(c, "symbol") ? c->symbol : -1, true, 0, INT64_MAX, false);
    return ORDER_CALL_OK;
}

static int delete_open_orders(struct order_call *c)
{
    size_t n;
    bool any = false;
    int status = replay_order_symbol(c);
    if (status != 0)
        return status;
    const struct broker_order *all = replay_broker_orders(c->o->broker, &n);
    for (size_t i = 0; i < n; i++)
        any |= all[i].terms.account == c->caller->account && all[i].terms.symbol == c->symbol &&
               broker_is_open(&all[i]);
    if (!any)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2011, "Unknown order sent.");
    write_orders(c, c->symbol, true, 0, INT64_MAX, true);
    return ORDER_CALL_OK;
}

static int get_all_orders(struct order_call *c)
{
    int64_t from_id, limit;
    int status = replay_order_symbol(c);
    if (status == 0)
        status = replay_order_number(c, "orderId", 0, &from_id);
    if (status == 0)
        status = replay_order_number(c, "limit", LIST_USUAL, &limit);
    if (status != 0)
        return status;
    write_orders(c, c->symbol, false, from_id, limit < LIST_MAX ? limit : LIST_MAX, false);
    return ORDER_CALL_OK;
}

static int get_my_trades(struct order_call *c)
{
    int64_t from_id, order_id, limit, start_ms, end_ms;
    size_t n;
    int status = replay_order_symbol(c);
    if (status == 0)
        status = replay_order_number(c, "fromId", 0, &from_id);
    if (status == 0)
        status = replay_order_number(c, "orderId", 0, &order_id);
    if (status == 0)
        status = replay_order_number(c, "limit", LIST_USUAL, &limit);
    if (status == 0)
        status = replay_order_number(c, "startTime", 0, &start_ms);
    if (status == 0)
        status = replay_order_number(c, "endTime", INT64_MAX, &end_ms);
    if (status != 0)
        return status;
    limit = limit < LIST_MAX ? limit : LIST_MAX;
    const struct broker_fill *all = replay_broker_fills(c->o->broker, &n);
    text_lit(c->body, "[");
    for (size_t i = 0; i < n && limit > 0; i++) {
        const struct broker_fill *fill = &all[i];
        const int64_t at_ms = fill->time_ns / NS_PER_MS;
        if (fill->account != c->caller->account || fill->symbol != c->symbol || fill->id < from_id ||
            (order_id && fill->order_id != order_id) || at_ms < start_ms || at_ms > end_ms)
            continue;
        const struct broker_order *order =
            replay_broker_find(c->o->broker, fill->account, fill->symbol, fill->order_id, NULL);
        if (c->body->data[c->body->len - 1] != '[')
            text_lit(c->body, ",");
        replay_order_text_trade(c->body, fill, order, &c->listed);
        limit--;
    }
    text_lit(c->body, "]");
    return ORDER_CALL_OK;
}

static int get_account(struct order_call *c)
{
    const char *omit = replay_order_param(c, "omitZeroBalances");
    replay_order_text_account(c->body, replay_broker_account_of(c->o->broker, c->caller->account),
                              c->caller->account, omit && strcmp(omit, "true") == 0);
    return ORDER_CALL_OK;
}

static int get_commission(struct order_call *c)
{
    int status = replay_order_symbol(c);
    if (status == 0)
        replay_order_text_commission(c->body, c->listed.name);
    return status == 0 ? ORDER_CALL_OK : status;
}

static const struct path {
    const char *method, *path;
    int weight;
    bool changes;
    int (*answer)(struct order_call *c);
} paths[] = {
    {"POST", "/api/v3/order", 1, true, replay_order_place},
    {"POST", "/api/v3/order/test", 1, true, test_order},
    {"POST", "/api/v3/order/cancelReplace", 1, true, replay_order_cancel_replace},
    {"PUT", "/api/v3/order/amend/keepPriority", 4, true, replay_order_amend},
    {"GET", "/api/v3/order", 4, false, get_order},
    {"DELETE", "/api/v3/order", 1, true, delete_order},
    {"GET", "/api/v3/openOrders", 6, false, get_open_orders},
    {"DELETE", "/api/v3/openOrders", 1, true, delete_open_orders},
    {"GET", "/api/v3/allOrders", 20, false, get_all_orders},
    {"GET", "/api/v3/myTrades", 20, false, get_my_trades},
    {"GET", "/api/v3/account", 20, false, get_account},
    {"GET", "/api/v3/account/commission", 20, false, get_commission},
};
enum { PATHS = sizeof(paths) / sizeof(*paths) };

static const struct path *find_path(const char *method, const char *path)
{
    for (int i = 0; i < PATHS; i++)
        if (strcmp(paths[i].path, path) == 0 && (!method || strcmp(paths[i].method, method) == 0))
            return &paths[i];
    return NULL;
}

bool replay_orders_has(const char *method, const char *path)
{
    return find_path(method, path) != NULL;
}

bool replay_orders_serves(const char *path)
{
    return find_path(NULL, path) != NULL;
}

bool replay_orders_changes(const char *method, const char *path)
{
    const struct path *row = find_path(method, path);
    return row && row->changes;
}

/* An order that was taken weighs nothing. */
int replay_orders_call(struct binance_orders *o, const char *method, const char *path,
                       const struct order_params *params, const struct order_caller *caller,
                       struct text *body, int *ret_weight)
{
    const struct path *row = find_path(method, path);
    struct order_call call = {.o = o, .params = params, .caller = caller, .body = body, .symbol = -1};
    if (!row)
        return -1;
    int status = row->answer(&call);
    *ret_weight = row->changes && status == ORDER_CALL_OK ? 0 : row->weight;
    return status;
}
