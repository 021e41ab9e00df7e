/* Order lists are placed: a pair, orders that another one releases, and both. */
#include <string.h>

#include "exchange/replay/binance/filters.h"
#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/order_list_text.h"
#include "exchange/replay/binance/order_text.h"

#define LEG(prefix, of_side, of_quantity) \
    { \
        .type = prefix "Type", .side = of_side, .tif = prefix "TimeInForce", .quantity = of_quantity, \
        .price = prefix "Price", .stop = prefix "StopPrice", .trail = prefix "TrailingDelta", \
        .iceberg = prefix "IcebergQty", .client_id = prefix "ClientOrderId", .peg = prefix "PegPriceType" \
    }

static const struct order_names above = LEG("above", "side", "quantity"),
                                below = LEG("below", "side", "quantity"),
                                working = LEG("working", "workingSide", "workingQuantity"),
                                pending = LEG("pending", "pendingSide", "pendingQuantity"),
                                pending_above = LEG("pendingAbove", "pendingSide", "pendingQuantity"),
                                pending_below = LEG("pendingBelow", "pendingSide", "pendingQuantity");

/* Of the older call, whose orders have no types of their own. */
#define OLD_LEG(prefix) \
    .side = "side", .quantity = "quantity", .iceberg = prefix "IcebergQty", \
    .client_id = prefix "ClientOrderId"

static const struct order_names old_limit = {OLD_LEG("limit"), .kind = "LIMIT_MAKER", .price = "price"},
                                old_stop = {OLD_LEG("stop"),
                                            .kind = "STOP_LOSS",
                                            .limit_kind = "STOP_LOSS_LIMIT",
                                            .tif = "stopLimitTimeInForce",
                                            .price = "stopLimitPrice",
                                            .stop = "stopPrice",
                                            .trail = "trailingDelta"};

/* ---- What makes a pair. ---- */

static bool is_stop(const struct broker_terms *terms)
{
    return terms->type == ORDER_STOP || terms->type == ORDER_STOP_LIMIT;
}

/* A pair's orders are limit makers, stops and profits. */
static int check_leg(struct order_call *c, const struct broker_terms *terms)
{
    return terms->post_only || is_stop(terms) || order_is_profit(terms->type)
               ? 0
               : replay_order_refuse(c->body, ORDER_CALL_BAD, -1116, "Invalid orderType.");
}

/* Which of them may be above, and which below. */
static int check_sides(struct order_call *c, const struct broker_terms *high, const struct broker_terms *low)
{
    const bool buys = high->side == ORDER_BUY;
    const struct {
        bool bad;
        int code;
        const char *msg;
    } all[] = {
        {high->post_only && low->post_only, -1168, "At least one OCO order must be contingent."},
        {buys && high->post_only, -1165, "A limit order in a buy OCO must be below."},
        {!buys && low->post_only, -1166, "A limit order in a sell OCO must be above."},
        {buys && is_stop(low), -1196, "A stop loss order in a buy OCO must be above."},
        {!buys && is_stop(high), -1197, "A stop loss order in a sell OCO must be below."},
        {buys && order_is_profit(high->type), -1198, "A take profit order in a buy OCO must be below."},
        {!buys && order_is_profit(low->type), -1199, "A take profit order in a sell OCO must be above."},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i].bad)
            return replay_order_refuse(c->body, ORDER_CALL_BAD, all[i].code, all[i].msg);
    return 0;
}

/* The price at which it would begin to work; 0: that follows the market. */
static int64_t price_of(const struct broker_terms *terms)
{
    return is_stop(terms) || terms->type == ORDER_TAKE_PROFIT ? terms->stop : terms->price;
}

/* The last price is between them, unless they are held: then they are only above and below each other. */
static int check_prices(struct order_call *c, const struct broker_terms *high, const struct broker_terms *low,
                        bool held)
{
    const int64_t last = held ? 0 : replay_order_reference(c), top = price_of(high), bottom = price_of(low);
    const bool bad = (top && bottom && top <= bottom) || (last && top && top <= last) ||
                     (last && bottom && bottom >= last);
    return bad ? replay_order_refuse(c->body, ORDER_CALL_BAD, -2010,
                                     "The relationship of the prices for the orders is not correct.")
               : 0;
}

/* ---- Placing. ---- */

/* The terms of one of the list's orders, after those that are read already. */
static int read_leg(struct order_call *c, const struct order_names *names, struct broker_list_terms *list)
{
    c->names = names;
    c->before = list->orders;
    c->n_before = list->n;
    const int status = replay_order_terms(c, &list->orders[list->n]);
    list->n += status == 0;
    return status;
}

/* A pair, its stop first, as the venue lists them. */
static int read_pair(struct order_call *c, const struct order_names *high_names,
                     const struct order_names *low_names, struct broker_list_terms *list)
{
    struct broker_terms *pair = &list->orders[list->n];
    int status = read_leg(c, high_names, list);
    if (status == 0)
        status = read_leg(c, low_names, list);
    if (status == 0)
        status = check_leg(c, &pair[0]);
    if (status == 0)
        status = check_leg(c, &pair[1]);
    if (status == 0)
        status = check_sides(c, &pair[0], &pair[1]);
    if (status == 0)
        status = check_prices(c, &pair[0], &pair[1], list->kind == BROKER_OTO);
    if (status == 0 && is_stop(&pair[1])) {
        const struct broker_terms stop = pair[1];
        pair[1] = pair[0];
        pair[0] = stop;
    }
    return status;
}

