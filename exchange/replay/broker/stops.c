#include "exchange/replay/broker/stops.h"

bool replay_stop_at(const struct broker_terms *terms, int64_t price)
{
    const bool profit = terms->type == ORDER_TAKE_PROFIT || terms->type == ORDER_TAKE_PROFIT_LIMIT;
    return (terms->side == ORDER_BUY) != profit ? price >= terms->stop : price <= terms->stop;
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
    order->trail_best = replay_trail_best(terms->side, order->trail_best, price);
    return replay_trail_reached(&terms->trail, terms->side, order->trail_best, price);
}
