/* The venue's filters of orders. */
#include <stdio.h>
#include <string.h>

#include "exchange/filter.h"
#include "exchange/replay/binance/filters.h"
#include "exchange/replay/binance/limits.h"
#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/protocol.h"
#include "exchange/replay/broker/order_lists.h"

#define E8 100000000LL

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

int64_t replay_order_reference(const struct order_call *c)
{
    const struct tape_symbol *sym = &c->o->source->tape->symbols[c->symbol];
    struct candle day;
    if (sym->n_trades > 0)
        return sym->trades[(sym->n_trades - 1) % TAPE_TRADES_KEPT].price;
    return replay_tape_day(c->o->source->tape, c->symbol, &day) ? day.close : 0; /* before the play */
}

/* An account's orders that are open: of the symbol, and of all. */
struct open_counts {
    int orders, algo, iceberg;
};
struct open_orders {
    struct open_counts here, all;
    int128_t buys; /* the symbol's purchases, in the base asset */
};

static void count(struct open_orders *open, const struct broker_terms *terms, int symbol)
{
    struct open_counts *const of[] = {&open->all, terms->symbol == symbol ? &open->here : NULL};
    for (int i = 0; i < 2 && of[i]; i++) {
        of[i]->orders++;
        of[i]->algo += broker_has_stop(terms);
        of[i]->iceberg += terms->iceberg > 0;
    }
    if (terms->symbol == symbol && terms->side == ORDER_BUY)
        open->buys += terms->qty;
}

/* The account's but `old`, and those of the same list. */
static struct open_orders count_open(const struct order_call *c, const struct broker_order *old)
{
    struct open_orders open = {0};
    size_t n;
    const struct broker_order *all = replay_broker_orders(c->o->broker, &n);
    for (size_t i = 0; i < n; i++)
        if (all[i].terms.account == c->caller->account && broker_is_open(&all[i]) && &all[i] != old)
            count(&open, &all[i].terms, c->symbol);
    for (int i = 0; i < c->n_before; i++)
        count(&open, &c->before[i], c->symbol);
    return open;
}

static int fail(struct order_call *c, int code, const char *filter)
{
    char msg[64];
    snprintf(msg, sizeof(msg), "Filter failure: %s", filter);
    return replay_order_refuse(c->body, ORDER_CALL_BAD, code, msg);
}

static int64_t value_of(const struct order_call *c, enum replay_filter filter)
{
    const struct replay_filters *filters = &c->o->limits->filters;
    if (filter == FILTER_MAX_NUM_ALGO_ORDERS && c->o->keys.n == 0 && !filters->is_set[filter])
        return 0;
    return replay_filter_of(filters, &c->o->source->tape->symbols[c->symbol], filter);
}

/* Is there no room for one more? */
static bool is_full(const struct order_call *c, enum replay_filter filter, int open)
{
    const int64_t most = value_of(c, filter);
    return most > 0 && open >= most;
}

/* What an order has beyond price and quantity: its parts, and what it trails by. */
static int check_parts(struct order_call *c, const struct broker_terms *terms,
                       const struct filter_request *request)
{
    const struct tape_symbol *symbol = &c->o->source->tape->symbols[c->symbol];
    const bool above = (terms->side == ORDER_BUY) != order_is_profit(terms->type);
    const struct replay_delta_range range = replay_filter_delta(symbol, above);
    const int64_t parts = value_of(c, FILTER_ICEBERG_PARTS), delta = terms->trail.share_e6 / 100;
    const struct symbol listed = filters_of(c);
    struct filter_request part = *request;
    if (terms->iceberg > 0) {
        if (decimal_rescale(terms->iceberg, 8, c->listed.qty_scale, &part.qty) < 0 ||
            filter_check(&listed, &part) == ORDER_LOT_SIZE)
            return fail(c, -1013, "LOT_SIZE");
        if (parts > 0 && (terms->qty + terms->iceberg - 1) / terms->iceberg > parts)
            return fail(c, -1013, replay_filter_name(FILTER_ICEBERG_PARTS));
    }
    if (delta > 0 && ((range.min > 0 && delta < range.min) || (range.max > 0 && delta > range.max)))
        return fail(c, -1013, "TRAILING_DELTA");
    return 0;
}

/* Would a purchase lead to more of the base asset than the account may have? */
static bool exceeds_position(const struct order_call *c, int128_t qty, int128_t buys)
{
    const int64_t most = value_of(c, FILTER_MAX_POSITION);
    const struct broker_account *account = replay_broker_account_of(c->o->broker, c->caller->account);
    const struct broker_balance *base = replay_broker_balance(account, c->listed.base);
    const int128_t has = base ? (base->free + base->locked) / E8 : 0;
    return most > 0 && has + buys + qty > most;
}

