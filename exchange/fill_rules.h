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

/* price·qty in quote units; `unit` is 10^(p+q-c). A buyer pays the fraction of a unit, a seller forgoes it.
 * The caller keeps price·qty/unit within int64 (see match.c). */
FILL_RULE int64_t fill_notional(enum order_side side, int64_t price, int64_t qty, int64_t unit)
{
    __int128 product = (__int128)price * qty;
    int64_t whole = (int64_t)(product / unit);
    return whole + (side == ORDER_BUY && product % unit != 0 ? 1 : 0);
}

/* The fee on a notional, rounded up: the venue never charges less. */
FILL_RULE int64_t fill_fee(int64_t notional, int32_t rate_e6)
{
    __int128 product = (__int128)notional * rate_e6;
    int64_t whole = (int64_t)(product / 1000000);
    return whole + (product % 1000000 != 0 ? 1 : 0);
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

/* Where a trailing stop stands, before the tick, when the best trade since it rests was at `peak`: `trail`,
 * or the share trail_e6 of the peak where that is not 0, away from it, and rounded away from it; 0 when that
 * is no price. Sells trail below, buys above. */
FILL_RULE int64_t fill_trailing_stop(enum order_side side, int64_t peak, int64_t trail, int32_t trail_e6)
{
    __int128 distance = trail_e6 ? ((__int128)peak * trail_e6 + 999999) / 1000000 : trail;
    __int128 stop = side == ORDER_SELL ? peak - distance : peak + distance;
    return stop > 0 && stop <= INT64_MAX ? (int64_t)stop : 0;
}

/* Does a resting limit order fill when the market trades at `price`, wherever it stands in the queue? Only
 * through it: at the limit itself others may stand before us. */
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
