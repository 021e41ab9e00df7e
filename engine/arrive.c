/* Orders that arrive at the venue, and stops that trigger. */
#include "engine/match.h"
#include "exchange/fill_rules.h"
#include "exchange/filter.h"

/* FILL_BEYOND_WAIT: what of a market order is beyond the quantity shown. */
static bool waits_for_quotes(const struct engine *engine, const struct order *order)
{
    return engine->beyond == FILL_BEYOND_WAIT && order->type == ORDER_MARKET && order->tif != ORDER_IOC &&
           order->tif != ORDER_FOK && engine_walk_quotes_alone(&engine->markets[order->symbol]);
}

/* A market order that finds no liquidity ends; a stop rests and continues with whatever is shown next,
 * since a position must not lose its protection in a thin moment. */
void engine_arrive_market(struct engine *engine, uint64_t id, bool first)
{
    struct live_order *live = &engine->orders[engine_match_find(engine, id)];
    const struct order *order = &live->order;
    if (engine_fills_whole_or_ends(engine, order))
        return;
    bool waits = waits_for_quotes(engine, order), rests = waits || order_is_stop(order->type);
    int64_t before = order->filled;
    enum order_reason reason = engine_fills_shown(engine, live, false);
    if (reason == ORDER_NO_LIQUIDITY && first && !waits)
        engine_alert(engine, "NO_LIQUIDITY", ENGINE_OF(order->account, order->symbol, order->id),
                     "%s: a %s %s of account %s found no more to trade with: %s",
                     engine->markets[order->symbol].symbol.name, order_type_name(order->type),
                     order_side_name(order->side), engine->accounts[order->account].name,
                     rests ? "it waits for more" : "the rest ends");
    if (!first && order->filled == before && reason == ORDER_NO_LIQUIDITY)
        engine_reserve_set(engine, order); /* nothing new */
    else
        engine_fills_settle(engine, id, before, reason, rests);
}

/* A limit order arrives, or a triggered one starts to work: it takes what crosses, and the rest goes to the
 * end of the queue. `blind`: what is shown is too old to take. */
static void take_limit(struct engine *engine, uint64_t id, bool blind)
{
    struct live_order *live = &engine->orders[engine_match_find(engine, id)];
    struct order *order = &live->order;
    const struct market_state *market = &engine->markets[order->symbol];
    struct book_level best;
    bool crosses = engine_match_best(engine, order->account, order->symbol, order->side, &best) &&
                   fill_limit_crosses(order->side, order->price, best.price);
    live->queue_ahead = -1;
    live->takes = crosses || engine_hours_would_take(engine, order);
    if (order->post_only && crosses) {
        engine_live_end(engine, id, ORDER_IS_CANCELED, ORDER_WOULD_TAKE);
        return;
    }
    if (engine_fills_whole_or_ends(engine, order))
        return;
    int64_t before = order->filled;
    enum order_reason reason = blind ? ORDER_OK : engine_fills_shown(engine, live, false);
    if (order->filled < order->qty)
        live->queue_ahead = engine_walk_shown(market, order->side, order->price);
    engine_fills_settle(engine, id, before, reason, order->tif != ORDER_IOC);
}

bool engine_arrive_would_trigger(const struct order *order, int64_t price)
{
    if (price <= 0 || order->stop_price <= 0)
        return false;
    bool profit = order->type == ORDER_TAKE_PROFIT || order->type == ORDER_TAKE_PROFIT_LIMIT;
    return profit ? fill_profit_triggers(order->side, order->stop_price, price)
                  : fill_stop_triggers(order->side, order->stop_price, price);
}

void engine_arrive_trigger(struct engine *engine, uint64_t id)
{
    struct live_order *live = &engine->orders[engine_match_find(engine, id)];
    live->order.triggered = true;
    live->missed = false;
    engine_fills_cancel_other_leg(engine, id);
    live = &engine->orders[engine_match_find(engine, id)];
    bool blind = engine->markets[live->order.symbol].stale; /* a trade is recent, the quotes may be stale */
    if (order_has_limit(live->order.type))
        take_limit(engine, id, blind);
    else if (blind)
        engine_fills_rest(engine, id);
    else
        engine_arrive_market(engine, id, true);
}

