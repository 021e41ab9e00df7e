/* What each call about orders and accounts does; order_text.c writes the answers. */
#include <stdio.h>
#include <string.h>

#include "exchange/replay/binance/limits.h"
#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/order_text.h"
#include "exchange/replay/broker/order_lists.h"

enum { RATES_WEIGHT = 20 };

enum broker_refusal replay_order_submit(struct binance_orders *o, const struct broker_terms *terms,
                                        const struct broker_order **ret)
{
    replay_order_count(o, terms->account, 1); /* its first fill takes that back */
    enum broker_refusal refusal = replay_broker_place(o->broker, terms, ret);
    if (refusal != BROKER_TAKEN)
        replay_order_count(o, terms->account, -1);
    return refusal;
}

int replay_order_refused(struct order_call *c, enum broker_refusal refusal)
{
    static const char *const refusals[] = {
        [BROKER_POOR] = "Account has insufficient balance for requested action.",
        [BROKER_CROSSES] = "Order would immediately match and take.",
        [BROKER_TRIGGERS] = "Stop price would trigger immediately.",
        [BROKER_EMPTY] = "Market is closed.",
        [BROKER_DRY] = "Order book liquidity is less than symbol minimum quantity.",
        [BROKER_SMALL] = "Order book liquidity is less than `LOT_SIZE` filter minimum quantity.",
        [BROKER_TWICE] = "Duplicate order sent.",
        [BROKER_MEMORY] = "Internal error; unable to process your request. Please try again.",
    };
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -2010, refusals[refusal]);
}

char replay_order_answer_type(const struct broker_terms *terms)
{
    return (terms->type == ORDER_MARKET || terms->type == ORDER_LIMIT) && !terms->post_only ? 'F' : 'A';
}

static int place(struct order_call *c)
{
    const struct broker_order *order;
    struct broker_terms terms;
    size_t before, n;
    int status = replay_order_terms(c, &terms);
    c->outcome->counted = true;
    if (status == 0)
        status = replay_order_rate(c);
    if (status != 0)
        return status;
    const char *type = replay_order_param(c, "newOrderRespType");
    replay_broker_fills(c->o->broker, &before);
    enum broker_refusal refusal = replay_order_submit(c->o, &terms, &order);
    if (refusal != BROKER_TAKEN)
        return replay_order_refused(c, refusal);
    const struct broker_fill *fills = replay_broker_fills(c->o->broker, &n);
    replay_order_text_placed(c->body, &c->caller->clock, order, &c->listed,
                             type ? type[0] : replay_order_answer_type(&terms), fills + before, n - before);
    return ORDER_CALL_OK;
}

int replay_order_place(struct order_call *c)
{
    return replay_order_with_faults(c, place);
}

static int test_order(struct order_call *c)
{
    struct broker_terms terms;
    const char *rates = replay_order_param(c, "computeCommissionRates");
    const bool computes = rates && strcmp(rates, "true") == 0;
    int status = replay_order_terms(c, &terms);
    if (computes)
        c->outcome->weight = RATES_WEIGHT;
    if (status == 0 && computes)
        replay_order_text_rates(c->body);
    else if (status == 0)
        text_lit(c->body, "{}");
    return status == 0 ? ORDER_CALL_OK : status;
}

int replay_order_by(struct order_call *c, const char *id_name, const char *client_name, int unknown,
                    const struct broker_order **ret)
{
    int64_t id;
    const char *client_id = replay_order_param(c, client_name);
    int status = replay_order_symbol(c);
    if (status == 0)
        status = replay_order_number(c, id_name, 0, &id);
    if (status != 0)
        return status;
    if (id == 0 && !client_id)
        return replay_order_missing_both(c->body, client_name, id_name);
    *ret = replay_broker_find(c->o->broker, c->caller->account, c->symbol, id, id ? NULL : client_id);
    if (*ret && id && client_id && strcmp((*ret)->terms.client_id, client_id) != 0)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2039,
                                   "Client order ID is not correct for this order ID.");
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
        replay_order_text_queried(c->body, &c->caller->clock, order, &c->listed);
    return status == 0 ? ORDER_CALL_OK : status;
}

int replay_order_restrictions(struct order_call *c)
{
    const char *value = replay_order_param(c, "cancelRestrictions");
    if (!value || strcmp(value, "ONLY_NEW") == 0 || strcmp(value, "ONLY_PARTIALLY_FILLED") == 0)
        return 0;
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -1145, "Invalid cancelRestrictions");
}

