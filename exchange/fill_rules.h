/* The one definition of a fill: how a price, a quantity and a rate become money. Plain functions over
 * integers, compiled for host and device alike, so that paper trading, backtest and training agree.
 * Scales: price p, quantity q, quote c; p + q >= c. */
#ifndef EXCHANGE_FILL_RULES_H
#define EXCHANGE_FILL_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/order.h"

#ifdef __CUDACC__
#define FILL_RULE static __host__ __device__ inline
#else
#define FILL_RULE static inline
#endif

/* For a device, whose instruction cache is small; a host's compiler does as it likes. FILL_APART: a rule that
 * runs seldom, or that several places call: one copy of it, out of line. Before a loop FILL_ROLLED: it is not
 * unrolled; FILL_FOUR: by four, whose loads then wait together. */
#ifdef __CUDACC__
#define FILL_APART static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define FILL_APART FILL_RULE
#endif
#ifdef __CUDA_ARCH__
#define FILL_ROLLED _Pragma("unroll 1")
#define FILL_FOUR   _Pragma("unroll 4")
#else
#define FILL_ROLLED
#define FILL_FOUR
#endif

/* The largest balance, and the largest sum of anything in money or quantity: far above real values, so that
 * a wrong price overflows nothing. */
#define FILL_MONEY_MAX (INT64_MAX / 4)

/* product / by, without its fraction; by > 0. In software 128 bits are divided bit by bit; most products fit
 * 64. */
FILL_APART __int128 fill_quotient(__int128 product, int64_t by)
{
    if (product >> 64 == 0)
        return (uint64_t)product / (uint64_t)by;
    return product / by;
}

/* product / by and what remains, of a product >= 0: in one instruction where there is one and the quotient
 * fits its register. */
FILL_RULE __int128 fill_divide(__int128 product, int64_t by, int64_t *ret_rest)
{
#if defined(__x86_64__) && !defined(__CUDACC__)
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if (high < (uint64_t)by) {
        __asm__("divq %[by]" : "+a"(low), "+d"(high) : [by] "r"(by) : "cc");
        *ret_rest = (int64_t)high;
        return low;
    }
#endif
    __int128 whole = fill_quotient(product, by);
    *ret_rest = (int64_t)(product - whole * by);
    return whole;
}

/* price·qty in quote units; `unit` is 10^(p+q-c). A buyer pays the fraction of a unit, a seller forgoes it.
 * The caller keeps price·qty/unit within int64 (see match.c). */
FILL_RULE int64_t fill_notional(enum order_side side, int64_t price, int64_t qty, int64_t unit)
{
    int64_t rest, whole = (int64_t)fill_divide((__int128)price * qty, unit, &rest);
    return whole + (side == ORDER_BUY && rest != 0 ? 1 : 0);
}

/* The fee on a notional, rounded up: the venue never charges less. */
FILL_APART int64_t fill_fee(int64_t notional, int32_t rate_e6)
{
    __int128 product = (__int128)notional * rate_e6 + 999999;
    if (product == (int64_t)product) /* a division by a constant is a multiplication there */
        return (int64_t)product / 1000000;
    return (int64_t)fill_quotient(product, 1000000);
}

/* The money that buying `qty` at `price` takes, the fee included; INT64_MAX where it would not fit. */
FILL_APART int64_t fill_purchase(int64_t price, int64_t qty, int64_t unit, int32_t fee_e6)
{
    int64_t rest;
    __int128 whole = fill_divide((__int128)price * qty, unit, &rest);
    if (whole >= FILL_MONEY_MAX / 2)
        return INT64_MAX;
    int64_t notional = (int64_t)whole + (rest != 0 ? 1 : 0);
    return notional + fill_fee(notional, fee_e6);
}

/* The venue's lots, of all orders and additionally of market orders (struct symbol_filters); 0 is no bound.
 */
struct fill_lot {
    int64_t min, max, step;
    int64_t market_min, market_max, market_step;
};

FILL_RULE int64_t fill_floor_step(int64_t value, int64_t min, int64_t max, int64_t step)
{
    if (max > 0 && value > max)
        value = max;
    if (value < min)
        return 0;
    return step > 0 ? value - (value - min) % step : value;
}

/* The largest quantity not above `qty` that an order may have; 0 when there is none. */
FILL_APART int64_t fill_floor_qty(const struct fill_lot *lot, bool market, int64_t qty)
{
    if (market && lot->market_max > 0 && qty > lot->market_max)
        qty = lot->market_max; /* which need not be a multiple of the lot's step */
    qty = fill_floor_step(qty, lot->min, lot->max, lot->step);
    if (market)
        qty = fill_floor_step(qty, lot->market_min, lot->market_max, lot->market_step);
    return qty > 0 && qty >= lot->min ? qty : 0; /* the market's step may lead below all orders' least */
}

/* The most of `qty` that `cash` pays for at `price`, the fee included: all of it, whether it is whole lots or
 * not, or else the largest whole lot of a market order. price > 0, cash <= FILL_MONEY_MAX. */
