/* The paper exchange: accepts or refuses orders, and fills them from what the venue shows.
 *
 * A taker walks the order book as far as it is known: the differences' book, corrected at the top by the best
 * bid and ask, which come more often. Without a synced book only the best price's quantity can be had; what
 * finds no liquidity of a market order is cancelled. A resting limit order makes at its own price, when a
 * trade goes through it, or when the other side's best price reaches it, with the quantity shown there, once.
 * A stop triggers on a trade and takes at once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "exchange/fill_rules.h"
#include "exchange/filter.h"

struct walk {
    const struct market_state *market;
    enum order_side taker;
    bool use_book, use_quote, quote_taken;
    struct book_level quote;
    uint32_t next;
};

static void walk_begin(struct walk *walk, const struct market_state *market, enum order_side taker)
{
    const struct market_quote *quote = &market->quote;
    *walk = (struct walk){.market = market, .taker = taker};
    walk->quote = taker == ORDER_BUY ? (struct book_level){quote->ask, quote->ask_qty}
                                     : (struct book_level){quote->bid, quote->bid_qty};
    walk->use_book = market->book.state == BOOK_SYNCED;
    walk->use_quote = walk->quote.price > 0 && walk->quote.qty > 0 &&
                      (!walk->use_book || quote->update_id >= market->book.last_id);
}

static bool walk_next(struct walk *walk, struct book_level *ret)
{
    if (walk->use_quote && !walk->quote_taken) {
        walk->quote_taken = true;
        *ret = walk->quote;
        return true;
    }
    if (!walk->use_book)
        return false;
    const struct book *book = &walk->market->book;
    for (;;) {
        uint32_t i = walk->next++;
        const struct book_level *level = walk->taker == ORDER_BUY ? book_ask(book, i) : book_bid(book, i);
        if (!level)
            return false;
        bool worse =
            walk->taker == ORDER_BUY ? level->price > walk->quote.price : level->price < walk->quote.price;
        if (walk->use_quote && !worse)
            continue;
        *ret = *level;
        return true;
    }
}

bool match_best(const struct engine *engine, int symbol, enum order_side taker, struct book_level *ret)
{
    struct walk walk;
    walk_begin(&walk, &engine->markets[symbol], taker);
    return walk_next(&walk, ret);
}

static void emit(struct engine *engine, const struct order *order)
{
    if (engine->sink.order)
        engine->sink.order(engine->sink.ctx, order);
}

/* What the rest of a live order holds of a balance. */
static struct balance *reserve_balance(struct engine *engine, const struct order *order)
{
    const struct symbol *symbol = &engine->markets[order->symbol].symbol;
    return order->side == ORDER_BUY
               ? account_balance(engine, order->account, symbol->quote, symbol->quote_scale)
               : account_balance(engine, order->account, symbol->base, symbol->qty_scale);
}

/* The higher of the two rates: what is reserved suffices whichever way the order trades. */
static int32_t fee_bound_e6(const struct engine *engine, int account)
{
    const struct fee_rates *fees = &engine->accounts[account].rules.fees;
    return fees->taker_e6 > fees->maker_e6 ? fees->taker_e6 : fees->maker_e6;
}

/* The money that buying `qty` at `price` takes, the fee included. INT64_MAX where it would not fit. */
static int64_t purchase_cost(const struct engine *engine, int account, int symbol, int64_t price, int64_t qty)
{
    int64_t unit = engine->markets[symbol].notional_unit;
    if ((int128_t)price * qty / unit >= MONEY_MAX / 2)
        return INT64_MAX;
    int64_t notional = fill_notional(ORDER_BUY, price, qty, unit);
    return notional + fill_fee(notional, fee_bound_e6(engine, account));
}

/* The price that an order is expected to trade at, before it does. */
static int64_t expected_price(const struct engine *engine, const struct order *order)
{
    struct book_level best;
    if (order->type == ORDER_LIMIT)
        return order->price;
    if (order->type == ORDER_STOP)
        return order->stop_price;
    if (match_best(engine, order->symbol, order->side, &best))
        return best.price;
    return engine->markets[order->symbol].last;
}