int replay_order_restricted(struct order_call *c, const struct broker_order *order)
{
    const char *value = replay_order_param(c, "cancelRestrictions");
    if (!value || !broker_is_open(order) ||
        order->state == (strcmp(value, "ONLY_NEW") == 0 ? BROKER_NEW : BROKER_PARTIAL))
        return 0;
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -2011,
                               "Order was not canceled due to cancel restrictions.");
}

bool replay_order_end(struct order_call *c, const struct broker_order *order, const char *cancel_id)
{
    const int64_t list = order->terms.list;
    struct symbol listed;
    order = replay_broker_cancel(c->o->broker, c->caller->account, order->id, cancel_id);
    if (!order)
        return false;
    if (list)
        replay_list_write_cancelled(c, replay_broker_list_find(c->o->broker, c->caller->account, list, NULL));
    else if (replay_orders_symbol(c->o, order->terms.symbol, &listed))
        replay_order_text_cancelled(c->body, &c->caller->clock, order, &listed);
    return true;
}

static int delete_order(struct order_call *c)
{
    const struct broker_order *order;
    const char *id;
    int status = find_order(c, -2011, &order);
    if (status == 0)
        status = replay_order_client_id(c, "newClientOrderId", &id);
    if (status == 0)
        status = replay_order_restrictions(c);
    if (status == 0)
        status = replay_order_restricted(c, order);
    if (status != 0)
        return status;
    return replay_order_end(c, order, id)
               ? ORDER_CALL_OK
               : replay_order_refuse(c->body, ORDER_CALL_BAD, -2011, "Unknown order sent.");
}

static int get_account(struct order_call *c)
{
    const char *omit = replay_order_param(c, "omitZeroBalances");
    replay_order_text_account(c->body, &c->caller->clock,
                              replay_broker_account_of(c->o->broker, c->caller->account), c->caller->account,
                              omit && strcmp(omit, "true") == 0);
    return ORDER_CALL_OK;
}

static int get_commission(struct order_call *c)
{
    int status = replay_order_symbol(c);
    if (status == 0)
        replay_order_text_commission(c->body, c->listed.name);
    return status == 0 ? ORDER_CALL_OK : status;
}

/* Lists whose pending orders pay with what the working order brings, and orders over several books, which
 * exchangeInfo denies. */
static int refuse_opo(struct order_call *c)
{
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -2010,
                               "OPO orders are not supported for this symbol.");
}

static int refuse_sor(struct order_call *c)
{
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -1020, "This operation is not supported.");
}

#define NEW_ORDER \
    "symbol side type timeInForce quantity quoteOrderQty price newClientOrderId strategyId strategyType " \
    "stopPrice trailingDelta icebergQty newOrderRespType selfTradePreventionMode pegPriceType " \
    "pegOffsetValue pegOffsetType "

/* Of a list's order whose parameters begin so. */
#define LEG(prefix) \
    prefix "Type " prefix "ClientOrderId " prefix "IcebergQty " prefix "Price " prefix "StopPrice " prefix \
           "TrailingDelta " prefix "TimeInForce " prefix "StrategyId " prefix "StrategyType " prefix \
           "PegPriceType " prefix "PegOffsetType " prefix "PegOffsetValue "

#define NEW_LIST "symbol listClientOrderId newOrderRespType selfTradePreventionMode "
#define WORKING  LEG("working") "workingSide workingQuantity "
#define PENDING  "pendingSide pendingQuantity "