/* How many of its kind there are, here and on the exchange, and what it would be of an account's assets. */
static int check_account(struct order_call *c, const struct broker_terms *terms,
                         const struct open_orders *open)
{
    const struct replay_filters *filters = &c->o->limits->filters;
    const bool algo = broker_has_stop(terms), iceberg = terms->iceberg > 0;
    const struct {
        enum replay_filter filter;
        bool of_kind;
        int open;
    } all[] = {
        {FILTER_MAX_NUM_ALGO_ORDERS, algo, open->here.algo},
        {FILTER_MAX_NUM_ICEBERG_ORDERS, iceberg, open->here.iceberg},
        {FILTER_EXCHANGE_MAX_NUM_ORDERS, true, open->all.orders},
        {FILTER_EXCHANGE_MAX_NUM_ALGO_ORDERS, algo, open->all.algo},
        {FILTER_EXCHANGE_MAX_NUM_ICEBERG_ORDERS, iceberg, open->all.iceberg},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i].of_kind && is_full(c, all[i].filter, all[i].open))
            return fail(c, -1013, replay_filter_name(all[i].filter));
    const int64_t price = terms->price ? terms->price : terms->stop ? terms->stop : replay_order_reference(c);
    const int128_t notional = terms->quote ? (int128_t)terms->quote : (int128_t)terms->qty * price / E8;
    const int128_t qty = terms->quote && price > 0 ? (int128_t)terms->quote * E8 / price : terms->qty;
    const int64_t base_most = replay_filter_asset(filters, c->listed.base),
                  quote_most = replay_filter_asset(filters, c->listed.quote);
    if (terms->side == ORDER_BUY && exceeds_position(c, qty, open->buys))
        return fail(c, -1013, replay_filter_name(FILTER_MAX_POSITION));
    return (base_most > 0 && qty > base_most) || (quote_most > 0 && notional > quote_most)
               ? fail(c, -1013, "MAX_ASSET")
               : 0;
}

static int check_order(struct order_call *c, const struct broker_terms *terms,
                       const struct filter_request *request)
{
    const struct symbol listed = filters_of(c);
    const enum order_reason reason =
        terms->quote ? check_quote(&listed, terms, request->open_orders) : filter_check(&listed, request);
    if (reason == ORDER_OK)
        return check_parts(c, terms, request);
    return fail(c, -1013,
                reason == ORDER_MIN_NOTIONAL || reason == ORDER_MAX_NOTIONAL ? "NOTIONAL"
                : reason == ORDER_PERCENT_PRICE                              ? "PERCENT_PRICE_BY_SIDE"
                                                                             : order_reason_name(reason));
}

int replay_order_filters(struct order_call *c, const struct broker_terms *terms,
                         const struct broker_order *old)
{
    const struct open_orders open = count_open(c, old);
    const bool trails_only = broker_trails(&terms->trail) && terms->stop == 0;
    struct filter_request request = {.side = terms->side, .open_orders = open.here.orders};
    request.type = !trails_only                   ? terms->type
                   : order_has_limit(terms->type) ? ORDER_LIMIT
                                                  : ORDER_TRAILING_STOP;
    if (decimal_rescale(terms->price, 8, c->listed.price_scale, &request.price) < 0 ||
        decimal_rescale(terms->stop, 8, c->listed.price_scale, &request.stop_price) < 0 ||
        decimal_rescale(replay_order_reference(c), 8, c->listed.price_scale, &request.reference) < 0)
        return fail(c, -1013, "PRICE_FILTER");
    if (decimal_rescale(terms->qty, 8, c->listed.qty_scale, &request.qty) < 0)
        return fail(c, -1013, "LOT_SIZE");
    const int status = check_order(c, terms, &request);
    return status == 0 ? check_account(c, terms, &open) : status;
}

int replay_order_list_filters(struct order_call *c)
{
    size_t n;
    int here = 0, all = 0;
    const struct broker_list *lists = replay_broker_lists(c->o->broker, &n);
    for (size_t i = 0; i < n; i++) {
        if (lists[i].account != c->caller->account || lists[i].done)
            continue;
        all++;
        here += lists[i].symbol == c->symbol;
    }
    if (is_full(c, FILTER_MAX_NUM_ORDER_LISTS, here))
        return fail(c, -1013, replay_filter_name(FILTER_MAX_NUM_ORDER_LISTS));
    if (is_full(c, FILTER_EXCHANGE_MAX_NUM_ORDER_LISTS, all))
        return fail(c, -1013, replay_filter_name(FILTER_EXCHANGE_MAX_NUM_ORDER_LISTS));
    return 0;
}

int replay_order_amend_filter(struct order_call *c, const struct broker_order *order)
{
    return is_full(c, FILTER_MAX_NUM_ORDER_AMENDS, order->amends)
               ? fail(c, -2038, replay_filter_name(FILTER_MAX_NUM_ORDER_AMENDS))
               : 0;
}

int replay_order_my_filters(struct order_call *c)
{
    const int status = replay_order_symbol(c);
    if (status != 0)
        return status;
    replay_exchange_info_filters(c->body, &c->o->source->tape->symbols[c->symbol], &c->listed, c->o->limits);
    return ORDER_CALL_OK;
}
