/* Orders of accounts with EXECUTION_VENUE_PAPER: they are not matched here. Each is sent to its venue by
 * sink.venue once the gate accepted it, stays PENDING until news of it come as EVENT_VENUE_ORDER, and trades
 * and ends by those alone: what would end it here (an expiry, nothing left to reduce, a halt) asks the venue
 * for a cancel.
 *
 * The venue locks what a resting sale sells, so that nothing can be sold twice. An order therefore waits here
 * for the cancels of its account, symbol and side that were asked for; one that closes a position asks for
 * the cancel of the exits that rest. A bracket's stop rests at the venue, its profit is held here, emulated,
 * until the price comes to it. What is then left to reduce is what is sent. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/event.h"
#include "engine/match.h"
#include "exchange/filter.h"

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

void engine_venue_client_id(const struct engine *engine, int account, uint64_t order_id,
                            char ret[static ORDER_CLIENT_ID_MAX])
{
    snprintf(ret, ORDER_CLIENT_ID_MAX, "%s-%llu", engine->accounts[account].at_venue.prefix,
             (unsigned long long)order_id);
}

uint64_t engine_venue_order_of(const struct engine *engine, int account, const char *client_id)
{
    const char *prefix = engine->accounts[account].at_venue.prefix;
    size_t n = strlen(prefix);
    char *end, again[ORDER_CLIENT_ID_MAX];
    if (n == 0 || strncmp(client_id, prefix, n) != 0 || client_id[n] != '-')
        return 0;
    uint64_t id = strtoull(client_id + n + 1, &end, 10);
    engine_venue_client_id(engine, account, id, again);
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

enum order_reason engine_venue_check(const struct engine *engine, enum order_grouping grouping,
                                     const struct order *legs, int n_legs)
{
    const struct account_at_venue *at = &engine->accounts[legs[0].account].at_venue;
    if (!at->attached || at->halted)
        return ORDER_VENUE_DETACHED;
    for (int i = 0; i < n_legs; i++)
        if (legs[i].type == ORDER_TRAILING_STOP || order_is_of_auction(legs[i].tif))
            return ORDER_VENUE_TERMS;
    return grouping == ORDERS_OCO ? ORDER_VENUE_TERMS : ORDER_OK;
}

/* ---- sending ---- */

static void request(struct engine *engine, enum engine_venue_request what, const struct order *order)
{
    if (engine->sink.venue)
        engine->sink.venue(engine->sink.ctx, what, order);
}

