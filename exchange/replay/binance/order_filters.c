/* The venue's filters of orders. */
#include <stdio.h>

#include "exchange/filter.h"
#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/protocol.h"

/* Without keys an order may be as small and as far from the market as a client's first one often is. */
static struct symbol filters_of(const struct order_call *c)
{
    struct symbol ret = c->listed;
    if (c->o->keys.n > 0)
        return ret;
    struct symbol_filters *f = &ret.filters;
    f->notional_min = f->bid_up_e4 = f->bid_down_e4 = f->ask_up_e4 = f->ask_down_e4 = 0;
    return ret;
}

/* Of an order of `quote`, whose quantity follows the step: its notional and the number of orders. */
static enum order_reason check_quote(const struct symbol *listed, const struct broker_terms *terms, int open)
{
    const struct symbol_filters *f = &listed->filters;
    const int64_t unit = decimal_pow10(8 - listed->quote_scale);
    if (f->notional_min_market && terms->quote < f->notional_min * unit)
        return ORDER_MIN_NOTIONAL;
    if (f->notional_max_market && f->notional_max > 0 && terms->quote / unit > f->notional_max)
        return ORDER_MAX_NOTIONAL;
    return f->orders_max > 0 && open >= f->orders_max ? ORDER_MAX_NUM_ORDERS : ORDER_OK;
}

/* The price of the last trade. */
static int64_t reference_of(const struct order_call *c)
{
    const struct tape_symbol *sym = &c->o->source->tape->symbols[c->symbol];
    struct candle day;
    if (sym->n_trades > 0)
        return sym->trades[(sym->n_trades - 1) % TAPE_TRADES_KEPT].price;
    return replay_tape_day(c->o->source->tape, c->symbol, &day) ? day.close : 0; /* before the play */
}

/* The account's open orders of the symbol but `old`, and those of them that have a stop. */
static void count_open(const struct order_call *c, const struct broker_order *old, int *ret_open,
                       int *ret_stops)
{
    size_t n;
    const struct broker_order *all = replay_broker_orders(c->o->broker, &n);
    *ret_open = *ret_stops = 0;
    for (size_t i = 0; i < n; i++) {
        if (all[i].terms.account != c->caller->account || all[i].terms.symbol != c->symbol ||
            !broker_is_open(&all[i]) || &all[i] == old)
            continue;
        ++*ret_open;
        *ret_stops += all[i].terms.stop != 0;
    }
}

static int fail(struct order_call *c, const char *filter)
{
    char msg[64];
    snprintf(msg, sizeof(msg), "Filter failure: %s", filter);
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -1013, msg);
}

/* Against the open orders of the symbol, too. */
static int check_order(struct order_call *c, const struct broker_terms *terms,
                       const struct filter_request *request, int stops)
{
    const struct symbol listed = filters_of(c);
    const int stops_max =
        c->o->keys.n > 0 ? replay_exchange_info_algo_max(&c->o->source->tape->symbols[c->symbol]) : 0;
    const enum order_reason reason =
        terms->quote ? check_quote(&listed, terms, request->open_orders) : filter_check(&listed, request);
    if (reason == ORDER_OK)
        return terms->stop && stops_max > 0 && stops >= stops_max ? fail(c, "MAX_NUM_ALGO_ORDERS") : 0;
    return fail(c, reason == ORDER_MIN_NOTIONAL || reason == ORDER_MAX_NOTIONAL ? "NOTIONAL"
                   : reason == ORDER_PERCENT_PRICE                              ? "PERCENT_PRICE_BY_SIDE"
                                                                                : order_reason_name(reason));
}

int replay_order_filters(struct order_call *c, const struct broker_terms *terms,
                         const struct broker_order *old)
{
    struct filter_request request = {.side = terms->side, .type = terms->type};
    int stops;
    count_open(c, old, &request.open_orders, &stops);
    if (decimal_rescale(terms->price, 8, c->listed.price_scale, &request.price) < 0 ||
        decimal_rescale(terms->stop, 8, c->listed.price_scale, &request.stop_price) < 0 ||
        decimal_rescale(reference_of(c), 8, c->listed.price_scale, &request.reference) < 0)
        return fail(c, "PRICE_FILTER");
    if (decimal_rescale(terms->qty, 8, c->listed.qty_scale, &request.qty) < 0)
        return fail(c, "LOT_SIZE");
    return check_order(c, terms, &request, stops);
}