static void unreserve(struct engine *engine, struct live_order *live)
{
    reserve_balance(engine, &live->order)->reserved -= live->reserved;
    live->reserved = 0;
}

static void reserve(struct engine *engine, struct live_order *live)
{
    const struct order *order = &live->order;
    if (live->cancel_queued)
        return;
    int64_t left = order->qty - order->filled;
    live->reserved = order->side == ORDER_SELL ? left
                                               : purchase_cost(engine, order->account, order->symbol,
                                                               expected_price(engine, order), left);
    reserve_balance(engine, order)->reserved += live->reserved;
}

static size_t find_live(const struct engine *engine, uint64_t id)
{
    size_t i = 0;
    while (i < engine->n_orders && engine->orders[i].order.id != id)
        i++;
    return i;
}

static bool push_pending(struct engine *engine, struct pending pending)
{
    if (engine->first_pending > 0 && engine->n_pending == engine->cap_pending) {
        engine->n_pending -= engine->first_pending;
        memmove(engine->pending, engine->pending + engine->first_pending, engine->n_pending * sizeof pending);
        engine->first_pending = 0;
    }
    if (engine->n_pending == engine->cap_pending) {
        size_t cap = engine->cap_pending ? 2 * engine->cap_pending : 64;
        struct pending *moved = realloc(engine->pending, cap * sizeof pending);
        if (!moved)
            return false;
        engine->pending = moved;
        engine->cap_pending = cap;
    }
    engine->pending[engine->n_pending++] = pending;
    return true;
}

static struct live_order *push_live(struct engine *engine, const struct order *order)
{
    if (engine->n_orders == engine->cap_orders) {
        size_t cap = engine->cap_orders ? 2 * engine->cap_orders : 64;
        struct live_order *moved = realloc(engine->orders, cap * sizeof *moved);
        if (!moved)
            return NULL;
        engine->orders = moved;
        engine->cap_orders = cap;
    }
    struct live_order *live = &engine->orders[engine->n_orders++];
    *live = (struct live_order){.order = *order};
    engine->markets[order->symbol].live_orders++;
    return live;
}

/* Ends a live order: it leaves the list, its reserve is free again. */
static struct order end(struct engine *engine, size_t at, enum order_state state, enum order_reason reason)
{
    unreserve(engine, &engine->orders[at]);
    struct order order = engine->orders[at].order;
    order.state = state;
    order.reason = reason;
    order.updated_ns = engine->now_ns;
    engine->n_orders--;
    memmove(&engine->orders[at], &engine->orders[at + 1], (engine->n_orders - at) * sizeof *engine->orders);
    engine->markets[order.symbol].live_orders--;
    emit(engine, &order);
    return order;
}

static void finish(struct engine *engine, size_t at, enum order_state state, enum order_reason reason)
{
    struct order order = end(engine, at, state, reason);
    if (order.filled > 0)
        desk_filled(engine, &order);
}

int64_t match_sellable(struct engine *engine, int account, int symbol)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    int64_t unsold = engine->accounts[account].positions[symbol].qty;
    int64_t owned = account_free(engine, account, listed->base, listed->qty_scale);
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct live_order *live = &engine->orders[i];
        if (live->order.account == account && live->order.symbol == symbol && live->order.side == ORDER_SELL)
            unsold -= live->reserved;
    }
    return unsold < owned ? unsold : owned; /* symbols may share a base */
}

static enum order_reason check_balance(struct engine *engine, const struct order *order)
{
    const struct symbol *symbol = &engine->markets[order->symbol].symbol;
    if (order->side == ORDER_SELL)
        return order->qty <= match_sellable(engine, order->account, order->symbol)
                   ? ORDER_OK
                   : ORDER_INSUFFICIENT_BALANCE;
    int64_t cost =
        purchase_cost(engine, order->account, order->symbol, expected_price(engine, order), order->qty);
    return cost <= account_free(engine, order->account, symbol->quote, symbol->quote_scale)
               ? ORDER_OK
               : ORDER_INSUFFICIENT_BALANCE;
}