static void ask_cancel(struct engine *engine, struct live_order *live)
{
    if (live->cancel_queued)
        return;
    live->cancel_queued = true;
    request(engine, ENGINE_VENUE_CANCEL, &live->order);
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

/* Does it keep `order` waiting? An exit that rests is asked to go for one that closes. */
static bool blocks(struct engine *engine, struct live_order *other, const struct order *order)
{
    const struct order *o = &other->order;
    if (o->id == order->id || o->account != order->account || o->symbol != order->symbol ||
        o->side != order->side || o->state == ORDER_HELD || other->waits)
        return false;
    if (order->reduce_only && o->reduce_only && (order->type == ORDER_MARKET || order->emulated))
        ask_cancel(engine, other);
    return other->cancel_queued;
}

/* No more than what is left to reduce, in whole lots. False: nothing is. */
static bool reduces_some(const struct engine *engine, struct order *order)
{
    int64_t held = engine_match_reducible(engine, order->account, order->symbol, order->side);
    int64_t lots = filter_floor_qty(&engine->markets[order->symbol].symbol, order->type, held);
    if (order->qty > lots)
        order->qty = lots;
    return order->qty > 0;
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
    request(engine, ENGINE_VENUE_PLACE, &live->order);
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

/* Orders that waited for one that has ended. */
static void unblock(struct engine *engine, int account, int symbol)
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
    for (size_t i = 0; market->live_orders > 0 && i < engine->n_orders; i++) {
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
    if (!engine_at_venue(engine, order) || engine->venue_said || order->state == ORDER_HELD || live->waits ||
        order->state == ORDER_FILLED)
        return true;
    live->order.reason = reason;
    ask_cancel(engine, live);
    return false;
}

static void end(struct engine *engine, const struct order *order, enum order_action action,
                enum order_reason reason)
{
    int account = order->account, symbol = order->symbol;
    if (reason == ORDER_OK)
        reason = order->reason; /* why its cancel was asked for */
    engine->venue_said = true;
    engine_live_end(engine, order->id, action, reason);
    engine->venue_said = false;
    unblock(engine, account, symbol);
}

/* ---- news ---- */

static void over(struct engine *engine, const struct order *order)
{
    if (order->state == ORDER_UNKNOWN)
        engine_alert_over(engine, "VENUE_UNKNOWN", "order %llu ", (unsigned long long)order->id);
}

/* A fee in an asset that is neither of the symbol's two. What of it was never deposited here is. */
static void pay_apart(struct engine *engine, const struct fill *fill, const char *asset, int64_t fee)
{
    enum { SCALE = 8 }; /* VENUE_BALANCE_SCALE */
    struct balance *balance = account_find_balance(&engine->accounts[fill->account], asset);
    if (!balance) {
        int at = account_place(engine, fill->account, asset, SCALE);
        if (at < 0) {
            engine->out_of_memory |= at == -ENOMEM;
            return;
        }
        balance = &engine->accounts[fill->account].assets[at];
    }
    if (balance->total < fee)
        account_post(engine, fill->account, balance, LEDGER_DEPOSIT, fee - balance->total, 0, 0);
    account_post(engine, fill->account, balance, LEDGER_FEE, -fee, fill->order_id, fill->id);
}

/* The fee of a fill whose venue does not say it: by the account's rate, rounded up, of what was received. */
static int64_t fee_of_rate(const struct engine *engine, const struct fill *fill, int64_t of)
{
    const struct fee_rates *fees =
        account_fees(&engine->accounts[fill->account].rules, &engine->markets[fill->symbol].symbol);
    return fill_fee(of, fill->maker ? fees->maker_e6 : fees->taker_e6);
}

static struct fill fill_of(struct engine *engine, const struct order *order,
                           const struct event_venue_order *event)
{
    const struct symbol *symbol = &engine->markets[order->symbol].symbol;
    int64_t unit = engine->markets[order->symbol].notional_unit;
    struct fill fill = {
        .id = ++engine->last_fill,
        .order_id = order->id,
        .account = order->account,
        .symbol = order->symbol,
        .side = order->side,
        .ts_ns = engine->now_ns,
        .price = event->fill.price,
        .qty = event->fill.qty,
        .notional = event->fill.notional >= 0
                        ? event->fill.notional
                        : fill_notional(order->side, event->fill.price, event->fill.qty, unit),
        .maker = event->fill.maker,
        .input_seq = engine->input_seq,
        .basis = FILL_BASIS_VENUE,
    };
    bool buys = order->side == ORDER_BUY, said = event->fill.fee_asset[0] != '\0';
    int64_t fee = said ? event->fill.fee : fee_of_rate(engine, &fill, buys ? fill.qty : fill.notional);
    if (said ? buys && strcmp(event->fill.fee_asset, symbol->base) == 0 : buys)
        fill.fee_base = fee < fill.qty ? fee : fill.qty - 1;
    else if (!said || strcmp(event->fill.fee_asset, symbol->quote) == 0)
        fill.fee = fee;
    return fill;
}

static bool is_apart(const struct symbol *symbol, const char *asset)
{
    return asset[0] && strcmp(asset, symbol->base) != 0 && strcmp(asset, symbol->quote) != 0;
}

static void on_fill(struct engine *engine, struct live_order *live, const struct event_venue_order *event)
{
    struct order *order = &live->order;
    uint64_t id = order->id;
    int account = order->account, symbol = order->symbol;
    if (event->fill.cumulative - event->fill.qty != order->filled)
        return; /* it is booked already, or one before it is not: then it comes again */
    if (event->fill.cumulative > order->qty) {
        engine_alert(engine, "VENUE_BALANCE", ENGINE_OF(account, symbol, id),
                     "order %llu: the venue filled more than it was given: left to the balances",
                     (unsigned long long)id);
        return;
    }
    over(engine, order);
    order->triggered = order_is_stop(order->type);
    engine_reserve_lift(engine, order);
    const struct fill fill = fill_of(engine, order, event);
    engine_fills_post(engine, order, &fill);
    if (is_apart(&engine->markets[symbol].symbol, event->fill.fee_asset) && event->fill.fee > 0)
        pay_apart(engine, &fill, event->fill.fee_asset, event->fill.fee);
    engine_fills_cancel_other_leg(engine, id);
    order = &engine->orders[engine_match_find(engine, id)].order;
    if (order->filled == order->qty) {
        end(engine, order, ORDER_FILLS_REST, ORDER_OK);
    } else {
        engine_reserve_set(engine, order);
        engine_live_report(engine, order);
    }
    engine_fills_position_changed(engine, account, symbol);
}

static void on_open(struct engine *engine, struct order *order)
{
    if (order->state != ORDER_PENDING && order->state != ORDER_UNKNOWN)
        return;
    over(engine, order);
    if (engine_live_step(engine, order, ORDER_ARRIVES))
        engine_live_report(engine, order);
}

static void on_unknown(struct engine *engine, struct order *order, const char *text)
{
    if (order->state != ORDER_PENDING || !engine_live_step(engine, order, ORDER_IS_LOST))
        return;
    engine_live_report(engine, order);
    engine_alert(engine, "VENUE_UNKNOWN", ENGINE_OF(order->account, order->symbol, order->id),
                 "order %llu of account %s: whether %s has it is not known: %s",
                 (unsigned long long)order->id, engine->accounts[order->account].name,
                 engine->markets[order->symbol].symbol.venue, text);
}

static void on_refused(struct engine *engine, const struct order *order, const char *text)
{
    over(engine, order);
    engine_alert(engine, "VENUE_REFUSED", ENGINE_OF(order->account, order->symbol, order->id),
                 "order %llu of account %s, %s %s: %s%s", (unsigned long long)order->id,
                 engine->accounts[order->account].name, order_type_name(order->type),
                 engine->markets[order->symbol].symbol.name, text,
                 order_protects(order) ? ": the position is without it" : "");
    bool sent = order->state == ORDER_PENDING || order->state == ORDER_UNKNOWN;
    end(engine, order, sent ? ORDER_IS_REJECTED : ORDER_IS_CANCELED, ORDER_VENUE_REFUSED);
}

int engine_venue_order_event(struct engine *engine, const struct event_venue_order *event)
{
    if (event->account < 0 || event->account >= engine->n_accounts ||
        engine->accounts[event->account].rules.execution != EXECUTION_VENUE_PAPER ||
        (unsigned)event->news >= VENUE_NEWS ||
        (event->news == VENUE_NEWS_FILL && (event->fill.price <= 0 || event->fill.qty <= 0 ||
                                            event->fill.fee < 0 || event->fill.price > MONEY_MAX)))
        return -EINVAL;
    size_t at = engine_match_find(engine, event->order_id);
    struct live_order *live = at < engine->n_orders ? &engine->orders[at] : NULL;
    if (!live || live->order.account != event->account || live->order.state == ORDER_HELD || live->waits) {
        if (event->news == VENUE_NEWS_FILL && event->order_id > engine->last_order)
            return -EINVAL;
        return 0; /* it ended: what it filled later is left to the balances */
    }
    struct order *order = &live->order;
    switch (event->news) {
    case VENUE_NEWS_OPEN:
        on_open(engine, order);
        break;
    case VENUE_NEWS_UNKNOWN:
        on_unknown(engine, order, event->text);
        break;
    case VENUE_NEWS_FILL:
        on_fill(engine, live, event);
        break;
    case VENUE_NEWS_CANCELED:
        over(engine, order);
        end(engine, order, ORDER_IS_CANCELED, ORDER_OK);
        break;
    case VENUE_NEWS_EXPIRED:
        over(engine, order);
        end(engine, order, ORDER_EXPIRES, ORDER_OK);
        break;
    case VENUE_NEWS_REJECTED:
        on_refused(engine, order, event->text);
        break;
    case VENUE_NEWS_AGAIN:
        if (order->state == ORDER_PENDING || order->state == ORDER_UNKNOWN)
            request(engine, ENGINE_VENUE_PLACE, order);
        break;
    case VENUE_NEWS:
        break;
    }
    return 0;
}
