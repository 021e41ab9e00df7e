/* Entries sized by the loss when their stop is hit. */
#ifndef STRATEGY_SIZING_H
#define STRATEGY_SIZING_H

#include <math.h>

#include "strategy/strategy.h"

/* An entry near `price` that loses the share `risk` of equity at `stop`: its fraction is
 *     risk * price / (price - stop), at most `most`.
 * A profit of 0 means no take-profit. False, with *ret untouched, where the stop is not between 0 and the
 * price, or the profit not above it, which bars without a range cause. */
static inline bool sizing_enter(double risk, double most, double price, double stop, double profit,
                                struct intent *ret)
{
    double distance = price - stop;
    if (!(stop > 0) || !(distance > 0) || (profit != 0 && !(profit > price)))
        return false;
    double fraction = risk * price / distance;
    *ret = (struct intent){
        .kind = INTENT_ENTER, .fraction = fraction < most ? fraction : most, .stop = stop, .profit = profit};
    return true;
}

/* The same of a short, whose stop is above the price and whose profit, where it has one, is below: one at 0
 * or less is never reached, and is left out. */
static inline bool sizing_short(double risk, double most, double price, double stop, double profit,
                                struct intent *ret)
{
    double distance = stop - price;
    if (!(price > 0) || !(distance > 0) || !isfinite(stop) || (profit != 0 && !(profit < price)))
        return false;
    double fraction = risk * price / distance;
    *ret = (struct intent){.kind = INTENT_SHORT,
                           .fraction = fraction < most ? fraction : most,
                           .stop = stop,
                           .profit = profit > 0 ? profit : 0};
    return true;
}

/* The entry on a side, 1 or -1. */
static inline bool sizing_side(int side, double risk, double most, double price, double stop, double profit,
                               struct intent *ret)
{
    return side > 0 ? sizing_enter(risk, most, price, stop, profit, ret)
                    : sizing_short(risk, most, price, stop, profit, ret);
}

/* The same with its stop and its profit so many ATR from the price; profit_atr 0: none. */
static inline bool sizing_atr(int side, double risk, double most, double price, double atr, double stop_atr,
                              double profit_atr, struct intent *ret)
{
    double stop = price - side * stop_atr * atr;
    double profit = profit_atr > 0 ? price + side * profit_atr * atr : 0;
    return sizing_side(side, risk, most, price, stop, profit, ret);
}

#endif