static int64_t value_at(const struct engine *engine, const struct order *order)
{
    int128_t value = (int128_t)expected_price(engine, order) * (order->qty - order->filled) /
                     engine->markets[order->symbol].notional_unit;
    return value > MONEY_MAX / 2 ? MONEY_MAX / 2 : (int64_t)value;
}

static enum order_reason check_risk(struct engine *engine, const struct order *order)
{
    const struct market_state *market = &engine->markets[order->symbol];
    struct account *account = &engine->accounts[order->account];
    account_mark(engine, order->account);
    struct risk_facts facts = {
        .now_ns = engine->now_ns,
        .reduces = order->side == ORDER_SELL,
        .paused = engine->paused,
        .stale = market->stale,
        .storage_failing = engine->storage_failing,
        .order_notional = value_at(engine, order),
        .equity = account->equity,
        .day_equity = account->day_equity,
    };
    for (int s = 0; s < engine->n_symbols; s++)
        if (account->positions[s].qty > 0)
            facts.account_notional += account_position_value(engine, order->account, s);
    facts.symbol_notional = account_position_value(engine, order->account, order->symbol);
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct order *other = &engine->orders[i].order;
        if (other->account != order->account || other->side != ORDER_BUY)
            continue;
        int64_t value = value_at(engine, other);
        facts.account_notional += value;
        if (other->symbol == order->symbol)
            facts.symbol_notional += value;
    }
    return risk_check(&account->rules.risk, &engine->rates[order->account], &facts);
}

static enum order_reason check(struct engine *engine, const struct order *order)
{
    const struct market_state *market = &engine->markets[order->symbol];
    struct filter_request request = {
        .side = order->side,
        .type = order->type,
        .qty = order->qty,
        .price = order->price,
        .stop_price = order->stop_price,
        .reference = market->last,
    };
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct order *other = &engine->orders[i].order;
        request.open_orders += other->symbol == order->symbol && other->account == order->account;
    }
    enum order_reason reason = filter_check(&market->symbol, &request);
    struct book_level best;
    if (reason == ORDER_OK && order->type == ORDER_MARKET &&
        !match_best(engine, order->symbol, order->side, &best))
        reason = ORDER_NO_LIQUIDITY;
    if (reason == ORDER_OK)
        reason = check_balance(engine, order);
    if (reason == ORDER_OK)
        reason = check_risk(engine, order);
    return reason;
}

uint64_t match_submit(struct engine *engine, const struct order_request *request,
                      enum order_reason *ret_reason)
{
    struct order order = {
        .id = engine->last_order + 1,
        .account = request->account,
        .symbol = request->symbol,
        .side = request->side,
        .type = request->type,
        .state = ORDER_PENDING,
        .qty = request->qty,
        .price = request->type == ORDER_LIMIT ? request->price : 0,
        .stop_price = request->type == ORDER_STOP ? request->stop_price : 0,
        .created_ns = engine->now_ns,
        .effective_ns = engine->now_ns + engine->latency_ns,
        .updated_ns = engine->now_ns,
        .input_seq = engine->input_seq,
        .by_hand = request->by_hand,
    };
    memcpy(order.tag, request->tag, sizeof order.tag);
    order.reason = check(engine, &order);
    *ret_reason = order.reason;
    engine->counters.orders++;
    engine->counters.refused[order.reason]++;
    if (order.reason != ORDER_OK) {
        engine->counters.rejected++;
        engine->last_order++;
        order.state = ORDER_REJECTED;
        emit(engine, &order);
        return order.id;
    }
    struct live_order *live = push_live(engine, &order);
    if (!live ||
        !push_pending(engine, (struct pending){.effective_ns = order.effective_ns, .order_id = order.id})) {
        if (live) {
            engine->n_orders--;
            engine->markets[order.symbol].live_orders--;
        }
        engine->out_of_memory = true;
        return 0;
    }
    engine->last_order++;
    reserve(engine, live);
    emit(engine, &order);
    return order.id;
}

