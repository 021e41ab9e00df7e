/* Orders of accounts with EXECUTION_VENUE_PAPER: they are not matched here. Each is sent to its venue by
 * sink.venue once the gate accepted it, stays PENDING until it is updated by EVENT_VENUE_ORDER, and trades
 * and ends by those alone: what would end it here (an expiry, nothing left to reduce, a halt) asks the venue
 * for a cancel.
 *
 * The venue locks what a resting sale sells, so that nothing can be sold twice. An order therefore waits here
 * for the cancels of its account, symbol and side that were asked for; one that closes a position asks for
 * the cancel of the exits that rest. A bracket's stop rests at the venue, its profit is held here, emulated,
 * until the price comes to it. What is then left to reduce is what is sent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/event.h"
#include "engine/match.h"
#include "exchange/filter.h"
#include "exchange/order_rules.h"

_Static_assert(sizeof((struct venue_order_id *)0)->venue_id == VENUE_UPDATE_ID_MAX,
               "the venue's id of an order fits");

const char *account_execution_name(enum execution execution)
{
    static const char *const names[EXECUTIONS] = {
        [EXECUTION_MODEL] = "model", [EXECUTION_VENUE_PAPER] = "venue-paper"};
    return (unsigned)execution < EXECUTIONS ? names[execution] : "";
}

bool engine_venue_attached(const struct engine *engine, int account)
{
    return engine->accounts[account].at_venue.attached;
}

bool engine_venue_halted(const struct engine *engine, int account)
{
    return engine->accounts[account].at_venue.halted;
}

uint64_t engine_venue_seen(const struct engine *engine, int account, int *ret_symbol)
{
    const struct account_at_venue *at = &engine->accounts[account].at_venue;
    *ret_symbol = engine_find_symbol(engine, at->seen_symbol);
    return *ret_symbol < 0 ? 0 : at->seen;
}

const char *engine_venue_prefix(const struct engine *engine, int account)
{
    const struct account_at_venue *at = &engine->accounts[account].at_venue;
    return at->halted ? ENGINE_VENUE_RESET : at->prefix;
}

static void client_id_of(const struct engine *engine, int account, uint64_t client,
                         char ret[static ORDER_CLIENT_ID_MAX])
{
    snprintf(ret, ORDER_CLIENT_ID_MAX, "%s-%llu", engine->accounts[account].at_venue.prefix,
             (unsigned long long)client);
}

static const struct venue_order_id *find_id(const struct engine *engine, int account, uint64_t order_id)
{
    const struct account_at_venue *at = &engine->accounts[account].at_venue;
    for (int i = at->n_ids; i-- > 0;)
        if (at->ids[i].order_id == order_id)
            return &at->ids[i];
    return NULL;
}

void engine_venue_client_id(const struct engine *engine, int account, uint64_t order_id,
                            char ret[static ORDER_CLIENT_ID_MAX])
{
    const struct venue_order_id *known = find_id(engine, account, order_id);
    client_id_of(engine, account, known ? known->client : order_id, ret);
}

const char *engine_venue_id(const struct engine *engine, int account, uint64_t order_id)
{
    const struct venue_order_id *known = find_id(engine, account, order_id);
    return known ? known->venue_id : "";
}

uint64_t engine_venue_booked(const struct engine *engine, int account, uint64_t client, const char *venue_id)
{
    const struct account_at_venue *at = &engine->accounts[account].at_venue;
    for (int i = 0; i < at->n_ids; i++)
        if (at->ids[i].client == client && strcmp(at->ids[i].venue_id, venue_id) == 0)
            return at->ids[i].order_id;
    return 0;
}

/* The oldest that has ended; where all of them live, the oldest. */
static void forget_one(const struct engine *engine, struct account_at_venue *at)
{
    int i = 0;
    while (i < at->n_ids && engine_match_find(engine, at->ids[i].order_id) < engine->n_orders)
        i++;
    i = i < at->n_ids ? i : 0;
    at->n_ids--;
    memmove(&at->ids[i], &at->ids[i + 1], (size_t)(at->n_ids - i) * sizeof at->ids[0]);
}

void engine_venue_name(struct engine *engine, int account, uint64_t order_id, uint64_t client,
                       const char *venue_id)
{
    struct account_at_venue *at = &engine->accounts[account].at_venue;
    if (find_id(engine, account, order_id))
        return;
    if (at->n_ids == VENUE_ORDER_IDS_MAX)
        forget_one(engine, at);
    struct venue_order_id *id = &at->ids[at->n_ids++];
    *id = (struct venue_order_id){.order_id = order_id, .client = client};
    snprintf(id->venue_id, sizeof id->venue_id, "%s", venue_id);
}

