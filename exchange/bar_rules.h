/* The bar model: what a closed bar does to an order. Plain functions over integers, compiled for host and
 * device alike: the engine (engine/match_bar.c), the columnar backtest and the training environment all
 * call these, and docs/fills.md explains them to users with an example.
 *
 * The model knows four prices and no path between them. The order of what happens within a bar is stated
 * once, here, and where the four prices leave it open, against the order.
 *
 * An order, new, amended or cancelled, takes part from the first bar of its symbol with
 *     open_ns >= created_ns  and  end_ns > effective_ns = created_ns + latency      (bar_takes_part())
 *     where created_ns is the end of the bar that it was decided on: with a latency below one interval, the
 *     next bar; a gap only makes it wait for the next bar that exists. One that rests takes part in the
 *     bars that open at or after the last thing that happened to it (updated_ns).
 *
 * Within one bar of one symbol:
 * 1. Orders with expires_ns <= open_ns expire, in order of their ids; then cancels and amends that are due
 *    take effect, in order of time.
 * 2. BAR_AT_OPEN, in order of ids: market orders fill at the open; stops and take-profits that the open has
 *    reached or passed fill at the open; limit orders that are new in this bar, or amended to more than a
 *    smaller quantity, and cross the open take it, at the open; resting ones that the open has gone through
 *    fill at their own price, as makers. Limits of an entry's bracket that start here are new. IOC and FOK
 *    end here.
 * 3. BAR_STOPS, in order of ids: stops that low (sales) or high (purchases) reaches fill at their stop
 *    price.
 * 4. BAR_PROFITS, in order of ids: take-profits that are touched fill at their stop price; limits that are
 *    gone through, strictly, fill at their own price, as makers.
 * 5. BAR_TRAILS, in order of ids: trailing stops take the high (sales) or low (purchases) as their peak,
 *    and
 *    fill at the stop price that follows from it where the close has reached that. Before, in 2, they were
 *    checked with the peak of earlier bars and then took the open as peak; in 3 they were checked with
 *    that. Steps 3 to 5 lie inside the bar. Takers pay slippage: fill_slipped(). Liquidity has no bound;
 *    what a balance affords is fill_affordable(). Fills at the open are dated open_ns, those inside end_ns
 *    - 1. Then the bar's close is the last price, and strategies decide, at end_ns.
 *
 * Limit types: a STOP_LIMIT, or TAKE_PROFIT_LIMIT, that is reached becomes a limit order that comes to a
 * market at the open (step 2) or at its stop price (3, 4): it takes there where it crosses, up to its
 * limit; else it rests. Triggered in 2, it takes part as a resting limit in 4; a STOP_LIMIT triggered in 3
 * from the next bar on; a TAKE_PROFIT_LIMIT triggered in 4 fills there if the bar also goes through its
 * limit, since that lies farther the same way.
 *
 * Groups. One leg of an OCO that fills or triggers ends the other at once. The exits of a bracket whose
 * entry fills in 2 start right after it, new orders at the open, and take part in all that follows. Those
 * of an entry that fills inside start at once, with what is certain of the bar's rest, bar_rest(): as new
 * orders at the entry's price, then their stops as in 3 and 5; profits only from the next bar on. */
#ifndef EXCHANGE_BAR_RULES_H
#define EXCHANGE_BAR_RULES_H

#include "exchange/fill_rules.h"

/* One bar's prices, at price_scale, low <= open, close <= high, all > 0. */
struct bar_prices {
    int64_t open, high, low, close;
};

/* The fields of an order that the rules read. Prices are 0 where the type has none. */
struct bar_order {
    enum order_side side;
    enum order_type type;
    int64_t price, stop_price; /* a trailing stop's as its peak gives it now; 0 without a peak */
    bool triggered;            /* its stop price was reached before */
    bool arrives;              /* at this step's market: new, or amended; looked at in BAR_AT_OPEN only */
};

enum bar_step { BAR_AT_OPEN, BAR_STOPS, BAR_PROFITS, BAR_TRAILS, BAR_STEPS };

enum bar_act {
    BAR_WAITS,
    BAR_TRIGGERS, /* works as a limit order from now on, and does not trade in this step */
    BAR_TAKES, /* trades as a taker where the market is at `price`: fill_slipped() of it, up to its limit */
    BAR_MAKES, /* trades as a maker at `price`, its own */
};

/* An order of a type that waits for a stop price is triggered by any result except BAR_WAITS. */
struct bar_effect {
    enum bar_act act;
    int64_t price;
};

FILL_RULE bool bar_takes_part(int64_t created_ns, int64_t effective_ns, int64_t open_ns, int64_t end_ns)
{
    return created_ns <= open_ns && effective_ns < end_ns;
}

/* When what trades in a step trades. */
FILL_RULE int64_t bar_fill_ns(enum bar_step step, int64_t open_ns, int64_t end_ns)
{
    return step == BAR_AT_OPEN ? open_ns : end_ns - 1;
}

FILL_RULE bool bar_is_profit(enum order_type type)
{
    return type == ORDER_TAKE_PROFIT || type == ORDER_TAKE_PROFIT_LIMIT;
}

FILL_RULE bool bar_has_limit(enum order_type type)
{
    return type == ORDER_LIMIT || type == ORDER_STOP_LIMIT || type == ORDER_TAKE_PROFIT_LIMIT;
}