enum order_reason match_cancel(struct engine *engine, uint64_t order_id)
{
    size_t at = find_live(engine, order_id);
    if (at == engine->n_orders)
        return ORDER_UNKNOWN_ORDER;
    struct live_order *live = &engine->orders[at];
    if (live->cancel_queued)
        return ORDER_OK;
    if (!push_pending(engine, (struct pending){.effective_ns = engine->now_ns + engine->latency_ns,
                                               .order_id = order_id,
                                               .kind = PENDING_CANCEL})) {
        engine->out_of_memory = true;
        return ORDER_OK;
    }
    /* From here on new orders may count on what it held; should it trade first, they find less. */
    unreserve(engine, live);
    live->cancel_queued = true;
    return ORDER_OK;
}

void match_withdraw(struct engine *engine, int account)
{
    for (size_t at = 0; at < engine->n_orders;)
        if (engine->orders[at].order.account == account)
            end(engine, at, ORDER_CANCELED, ORDER_OK);
        else
            at++;
}

static void fill(struct engine *engine, size_t at, int64_t price, int64_t qty, bool maker)
{
    struct order *order = &engine->orders[at].order;
    const struct fee_rates *fees = &engine->accounts[order->account].rules.fees;
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
    };
    fill.fee = fill_fee(fill.notional, fill.fee_e6);
    order->filled += qty;
    order->cost += fill.notional;
    order->updated_ns = engine->now_ns;
    engine->counters.fills++;
    if (engine->sink.fill)
        engine->sink.fill(engine->sink.ctx, &fill);
    account_fill(engine, &fill);
}

/* How much of `qty` at `price` the account can pay for or deliver now. */
static int64_t affordable(struct engine *engine, const struct order *order, int64_t price, int64_t qty)
{
    const struct balance *balance = reserve_balance(engine, order);
    const struct symbol *listed = &engine->markets[order->symbol].symbol;
    int64_t available = balance->total - balance->reserved;
    if (available <= 0)
        return 0;
    if (order->side == ORDER_SELL) {
        int64_t held = engine->accounts[order->account].positions[order->symbol].qty;
        int64_t quote = account_balance(engine, order->account, listed->quote, listed->quote_scale)->total;
        qty = qty < available ? qty : available;
        qty = qty < held ? qty : held;
        int128_t proceeds = (int128_t)price * qty / engine->markets[order->symbol].notional_unit;
        return quote + proceeds > MONEY_MAX ? 0 : qty;
    }
    int64_t base = account_balance(engine, order->account, listed->base, listed->qty_scale)->total;
    if (qty > MONEY_MAX - base)
        return 0;
    if (purchase_cost(engine, order->account, order->symbol, price, qty) <= available)
        return qty;
    const struct market_state *market = &engine->markets[order->symbol];
    int128_t notional = (int128_t)available * 1000000 / (1000000 + fee_bound_e6(engine, order->account));
    int128_t most = notional * market->notional_unit / price;
    int64_t fits = filter_floor_qty(&market->symbol, ORDER_MARKET, most < qty ? (int64_t)most : qty);
    while (fits > 0 && purchase_cost(engine, order->account, order->symbol, price, fits) > available)
        fits = filter_floor_qty(&market->symbol, ORDER_MARKET, fits - 1);
    return fits;
}

/* Takes what the other side offers, up to the limit if there is one. Returns why it stopped early, or
 * ORDER_OK. */
