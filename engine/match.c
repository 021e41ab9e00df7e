/* The paper exchange: accepts or refuses orders, and fills them from what the venue shows.
 *
 * The rules of taking, making, queues and stops below are FILL_BOOK's, and FILL_QUOTE's with the best bid
 * and ask in the book's place. FILL_BAR's rules are in exchange/bar_rules.h; docs/fills.md describes all
 * three.
 *
 * Time. Requests take effect `latency` later: orders, cancels, amends, in the order they were given. What
 * the venue does by itself happens at once: triggers, the end of an OCO's other leg, the start of a
 * bracket's exits (after the event that filled the entry), expiry. Before an event is handled, everything
 * that is due by then happens at its own time, expiries before what else is due at the same moment.
 *
 * Taking. A taker walks the order book as far as it is known: the differences' book, corrected at the top
 * by the best bid and ask, which come more often (book_walk.c). Without a synced book only the best price's
 * quantity can be had; where no book is ever shown, of stocks and with FILL_QUOTE, what enum fill_beyond
 * assumes behind it. What an account's orders took of a price stays taken, of that account only, while
 * the price is shown: when the feed shows more there, what was added can be had; when it shows less, what
 * was taken is not more than is shown. A market order that finds no more ends: CANCELED, or EXPIRED for
 * IOC, with NO_LIQUIDITY. A limit order takes what crosses; then IOC expires, others rest. FOK fills whole
 * on arrival, by what is shown and can be paid, or expires. Post-only is cancelled with WOULD_TAKE where
 * the best price crosses. When data is stale on arrival, orders are cancelled, but stops and exits rest; a
 * stop that a trade triggers meanwhile takes what is shown next.
 *
 * A limit order that crosses the best price when it comes to rest continues to take, at the prices shown,
 * what is added there: no venue trades at its limit while it shows a better price. Trades through its limit
 * are then of others. From when the best price does not cross it any more it makes. After an interruption
 * it is assumed to cross still when it has traded at better prices than its limit.
 *
 * Making. A resting limit order that the market comes to trades at its own price
 * - when a trade goes through its price, with the trade's quantity, wherever it stands in the queue;
 * - when a trade at its price hits its side, with what of the trade's quantity goes beyond the queue before
 *   it;
 * - when the other side shows prices that reach its own, with what is shown there, once (as in taking). A
 *   trade's quantity is distributed once among the orders of one account, the best price first, then the
 *   oldest. Accounts do not take from each other.
 *
 * The queue is an estimate. It begins with the quantity shown at the price on the order's side when it
 * comes to rest: 0 inside the spread, not known (-1) beyond what is shown; then only trades through the
 * price fill. Trades at the price lessen it. A quantity shown below it lessens it: a cancelled order is
 * assumed to have been before ours, which favours ours, as the newest often cancel first; and a trade whose
 * difference comes before the trade itself lessens it twice. Where it was not known, the first quantity
 * shown bounds it. An amend that only lowers the quantity keeps it; any other goes to the end again.
 *
 * Stops trigger on trades: STOP, STOP_LIMIT and TRAILING_STOP against them, TAKE_PROFIT and _LIMIT in their
 * favour; on arrival by the last trade. A trailing stop's price follows the best trade since it rests, on
 * the tick, away from the market. Triggered, a stop takes at once; what finds no liquidity continues with
 * whatever is shown next, since a position must not lose its protection in a thin moment. STOP_LIMIT and
 * TAKE_PROFIT_LIMIT work as limit orders from then on.
 *
 * Sessions. While its market is closed, or halted, nothing of a symbol is filled or triggered, and every
 * order rests, market orders too; at the opening what was shown is forgotten, and they come to what is
 * shown next as if they arrived then (hours.c). Stops look at trades that were made in the session; orders
 * for an auction trade at its price alone (auction.c).
 *
 * Groups. An OCO's legs share a reserve; when one trades any part, or triggers, the other is cancelled with
 * OTHER_LEG; a leg that ends otherwise (would take, cannot be paid) leaves the other; a cancel by the user
 * of either cancels both; they expire together. A bracket's exits are reduce-only, HELD until the entry
 * ends: with fills, they start with the quantity filled; without, they are cancelled with OTHER_LEG.
 * Cancelling the entry ends it like that; cancelling a held exit cancels it, and the other exit, alone. A
 * profit that is not on the better side of its stop, or of the entry's limit, is refused, and so is a stop
 * on the better side of that.
 *
 * Reduce-only orders trade no more than closes the position and end with REDUCE_ONLY when nothing is left
 * of it: resting ones at once, those on their way when they arrive. So a position's stop stays until
 * another order has closed the position, with no moment between. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/match.h"
#include "exchange/fill_rules.h"
#include "exchange/filter.h"
#include "exchange/order_rules.h"

/* Whole lots of what the amount buys or sells at the price now; 0: less than a lot, or no price is known. */
static int64_t qty_for(const struct engine *engine, const struct order *order)
{
    const struct market_state *market = &engine->markets[order->symbol];
    int64_t price = engine_reserve_price(engine, order);
    int128_t qty = price > 0 ? (int128_t)order->notional * market->notional_unit / price : 0;
    return filter_floor_qty(&market->symbol, order->type, qty > INT64_MAX ? INT64_MAX : (int64_t)qty);
}

