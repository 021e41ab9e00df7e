#include "exchange/replay/broker/stops.h"

#include "exchange/bar_rules.h"

int64_t replay_stop_price(const struct broker_terms *terms, int64_t best)
{
    const struct broker_trail *trail = &terms->trail;
    return !broker_trails(trail) ? terms->stop
           : best > 0            ? fill_trailing_stop(terms->side, best, trail->amount, trail->share_e6)
                                 : 0;
}

bool replay_stop_at(const struct broker_terms *terms, int64_t price)
{
    return order_is_profit(terms->type) ? fill_profit_triggers(terms->side, terms->stop, price)
                                        : fill_stop_triggers(terms->side, terms->stop, price);
}

bool replay_stop_reached(struct broker_order *order, int64_t price, int64_t now_ns)
{
    const struct broker_terms *terms = &order->terms;
    if (!broker_trails(&terms->trail))
        return replay_stop_at(terms, price);
    if (order->trail_best == 0) {
        if (terms->stop && !replay_stop_at(terms, price))
            return false;
        order->trail_ns = now_ns;
    }
    order->trail_best = bar_peak(terms->side, order->trail_best, price);
    const int64_t stop = replay_stop_price(terms, order->trail_best);
    return stop > 0 && fill_stop_triggers(terms->side, stop, price);
}
