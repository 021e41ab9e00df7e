/* Changes the numbers of a live order. */
#include "engine/match.h"
#include "exchange/order_rules.h"

/* Which numbers of an order can be changed in its present state. */
static unsigned amendable(const struct order *order)
{
    unsigned may = 0;
    if (order->type == ORDER_MARKET)
        return 0;
    if (order->state != ORDER_HELD && order->notional == 0)
        may |= AMEND_QTY; /* a waiting exit's quantity is what its entry will have filled */
    if (order_has_limit(order->type))
        may |= AMEND_PRICE;
    if (order->triggered)
        return may;
    if (order->type == ORDER_TRAILING_STOP)
        may |= AMEND_TRAIL | AMEND_TRAIL_E6;
    else if (order_is_stop(order->type))
        may |= AMEND_STOP;
    return may;
}

static bool fits(const struct order *order, const struct order_amend *amend)
{
    if (amend->set == 0 || (amend->set & ~amendable(order)) != 0)
        return false;
    if ((amend->set & AMEND_QTY) &&
        (amend->qty <= order->filled || (order->parent != 0 && amend->qty > order->qty)))
        return false; /* ending an order is a cancel; an exit closes no more than its entry filled */
    if ((amend->set & AMEND_TRAIL) && ((amend->set & AMEND_TRAIL_E6) || amend->trail <= 0))
        return false;
    return !(amend->set & AMEND_TRAIL_E6) || (amend->trail_e6 > 0 && amend->trail_e6 < 1000000);
}

/* Does it only make the order smaller? Then it keeps its place. */
static bool only_lowers(const struct order *order, const struct order_amend *amend)
{
    return amend->set == AMEND_QTY && amend->qty <= order->qty;
}

static void set_numbers(struct order *order, const struct order_amend *amend)
{
    if (amend->set & AMEND_QTY)
        order->qty = amend->qty;
    if (amend->set & AMEND_PRICE)
        order->price = amend->price;
    if (amend->set & AMEND_STOP)
        order->stop_price = amend->stop_price;
    if (amend->set & AMEND_TRAIL) {
        order->trail = amend->trail;
        order->trail_e6 = 0;
    }
    if (amend->set & AMEND_TRAIL_E6) {
        order->trail_e6 = amend->trail_e6;
        order->trail = 0;
    }
}

struct order engine_amend_foresee(const struct engine *engine, const struct live_order *live,
                                  int64_t *ret_need)
{
    struct order order = live->order;
    int64_t need = engine_reserve_need(engine, &order);
    uint32_t found = 0;
    for (size_t i = engine->first_pending; i < engine->n_pending && found < live->amends; i++) {
        const struct pending *pending = &engine->pending[i];
        if (pending->order_id != order.id || pending->kind != PENDING_AMEND)
            continue;
        struct order_amend amend = pending->amend;
        amend.set &= amendable(&order);
        set_numbers(&order, &amend);
        found++;
        int64_t then = order.qty > order.filled ? engine_reserve_need(engine, &order) : 0;
        need = need > then ? need : then;
    }
    *ret_need = need;
    return order;
}

enum order_reason engine_match_amend(struct engine *engine, const struct order_amend *amend)
{
    size_t at = engine_match_find(engine, amend->order_id);
    if (at == engine->n_orders)
        return amend->order_id == 0 || amend->order_id > engine->last_order ? ORDER_UNKNOWN_ORDER
                                                                            : ORDER_ENDED;
    struct live_order *live = &engine->orders[at];
    if (live->cancel_queued)
        return ORDER_ENDED;
    if (engine_at_venue(engine, &live->order))
        return ORDER_VENUE_TERMS;
    if (!fits(&live->order, amend))
        return ORDER_BAD_AMEND;
    int64_t need;
    struct order next = engine_amend_foresee(engine, live, &need);
    bool lowers = only_lowers(&next, amend);
    set_numbers(&next, amend);
    enum order_reason reason =
        order_rules_check(&engine->markets[next.symbol].symbol, &next, next.group != 0);
    if (reason == ORDER_OK)
        reason = engine_gate_amended(engine, &next);
    if (reason == ORDER_OK)
        reason = engine_gate_check(engine, &next, 0, lowers);
    if (reason != ORDER_OK)
        return reason;
    if (!engine_live_later(engine, (struct pending){.created_ns = engine->now_ns,
                                                    .effective_ns = engine->now_ns + engine->latency_ns,
                                                    .order_id = amend->order_id,
                                                    .kind = PENDING_AMEND,
                                                    .amend = *amend})) {
        engine->out_of_memory = true;
        return ORDER_OK;
    }
    /* From here on no other order may use what it will need. */
    live->amends++;
    engine_reserve_set(engine, &live->order);
    return ORDER_OK;
}

void engine_amend_take_effect(struct engine *engine, const struct order_amend *amend)
{
    size_t at = engine_match_find(engine, amend->order_id);
    if (at == engine->n_orders)
        return; /* it ended meanwhile */
    struct live_order *live = &engine->orders[at];
    struct order *order = &live->order;
    struct order_amend left = *amend;
    live->amends--;
    left.set &= amendable(order); /* a stop may have triggered meanwhile */
    if (left.set == 0) {
        engine_reserve_set(engine, order);
        return;
    }
    if ((left.set & AMEND_QTY) && left.qty <= order->filled) {
        engine_live_end(engine, order->id, ORDER_IS_CANCELED, ORDER_OK); /* it has filled as much meanwhile */
        return;
    }
    bool keeps = only_lowers(order, &left) || !engine_live_resting(order);
    if (!engine_live_step(engine, order, ORDER_AMENDS))
        return;
    set_numbers(order, &left);
    order->amends++;
    engine_reserve_set(engine, order);
    engine_live_report(engine, order);
    if (!keeps)
        engine_arrive_stand(engine, order->id);
}
