/* Entries sized by what is lost when their stop is hit. */
#ifndef STRATEGY_SIZING_H
#define STRATEGY_SIZING_H

#include "strategy/strategy.h"

/* An entry near `price` that loses the share `risk` of equity at `stop`: for the fraction
 *     risk * price / (price - stop), at most `most`.
 * false, with *ret untouched, where the stop is not between 0 and the price: no size is right then.
 * The profit is 0 for none. */
static inline bool sizing_enter(double risk, double most, double price, double stop, double profit,
                                struct intent *ret)
{
    double distance = price - stop;
    if (!(stop > 0) || !(distance > 0))
        return false;
    double fraction = risk * price / distance;
    *ret = (struct intent){
        .kind = INTENT_ENTER, .fraction = fraction < most ? fraction : most, .stop = stop, .profit = profit};
    return true;
}

#endif
