/* The live orders, and changes that wait to take effect. */
#include <stdlib.h>
#include <string.h>

#include "engine/match.h"

size_t engine_live_from(const struct engine *engine, uint64_t id)
{
    size_t low = 0, high = engine->n_orders;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (engine->orders[middle].order.id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t engine_match_find(const struct engine *engine, uint64_t order_id)
{
    size_t at = engine_live_from(engine, order_id);
    return at < engine->n_orders && engine->orders[at].order.id == order_id ? at : engine->n_orders;
}

bool engine_live_resting(const struct order *order)
{
    return order->state == ORDER_OPEN || order->state == ORDER_PARTIAL;
}

void *engine_live_append(void **items, size_t *n, size_t *cap, size_t size)
{
    if (*n == *cap) {
        size_t grown = *cap ? 2 * *cap : 64;
        void *moved = realloc(*items, grown * size);
        if (!moved)
            return NULL;
        *items = moved;
        *cap = grown;
    }
    return memset((char *)*items + (*n)++ * size, 0, size);
}

struct live_order *engine_live_push(struct engine *engine, const struct order *order)
{
    struct live_order *live =
        engine_live_append((void **)&engine->orders, &engine->n_orders, &engine->cap_orders, sizeof *live);
    if (!live)
        return NULL;
    live->order = *order;
    live->queue_ahead = -1;
    engine->markets[order->symbol].live_orders++;
    engine->markets[order->symbol].unmoved = engine->markets[order->symbol].calm = false;
    if (order->expires_ns > 0 && order->expires_ns < engine->next_expiry_ns)
        engine->next_expiry_ns = order->expires_ns;
    return live;
}

void engine_live_drop_last(struct engine *engine)
{
    engine->n_orders--;
    engine->markets[engine->orders[engine->n_orders].order.symbol].live_orders--;
}

/* In order of time; of the same time, in order of arrival. */
bool engine_live_later(struct engine *engine, struct pending pending)
{
    if (engine->first_pending > 0 && engine->n_pending == engine->cap_pending) {
        engine->n_pending -= engine->first_pending;
        memmove(engine->pending, engine->pending + engine->first_pending,
                engine->n_pending * sizeof *engine->pending);
        engine->first_pending = 0;
    }
    size_t at = engine->n_pending;
    if (!engine_live_append((void **)&engine->pending, &engine->n_pending, &engine->cap_pending,
                            sizeof pending))
        return false;
    while (at > engine->first_pending && engine->pending[at - 1].effective_ns > pending.effective_ns) {
        engine->pending[at] = engine->pending[at - 1];
        at--;
    }
    engine->pending[at] = pending;
    return true;
}

bool engine_live_step(struct engine *engine, struct order *order, enum order_action action)
{
    int next = order_next(order->state, action);
    if (next < 0) {
        engine->counters.impossible++;
        engine_alert(engine, "ORDER_STATE", ENGINE_OF(order->account, order->symbol, order->id),
                     "order %llu is %s: action %d cannot happen to it", (unsigned long long)order->id,
                     order_state_name(order->state), (int)action);
        return false;
    }
    order->state = (enum order_state)next;
    order->updated_ns = engine->now_ns;
    return true;
}

void engine_live_report(struct engine *engine, const struct order *order)
{
    engine->markets[order->symbol].unmoved = engine->markets[order->symbol].calm = false;
    if (engine->sink.order)
        engine->sink.order(engine->sink.ctx, order);
}

struct live_order *engine_live_other_leg(const struct engine *engine, const struct order *order)
{
    if (order->group == 0)
        return NULL;
    for (size_t i = engine_live_from(engine, order->group); i < engine->n_orders; i++) {
        struct live_order *other = &engine->orders[i];
        if (other->order.id >= order->group + ORDER_LEGS_MAX)
            break;
        if (other->order.group == order->group && other->order.parent == order->parent &&
            other->order.id != order->id)
            return other;
    }
    return NULL;
}

/* A bracket's entry ended: its exits start with what it filled, or end with it. An exit that the market may
 * trade at once does so after the event that filled the entry. */
static void entry_ended(struct engine *engine, const struct order *entry, int64_t split_fills)
{
    for (uint64_t id = entry->id + 1; id < entry->id + ORDER_LEGS_MAX; id++) {
        size_t at = engine_match_find(engine, id);
        if (at == engine->n_orders || engine->orders[at].order.parent != entry->id)
            continue;
        struct order *exit = &engine->orders[at].order;
        if (entry->filled + split_fills <= 0) {
            engine_live_end(engine, id, ORDER_IS_CANCELED,
                            entry->filled == 0 ? ORDER_OTHER_LEG : ORDER_SPLIT);
            continue;
        }
        if (!engine_live_step(engine, exit, ORDER_ACTIVATES))
            continue;
        exit->qty = entry->filled + split_fills;
        exit->effective_ns = engine->now_ns;
        if (!engine_at_venue(engine, exit) &&
            engine->fill_model != FILL_BAR && /* there they start within the bar: match_bar.c */
            !engine_live_later(engine, (struct pending){.created_ns = engine->now_ns,
                                                        .effective_ns = engine->now_ns,
                                                        .order_id = id}))
            engine->out_of_memory = true;
        engine_reserve_set(engine, exit);
        if (engine_at_venue(engine, exit))
            engine_venue_start(engine, id);
        if ((at = engine_match_find(engine, id)) < engine->n_orders)
            engine_live_report(engine, &engine->orders[at].order);
    }
}

/* Takes a live order off the list, its reserve is free again. Returns it as it ended. */
static struct order remove_at(struct engine *engine, size_t at, enum order_reason reason)
{
    engine_reserve_lift(engine, &engine->orders[at].order);
    struct order order = engine->orders[at].order;
    order.reason = reason;
    engine->n_orders--;
    memmove(&engine->orders[at], &engine->orders[at + 1], (engine->n_orders - at) * sizeof *engine->orders);
    engine->markets[order.symbol].live_orders--;
    engine_reserve_set(engine, &order);
    engine_live_report(engine, &order);
    return order;
}

void engine_live_end(struct engine *engine, uint64_t id, enum order_action action, enum order_reason reason)
{
    size_t at = engine_match_find(engine, id);
    if (at == engine->n_orders)
        return;
    struct order *ended = &engine->orders[at].order;
    if (!engine_venue_may_end(engine, &engine->orders[at], reason))
        return;
    if (ended->state != ORDER_FILLED && !engine_live_step(engine, ended, action))
        return;
    int64_t split_fills = engine->orders[at].split_fills;
    struct order order = remove_at(engine, at, reason);
    if (order.group == order.id && order.parent == 0)
        entry_ended(engine, &order, split_fills);
    if (order.filled > 0)
        engine_runner_ended(engine, &order);
}

void engine_live_expire(struct engine *engine, int symbol, int64_t until_ns)
{
    for (size_t i = 0; i < engine->n_orders;) {
        const struct order *order = &engine->orders[i].order;
        if (order->expires_ns > 0 && order->expires_ns <= until_ns &&
            !engine_venue_asked(engine, &engine->orders[i]) && (symbol < 0 || order->symbol == symbol)) {
            engine_live_end(engine, order->id, ORDER_EXPIRES, ORDER_OK);
            i = 0; /* others may have ended or come with it */
        } else {
            i++;
        }
    }
    engine->next_expiry_ns = INT64_MAX;
    for (size_t i = 0; i < engine->n_orders; i++) {
        int64_t expires_ns = engine->orders[i].order.expires_ns;
        if (!engine_venue_asked(engine, &engine->orders[i]) && expires_ns > 0 &&
            expires_ns < engine->next_expiry_ns)
            engine->next_expiry_ns = expires_ns;
    }
}

void engine_match_withdraw(struct engine *engine, int account)
{
    for (size_t at = 0; at < engine->n_orders;)
        if (engine->orders[at].order.account == account &&
            engine_live_step(engine, &engine->orders[at].order, ORDER_IS_CANCELED))
            remove_at(engine, at, ORDER_OK);
        else
            at++;
}
