/* What an order's venue reports of it: EVENT_VENUE_ORDER. A fill is booked once, in the order's own sequence
 * of them; an end lets those go that waited for it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/event.h"
#include "engine/match.h"
#include "exchange/venue_account.h"

static void end(struct engine *engine, const struct order *order, enum order_action action,
                enum order_reason reason)
{
    int account = order->account, symbol = order->symbol;
    struct order was = *order;
    bool returns = action == ORDER_IS_CANCELED && reason == ORDER_OK &&
                   engine->orders[engine_match_find(engine, order->id)].returns;
    if (reason == ORDER_OK)
        reason = order->reason; /* why its cancel was asked for */
    engine->venue_ended = order->id;
    engine_live_end(engine, order->id, action, reason);
    engine->venue_ended = 0;
    engine_venue_unblock(engine, account, symbol);
    if (returns)
        engine_venue_return(engine, &was);
}

static void over(struct engine *engine, const struct order *order)
{
    if (order->state == ORDER_UNKNOWN)
        engine_alert_over(engine, "VENUE_UNKNOWN", "order %llu ", (unsigned long long)order->id);
}

/* A fee in an asset that is neither of the symbol's two. What of it was never deposited here is. */
static void pay_apart(struct engine *engine, const struct fill *fill, const char *asset, int64_t fee)
{
    struct balance *balance = account_find_balance(&engine->accounts[fill->account], asset);
    if (!balance) {
        int at = account_place(engine, fill->account, asset, VENUE_BALANCE_SCALE);
        if (at < 0) {
            engine->out_of_memory |= at == -ENOMEM;
            return;
        }
        balance = &engine->accounts[fill->account].assets[at];
    }
    if (balance->total < fee) {
        engine_cause(engine, CAUSE_FEE)->symbol = fill->symbol;
        account_post(engine, fill->account, balance, LEDGER_DEPOSIT, fee - balance->total, 0, 0);
    }
    engine_cause(engine, CAUSE_FILL)->symbol = fill->symbol;
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
    bool leaves = live->cancel_queued; /* for the other leg, which waits for that and sells the rest */
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
    if (!leaves)
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

/* Of an order that its venue does not have, or no longer, for the reason VENUE_REFUSED or VENUE_LOST, which
 * is the alert's code, too. */
static void alert_without(struct engine *engine, const struct order *order, enum order_reason reason,
                          const char *words, const char *text)
{
    const struct account *account = &engine->accounts[order->account];
    const char *without = "";
    if (order_protects(order) && account->positions[order->symbol].qty != 0)
        without =
            order->type == ORDER_MARKET ? ": the position is not closed" : ": the position is without it";
    engine_alert(engine, reason == ORDER_VENUE_LOST ? "VENUE_LOST" : "VENUE_REFUSED",
                 ENGINE_OF(order->account, order->symbol, order->id),
                 "order %llu of account %s, %s %s: %s%s%s%s", (unsigned long long)order->id, account->name,
                 order_type_name(order->type), engine->markets[order->symbol].symbol.name, words,
                 words[0] && text[0] ? ": " : "", text, without);
}

static void on_refused(struct engine *engine, const struct order *order, const char *text,
                       enum order_reason reason)
{
    over(engine, order);
    alert_without(engine, order, reason, "", text);
    bool sent = order->state == ORDER_PENDING || order->state == ORDER_UNKNOWN;
    end(engine, order, sent ? ORDER_IS_REJECTED : ORDER_IS_CANCELED, reason);
}

/* Its venue ended it, and papertape had not asked for that. One that does not rest, or is of a day, ends so
 * by its own terms. */
static bool is_unasked(const struct live_order *live, enum venue_update update)
{
    const struct order *order = &live->order;
    bool rests = order->type != ORDER_MARKET && order->tif != ORDER_IOC && order->tif != ORDER_FOK;
    bool of_a_day = update == VENUE_UPDATE_EXPIRED && order->tif == ORDER_DAY;
    return !live->cancel_queued && rests && !of_a_day;
}

static void on_end(struct engine *engine, const struct live_order *live,
                   const struct event_venue_order *event)
{
    const struct order *order = &live->order;
    bool unasked = is_unasked(live, event->update), expires = event->update == VENUE_UPDATE_EXPIRED;
    char words[VENUE_NAME_MAX + 48];
    over(engine, order);
    snprintf(words, sizeof words, "%s %s it, which papertape had not asked for",
             engine->markets[order->symbol].symbol.venue, expires ? "expired" : "canceled");
    if (unasked)
        alert_without(engine, order, ORDER_VENUE_LOST, words, event->text);
    end(engine, order, expires ? ORDER_EXPIRES : ORDER_IS_CANCELED, unasked ? ORDER_VENUE_LOST : ORDER_OK);
}

static bool duplicate_good(const struct engine *engine, const struct event_venue_order *event)
{
    return event->order_id > 0 && event->order_id <= engine->last_order && event->venue_id[0] &&
           event->duplicate.symbol >= 0 && event->duplicate.symbol < engine->n_symbols &&
           (unsigned)event->duplicate.side <= ORDER_SELL && (unsigned)event->duplicate.type < ORDER_TYPES &&
           (unsigned)event->duplicate.tif < ORDER_TIFS && event->duplicate.qty > 0 &&
           event->duplicate.price >= 0 && event->duplicate.stop_price >= 0;
}

/* The venue has two orders of one client id. The second one is an order of its own here, as the venue has it,
 * that no risk gate accepted; what of it rests is cancelled. */
static void on_duplicate(struct engine *engine, const struct event_venue_order *event)
{
    const int account = event->account, symbol = event->duplicate.symbol;
    char tag[ORDER_TAG_MAX];
    if (engine_venue_booked(engine, account, event->order_id, event->venue_id))
        return;
    snprintf(tag, sizeof tag, "second of %llu", (unsigned long long)event->order_id);
    struct order order = engine_intent_order(account, symbol, event->duplicate.side, event->duplicate.type,
                                             event->duplicate.qty, tag);
    order.id = engine->last_order + 1;
    order.tif = event->duplicate.tif;
    order.price = order_has_limit(order.type) ? event->duplicate.price : 0;
    order.stop_price = order_is_stop(order.type) ? event->duplicate.stop_price : 0;
    order.state = ORDER_OPEN;
    order.created_ns = order.effective_ns = order.updated_ns = engine->now_ns;
    order.input_seq = engine->input_seq;
    order.by_hand = true;
    if (!engine_live_push(engine, &order)) {
        engine->out_of_memory = true;
        return;
    }
    engine->last_order = order.id;
    engine->counters.orders++;
    engine_venue_name(engine, account, order.id, event->order_id, event->venue_id);
    engine_reserve_set(engine, &order);
    engine_live_report(engine, &order);
    engine_alert(engine, "VENUE_DUPLICATE", ENGINE_OF(account, symbol, order.id),
                 "order %llu of account %s is at %s twice, by one client id: its second order there is order "
                 "%llu here, which no exit covers",
                 (unsigned long long)event->order_id, engine->accounts[account].name,
                 engine->markets[symbol].symbol.venue, (unsigned long long)order.id);
    if (order.type != ORDER_MARKET && order.tif != ORDER_IOC && order.tif != ORDER_FOK)
        engine_venue_withdraw(engine, order.id);
}

static bool fill_good(const struct event_venue_order *event)
{
    return event->fill.price > 0 && event->fill.price <= MONEY_MAX && event->fill.qty > 0 &&
           event->fill.cumulative >= event->fill.qty && event->fill.notional >= -1 &&
           event->fill.notional <= MONEY_MAX && event->fill.fee >= 0 && event->fill.fee <= MONEY_MAX;
}

int engine_venue_order_event(struct engine *engine, const struct event_venue_order *event)
{
    if (event->account < 0 || event->account >= engine->n_accounts ||
        engine->accounts[event->account].rules.execution != EXECUTION_VENUE_PAPER ||
        (unsigned)event->update >= VENUE_UPDATES ||
        (event->update == VENUE_UPDATE_FILL && !fill_good(event)) ||
        (event->update == VENUE_UPDATE_DUPLICATE && !duplicate_good(engine, event)))
        return -EINVAL;
    if (event->update == VENUE_UPDATE_DUPLICATE) {
        on_duplicate(engine, event);
        return 0;
    }
    size_t at = engine_match_find(engine, event->order_id);
    struct live_order *live = at < engine->n_orders ? &engine->orders[at] : NULL;
    if (!live || live->order.account != event->account || live->order.state == ORDER_HELD || live->waits) {
        if (event->update == VENUE_UPDATE_FILL && event->order_id > engine->last_order)
            return -EINVAL;
        return 0; /* it ended: what it filled later is left to the balances */
    }
    struct order *order = &live->order;
    if (event->venue_id[0] && event->update != VENUE_UPDATE_REJECTED &&
        event->update != VENUE_UPDATE_ABSENT) {
        struct account_at_venue *account = &engine->accounts[event->account].at_venue;
        account->seen = event->order_id;
        memcpy(account->seen_symbol, engine->markets[order->symbol].symbol.name, sizeof account->seen_symbol);
        engine_venue_name(engine, event->account, event->order_id, event->order_id, event->venue_id);
    }
    switch (event->update) {
    case VENUE_UPDATE_OPEN:
        on_open(engine, order);
        break;
    case VENUE_UPDATE_UNKNOWN:
        on_unknown(engine, order, event->text);
        break;
    case VENUE_UPDATE_FILL:
        on_fill(engine, live, event);
        break;
    case VENUE_UPDATE_CANCELED:
    case VENUE_UPDATE_EXPIRED:
        on_end(engine, live, event);
        break;
    case VENUE_UPDATE_REJECTED:
        on_refused(engine, order, event->text, ORDER_VENUE_REFUSED);
        break;
    case VENUE_UPDATE_ABSENT:
        on_refused(engine, order, event->text, ORDER_VENUE_LOST);
        break;
    case VENUE_UPDATE_AGAIN:
        if (order->state == ORDER_PENDING || order->state == ORDER_UNKNOWN)
            engine_venue_ask(engine, ENGINE_VENUE_PLACE, order);
        break;
    case VENUE_UPDATE_DUPLICATE:
    case VENUE_UPDATES:
        break;
    }
    return 0;
}