static struct order order_of(const struct engine *engine, const struct order *request)
{
    bool trailing = request->type == ORDER_TRAILING_STOP;
    struct order order = *request;
    order.state = ORDER_PENDING;
    if (!order_has_limit(order.type))
        order.price = 0;
    if (!order_is_stop(order.type) || trailing)
        order.stop_price = 0;
    if (!trailing)
        order.trail = order.trail_e6 = 0;
    order.created_ns = order.updated_ns = engine->now_ns;
    order.effective_ns = engine->now_ns + (engine_at_venue(engine, &order) ? 0 : engine->latency_ns);
    order.input_seq = engine->input_seq;
    if (order.tif == ORDER_DAY || (order_is_of_auction(order.tif) && engine->fill_model == FILL_BAR))
        order.expires_ns = engine_hours_order_end(engine, &order);
    order.emulated = false;
    if (order.notional > 0)
        order.qty = qty_for(engine, &order);
    return order;
}

void engine_match_legs(const struct engine *engine, enum order_grouping grouping,
                       const struct order *requests, int n_legs, struct order *legs)
{
    for (int i = 0; i < n_legs; i++) {
        struct order *leg = &legs[i];
        *leg = order_of(engine, &requests[i]);
        leg->id = engine->last_order + 1 + (uint64_t)i;
        leg->group = grouping == ORDERS_SINGLE ? 0 : legs[0].id;
        if (grouping == ORDERS_BRACKET && i > 0) {
            leg->parent = legs[0].id;
            leg->state = ORDER_HELD;
            leg->reduce_only = true;
            if (leg->qty == 0)
                leg->qty = legs[0].qty;
        }
        leg->emulated =
            !leg->by_hand && !engine_at_venue(engine, leg) &&
            order_rules_holds(order_rules_check(&engine->markets[leg->symbol].symbol, leg, leg->group != 0));
    }
}

enum order_reason engine_match_check(struct engine *engine, enum order_grouping grouping,
                                     const struct order *legs, int n_legs)
{
    enum order_reason reason = ORDER_OK;
    if (engine_at_venue(engine, &legs[0]))
        reason = engine_venue_check(engine, grouping, legs, n_legs);
    for (int i = 0; i < n_legs && reason == ORDER_OK; i++)
        reason = engine_gate_rules(engine, &legs[i], grouping != ORDERS_SINGLE);
    if (reason == ORDER_OK)
        reason = engine_gate_group(grouping, legs, n_legs);
    for (int i = 0; i < n_legs && reason == ORDER_OK; i++)
        reason = engine_gate_check(engine, &legs[i], i, false);
    return reason;
}