static const struct path {
    const char *method, *path;
    int weight;
    bool changes, free; /* takes a key that may trade; weighs nothing where it succeeds */
    int (*answer)(struct order_call *c);
    const char *params; /* that it reads, as well as those that all have; NULL: any */
} paths[] = {
    {"POST", "/api/v3/order", 1, true, true, replay_order_place, NEW_ORDER},
    {"POST", "/api/v3/order/test", 1, true, false, test_order, NEW_ORDER "computeCommissionRates"},
    {"POST", "/api/v3/order/cancelReplace", 1, true, true, replay_order_cancel_replace,
     NEW_ORDER "cancelReplaceMode cancelNewClientOrderId cancelOrigClientOrderId cancelOrderId "
               "cancelRestrictions orderRateLimitExceededMode"},
    {"PUT", "/api/v3/order/amend/keepPriority", 4, true, false, replay_order_amend,
     "symbol orderId origClientOrderId newClientOrderId newQty"},
    {"GET", "/api/v3/order/amendments", 4, false, false, replay_order_amendments,
     "symbol orderId fromExecutionId limit"},
    {"GET", "/api/v3/order", 4, false, false, get_order, "symbol orderId origClientOrderId"},
    {"DELETE", "/api/v3/order", 1, true, true, delete_order,
     "symbol orderId origClientOrderId newClientOrderId cancelRestrictions"},
    {"GET", "/api/v3/openOrders", 6, false, false, replay_order_open_list, "symbol"},
    {"DELETE", "/api/v3/openOrders", 1, true, true, replay_order_open_cancel, "symbol"},
    {"GET", "/api/v3/allOrders", 20, false, false, replay_order_all_list,
     "symbol orderId startTime endTime limit"},
    {"GET", "/api/v3/myTrades", 20, false, false, replay_order_trades_list,
     "symbol orderId startTime endTime fromId limit"},
    {"GET", "/api/v3/account", 20, false, false, get_account, "omitZeroBalances"},
    {"GET", "/api/v3/account/commission", 20, false, false, get_commission, "symbol"},
    {"GET", "/api/v3/myFilters", 40, false, false, replay_order_my_filters, "symbol"},
    {"GET", "/api/v3/rateLimit/order", 40, false, false, replay_order_limits, ""},
    {"POST", "/api/v3/order/oco", 1, true, true, replay_list_old_oco,
     NEW_LIST "side quantity limitClientOrderId price limitStrategyId limitStrategyType limitIcebergQty "
              "trailingDelta stopClientOrderId stopPrice stopStrategyId stopStrategyType stopLimitPrice "
              "stopIcebergQty stopLimitTimeInForce"},
    {"POST", "/api/v3/orderList/oco", 1, true, true, replay_list_oco,
     NEW_LIST "side quantity " LEG("above") LEG("below")},
    {"POST", "/api/v3/orderList/oto", 1, true, true, replay_list_oto,
     NEW_LIST WORKING PENDING LEG("pending")},
    {"POST", "/api/v3/orderList/otoco", 1, true, true, replay_list_otoco,
     NEW_LIST WORKING PENDING LEG("pendingAbove") LEG("pendingBelow")},
    {"POST", "/api/v3/orderList/opo", 1, true, true, refuse_opo, NULL},
    {"POST", "/api/v3/orderList/opoco", 1, true, true, refuse_opo, NULL},
    {"GET", "/api/v3/orderList", 4, false, false, replay_list_get, "orderListId origClientOrderId"},
    {"DELETE", "/api/v3/orderList", 1, true, true, replay_list_cancel,
     "symbol orderListId listClientOrderId newClientOrderId"},
    {"GET", "/api/v3/allOrderList", 20, false, false, replay_list_all, "fromId startTime endTime limit"},
    {"GET", "/api/v3/openOrderList", 6, false, false, replay_list_open, ""},
    {"POST", "/api/v3/sor/order", 1, true, true, refuse_sor, NULL},
    {"POST", "/api/v3/sor/order/test", 1, true, true, refuse_sor, NULL},
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

static bool is_word(const char *list, const char *word)
{
    const size_t len = strlen(word);
    for (const char *at = list; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        if (n == len && memcmp(at, word, n) == 0)
            return true;
        at += n;
    }
    return false;
}

/* Each parameter once in the query and once in the body, and none that the call does not have. */
static int check_params(const struct order_call *c, const struct path *row)
{
    const struct order_params *p = c->params;
    char msg[112];
    int read = 0;
    for (int i = 0; i < p->n; i++) {
        for (int k = i < p->n_query ? 0 : p->n_query; k < i; k++)
            if (strcmp(p->names[k], p->names[i]) == 0)
                return replay_order_refuse(c->body, ORDER_CALL_BAD, -1101,
                                           "Duplicate values for a parameter detected.");
        read += !row->params || is_word(row->params, p->names[i]) ||
                is_word("timestamp recvWindow signature apiKey returnRateLimits", p->names[i]);
    }
    if (read == p->n)
        return 0;
    snprintf(msg, sizeof(msg), "Not all sent parameters were read; read '%d' parameter(s) but was sent '%d'.",
             read, p->n);
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -1104, msg);
}

int replay_orders_call(struct binance_orders *o, const char *method, const char *path,
                       const struct order_params *params, const struct order_caller *caller,
                       struct text *body, struct order_outcome *ret)
{
    const struct path *row = find_path(method, path);
    struct order_call call = {
        .o = o, .params = params, .caller = caller, .outcome = ret, .body = body, .symbol = -1};
    if (!row)
        return -1;
    *ret = (struct order_outcome){.weight = row->weight, .account = caller->account};
    int status = check_params(&call, row);
    if (status == 0)
        status = row->answer(&call);
    ret->weight = replay_limits_weigh(o->limits, path, ret->weight);
    if (row->free && status == ORDER_CALL_OK)
        ret->weight = 0;
    return status;
}
