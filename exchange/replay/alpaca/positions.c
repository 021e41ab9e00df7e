/* Positions, and their closing by market orders. */
#include <string.h>

#include "exchange/replay/alpaca/trading_call.h"
#include "exchange/replay/serve.h"

static const struct made *market(const struct trading_call *a)
{
    return &a->o->alpaca->made[0];
}

static void get_all(struct trading_call *a)
{
    json_t *list = json_array(), *position;
    for (int s = 0; s < market(a)->n_symbols; s++)
        if ((position = replay_alpaca_position_json(a->o, a->account, s)))
            json_array_append_new(list, position);
    replay_trading_send(a, list);
}

/* Sells it at the market; false, and refused. */
static bool sell(struct trading_call *a, int symbol, int64_t qty, const struct broker_order **ret)
{
    const bool coins = market(a)->symbols[symbol].class == MADE_CRYPTO;
    struct broker_terms terms = {
        .account = a->account, .symbol = symbol, .side = ORDER_SELL, .type = ORDER_MARKET, .qty = qty};
    struct alpaca_paper_order own = {.by_day = !coins};
    memcpy(own.tif, coins ? "gtc" : "day", sizeof(own.tif));
    replay_alpaca_id(replay_alpaca_next_id(a->o), 'u', terms.client_id);
    if (!replay_trading_open(a->o, symbol, false))
        return replay_trading_refuse(a, 403, 40310000,
                                     "the market is closed: place an order, which waits for its opening");
    return replay_trading_placed(a, &terms, &own, ret);
}

/* Each one's order, or its refusal. */
static void close_all(struct trading_call *a)
{
    const char *cancel = replay_request_arg(a->call->request, "cancel_orders");
    json_t *list = json_array();
    if (cancel && strcasecmp(cancel, "true") == 0)
        json_decref(replay_trading_cancel_all(a));
    for (int s = 0; s < market(a)->n_symbols; s++) {
        const struct broker_order *order;
        const int64_t qty = replay_alpaca_held(a->o, a->account, s);
        char symbol[SYMBOL_NAME_MAX];
        if (qty == 0)
            continue;
        replay_alpaca_joined(market(a)->symbols[s].name, symbol);
        const bool done = sell(a, s, qty, &order);
        json_t *body = done ? replay_alpaca_order_json(a->o, order, false)
                            : json_loadb(a->call->response->body.data, a->call->response->body.len, 0, NULL);
        json_array_append_new(list, json_pack("{s:s, s:i, s:o}", "symbol", symbol, "status",
                                              done ? 200 : a->call->response->status, "body", body));
        text_clear(&a->call->response->body);
    }
    a->call->response->status = 207;
    replay_trading_send(a, list);
}

/* Of what is held: `qty` or `percentage` of the query, or all. */
static bool read_part(struct trading_call *a, int64_t held, int64_t *ret)
{
    const char *qty = replay_request_arg(a->call->request, "qty"),
               *percentage = replay_request_arg(a->call->request, "percentage");
    int64_t share;
    *ret = held;
    if (qty && percentage)
        return replay_trading_refuse(a, 422, 42210000, "qty or percentage, and not both");
    if (qty)
        return (decimal_parse_str(qty, MADE_SCALE, ret) == 0 && *ret > 0) ||
               replay_trading_refuse_value(a, "qty",
                                           "a number above 0 with at most 9 digits after the point");
    if (!percentage)
        return true;
    if (decimal_parse_str(percentage, MADE_SCALE, &share) < 0 || share <= 0 || share > 100 * MADE_E9)
        return replay_trading_refuse_value(a, "percentage", "above 0, and at most 100");
    *ret = (int64_t)((int128_t)held * share / (100 * MADE_E9));
    return *ret > 0 || replay_trading_refuse_value(a, "percentage", "more than that of what is held");
}

void replay_trading_positions(struct trading_call *a, bool closes)
{
    if (closes)
        close_all(a);
    else
        get_all(a);
}

void replay_trading_position(struct trading_call *a, const char *name, bool closes)
{
    const int symbol = replay_alpaca_find(market(a), name);
    const int64_t held = symbol < 0 ? 0 : replay_alpaca_held(a->o, a->account, symbol);
    const struct broker_order *order;
    int64_t qty;
    if (held == 0)
        replay_trading_refuse(a, 404, 40410000, "position does not exist");
    else if (!closes)
        replay_trading_send(a, replay_alpaca_position_json(a->o, a->account, symbol));
    else if (read_part(a, held, &qty) && sell(a, symbol, qty, &order))
        replay_trading_send(a, replay_alpaca_order_json(a->o, order, false));
}
