/* The bar model: what a closed bar does to the orders of its symbol. The rules, and the order of what
 * happens, are in exchange/bar_rules.h; here they are applied to groups, balances and pending changes. */
#include <string.h>

#include "engine/match.h"
#include "exchange/bar_rules.h"

/* A bar, or what is certain of its rest, at one of its steps. */
struct at_bar {
    const struct bar *bar;
    struct bar_prices prices;
    enum bar_step step;
    int64_t end_ns;
    uint64_t newest; /* orders with higher ids were submitted meanwhile */
    bool closes;     /* the closing auction: all prices are the close */
};

/* It rests, or comes to the venue with this bar. */
static bool takes_part(const struct order *order, const struct at_bar *at)
{
    if (order->state == ORDER_PENDING)
        return at->step == BAR_AT_OPEN &&
               bar_takes_part(order->updated_ns, order->effective_ns, at->bar->open_ns, at->end_ns);
    return engine_live_resting(order) && order->updated_ns <= at->bar->open_ns;
}

static void trigger(struct engine *engine, uint64_t id)
{
    struct live_order *live = &engine->orders[engine_match_find(engine, id)];
    if (!order_is_stop(live->order.type) || live->order.triggered)
        return;
    live->order.triggered = true;
    live->missed = false;
    engine_fills_cancel_other_leg(engine, id);
}

/* A trailing stop follows the best of the prices that this step adds. Did its peak move? */
static bool follows(const struct engine *engine, struct order *order, const struct at_bar *at)
{
    if (order->type != ORDER_TRAILING_STOP || order->triggered)
        return false;
    int64_t best = order->side == ORDER_SELL ? at->prices.high : at->prices.low;
    return engine_arrive_trail(engine, order, at->step == BAR_AT_OPEN ? at->prices.open : best);
}

/* What does not trade at the open rests, unless its time in force ends it on arrival. */
static void stay(struct engine *engine, uint64_t id, const struct at_bar *at, bool arrives)
{
    struct live_order *live = &engine->orders[engine_match_find(engine, id)];
    struct order *order = &live->order;
    bool moved = follows(engine, order, at);
    live->takes = false;
    bool at_once = order->tif == ORDER_IOC || order->tif == ORDER_FOK || order->tif == ORDER_OPG;
    if (at_once && (!order_is_stop(order->type) || order->triggered))
        engine_live_end(engine, id, ORDER_EXPIRES, ORDER_NO_LIQUIDITY);
    else if (moved || arrives)
        engine_fills_rest(engine, id);
}

static struct bar_effect ask(const struct live_order *live, const struct at_bar *at)
{
    const struct order *order = &live->order;
    const struct bar_order asked = {
        .side = order->side,
        .type = order->type,
        .price = order->price,
        .stop_price = order->stop_price,
        .triggered = order->triggered,
        .arrives = order->state == ORDER_PENDING || live->takes,
    };
    if (live->missed && at->step == BAR_AT_OPEN) /* set by another model */
        return bar_reached(&asked, at->prices.open);
    return bar_rule(&asked, &at->prices, at->step);
}

/* One order in one step. Returns what the bar did to it: BAR_WAITS when it did not trade. */
static struct bar_effect meet(struct engine *engine, uint64_t id, const struct at_bar *at)
{
    const struct bar_effect nothing = {BAR_WAITS, 0};
    struct live_order *live = &engine->orders[engine_match_find(engine, id)];
    struct order *order = &live->order;
    bool arrives = order->state == ORDER_PENDING;
    if (order->tif == ORDER_CLS && !at->closes) {
        if (arrives)
            engine_fills_rest(engine, id);
        return nothing;
    }
    if (arrives && order->reduce_only &&
        engine_match_reducible(engine, order->account, order->symbol, order->side) == 0) {
        engine_live_end(engine, id, ORDER_IS_CANCELED, ORDER_REDUCE_ONLY);
        return nothing;
    }
    bool moved = at->step == BAR_TRAILS && follows(engine, order, at);
    struct bar_effect effect = ask(live, at);
    if (effect.act == BAR_WAITS) {
        if (at->step == BAR_AT_OPEN)
            stay(engine, id, at, arrives);
        else if (moved)
            engine_fills_rest(engine, id);
        return nothing;
    }
    if (effect.act == BAR_TAKES && order->post_only) {
        engine_live_end(engine, id, ORDER_IS_CANCELED, ORDER_WOULD_TAKE);
        return nothing;
    }
    trigger(engine, id);
    live = &engine->orders[engine_match_find(engine, id)];
    live->takes = false;
    if (effect.act == BAR_TRIGGERS) {
        if (live->order.tif == ORDER_IOC)
            engine_live_end(engine, id, ORDER_EXPIRES, ORDER_NO_LIQUIDITY);
        else
            engine_fills_rest(engine, id);
        return nothing;
    }
    bool maker = effect.act == BAR_MAKES;
    bool auction = order_is_of_auction(live->order.tif); /* of one price for all */
    int64_t price =
        maker || auction ? effect.price : engine_fills_taker_price(engine, &live->order, effect.price);
    const struct fill_source from = {.level.price = effect.price, .bar = at->bar};
    engine_fills_all(engine, id, price, maker, &from);
    return effect;
}

/* The exits of an entry that filled inside the bar start with what is certain of the rest of it, where its
 * session fills them. */
static void begin_exits(struct engine *engine, const struct order *entry, struct bar_effect effect,
                        const struct at_bar *bar)
{
    static const enum bar_step steps[] = {BAR_AT_OPEN, BAR_STOPS, BAR_TRAILS};
    struct at_bar at = *bar;
    at.prices = bar_rest(entry->side, effect.act == BAR_MAKES ? ORDER_LIMIT : entry->type, effect.price,
                         &bar->prices);
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        for (uint64_t id = entry->id + 1; id < entry->id + ORDER_LEGS_MAX; id++) {
            size_t i = engine_match_find(engine, id);
            const struct order *exit = i < engine->n_orders ? &engine->orders[i].order : NULL;
            at.step = steps[k];
            if (exit && exit->parent == entry->id && engine_hours_bar_takes(engine, exit, at.bar))
                meet(engine, id, &at);
        }
}