/* A request is refused as a whole: each of its legs is emitted with the first reason. A client id that
 * another order has stays that order's. */
static void refuse(struct engine *engine, struct order *legs, int n_legs, enum order_reason reason)
{
    for (int i = 0; i < n_legs; i++) {
        engine->last_order++;
        engine->counters.rejected++;
        legs[i].state = ORDER_REJECTED;
        legs[i].reason = reason;
        if (reason == ORDER_DUPLICATE_ID)
            legs[i].client_id[0] = '\0';
        engine_live_report(engine, &legs[i]);
    }
}

static bool accept(struct engine *engine, const struct order *legs, int n_legs)
{
    for (int i = 0; i < n_legs; i++)
        if (!engine_live_push(engine, &legs[i])) {
            while (i-- > 0)
                engine_live_drop_last(engine);
            return false;
        }
    for (int i = 0; i < n_legs; i++) {
        if (legs[i].state == ORDER_PENDING && !engine_at_venue(engine, &legs[i]) &&
            !engine_live_later(engine, (struct pending){.created_ns = legs[i].created_ns,
                                                        .effective_ns = legs[i].effective_ns,
                                                        .order_id = legs[i].id})) {
            for (int k = 0; k < n_legs; k++)
                engine_live_drop_last(engine);
            return false;
        }
        engine->last_order++;
    }
    for (int i = 0; i < n_legs; i++) {
        engine_reserve_set(engine, &legs[i]);
        engine_live_report(engine, &legs[i]);
    }
    if (engine_at_venue(engine, &legs[0]))
        engine_venue_start(engine, legs[0].id);
    return true;
}

uint64_t engine_match_submit_group(struct engine *engine, enum order_grouping grouping,
                                   const struct order *requests, int n_legs, enum order_reason *ret_reason)
{
    struct order legs[ORDER_LEGS_MAX] = {0};
    engine_match_legs(engine, grouping, requests, n_legs, legs);
    *ret_reason = engine_match_check(engine, grouping, legs, n_legs);
    engine->counters.orders += (uint64_t)n_legs;
    engine->counters.refused[*ret_reason] += (uint64_t)n_legs;
    engine->accounts[requests[0].account].refused[*ret_reason] += (uint64_t)n_legs;
    if (*ret_reason != ORDER_OK) {
        refuse(engine, legs, n_legs, *ret_reason);
    } else if (!accept(engine, legs, n_legs)) {
        engine->out_of_memory = true;
        return 0;
    }
    return legs[0].id;
}

uint64_t engine_match_submit(struct engine *engine, const struct order *request,
                             enum order_reason *ret_reason)
{
    return engine_match_submit_group(engine, ORDERS_SINGLE, request, 1, ret_reason);
}

/* From here on new orders may use what it reserved; should it trade first, they find less. */
static void queue_cancel(struct engine *engine, struct live_order *live)
{
    if (live->cancel_queued)
        return;
    if (!engine_live_later(engine, (struct pending){.created_ns = engine->now_ns,
                                                    .effective_ns = engine->now_ns + engine->latency_ns,
                                                    .order_id = live->order.id,
                                                    .kind = PENDING_CANCEL})) {
        engine->out_of_memory = true;
        return;
    }
    live->cancel_queued = true;
    engine_reserve_set(engine, &live->order);
}

enum order_reason engine_match_cancel(struct engine *engine, uint64_t order_id)
{
    size_t at = engine_match_find(engine, order_id);
    if (at == engine->n_orders)
        return order_id == 0 || order_id > engine->last_order ? ORDER_UNKNOWN_ORDER : ORDER_ENDED;
    struct live_order *live = &engine->orders[at], *other = engine_live_other_leg(engine, &live->order);
    if (engine_at_venue(engine, &live->order)) {
        uint64_t other_id = other ? other->order.id : 0;
        engine_venue_withdraw(engine, order_id);
        engine_venue_withdraw(engine, other_id);
        return ORDER_OK;
    }
    queue_cancel(engine, live);
    if (other)
        queue_cancel(engine, other);
    return ORDER_OK;
}

