/* Trailing stops ("Placing Orders" at docs.alpaca.markets): the stop keeps its distance from the best price
 * since the order was placed, the mark: for a sale the highest, for a purchase the lowest. The mark begins
 * with the quote that the order would meet, and follows the session's trades; a trade at the stop or beyond
 * it triggers a market order. */
#include "exchange/replay/alpaca/trading_call.h"

#define PERCENT_100 (100 * MADE_E9)

int64_t replay_alpaca_trailing_stop(const struct alpaca_paper_order *own, enum order_side side)
{
    const int64_t trail = side == ORDER_SELL ? -own->trail : own->trail;
    return own->percent ? (int64_t)((int128_t)own->hwm * (PERCENT_100 + trail) / PERCENT_100)
                        : own->hwm + trail;
}

bool replay_trading_trail(struct trading_call *a, struct broker_terms *terms, struct alpaca_paper_order *own)
{
    int64_t price, percent;
    if (!replay_trading_decimal(a, "trail_price", &price) ||
        !replay_trading_decimal(a, "trail_percent", &percent))
        return false;
    if ((price || percent) && !own->trails)
        return replay_trading_refuse(a, 422, 42210000,
                                     "trail_price and trail_percent are of trailing_stop orders");
    if (!own->trails)
        return true;
    if ((price != 0) == (percent != 0))
        return replay_trading_refuse(a, 422, 42210000,
                                     "trailing stop orders require either trail_price or trail_percent");
    own->percent = percent != 0;
    own->trail = own->percent ? percent : price;
    own->hwm = replay_alpaca_touch(a->o, terms->symbol, terms->side);
    terms->stop = replay_alpaca_trailing_stop(own, terms->side);
    return terms->stop > 0 || replay_trading_refuse_value(a, own->percent ? "trail_percent" : "trail_price",
                                                          "less than the whole price");
}

void replay_alpaca_trail(struct alpaca_orders *o, int symbol, int64_t price)
{
    size_t n;
    const struct broker_order *all = replay_broker_orders(o->broker, &n);
    for (size_t i = 0; o->any_trailing && i < n; i++) {
        struct alpaca_paper_order *own = &o->own[all[i].id - 1];
        if (!own->trails || !all[i].waits || all[i].terms.symbol != symbol || !broker_is_open(&all[i]) ||
            (all[i].terms.side == ORDER_SELL ? price <= own->hwm : price >= own->hwm))
            continue;
        own->hwm = price;
        replay_broker_set_stop(o->broker, all[i].terms.account, all[i].id,
                               replay_alpaca_trailing_stop(own, all[i].terms.side));
    }
}
