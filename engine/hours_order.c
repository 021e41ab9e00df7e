/* When an order trades in its symbol's sessions: by its time in force and extended_hours. */
#include "engine/match.h"
#include "exchange/order_rules.h"

/* Is it one of those that wait for the session where [venue] extended_hours is on: stops, and what the
 * strategy of a `regular` account ordered, whose backtest has no such bars? */
static bool of_session(const struct engine *engine, const struct order *order)
{
    return engine->specs[order->account].session == SESSION_REGULAR &&
           (order_is_stop(order->type) || !order->by_hand);
}

static bool outside(const struct engine *engine, const struct market_state *market, const struct order *order)
{
    return order->extended_hours || (market->extended && !of_session(engine, order));
}

bool engine_hours_works(const struct engine *engine, const struct market_state *market,
                        const struct order *order, enum market_phase phase)
{
    if (order_is_of_auction(order->tif))
        return phase == MARKET_PHASE_OPEN;
    return engine_hours_phase(phase, outside(engine, market, order));
}

bool engine_hours_takes(const struct engine *engine, const struct order *order)
{
    const struct market_state *market = &engine->markets[order->symbol];
    return market->trading == MARKET_TRADES && order->tif != ORDER_CLS &&
           engine_hours_works(engine, market, order, market->phase);
}

bool engine_hours_bar_takes(const struct engine *engine, const struct order *order, const struct bar *bar)
{
    const struct market_state *market = &engine->markets[order->symbol];
    if (!engine_hours_bar_outside(bar) || market->phase == MARKET_PHASE_UNKNOWN ||
        !order_rules_of(&market->symbol))
        return true;
    return outside(engine, market, order) && !order_is_of_auction(order->tif);
}

bool engine_hours_bar_extends(const struct engine *engine, int symbol, const struct bar *bar)
{
    const struct market_state *market = &engine->markets[symbol];
    bool extends = false;
    if (!engine_hours_bar_outside(bar))
        return false;
    for (int a = 0; !extends && a < engine->n_accounts; a++)
        extends = engine_hours_sees_outside(engine, a, market);
    for (size_t i = 0; !extends && market->live_orders > 0 && i < engine->n_orders; i++) {
        const struct order *order = &engine->orders[i].order;
        extends = order->symbol == symbol &&
                  (order->extended_hours || (market->extended && engine_hours_bar_takes(engine, order, bar)));
    }
    return extends;
}

static int64_t session_end(const struct engine *engine, const struct order *order)
{
    const struct market_state *market = &engine->markets[order->symbol];
    bool late = outside(engine, market, order);
    enum market_phase last = late && order->tif == ORDER_DAY ? MARKET_PHASE_LATE : MARKET_PHASE_OPEN;
    if (order->tif == ORDER_OPG) /* dated by the opening: engine_hours_event() */
        return 0;
    if (market->symbol.calendar[0] == '\0')
        return (order->effective_ns / HOURS_DAY_NS + 1) * HOURS_DAY_NS;
    int64_t end_ns = market->phase_next_ns - engine_ahead_ns(engine, order->symbol);
    return market->phase == last && market->phase_next_ns > 0 && end_ns > order->effective_ns ? end_ns : 0;
}

int64_t engine_hours_order_end(const struct engine *engine, const struct order *order)
{
    int64_t end_ns = session_end(engine, order);
    bool good = order->tif == ORDER_DAY && order->extended_hours && !order->by_hand &&
                order->expires_ns > order->effective_ns;
    return good && (end_ns == 0 || order->expires_ns < end_ns) ? order->expires_ns : end_ns;
}

/* Has the session of this day, by the zone of the exchange, started or ended? */
static bool day_over(const struct market_state *market, const struct order_rules *rules, int64_t now_ns)
{
    int32_t today, then;
    if (market->phase == MARKET_PHASE_OPEN || market->phase == MARKET_PHASE_LATE)
        return true;
    (void)order_rules_minute(rules, now_ns, &today);
    (void)order_rules_minute(rules, market->closed_ns, &then);
    return market->phase == MARKET_PHASE_CLOSED && market->closed_ns > 0 && today == then;
}

enum order_reason engine_hours_late(const struct engine *engine, const struct order *order)
{
    const struct market_state *market = &engine->markets[order->symbol];
    const struct order_rules *rules = order_rules_of(&market->symbol);
    bool opens = order->tif == ORDER_OPG;
    if (!rules || !order_is_of_auction(order->tif))
        return ORDER_OK;
    bool before = market->phase == (opens ? MARKET_PHASE_EARLY : MARKET_PHASE_OPEN);
    int64_t now_ns = engine->now_ns + engine_ahead_ns(engine, order->symbol);
    bool late = order_rules_late(rules, order->tif, now_ns, before ? market->phase_next_ns : 0,
                                 day_over(market, rules, now_ns));
    return !late ? ORDER_OK : opens ? ORDER_RULE_OPG_LATE : ORDER_RULE_CLS_LATE;
}