static void take_effect(struct engine *engine, const struct pending *pending)
{
    if (engine_match_find(engine, pending->order_id) == engine->n_orders)
        return;
    switch (pending->kind) {
    case PENDING_ORDER:
        engine_arrive_new(engine, pending->order_id);
        break;
    case PENDING_CANCEL:
        engine_live_end(engine, pending->order_id, ORDER_IS_CANCELED, ORDER_OK);
        break;
    case PENDING_AMEND:
        engine_amend_take_effect(engine, &pending->amend);
        break;
    }
}

static void expire(struct engine *engine)
{
    int64_t now_ns = engine->next_expiry_ns;
    if (now_ns > engine->now_ns)
        engine->now_ns = now_ns;
    engine_live_expire(engine, -1, now_ns);
}

void engine_match_release(struct engine *engine, int64_t until_ns)
{
    for (;;) {
        bool waits = engine->first_pending < engine->n_pending;
        int64_t next_ns = waits ? engine->pending[engine->first_pending].effective_ns : INT64_MAX;
        if (engine->next_expiry_ns <= until_ns && engine->next_expiry_ns <= next_ns) {
            expire(engine);
            continue;
        }
        if (!waits || next_ns > until_ns)
            break;
        struct pending next = engine->pending[engine->first_pending++];
        if (next.effective_ns > engine->now_ns)
            engine->now_ns = next.effective_ns;
        engine_fee_tiers_due(engine);
        take_effect(engine, &next);
    }
    if (engine->first_pending == engine->n_pending)
        engine->first_pending = engine->n_pending = 0;
}

static bool stands_before(const struct standing *a, const struct standing *b)
{
    if (a->turn != b->turn)
        return a->turn < b->turn;
    if (a->price != b->price)
        return a->price < b->price;
    return a->id < b->id;
}

/* The resting orders of a symbol in the order in which the market reaches them: stops, then purchases, then
 * sales, of each the best price first, then the oldest. What comes to rest meanwhile is not among them. */
static size_t line_up(struct engine *engine, int symbol)
{
    size_t n = 0;
    if (engine->cap_standing < engine->n_orders) {
        struct standing *moved = realloc(engine->standing, engine->cap_orders * sizeof *moved);
        if (!moved) {
            engine->out_of_memory = true;
            return 0;
        }
        engine->standing = moved;
        engine->cap_standing = engine->cap_orders;
    }
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct order *order = &engine->orders[i].order;
        if (order->symbol != symbol || !engine_live_resting(order) || engine_at_venue(engine, order) ||
            order_is_of_auction(order->tif))
            continue;
        struct standing new = {.id = order->id};
        if (order_works_as_limit(order)) {
            new.turn = order->side == ORDER_BUY ? 1 : 2;
            new.price = order->side == ORDER_BUY ? -order->price : order->price;
        }
        size_t at = n++;
        for (; at > 0 && stands_before(&new, &engine->standing[at - 1]); at--)
            engine->standing[at] = engine->standing[at - 1];
        engine->standing[at] = new;
    }
    return n;
}

/* An order of the line that still rests, or NULL. */
static const struct order *still_resting(const struct engine *engine, size_t turn)
{
    size_t at = engine_match_find(engine, engine->standing[turn].id);
    const struct order *order = at < engine->n_orders ? &engine->orders[at].order : NULL;
    return order && engine_live_resting(order) ? order : NULL;
}

static bool clear_dealt(struct engine *engine)
{
    if (engine->cap_dealt < engine->n_accounts) {
        int64_t *moved = realloc(engine->dealt, (size_t)engine->n_accounts * sizeof *moved);
        if (!moved) {
            engine->out_of_memory = true;
            return false;
        }
        engine->dealt = moved;
        engine->cap_dealt = engine->n_accounts;
    }
    memset(engine->dealt, 0, (size_t)engine->n_accounts * sizeof *engine->dealt);
    return true;
}