static void take_step(struct engine *engine, int symbol, struct at_bar *at, enum bar_step step)
{
    size_t i;
    at->step = step;
    engine->now_ns = bar_fill_ns(step, at->bar->open_ns, at->end_ns);
    for (uint64_t id = 1; (i = engine_live_from(engine, id)) < engine->n_orders; id++) {
        const struct order order = engine->orders[i].order;
        id = order.id;
        if (id > at->newest)
            break;
        if (order.symbol != symbol || !takes_part(&order, at) ||
            !engine_hours_bar_takes(engine, &order, at->bar))
            continue;
        struct bar_effect effect = meet(engine, id, at);
        if (effect.act != BAR_WAITS && step != BAR_AT_OPEN)
            begin_exits(engine, &order, effect, at);
    }
}

/* Those that end before the bar; one that the bar does not fill ends with the next bar that does. */
static void expire(struct engine *engine, int symbol, const struct bar *bar)
{
    if (engine->next_expiry_ns > bar->open_ns)
        return;
    if (!engine->outside) {
        engine_live_expire(engine, symbol, bar->open_ns);
        return;
    }
    for (size_t i = 0; i < engine->n_orders;) {
        const struct order *order = &engine->orders[i].order;
        if (order->symbol != symbol || order->expires_ns == 0 || order->expires_ns > bar->open_ns ||
            !engine_hours_bar_takes(engine, order, bar)) {
            i++;
            continue;
        }
        engine_live_end(engine, order->id, ORDER_EXPIRES, ORDER_OK);
        i = 0; /* others may have ended with it */
    }
}

/* Cancels and amends of the symbol's orders that are due, in order of time. Orders that are due leave the
 * list, and arrive at the open. */
static void release(struct engine *engine, int symbol, const struct at_bar *at)
{
    for (size_t i = engine->first_pending; i < engine->n_pending;) {
        struct pending next = engine->pending[i];
        size_t order = engine_match_find(engine, next.order_id);
        bool known = order < engine->n_orders;
        bool waits = engine->outside && known &&
                     !engine_hours_bar_takes(engine, &engine->orders[order].order, at->bar);
        if (waits ||
            (known && (engine->orders[order].order.symbol != symbol || next.order_id > at->newest)) ||
            !bar_takes_part(next.created_ns, next.effective_ns, at->bar->open_ns, at->end_ns)) {
            i++;
            continue;
        }
        engine->n_pending--;
        memmove(&engine->pending[i], &engine->pending[i + 1], (engine->n_pending - i) * sizeof next);
        if (known && next.kind == PENDING_CANCEL)
            engine_live_end(engine, next.order_id, ORDER_IS_CANCELED, ORDER_OK);
        else if (known && next.kind == PENDING_AMEND)
            engine_amend_take_effect(engine, &next.amend);
        else
            continue;
        i = engine->first_pending; /* others may have come with it */
    }
    if (engine->first_pending == engine->n_pending)
        engine->first_pending = engine->n_pending = 0;
}

/* CLS orders that end with this bar trade at its close, or expire. */
static void close_auction(struct engine *engine, int symbol, const struct at_bar *bar)
{
    struct at_bar at = *bar;
    size_t i;
    int64_t close = bar->bar->close;
    at.closes = true;
    at.step = BAR_AT_OPEN;
    at.prices = (struct bar_prices){close, close, close, close};
    engine->now_ns = at.end_ns - 1;
    for (uint64_t id = 1; (i = engine_live_from(engine, id)) < engine->n_orders; id++) {
        struct live_order *live = &engine->orders[i];
        id = live->order.id;
        if (live->order.symbol != symbol || live->order.tif != ORDER_CLS ||
            !engine_live_resting(&live->order) || engine_at_venue(engine, &live->order) ||
            live->order.expires_ns == 0 || live->order.expires_ns > at.end_ns)
            continue;
        live->takes = true;
        meet(engine, id, &at);
        if (engine_match_find(engine, id) < engine->n_orders)
            engine_live_end(engine, id, ORDER_EXPIRES, ORDER_NO_LIQUIDITY);
    }
}

void engine_match_bar(struct engine *engine, int symbol, const struct bar *bar)
{
    struct at_bar at = {.bar = bar,
                        .prices = {bar->open, bar->high, bar->low, bar->close},
                        .newest = engine->last_order,
                        .end_ns = engine_calendars_end(engine, symbol, bar->open_ns)};
    engine->now_ns = bar->open_ns;
    if (engine->to_begin)
        account_begin_all(engine);
    engine_fee_tiers_due(engine);
    engine_dividends_due(engine);
    engine_loan_interest(engine);
    engine_margin_day_over(engine);
    if (engine->markets[symbol].live_orders > 0) {
        expire(engine, symbol, bar);
        release(engine, symbol, &at);
        bool fills = engine->markets[symbol].trading == MARKET_TRADES &&
                     (engine_hours_has_bar(&engine->markets[symbol], bar, engine->interval_ns) ||
                      engine_hours_bar_outside(bar));
        for (int k = 0; fills && k < BAR_STEPS && engine->markets[symbol].live_orders > 0; k++)
            take_step(engine, symbol, &at, (enum bar_step)k);
        if (fills && engine->markets[symbol].live_orders > 0)
            close_auction(engine, symbol, &at);
    }
    engine->now_ns = at.end_ns;
}
