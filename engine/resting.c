/* What trades and quotes do to an order that rests. */
#include "engine/match.h"
#include "exchange/fill_rules.h"

/* A resting order makes at its own limit what a trade gives it; one that `takes` trades at the trade's price.
 * Returns how much. */
static int64_t make(struct engine *engine, uint64_t id, const struct market_trade *trade, int64_t ahead,
                    int64_t offered, bool takes)
{
    struct order *order = &engine->orders[engine_match_find(engine, id)].order;
    int64_t left = order->qty - order->filled, before = order->filled;
    int64_t wanted = left < offered ? left : offered, price = takes ? trade->price : order->price;
    engine_reserve_lift(engine, order);
    int64_t qty = engine_reserve_affordable(engine, order, price, wanted);
    const struct fill_source source = {.level = {trade->price, trade->qty},
                                       .queue_ahead = ahead,
                                       .basis = takes ? FILL_BASIS_FIRST : FILL_BASIS_NONE};
    if (qty > 0)
        engine_fills_book(engine, order, price, qty, !takes, &source);
    enum order_reason reason = qty < wanted ? engine_reserve_shortage(engine, order) : ORDER_OK;
    engine_fills_settle(engine, id, before, reason, true);
    return qty;
}

/* A trade at the price of a resting limit order lessens the queue before it, and gives it what is left; one
 * through its price gives it all, unless the order takes: then the trade was between others, at a better
 * price; where nothing else was shown yet it is what the order takes. What the account's earlier orders got
 * of the trade is used up. */
static void limit_trade(struct engine *engine, uint64_t id, const struct market_trade *trade, int64_t *dealt)
{
    struct live_order *live = &engine->orders[engine_match_find(engine, id)];
    const struct order *order = &live->order;
    int64_t ahead = live->queue_ahead, passed = 0;
    bool first = engine_hours_unseen(engine, order->symbol);
    if (!fill_limit_trades_through(order->side, order->price, trade->price)) {
        bool against = order->side == ORDER_BUY ? trade->buyer_maker : !trade->buyer_maker;
        if (trade->price != order->price || !against || ahead < 0)
            return;
        passed = ahead < trade->qty ? ahead : trade->qty;
        live->queue_ahead -= passed;
    } else if (live->takes && !first) {
        return;
    }
    int64_t offered = trade->qty - passed - *dealt;
    if (offered > 0)
        *dealt += make(engine, id, trade, ahead, offered, live->takes && first);
}

void engine_resting_calm(const struct live_order *live, int64_t *above, int64_t *below)
{
    const struct order *order = &live->order;
    bool limit = order_works_as_limit(order), buy = order->side == ORDER_BUY;
    bool profit = order->type == ORDER_TAKE_PROFIT || order->type == ORDER_TAKE_PROFIT_LIMIT;
    int64_t at = limit ? order->price : order->stop_price;
    bool falls = limit ? buy : buy == profit; /* it waits for the price to fall to `at` */
    if (live->missed || order->type == ORDER_MARKET || (order->triggered && !limit) ||
        (order->type == ORDER_TRAILING_STOP && (order->peak == 0 || order->stop_price == 0))) {
        *above = INT64_MAX; /* any trade */
        return;
    }
    if (falls && at > *above)
        *above = at;
    if (!falls && at < *below)
        *below = at;
    if (order->type == ORDER_TRAILING_STOP) {
        if (buy && order->peak > *above)
            *above = order->peak;
        if (!buy && order->peak < *below)
            *below = order->peak;
    }
}

void engine_resting_trade(struct engine *engine, uint64_t id, const struct market_trade *trade,
                          int64_t *dealt)
{
    struct live_order *live = &engine->orders[engine_match_find(engine, id)];
    struct order *order = &live->order;
    if (order_works_as_limit(order)) {
        limit_trade(engine, id, trade, dealt);
    } else if (order->triggered || order->type == ORDER_MARKET) {
        if (!engine->markets[order->symbol].stale) /* else the next quote is what it takes */
            engine_arrive_market(engine, id, false);
    } else if (live->missed || engine_arrive_would_trigger(order, trade->price)) {
        engine_arrive_trigger(engine, id);
    } else if (order->type == ORDER_TRAILING_STOP && engine_arrive_trail(engine, order, trade->price)) {
        engine_fills_rest(engine, id);
    }
}

void engine_resting_quote(struct engine *engine, uint64_t id)
{
    struct live_order *live = &engine->orders[engine_match_find(engine, id)];
    struct order *order = &live->order;
    struct book_level best;
    if (!order_works_as_limit(order)) {
        if (order->triggered || order->type == ORDER_MARKET) /* the latter came before the market opened */
            engine_arrive_market(engine, id, false);
        return;
    }
    int64_t shown = engine_walk_shown(&engine->markets[order->symbol], order->side, order->price);
    if (shown >= 0 && (live->queue_ahead < 0 || shown < live->queue_ahead))
        live->queue_ahead = shown;
    if (!engine_match_best(engine, order->account, order->symbol, order->side, &best))
        return;
    if (!fill_limit_crosses(order->side, order->price, best.price)) {
        live->takes = false; /* from here on it makes */
        return;
    }
    if (live->takes && order->post_only) { /* it came while the market was closed, and would take now */
        engine_live_end(engine, id, ORDER_IS_CANCELED, ORDER_WOULD_TAKE);
        return;
    }
    int64_t before = order->filled;
    enum order_reason reason = engine_fills_shown(engine, live, !live->takes);
    if (order->filled == before && (reason == ORDER_OK || reason == ORDER_NO_LIQUIDITY))
        engine_reserve_set(engine, order); /* nothing new */
    else
        engine_fills_settle(engine, id, before, reason, true);
}