static void find_calm(struct engine *engine, int symbol)
{
    struct market_state *market = &engine->markets[symbol];
    market->calm = true;
    market->calm_above = INT64_MIN;
    market->calm_below = INT64_MAX;
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct live_order *live = &engine->orders[i];
        if (live->order.symbol == symbol && engine_live_resting(&live->order) &&
            !engine_at_venue(engine, &live->order) && !order_is_of_auction(live->order.tif))
            engine_resting_calm(live, &market->calm_above, &market->calm_below);
    }
}

/* Are some of its orders filled now? */
static bool fills(const struct market_state *market)
{
    return engine_hours_trades(market) || engine_hours_outside(market);
}

void engine_match_trade(struct engine *engine, int symbol, const struct market_trade *trade)
{
    const struct market_state *market = &engine->markets[symbol];
    if (market->live_orders == 0 ||
        (market->calm && trade->price > market->calm_above && trade->price < market->calm_below) ||
        !fills(market) || !engine_auction_regular(engine, market, trade->ts_ns) || !clear_dealt(engine))
        return;
    size_t n = line_up(engine, symbol);
    for (size_t i = 0; i < n; i++) {
        const struct order *order = still_resting(engine, i);
        if (order && engine_hours_takes(engine, order))
            engine_resting_trade(engine, order->id, trade, &engine->dealt[order->account]);
    }
    find_calm(engine, symbol);
}

void engine_match_quotes(struct engine *engine, int symbol)
{
    struct market_state *market = &engine->markets[symbol];
    if (market->n_taken > 0)
        engine_walk_refresh(market);
    if (market->live_orders == 0 || market->unmoved || !fills(market))
        return;
    bool moved = false;
    size_t n = line_up(engine, symbol);
    market->unmoved = true; /* until an order is emitted */
    for (size_t i = 0; i < n; i++) {
        const struct order *order = still_resting(engine, i);
        if (!order || !engine_hours_takes(engine, order) ||
            (!order->triggered && order->type != ORDER_LIMIT && order->type != ORDER_MARKET))
            continue;
        moved = true;
        engine_resting_quote(engine, order->id);
    }
    if (moved)
        market->unmoved = false;
}

void engine_match_model(struct engine *engine)
{
    for (int s = 0; s < engine->n_symbols; s++) {
        struct market_state *market = &engine->markets[s];
        market->quotes_only = engine->fill_model == FILL_QUOTE;
        market->unmoved = market->calm = false;
    }
}

void engine_match_interrupted(struct engine *engine, int symbol)
{
    for (size_t i = 0; i < engine->n_orders; i++)
        if (engine->orders[i].order.symbol == symbol)
            engine->orders[i].queue_ahead = -1;
    engine->markets[symbol].n_taken = 0;
}

/* Was the limit order marketable when it rested? As far as its trades show: at better prices than its
 * limit. */
static bool came(const struct engine *engine, const struct order *order)
{
    int64_t unit = engine->markets[order->symbol].notional_unit;
    int64_t made = order_works_as_limit(order) ? fill_notional(order->side, order->price, order->filled, unit)
                                               : order->cost;
    return order->side == ORDER_BUY ? order->cost < made : order->cost > made;
}

int engine_match_restore(struct engine *engine, const struct order *order)
{
    if (!order_live(order->state) ||
        (engine->n_orders > 0 && order->id <= engine->orders[engine->n_orders - 1].order.id))
        return -EINVAL;
    if (!engine_live_push(engine, order))
        return -ENOMEM;
    if (order->state == ORDER_PENDING && !engine_at_venue(engine, order) &&
        !engine_live_later(engine, (struct pending){.created_ns = order->created_ns,
                                                    .effective_ns = order->effective_ns,
                                                    .order_id = order->id}))
        return -ENOMEM;
    engine->orders[engine->n_orders - 1].takes = came(engine, order);
    engine->orders[engine->n_orders - 1].waits = engine_at_venue(engine, order) && order->emulated;
    engine_reserve_set(engine, order);
    return 0;
}
