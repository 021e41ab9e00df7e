/* Trades: what an order takes of what is shown, what it makes, and what follows from its trades. */
#include "engine/match.h"
#include "exchange/fill_rules.h"
#include "exchange/order_rules.h"

void engine_fills_post(struct engine *engine, struct order *order, const struct fill *fill)
{
    order->filled += fill->qty;
    order->cost += fill->notional;
    engine_live_step(engine, order, order->filled == order->qty ? ORDER_FILLS_REST : ORDER_FILLS_PART);
    engine->counters.fills++;
    if (engine->sink.fill)
        engine->sink.fill(engine->sink.ctx, fill);
    const struct margin_trade before = engine_margin_before(engine, fill->account);
    engine_settle_trade(engine, order, fill);
    account_fill(engine, fill);
    engine_settle_booked(engine, fill);
    engine_fee_tiers_count(engine, fill);
    engine_margin_traded(engine, fill->account, &before);
}

void engine_fills_book(struct engine *engine, struct order *order, int64_t price, int64_t qty, bool maker,
                       const struct fill_source *source)
{
    const struct fee_rates *fees =
        account_fees(&engine->accounts[order->account].rules, &engine->markets[order->symbol].symbol);
    const struct engine_trace *trace = engine->sink.trace;
    struct fill fill = {
        .id = ++engine->last_fill,
        .order_id = order->id,
        .account = order->account,
        .symbol = order->symbol,
        .side = order->side,
        .ts_ns = engine->now_ns,
        .price = price,
        .qty = qty,
        .notional = fill_notional(order->side, price, qty, engine->markets[order->symbol].notional_unit),
        .fee_e6 = maker ? fees->maker_e6 : fees->taker_e6,
        .maker = maker,
        .input_seq = engine->input_seq,
        .basis = source->basis || source->bar
                     ? source->basis
                     : fill_basis_of_feed(engine->markets[order->symbol].symbol.feed),
    };
    fill.fee = fill_fee(fill.notional, fill.fee_e6);
    engine_fee_tiers_regulatory(engine, &fill);
    if (trace && trace->take) {
        const struct engine_take take = {.order = order,
                                         .level = source->level,
                                         .taken_before = source->taken_before,
                                         .queue_ahead = source->queue_ahead,
                                         .from_book = source->from_book,
                                         .bar = source->bar};
        trace->take(trace->ctx, &take);
    }
    engine_fills_post(engine, order, &fill);
}

/* The other leg of an OCO is cancelled by the venue the moment that one of them trades or triggers. */
void engine_fills_cancel_other_leg(struct engine *engine, uint64_t id)
{
    size_t at = engine_match_find(engine, id);
    if (at == engine->n_orders)
        return;
    const struct live_order *other = engine_live_other_leg(engine, &engine->orders[at].order);
    if (other)
        engine_live_end(engine, other->order.id, ORDER_IS_CANCELED, ORDER_OTHER_LEG);
}

/* After a trade of the account's: ends reduce-only orders at the venue that have nothing left to reduce,
 * and adjusts what the others reserve to the position. */
void engine_fills_position_changed(struct engine *engine, int account, int symbol)
{
    for (size_t i = 0; i < engine->n_orders;) {
        const struct order *order = &engine->orders[i].order;
        uint64_t id = order->id;
        if (order->account != account || order->symbol != symbol ||
            engine_venue_asked(engine, &engine->orders[i]) ||
            (!order->reduce_only && !engine_loan_allowed(engine, account, symbol))) {
            i++;
            continue;
        }
        bool at_venue = engine_at_venue(engine, order);
        int64_t left = at_venue ? engine_venue_held(engine, account, symbol)
                                : engine_match_reducible(engine, account, symbol, order->side);
        if (order->reduce_only && left == 0 &&
            (engine_live_resting(order) || (at_venue && order->state == ORDER_PENDING))) {
            engine_live_end(engine, id, ORDER_IS_CANCELED, ORDER_REDUCE_ONLY);
            i = 0; /* others may have ended with it */
            continue;
        }
        engine_reserve_set(engine, order);
        i++;
    }
}

