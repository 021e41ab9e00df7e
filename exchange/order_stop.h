/* Which of an account's orders is the stop of its position. */
#ifndef EXCHANGE_ORDER_STOP_H
#define EXCHANGE_ORDER_STOP_H

#include "exchange/order.h"

/* `nearest`, or the order's trigger where that is nearer to the market: a position's stops are of one side,
 * `closes`, and a sale's nearest is the highest. Only what is live: a bracket's exit that waits for its entry
 * protects nothing. price_scale; 0: none. */
static inline int64_t order_nearer_stop(const struct order *order, enum order_side closes, int64_t nearest)
{
    bool stops = order_is_stop(order->type) && !order_is_profit(order->type);

    if (!stops || order->side != closes || order->state == ORDER_HELD || !order_live(order->state) ||
        order->stop_price <= 0)
        return nearest;
    bool nearer = closes == ORDER_SELL ? order->stop_price > nearest : order->stop_price < nearest;
    return nearest == 0 || nearer ? order->stop_price : nearest;
}

#endif