uint64_t engine_venue_order_of(const struct engine *engine, int account, const char *client_id)
{
    const char *prefix = engine->accounts[account].at_venue.prefix;
    size_t n = strlen(prefix);
    char *end, again[ORDER_CLIENT_ID_MAX];
    if (n == 0 || strncmp(client_id, prefix, n) != 0 || client_id[n] != '-')
        return 0;
    uint64_t id = strtoull(client_id + n + 1, &end, 10);
    client_id_of(engine, account, id, again);
    return strcmp(again, client_id) == 0 && id <= engine->last_order ? id : 0;
}

bool engine_venue_cancels(const struct engine *engine, uint64_t order_id)
{
    size_t at = engine_match_find(engine, order_id);
    return at < engine->n_orders && engine->orders[at].cancel_queued;
}

bool engine_venue_waits(const struct engine *engine, uint64_t order_id)
{
    size_t at = engine_match_find(engine, order_id);
    return at < engine->n_orders && engine->orders[at].waits;
}

/* A market order that fills whole or not at all, which no venue without rules by class of assets has. */
static bool whole_or_none(const struct engine *engine, const struct order *order)
{
    return order->type == ORDER_MARKET && order->tif == ORDER_FOK &&
           !order_rules_of(&engine->markets[order->symbol].symbol);
}

enum order_reason engine_venue_check(const struct engine *engine, enum order_grouping grouping,
                                     const struct order *legs, int n_legs)
{
    const struct account_at_venue *at = &engine->accounts[legs[0].account].at_venue;
    if (!at->attached || at->halted)
        return ORDER_VENUE_DETACHED;
    for (int i = 0; i < n_legs; i++)
        if (legs[i].type == ORDER_TRAILING_STOP || order_is_of_auction(legs[i].tif) ||
            whole_or_none(engine, &legs[i]))
            return ORDER_VENUE_TERMS;
    return grouping == ORDERS_OCO ? ORDER_VENUE_TERMS : ORDER_OK;
}

/* ---- sending ---- */

void engine_venue_ask(struct engine *engine, enum engine_venue_request what, const struct order *order)
{
    if (engine->sink.venue)
        engine->sink.venue(engine->sink.ctx, what, order);
}

static void ask_cancel(struct engine *engine, struct live_order *live)
{
    if (live->cancel_queued)
        return;
    live->cancel_queued = true;
    engine_venue_ask(engine, ENGINE_VENUE_CANCEL, &live->order);
}

void engine_venue_withdraw(struct engine *engine, uint64_t id)
{
    size_t at = engine_match_find(engine, id);
    struct live_order *live = at < engine->n_orders ? &engine->orders[at] : NULL;
    if (live && (live->waits || live->order.state == ORDER_HELD))
        engine_live_end(engine, id, ORDER_IS_CANCELED, ORDER_OK);
    else if (live)
        ask_cancel(engine, live);
}

/* Does it keep `order` waiting? An exit that rests is asked to go for one that closes; if that closes a part,
 * it comes back, and waits for that one's end. */
static bool blocks(struct engine *engine, struct live_order *other, const struct order *order)
{
    const struct order *o = &other->order;
    bool exits = order->reduce_only && o->reduce_only;
    if (o->id == order->id || o->account != order->account || o->symbol != order->symbol ||
        o->side != order->side || o->state == ORDER_HELD)
        return false;
    if (other->waits)
        return exits && o->type == ORDER_MARKET && order_is_stop(order->type);
    if (exits && (order->type == ORDER_MARKET || order->emulated) && !other->cancel_queued) {
        other->returns = order->type == ORDER_MARKET && order_is_stop(o->type);
        ask_cancel(engine, other);
    }
    return other->cancel_queued || (exits && o->type == ORDER_MARKET);
}

void engine_venue_return(struct engine *engine, const struct order *stop)
{
    struct order again = engine_intent_order(stop->account, stop->symbol, stop->side, stop->type,
                                             stop->qty - stop->filled, stop->tag);
    enum order_reason reason;
    again.price = stop->price;
    again.stop_price = stop->stop_price;
    again.reduce_only = true;
    again.by_hand = stop->by_hand;
    if (engine_venue_held(engine, stop->account, stop->symbol) == 0)
        return;
    engine_match_submit(engine, &again, &reason);
    if (reason != ORDER_OK)
        engine_alert(engine, "VENUE_REFUSED", ENGINE_OF(stop->account, stop->symbol, stop->id),
                     "order %llu of account %s made room for a sale and cannot be placed again: %s: the "
                     "position is without it",
                     (unsigned long long)stop->id, engine->accounts[stop->account].name,
                     order_reason_name(reason));
}