/* Is it an exit that is at its place: a stop, a profit, a limit that only reduces? */
static bool rests_beside(const struct order *order, int account, int symbol, enum order_side side)
{
    return order->account == account && order->symbol == symbol && order->side == side &&
           order->reduce_only && order->state != ORDER_HELD && order->type != ORDER_MARKET;
}

/* After an exit of a share traded: the others close no more than what is left. */
static void shrink(struct engine *engine, int account, int symbol, enum order_side side)
{
    int64_t left = engine_match_reducible(engine, account, symbol, side);
    for (size_t i = 0; left > 0 && i < engine->n_orders; i++) {
        struct live_order *live = &engine->orders[i];
        struct order *order = &live->order;
        if (!rests_beside(order, account, symbol, side) || live->cancel_queued ||
            order->qty - order->filled <= left || engine_at_venue(engine, order) ||
            !engine_live_step(engine, order, ORDER_AMENDS))
            continue;
        order->qty = order->filled + left;
        order->amends++;
        order->updated_ns = engine->now_ns;
        engine_reserve_set(engine, order);
        engine_live_report(engine, order);
    }
}

/* Rests what is left of an order, and reserves what it needs. */
void engine_fills_rest(struct engine *engine, uint64_t id)
{
    size_t at = engine_match_find(engine, id);
    if (at == engine->n_orders)
        return;
    struct order *order = &engine->orders[at].order;
    if (order->state == ORDER_PENDING)
        engine_live_step(engine, order, ORDER_ARRIVES);
    order->updated_ns = engine->now_ns;
    engine_reserve_set(engine, order);
    engine_live_report(engine, order);
}

/* The price at which a taker trades where the market shows a price: with slippage, within the order's
 * limit. */
int64_t engine_fills_taker_price(const struct engine *engine, const struct order *order, int64_t shown)
{
    const struct symbol *listed = &engine->markets[order->symbol].symbol;
    return fill_slipped(order->side, shown, engine->slippage_e6, listed->filters.price_min,
                        order_rules_tick(listed, shown), order_works_as_limit(order) ? order->price : 0);
}

/* Takes what the other side offers, up to the limit if there is one, at its prices; or makes it at the
 * order's own price. Returns why it stopped early, or ORDER_OK. The order's pool reserves nothing
 * afterwards. */
enum order_reason engine_fills_shown(struct engine *engine, struct live_order *live, bool maker)
{
    struct order *order = &live->order;
    struct book_walk walk;
    engine_reserve_lift(engine, order);
    engine_walk_begin(&walk, engine, order->account, order->symbol, order->side);
    if (!maker)
        engine_walk_beyond(&walk, engine);
    while (order->filled < order->qty) {
        int64_t qty = engine_walk_part(&walk, order, order->qty - order->filled);
        if (qty <= 0)
            return qty < 0 ? ORDER_OK : ORDER_NO_LIQUIDITY;
        int64_t price = maker ? order->price : engine_fills_taker_price(engine, order, walk.level.price);
        int64_t paid = engine_reserve_affordable(engine, order, price, qty);
        if (paid > 0) {
            const struct fill_source source = {.level = walk.level,
                                               .taken_before = walk.taken,
                                               .queue_ahead = maker ? live->queue_ahead : -1,
                                               .from_book = walk.from_book,
                                               .basis = walk.steps > 0 ? FILL_BASIS_IMPACT : FILL_BASIS_NONE};
            engine_fills_book(engine, order, price, paid, maker, &source);
            if (!engine_walk_take(engine, &walk, order->symbol, paid))
                engine->out_of_memory = true;
        }
        if (paid < qty)
            return engine_reserve_shortage(engine, order);
    }
    return ORDER_OK;
}