static enum order_reason take(struct engine *engine, size_t at, bool limited)
{
    struct live_order *live = &engine->orders[at];
    struct order *order = &live->order;
    struct walk walk;
    struct book_level level;
    unreserve(engine, live);
    walk_begin(&walk, &engine->markets[order->symbol], order->side);
    while (order->filled < order->qty) {
        if (!walk_next(&walk, &level))
            return ORDER_NO_LIQUIDITY;
        if (limited && !fill_limit_crosses(order->side, order->price, level.price))
            return ORDER_OK;
        int64_t left = order->qty - order->filled;
        int64_t qty = left < level.qty ? left : level.qty;
        int64_t paid = affordable(engine, order, level.price, qty);
        if (paid > 0)
            fill(engine, at, level.price, paid, false);
        if (paid < qty)
            return ORDER_INSUFFICIENT_BALANCE;
    }
    return ORDER_OK;
}

static void rest(struct engine *engine, size_t at)
{
    struct live_order *live = &engine->orders[at];
    live->order.state = live->order.filled > 0 ? ORDER_PARTIAL : ORDER_OPEN;
    live->order.updated_ns = engine->now_ns;
    unreserve(engine, live);
    reserve(engine, live);
    /* Each fill rounds up by itself: what is left may want a unit or two more than there is. */
    struct balance *balance = reserve_balance(engine, &live->order);
    int64_t beyond = balance->reserved - balance->total;
    if (beyond > 0 && beyond <= live->reserved) {
        balance->reserved -= beyond;
        live->reserved -= beyond;
    }
    emit(engine, &live->order);
}

/* What finds no liquidity of a market order is cancelled; of a stop it rests and tries again at the next
 * trade, since a position must not lose its protection to a thin moment. */
static void take_market(struct engine *engine, size_t at)
{
    enum order_reason reason = take(engine, at, false);
    const struct order *order = &engine->orders[at].order;
    if (order->filled == order->qty) {
        finish(engine, at, ORDER_FILLED, ORDER_OK);
        return;
    }
    if (reason == ORDER_NO_LIQUIDITY) {
        engine_alert(engine, "NO_LIQUIDITY", "%s: order %llu found no more to trade with",
                     engine->markets[order->symbol].symbol.name, (unsigned long long)order->id);
        if (order->type == ORDER_STOP) {
            rest(engine, at);
            return;
        }
    }
    finish(engine, at, ORDER_CANCELED, reason);
}

/* A new order reaches the venue. */
static void arrive(struct engine *engine, size_t at)
{
    const struct order *order = &engine->orders[at].order;
    const struct market_state *market = &engine->markets[order->symbol];
    if (market->stale && order->type != ORDER_STOP) {
        finish(engine, at, ORDER_CANCELED, ORDER_RISK_STALE_DATA);
    } else if (order->type == ORDER_MARKET) {
        take_market(engine, at);
    } else if (order->type == ORDER_STOP) {
        if (market->last > 0 && !market->stale &&
            fill_stop_triggers(order->side, order->stop_price, market->last))
            take_market(engine, at);
        else
            rest(engine, at);
    } else {
        enum order_reason reason = take(engine, at, true);
        if (order->filled == order->qty)
            finish(engine, at, ORDER_FILLED, ORDER_OK);
        else if (reason == ORDER_INSUFFICIENT_BALANCE)
            finish(engine, at, ORDER_CANCELED, reason);
        else {
            struct live_order *live = &engine->orders[at];
            struct book_level best;
            if (match_best(engine, order->symbol, order->side, &best)) {
                live->used_price = best.price; /* all of it that crosses, or it would not rest */
                live->used = fill_limit_crosses(order->side, order->price, best.price) ? best.qty : 0;
            }
            rest(engine, at);
        }
    }
}

void match_release(struct engine *engine, int64_t until_ns)
{
    while (engine->first_pending < engine->n_pending) {
        struct pending next = engine->pending[engine->first_pending];
        if (next.effective_ns > until_ns)
            return;
        engine->first_pending++;
        if (next.effective_ns > engine->now_ns)
            engine->now_ns = next.effective_ns;
        size_t at = find_live(engine, next.order_id);
        if (at == engine->n_orders)
            continue;
        if (next.kind == PENDING_CANCEL)
            finish(engine, at, ORDER_CANCELED, ORDER_OK);
        else
            arrive(engine, at);
    }
    engine->first_pending = engine->n_pending = 0;
}