int64_t engine_venue_held(const struct engine *engine, int account, int symbol)
{
    int64_t qty = engine->accounts[account].positions[symbol].qty;
    const struct symbol *listed = &engine->markets[symbol].symbol;
    if (qty <= 0 || engine->accounts[account].rules.execution != EXECUTION_VENUE_PAPER)
        return qty;
    int64_t price = engine_price(engine, account, symbol), lots = filter_floor_qty(listed, ORDER_MARKET, qty);
    int128_t worth = (int128_t)price * lots;
    bool worthless = price > 0 && listed->filters.notional_min_market &&
                     worth < (int128_t)listed->filters.notional_min * engine->markets[symbol].notional_unit;
    return lots == 0 || worthless ? 0 : qty;
}

/* No more than what is left to reduce, in whole lots. False: nothing is. */
static bool reduces_some(const struct engine *engine, struct order *order)
{
    int64_t held = engine_match_reducible(engine, order->account, order->symbol, order->side);
    int64_t lots = filter_floor_qty(&engine->markets[order->symbol].symbol, order->type, held);
    if (engine_venue_held(engine, order->account, order->symbol) == 0 || lots == 0)
        return false;
    order->qty = order->qty < lots ? order->qty : lots;
    return true;
}

void engine_venue_send(struct engine *engine, uint64_t id)
{
    size_t at = engine_match_find(engine, id);
    struct live_order *live = &engine->orders[at];
    int64_t qty = live->order.qty;
    bool blocked = false;
    for (size_t i = 0; i < engine->n_orders; i++)
        blocked |= blocks(engine, &engine->orders[i], &live->order);
    live->waits = blocked;
    if (blocked)
        return;
    if (live->order.reduce_only && !reduces_some(engine, &live->order)) {
        live->waits = true; /* the venue never gets it */
        engine_live_end(engine, id, ORDER_IS_CANCELED, ORDER_REDUCE_ONLY);
        return;
    }
    if (live->order.emulated || live->order.qty != qty) {
        live->order.emulated = false;
        engine_reserve_set(engine, &live->order);
        engine_live_report(engine, &live->order);
    }
    engine_venue_ask(engine, ENGINE_VENUE_PLACE, &live->order);
}

void engine_venue_start(struct engine *engine, uint64_t id)
{
    struct live_order *live = &engine->orders[engine_match_find(engine, id)];
    const struct live_order *other = engine_live_other_leg(engine, &live->order);
    if (live->order.parent != 0 && other && live->order.type == ORDER_LIMIT) {
        live->order.emulated = live->waits = true;
        return;
    }
    engine_venue_send(engine, id);
}

void engine_venue_unblock(struct engine *engine, int account, int symbol)
{
    for (size_t i = 0; i < engine->n_orders;) {
        const struct live_order *live = &engine->orders[i];
        uint64_t id = live->order.id;
        if (live->order.account == account && live->order.symbol == symbol && live->waits &&
            !live->order.emulated && live->order.state == ORDER_PENDING)
            engine_venue_send(engine, id);
        i = engine_live_from(engine, id + 1);
    }
}

void engine_venue_price(struct engine *engine, int symbol)
{
    const struct market_state *market = &engine->markets[symbol];
    for (size_t i = 0; engine->venues && market->live_orders > 0 && i < engine->n_orders; i++) {
        struct live_order *live = &engine->orders[i];
        const struct order *order = &live->order;
        if (order->symbol != symbol || !engine_at_venue(engine, order) || !live->waits || !order->emulated ||
            order->state != ORDER_PENDING)
            continue;
        int64_t price = engine_price(engine, order->account, symbol);
        if (price > 0 && (order->side == ORDER_SELL ? price >= order->price : price <= order->price)) {
            uint64_t id = order->id;
            engine_venue_send(engine, id);
            size_t at = engine_match_find(engine, id);
            if (at < engine->n_orders && engine->orders[at].waits) { /* for the stop's cancel */
                engine->orders[at].order.emulated = false;
                engine_live_report(engine, &engine->orders[at].order);
            }
        }
    }
}

/* ---- ending ---- */

bool engine_venue_may_end(struct engine *engine, struct live_order *live, enum order_reason reason)
{
    const struct order *order = &live->order;
    if (!engine_at_venue(engine, order) || engine->venue_ended == order->id || order->state == ORDER_HELD ||
        live->waits || order->state == ORDER_FILLED)
        return true;
    live->order.reason = reason;
    ask_cancel(engine, live);
    return false;
}