/* Would a FOK order fill whole? Its pool reserves nothing afterwards. */
static enum order_reason fills_whole(struct engine *engine, const struct order *order)
{
    struct book_walk walk;
    int64_t left = order->qty - order->filled, price = 0;
    int128_t cost = 0;
    engine_reserve_lift(engine, order);
    if (order->reduce_only &&
        left > engine_match_reducible(engine, order->account, order->symbol, order->side))
        return ORDER_REDUCE_ONLY;
    engine_walk_begin(&walk, engine, order->account, order->symbol, order->side);
    engine_walk_beyond(&walk, engine);
    while (left > 0) {
        int64_t qty = engine_walk_part(&walk, order, left);
        if (qty <= 0)
            return ORDER_NO_LIQUIDITY;
        price = engine_fills_taker_price(engine, order, walk.level.price);
        cost += order->side == ORDER_BUY
                    ? engine_reserve_purchase(engine, order->account, order->symbol, price, qty)
                    : 0;
        left -= qty;
    }
    return engine_reserve_affords(engine, order, order->qty - order->filled, cost, price)
               ? ORDER_OK
               : engine_reserve_shortage(engine, order);
}

bool engine_fills_whole_or_ends(struct engine *engine, const struct order *order)
{
    if (order->tif != ORDER_FOK)
        return false;
    enum order_reason reason = fills_whole(engine, order);
    if (reason == ORDER_OK)
        return false;
    engine_live_end(engine, order->id, reason == ORDER_NO_LIQUIDITY ? ORDER_EXPIRES : ORDER_IS_CANCELED,
                    reason);
    return true;
}

/* After an order traded, or could not: the rest of it ends, or rests. `rests`: it may continue. */
void engine_fills_settle(struct engine *engine, uint64_t id, int64_t filled_before, enum order_reason reason,
                         bool rests)
{
    const struct order *order = &engine->orders[engine_match_find(engine, id)].order;
    int account = order->account, symbol = order->symbol;
    bool traded = order->filled > filled_before,
         shrinks = engine->orders[engine_match_find(engine, id)].shrinks;
    enum order_side side = order->side;
    if (traded)
        engine_fills_cancel_other_leg(engine, id);
    order = &engine->orders[engine_match_find(engine, id)].order;
    if (order->reduce_only && engine_match_reducible(engine, account, symbol, order->side) == 0)
        reason = ORDER_REDUCE_ONLY;
    if (order->filled == order->qty)
        engine_live_end(engine, id, ORDER_FILLS_REST, ORDER_OK);
    else if (engine_reserve_lacks(reason) || reason == ORDER_REDUCE_ONLY)
        engine_live_end(engine, id, ORDER_IS_CANCELED, reason);
    else if (rests)
        engine_fills_rest(engine, id);
    else
        engine_live_end(engine, id, order->tif == ORDER_GTC ? ORDER_IS_CANCELED : ORDER_EXPIRES,
                        ORDER_NO_LIQUIDITY);
    if (traded)
        engine_fills_position_changed(engine, account, symbol);
    if (traded && shrinks)
        shrink(engine, account, symbol, side);
}

void engine_fills_all(struct engine *engine, uint64_t id, int64_t price, bool maker,
                      const struct fill_source *from)
{
    struct order *order = &engine->orders[engine_match_find(engine, id)].order;
    int64_t before = order->filled, left = order->qty - before;
    engine_reserve_lift(engine, order);
    int64_t qty = engine_reserve_affordable(engine, order, price, left);
    if (qty < left && order->tif == ORDER_FOK) {
        engine_live_end(engine, id, ORDER_IS_CANCELED,
                        order->reduce_only ? ORDER_REDUCE_ONLY : engine_reserve_shortage(engine, order));
        return;
    }
    struct fill_source source = *from;
    source.level.qty = qty;
    source.queue_ahead = -1;
    if (qty > 0)
        engine_fills_book(engine, order, price, qty, maker, &source);
    engine_fills_settle(engine, id, before, qty < left ? engine_reserve_shortage(engine, order) : ORDER_OK,
                        true);
}