/* A resting order makes at its own limit. Returns what it traded. */
static int64_t make(struct engine *engine, size_t at, int64_t offered)
{
    struct live_order *live = &engine->orders[at];
    int64_t left = live->order.qty - live->order.filled;
    int64_t wanted = left < offered ? left : offered;
    unreserve(engine, live);
    int64_t qty = affordable(engine, &live->order, live->order.price, wanted);
    if (qty > 0)
        fill(engine, at, live->order.price, qty, true);
    if (live->order.filled == live->order.qty)
        finish(engine, at, ORDER_FILLED, ORDER_OK);
    else if (qty < wanted)
        finish(engine, at, ORDER_CANCELED, ORDER_INSUFFICIENT_BALANCE);
    else
        rest(engine, at);
    return qty;
}

static bool rests(const struct order *order, int symbol)
{
    return order->symbol == symbol && (order->state == ORDER_OPEN || order->state == ORDER_PARTIAL);
}

/* The next resting order of a symbol with an id above `after`. Orders stand in order of their ids, so a walk
 * by id goes on safely while fills remove and add orders. */
static size_t next_resting(const struct engine *engine, int symbol, uint64_t after)
{
    size_t i = 0;
    while (i < engine->n_orders &&
           (engine->orders[i].order.id <= after || !rests(&engine->orders[i].order, symbol)))
        i++;
    return i;
}

void match_trade(struct engine *engine, int symbol, const struct market_trade *trade)
{
    int64_t offered = trade->qty;
    if (engine->markets[symbol].live_orders == 0)
        return;
    for (size_t at = next_resting(engine, symbol, 0); at < engine->n_orders;) {
        const struct order *order = &engine->orders[at].order;
        uint64_t id = order->id;
        if (order->type == ORDER_STOP) {
            if (fill_stop_triggers(order->side, order->stop_price, trade->price))
                take_market(engine, at);
        } else if (offered > 0 && fill_limit_trades_through(order->side, order->price, trade->price)) {
            offered -= make(engine, at, offered);
        }
        at = next_resting(engine, symbol, id);
    }
}

/* What the best shows is had once: while its price stays, only what was added to it can be had again. */
static void make_from_best(struct engine *engine, size_t at, const struct book_level *best)
{
    struct live_order *live = &engine->orders[at];
    uint64_t id = live->order.id;
    if (live->used_price != best->price) {
        live->used_price = best->price;
        live->used = 0;
    }
    if (best->qty <= live->used)
        return;
    int64_t made = make(engine, at, best->qty - live->used);
    at = find_live(engine, id);
    if (at < engine->n_orders)
        engine->orders[at].used += made;
}

void match_quotes(struct engine *engine, int symbol)
{
    if (engine->markets[symbol].live_orders == 0)
        return;
    for (size_t at = next_resting(engine, symbol, 0); at < engine->n_orders;) {
        const struct order *order = &engine->orders[at].order;
        uint64_t id = order->id;
        struct book_level best;
        if (order->type == ORDER_LIMIT && match_best(engine, symbol, order->side, &best) &&
            fill_limit_crosses(order->side, order->price, best.price))
            make_from_best(engine, at, &best);
        at = next_resting(engine, symbol, id);
    }
}

int match_restore(struct engine *engine, const struct order *order)
{
    if (!order_live(order->state) ||
        (engine->n_orders > 0 && order->id <= engine->orders[engine->n_orders - 1].order.id))
        return -EINVAL;
    struct live_order *live = push_live(engine, order);
    if (!live)
        return -ENOMEM;
    if (order->state == ORDER_PENDING &&
        !push_pending(engine, (struct pending){.effective_ns = order->effective_ns, .order_id = order->id}))
        return -ENOMEM;
    reserve(engine, live);
    return 0;
}