/* Its stop price is reached where the market is at `price`. */
FILL_RULE struct bar_effect bar_reached(const struct bar_order *order, int64_t price)
{
    struct bar_effect effect = {BAR_TAKES, price};
    if (bar_has_limit(order->type) && !fill_limit_crosses(order->side, order->price, price))
        effect.act = BAR_TRIGGERS;
    return effect;
}

/* What a price does to a limit order that rests. */
FILL_RULE struct bar_effect bar_limit(const struct bar_order *order, int64_t price)
{
    struct bar_effect effect = {BAR_WAITS, order->price};
    if (fill_limit_trades_through(order->side, order->price, price))
        effect.act = BAR_MAKES;
    return effect;
}

FILL_RULE struct bar_effect bar_open_rule(const struct bar_order *order, int64_t open)
{
    struct bar_effect waits = {BAR_WAITS, 0}, takes = {BAR_TAKES, open};
    if (order->type == ORDER_MARKET)
        return takes;
    if (order->type == ORDER_LIMIT || (order->triggered && bar_has_limit(order->type))) {
        if (order->arrives)
            return fill_limit_crosses(order->side, order->price, open) ? takes : waits;
        return bar_limit(order, open);
    }
    if (order->triggered) /* a stop that found nothing to trade with, in another model */
        return takes;
    if (order->stop_price <= 0)
        return waits;
    bool reached = bar_is_profit(order->type) ? fill_profit_triggers(order->side, order->stop_price, open)
                                              : fill_stop_triggers(order->side, order->stop_price, open);
    return reached ? bar_reached(order, open) : waits;
}

FILL_RULE struct bar_effect bar_stop_rule(const struct bar_order *order, const struct bar_prices *bar)
{
    struct bar_effect waits = {BAR_WAITS, 0};
    bool stop =
        order->type == ORDER_STOP || order->type == ORDER_STOP_LIMIT || order->type == ORDER_TRAILING_STOP;
    int64_t worst = order->side == ORDER_SELL ? bar->low : bar->high;
    if (!stop || order->triggered || order->stop_price <= 0 ||
        !fill_stop_triggers(order->side, order->stop_price, worst))
        return waits;
    return bar_reached(order, order->stop_price);
}

FILL_RULE struct bar_effect bar_profit_rule(const struct bar_order *order, const struct bar_prices *bar)
{
    struct bar_effect waits = {BAR_WAITS, 0};
    int64_t best = order->side == ORDER_SELL ? bar->high : bar->low;
    if (order->type == ORDER_LIMIT || (order->triggered && bar_has_limit(order->type)))
        return bar_limit(order, best);
    if (!bar_is_profit(order->type) || order->triggered || order->stop_price <= 0 ||
        !fill_profit_triggers(order->side, order->stop_price, best))
        return waits;
    struct bar_effect effect = bar_reached(order, order->stop_price);
    if (effect.act == BAR_TRIGGERS && fill_limit_trades_through(order->side, order->price, best)) {
        effect.act = BAR_MAKES;
        effect.price = order->price;
    }
    return effect;
}

/* With the stop price that the bar's best price gave it: bar_peak(). */
FILL_RULE struct bar_effect bar_trail_rule(const struct bar_order *order, const struct bar_prices *bar)
{
    struct bar_effect waits = {BAR_WAITS, 0};
    if (order->type != ORDER_TRAILING_STOP || order->triggered || order->stop_price <= 0 ||
        !fill_stop_triggers(order->side, order->stop_price, bar->close))
        return waits;
    return bar_reached(order, order->stop_price);
}

/* What the bar does to the order in one of the steps. */
FILL_RULE struct bar_effect bar_rule(const struct bar_order *order, const struct bar_prices *bar,
                                     enum bar_step step)
{
    switch (step) {
    case BAR_AT_OPEN:
        return bar_open_rule(order, bar->open);
    case BAR_STOPS:
        return bar_stop_rule(order, bar);
    case BAR_PROFITS:
        return bar_profit_rule(order, bar);
    default:
        return bar_trail_rule(order, bar);
    }
}

/* A trailing stop's peak once it has seen `price`; before its first price the peak is 0. Its stop price is
 * fill_trailing_stop() of that, put on the tick away from the market: fill_floor_price() of a sale's,
 * fill_ceil_price() of a purchase's. */
FILL_RULE int64_t bar_peak(enum order_side side, int64_t peak, int64_t price)
{
    bool better = side == ORDER_SELL ? price > peak : price < peak;
    return peak == 0 || better ? price : peak;
}

/* What is certain of a bar after an order that was not a market order has filled inside it, where the
 * market was at `price`: the price continued to the extreme that lies beyond, and ended at the close.
 * Purchases at a limit or to take a profit, and sales on a stop, were passed on the way down; the others on
 * the way up. `type` is ORDER_LIMIT for any order that made at its own price. */
FILL_RULE struct bar_prices bar_rest(enum order_side side, enum order_type type, int64_t price,
                                     const struct bar_prices *bar)
{
    bool stop = type == ORDER_STOP || type == ORDER_STOP_LIMIT || type == ORDER_TRAILING_STOP;
    bool falling = (side == ORDER_BUY) != stop;
    struct bar_prices rest = {price, price, price, bar->close};
    if (rest.high < bar->close)
        rest.high = bar->close;
    if (rest.low > bar->close)
        rest.low = bar->close;
    if (falling)
        rest.low = bar->low;
    else
        rest.high = bar->high;
    return rest;
}

#endif