FILL_RULE int64_t fill_affordable(int64_t cash, int64_t price, int64_t qty, int64_t unit, int32_t fee_e6,
                                  const struct fill_lot *lot)
{
    if (cash <= 0 || qty <= 0)
        return 0;
    if (fill_purchase(price, qty, unit, fee_e6) <= cash)
        return qty;
    int64_t rest;
    __int128 notional = fill_divide((__int128)cash * 1000000, 1000000 + (int64_t)fee_e6, &rest);
    __int128 most = fill_divide(notional * unit, price, &rest);
    int64_t fits = fill_floor_qty(lot, true, most < qty ? (int64_t)most : qty);
    while (fits > 0 && fill_purchase(price, fits, unit, fee_e6) > cash)
        fits = fill_floor_qty(lot, true, fits - 1);
    return fits;
}

/* The nearest price below (or at) `price` on the tick, which is counted from the lowest price; 0: no tick. */
FILL_APART int64_t fill_floor_price(int64_t price, int64_t price_min, int64_t tick)
{
    return tick > 0 && price > price_min ? price - (price - price_min) % tick : price;
}

/* The nearest price above (or at) `price` on the tick; the one below where there is none. */
FILL_RULE int64_t fill_ceil_price(int64_t price, int64_t price_min, int64_t tick)
{
    int64_t floor = fill_floor_price(price, price_min, tick);
    return floor < price && floor <= INT64_MAX - tick ? floor + tick : floor;
}

/* What a taker trades at where the market shows `price`: worse by slippage_e6 of it, rounded against him to
 * the unit and then to the tick, but never beyond `limit` (0: the order has none). Without slippage it is
 * `price`, on the tick or not. price > 0; 0 <= slippage_e6 < 1000000; the limit crosses the price. */
FILL_RULE int64_t fill_slipped(enum order_side side, int64_t price, int32_t slippage_e6, int64_t price_min,
                               int64_t tick, int64_t limit)
{
    if (slippage_e6 <= 0)
        return price;
    __int128 distance = fill_quotient((__int128)price * slippage_e6 + 999999, 1000000);
    if (side == ORDER_BUY) {
        __int128 worse = price + distance;
        int64_t paid = fill_ceil_price(worse > INT64_MAX ? INT64_MAX : (int64_t)worse, price_min, tick);
        return limit > 0 && paid > limit ? limit : paid;
    }
    int64_t worse = (int64_t)(price - distance); /* >= 0 */
    int64_t lowest = price_min > 0 ? price_min : tick > 0 ? tick : 1;
    int64_t got = fill_floor_price(worse > lowest ? worse : lowest, price_min, tick);
    if (got > price) /* of a price below the lowest */
        got = price;
    return limit > 0 && got < limit ? limit : got;
}

/* Beyond the quantity shown at the best price each further multiple of it costs one step more: the spread, or
 * the tick where that is wider, or where one side is not shown or they cross. Asks of 5 at 100 with a bid of
 * 98: the first 5 cost 100, the next 5 cost 102, then 104. */
FILL_RULE int64_t fill_beyond_step(int64_t bid, int64_t ask, int64_t tick)
{
    int64_t spread = bid > 0 && ask > bid ? ask - bid : 0, least = tick > 0 ? tick : 1;
    return spread > least ? spread : least;
}

/* The price of the k-th further multiple, k >= 1: 0 where it is no price, or below the lowest. */
FILL_RULE int64_t fill_beyond_price(enum order_side side, int64_t price, int64_t step, int64_t k,
                                    int64_t price_min)
{
    __int128 worse = price + (__int128)(side == ORDER_BUY ? step : -step) * k;
    return worse > 0 && worse >= price_min && worse <= INT64_MAX ? (int64_t)worse : 0;
}

/* Does a resting stop order trigger on a trade at `price`? Sells stop below, buys above. */
FILL_RULE bool fill_stop_triggers(enum order_side side, int64_t stop_price, int64_t price)
{
    return side == ORDER_SELL ? price <= stop_price : price >= stop_price;
}

/* Does a resting take-profit order trigger on a trade at `price`? Sells take above, buys below. */
FILL_RULE bool fill_profit_triggers(enum order_side side, int64_t stop_price, int64_t price)
{
    return side == ORDER_SELL ? price >= stop_price : price <= stop_price;
}

/* A trailing stop's price, before the tick, when the best trade since it rests was at `peak`: `trail`, or
 * the share trail_e6 of the peak where that is not 0, away from it, and rounded away from it; 0 when that
 * is no price. Sells trail below, buys above. */
FILL_RULE int64_t fill_trailing_stop(enum order_side side, int64_t peak, int64_t trail, int32_t trail_e6)
{
    __int128 distance = trail_e6 ? ((__int128)peak * trail_e6 + 999999) / 1000000 : trail;
    __int128 stop = side == ORDER_SELL ? peak - distance : peak + distance;
    return stop > 0 && stop <= INT64_MAX ? (int64_t)stop : 0;
}

/* Does a resting limit order fill when the market trades at `price`, wherever it is in the queue? Only
 * through it: at the limit itself other orders may be before ours. */
FILL_RULE bool fill_limit_trades_through(enum order_side side, int64_t limit, int64_t price)
{
    return side == ORDER_BUY ? price < limit : price > limit;
}

/* Would an order with this limit take liquidity offered at `price`? */
FILL_RULE bool fill_limit_crosses(enum order_side side, int64_t limit, int64_t price)
{
    return side == ORDER_BUY ? price <= limit : price >= limit;
}

#endif