/* The stop price that follows from the peak, on the tick, away from the market. */
static int64_t trailing_stop(const struct engine *engine, const struct order *order)
{
    const struct symbol *listed = &engine->markets[order->symbol].symbol;
    int64_t stop =
        order->peak > 0 ? fill_trailing_stop(order->side, order->peak, order->trail, order->trail_e6) : 0;
    if (stop == 0)
        return 0;
    return order->side == ORDER_SELL ? filter_floor_price(listed, stop) : filter_ceil_price(listed, stop);
}

/* A trade moves the peak, the peak moves the stop. The order's new peak is emitted even where the stop
 * stays on its tick: an amend to another distance starts from it. */
bool engine_arrive_trail(const struct engine *engine, struct order *order, int64_t price)
{
    bool better = order->side == ORDER_SELL ? price > order->peak : price < order->peak;
    if (price <= 0 || (order->peak > 0 && !better))
        return false;
    order->peak = price;
    order->stop_price = trailing_stop(engine, order);
    return true;
}

/* The market is closed or halted, or has shown nothing since it opened: the order rests, and takes, makes or
 * triggers by what comes after. A limit that the last price crosses counts as one that arrives. */
static void wait_for_market(struct engine *engine, uint64_t id)
{
    struct live_order *live = &engine->orders[engine_match_find(engine, id)];
    struct order *order = &live->order;
    int64_t last = engine->markets[order->symbol].last;
    if (order->tif == ORDER_IOC || order->tif == ORDER_FOK) {
        bool closed = !engine->before_8 && !engine_hours_takes(engine, order);
        engine_live_end(engine, id, ORDER_EXPIRES, closed ? ORDER_SESSION_CLOSED : ORDER_NO_LIQUIDITY);
        return;
    }
    live->queue_ahead = -1;
    live->takes =
        (order_works_as_limit(order) && last > 0 && fill_limit_crosses(order->side, order->price, last)) ||
        engine_hours_would_take(engine, order);
    if (order->type == ORDER_TRAILING_STOP)
        order->stop_price = trailing_stop(engine, order);
    engine_fills_rest(engine, id);
}

void engine_arrive_stand(struct engine *engine, uint64_t id)
{
    struct order *order = &engine->orders[engine_match_find(engine, id)].order;
    const struct market_state *market = &engine->markets[order->symbol];
    bool blind = market->stale;
    if (engine->fill_model == FILL_BAR) {
        engine->orders[engine_match_find(engine, id)].takes = order_works_as_limit(order);
        if (order->type == ORDER_TRAILING_STOP)
            order->stop_price = trailing_stop(engine, order);
        engine_fills_rest(engine, id);
    } else if (order_is_of_auction(order->tif)) {
        engine_fills_rest(engine, id);
    } else if (!engine_hours_takes(engine, order) ||
               engine_hours_opening(engine, order->symbol, order->created_ns)) {
        wait_for_market(engine, id);
    } else if (order->type == ORDER_MARKET) {
        engine_arrive_market(engine, id, true);
    } else if (order->type == ORDER_LIMIT || order_works_as_limit(order)) {
        take_limit(engine, id, blind);
    } else if (order->triggered) {
        engine_fills_rest(engine, id);
    } else {
        int64_t last = blind ? 0 : engine_auction_last(engine, market);
        if (order->type == ORDER_TRAILING_STOP) {
            engine_arrive_trail(engine, order, last);
            order->stop_price = trailing_stop(engine, order);
        }
        if (engine_arrive_would_trigger(order, last))
            engine_arrive_trigger(engine, id);
        else
            engine_fills_rest(engine, id);
    }
}

void engine_arrive_new(struct engine *engine, uint64_t id)
{
    const struct order *order = &engine->orders[engine_match_find(engine, id)].order;
    bool protects = order_is_stop(order->type) || order->parent != 0;
    if (order->reduce_only && engine_match_reducible(engine, order->account, order->symbol, order->side) == 0)
        engine_live_end(engine, id, ORDER_IS_CANCELED, ORDER_REDUCE_ONLY);
    else if (engine->markets[order->symbol].stale && !protects &&
             !engine_hours_opening(engine, order->symbol, order->created_ns) &&
             (!engine_hours_rests(&engine->markets[order->symbol]) || engine_hours_takes(engine, order)))
        engine_live_end(engine, id, ORDER_IS_CANCELED, ORDER_RISK_STALE_DATA);
    else
        engine_arrive_stand(engine, id);
}
