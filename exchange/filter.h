/* The venue's order filters, checked before an order is accepted on paper, as the venue would. */
#ifndef EXCHANGE_FILTER_H
#define EXCHANGE_FILTER_H

#include "exchange/decimal.h"
#include "exchange/fill_rules.h"
#include "exchange/order.h"
#include "exchange/symbol.h"

/* An order's numbers; a trailing stop has no stop_price yet. `reference` is the price that notionals of
 * market orders and price bands are measured against (the venue takes a 5 minute average; the caller gives
 * the last price); 0 skips both. `open_orders` counts the account's live orders of this symbol. */
struct filter_request {
    enum order_side side;
    enum order_type type;
    int64_t qty, price, stop_price;
    int64_t reference;
    int open_orders;
};

/* ORDER_OK, or the filter that refuses, in the venue's own order of checks: price, lot, notional, count. */
enum order_reason filter_check(const struct symbol *symbol, const struct filter_request *request);

/* The price that an order's notional is of; 0 where there is none yet. */
int64_t filter_notional_price(const struct filter_request *request);

/* The nearest price below (or at) `price` on the tick. */
int64_t filter_floor_price(const struct symbol *symbol, int64_t price);

/* The nearest price above (or at) `price` on the tick; the one below where there is none. */
int64_t filter_ceil_price(const struct symbol *symbol, int64_t price);

/* The price bands of a side: multipliers of the reference, at scale FILTER_MULTIPLIER_SCALE; 0: no bound. */
enum { FILTER_MULTIPLIER_SCALE = 4 };
struct filter_multipliers {
    int64_t down, up;
};
static inline struct filter_multipliers filter_multipliers(const struct symbol *symbol, enum order_side side)
{
    const struct symbol_filters *f = &symbol->filters;
    return side == ORDER_BUY ? (struct filter_multipliers){f->bid_down_e4, f->bid_up_e4}
                             : (struct filter_multipliers){f->ask_down_e4, f->ask_up_e4};
}

/* The lowest and the highest limit price on the tick that the price bands leave to that side, as multiples of
 * `reference` (> 0); 0: no bound. */
void filter_band(const struct symbol *symbol, enum order_side side, int64_t reference, int64_t *ret_low,
                 int64_t *ret_high);

/* The lot filters as plain numbers, for exchange/fill_rules.h. */
static inline struct fill_lot filter_lot(const struct symbol *symbol)
{
    const struct symbol_filters *filters = &symbol->filters;
    return (struct fill_lot){
        .min = filters->qty_min,
        .max = filters->qty_max,
        .step = filters->step,
        .market_min = filters->market_qty_min,
        .market_max = filters->market_qty_max,
        .market_step = filters->market_step,
    };
}

/* The largest quantity not above `qty` that the lot filters allow for this type; 0 when there is none. */
static inline int64_t filter_floor_qty(const struct symbol *symbol, enum order_type type, int64_t qty)
{
    struct fill_lot lot = filter_lot(symbol);
    return fill_floor_qty(&lot, !order_has_limit(type), qty);
}

/* The divisor of price·qty that gives quote units: 10^(price_scale + qty_scale - quote_scale). */
static inline int64_t filter_notional_unit(const struct symbol *symbol)
{
    return decimal_pow10(symbol->price_scale + symbol->qty_scale - symbol->quote_scale);
}

#endif