static int read_working(struct order_call *c, struct broker_list_terms *list)
{
    const int status = read_leg(c, &working, list);
    return status == 0 && list->orders[0].type != ORDER_LIMIT
               ? replay_order_refuse(c->body, ORDER_CALL_BAD, -1116, "Invalid orderType.")
               : status;
}

/* Each order as if it were placed alone. `before`: fills until then. */
static void write_reports(struct order_call *c, const struct broker_list *list, size_t before)
{
    size_t n_orders, n;
    const char *type = replay_order_param(c, "newOrderRespType");
    const struct broker_order *orders = replay_broker_orders(c->o->broker, &n_orders);
    const struct broker_fill *fills = replay_broker_fills(c->o->broker, &n);
    text_lit(c->body, ",\"orderReports\":[");
    for (int i = 0; i < list->n; i++) {
        const struct broker_order *order = &orders[list->orders[i]];
        const bool works = order->filled > 0; /* the working one alone has filled by now */
        text_str(c->body, i > 0 ? "," : "");
        replay_order_text_placed(c->body, &c->caller->clock, order, &c->listed,
                                 type ? type[0] : replay_order_answer_type(&order->terms), fills + before,
                                 works ? n - before : 0);
    }
    text_lit(c->body, "]}");
}

enum broker_refusal replay_list_submit(struct binance_orders *o, struct broker_list_terms *terms,
                                       const struct broker_list **ret)
{
    replay_order_count(o, terms->orders[0].account, terms->n); /* first fills take that back */
    const enum broker_refusal refusal = replay_broker_place_list(o->broker, terms, ret);
    if (refusal != BROKER_TAKEN)
        replay_order_count(o, terms->orders[0].account, -terms->n);
    return refusal;
}

/* Does exchangeInfo deny lists of that kind? */
static int refuse_unserved(struct order_call *c, const char *allowed, const char *kind)
{
    char msg[64];
    const int status = replay_order_symbol(c);
    if (status != 0 || replay_filter_allows(&c->o->source->tape->symbols[c->symbol], allowed))
        return status;
    snprintf(msg, sizeof(msg), "%s orders are not supported for this symbol", kind);
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -2010, msg);
}

static int read_list(struct order_call *c, struct broker_list_terms *list, enum broker_contingency kind,
                     const struct order_names *first, const struct order_names *second)
{
    list->kind = kind;
    int status = refuse_unserved(c, kind == BROKER_OCO ? "ocoAllowed" : "otoAllowed",
                                 kind == BROKER_OCO ? "OCO" : "OTO");
    if (status == 0 && kind == BROKER_OTO)
        status = read_working(c, list);
    if (status == 0)
        status = second ? read_pair(c, first, second, list) : read_leg(c, first, list);
    if (status == 0)
        status = replay_order_list_filters(c);
    return status == 0 ? replay_order_id_or_new(c, "listClientOrderId", list->client_id) : status;
}

static int read_oco(struct order_call *c, struct broker_list_terms *list)
{
    return read_list(c, list, BROKER_OCO, &above, &below);
}

static int read_old_oco(struct order_call *c, struct broker_list_terms *list)
{
    const char *side = replay_order_param(c, "side");
    const bool buys = side && strcmp(side, "BUY") == 0;
    return read_list(c, list, BROKER_OCO, buys ? &old_stop : &old_limit, buys ? &old_limit : &old_stop);
}

static int read_oto(struct order_call *c, struct broker_list_terms *list)
{
    return read_list(c, list, BROKER_OTO, &pending, NULL);
}

static int read_otoco(struct order_call *c, struct broker_list_terms *list)
{
    return read_list(c, list, BROKER_OTO, &pending_above, &pending_below);
}

static int place(struct order_call *c)
{
    struct broker_terms orders[BROKER_LIST_ORDERS_MAX];
    struct broker_list_terms terms = {.orders = orders};
    const struct broker_list *list;
    size_t before;
    c->outcome->counted = true;
    int status = c->read_list(c, &terms);
    if (status == 0)
        status = replay_order_rate(c);
    if (status != 0)
        return status;
    replay_broker_fills(c->o->broker, &before);
    const enum broker_refusal refusal = replay_list_submit(c->o, &terms, &list);
    if (refusal != BROKER_TAKEN)
        return replay_order_refused(c, refusal);
    replay_list_text(c->body, &c->caller->clock, c->o->broker, list, c->listed.name, true);
    write_reports(c, list, before);
    replay_broker_settle(c->o->broker);
    return ORDER_CALL_OK;
}

static int place_with_faults(struct order_call *c, read_order_list *read)
{
    c->read_list = read;
    return replay_order_with_faults(c, place);
}

int replay_list_oco(struct order_call *c)
{
    return place_with_faults(c, read_oco);
}

int replay_list_old_oco(struct order_call *c)
{
    return place_with_faults(c, read_old_oco);
}

int replay_list_oto(struct order_call *c)
{
    return place_with_faults(c, read_oto);
}

int replay_list_otoco(struct order_call *c)
{
    return place_with_faults(c, read_otoco);
}
