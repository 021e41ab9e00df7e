#include "exchange/replay/broker/broker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fill_rules.h"
#include "exchange/replay/broker/accounts.h"
#include "exchange/replay/broker/order_steps.h"
#include "exchange/replay/broker/stops.h"
#include "exchange/replay/broker/taken.h"

struct broker {
    struct broker_calls calls;
    int64_t one; /* of a quantity, a price, an amount of calls.scale */
    struct broker_accounts accounts;
    struct broker_order *orders;
    size_t n_orders, cap_orders;
    size_t *open; /* indices of open orders, the oldest first */
    size_t n_open, cap_open;
    int64_t due_ns; /* when the next order that is on its way arrives; INT64_MAX: no order is */
    struct broker_fill *fills;
    size_t n_fills, cap_fills;
    struct taken_levels taken;
    int64_t last_order, last_fill;
    struct broker_lists *lists;
    broker_part *part; /* NULL: all at once */
    int64_t again_ns;
};

#define HELD_NS INT64_MAX /* the arrival of an order that waits for its release */

/* Room for one more; false when memory is out. */
static bool grow(void *array, size_t n, size_t *cap, size_t each)
{
    void **at = array;
    if (n < *cap)
        return true;
    size_t more = *cap ? *cap * 2 : 64;
    void *grown = reallocarray(*at, more, each);
    if (!grown)
        return false;
    *at = grown;
    *cap = more;
    return true;
}

struct broker *replay_broker_create(const struct broker_calls *calls)
{
    struct broker *b = calloc(1, sizeof(*b));
    if (!b || !(b->accounts.all = calloc(BROKER_ACCOUNTS_MAX, sizeof(*b->accounts.all))) ||
        !(b->lists = replay_lists_create(b))) {
        replay_broker_destroy(b);
        return NULL;
    }
    b->calls = *calls;
    b->one = decimal_pow10(calls->scale);
    b->due_ns = INT64_MAX;
    return b;
}

void replay_broker_destroy(struct broker *b)
{
    if (!b)
        return;
    free(b->accounts.all);
    free(b->orders);
    free(b->open);
    free(b->fills);
    replay_taken_finish(&b->taken);
    replay_lists_destroy(b->lists);
    free(b);
}

/* ---- Accounts. ---- */

int replay_broker_account(struct broker *b, const char *key, const struct broker_funds *funds)
{
    return replay_accounts_take(&b->accounts, &b->calls, key, funds);
}

void replay_broker_wipe(struct broker *b)
{
    b->n_orders = b->n_open = b->n_fills = b->taken.n = 0;
    replay_lists_wipe(b->lists);
    b->due_ns = INT64_MAX;
    replay_accounts_wipe(&b->accounts, &b->calls);
}

const struct broker_account *replay_broker_account_of(const struct broker *b, int account)
{
    return account >= 0 && account < b->accounts.n ? &b->accounts.all[account] : NULL;
}

/* ---- The book. ---- */

/* Does that level meet the order's limit? */
static bool meets(const struct broker_terms *terms, int64_t limit, int64_t price)
{
    return limit == 0 || (terms->side == ORDER_BUY ? price <= limit : price >= limit);
}

static struct broker_planted planted(struct broker *b)
{
    return b->calls.planted(b->calls.user);
}

/* What a taker pays, or gets, where the book shows `price`. */
static int64_t taker_price(struct broker *b, const struct broker_terms *terms, const struct symbol *symbol,
                           int64_t limit, int64_t price)
{
    return fill_slipped(terms->side, price, planted(b).slippage_e6, symbol->filters.price_min,
                        symbol->filters.tick, limit);
}

/* How much of an order a level fills: of `left` lots, or of what `quote` (of twice the scale) buys at its
 * price. */
static int64_t portion(const struct broker_terms *terms, const struct symbol *symbol, int64_t price,
                       int64_t there, int64_t left, int128_t quote)
{
    if (terms->quote == 0)
        return there < left ? there : left;
    const int64_t step = symbol->filters.market_step > 0 ? symbol->filters.market_step
                         : symbol->filters.step > 0      ? symbol->filters.step
                                                         : 1;
    const int64_t buys = (int64_t)(quote / price) / step * step;
    return there < buys ? there : buys;
}

/* What it would take at once, without taking it. */
struct reach {
    int64_t qty;
    int128_t quote;
    bool whole;
};

/* The best level that it could take of. */
static const struct level *touch(const struct broker_terms *terms, const struct source_book *book)
{
    return replay_ladder_best(terms->side == ORDER_SELL ? book->bids : book->asks, 0);
}

/* Must it not take, and would it now? */
static bool crosses(const struct broker_terms *terms, const struct source_book *book)
{
    const struct level *best = touch(terms, book);
    return terms->post_only && best && meets(terms, terms->price, best->price);
}

static struct reach reach_of(struct broker *b, const struct broker_terms *terms, const struct symbol *symbol,
                             const struct source_book *book, int64_t limit, int64_t wanted)
{
    const bool bids = terms->side == ORDER_SELL;
    const struct replay_ladder *side = bids ? book->bids : book->asks;
    struct reach r = {0, 0, false};
    int128_t quote = (int128_t)terms->quote * b->one;
    for (size_t i = 0; !r.whole; i++) {
        const struct level *level = replay_ladder_best(side, i);
        if (!level || !meets(terms, limit, level->price))
            break;
        const int64_t there = replay_taken_left(&b->taken, terms->symbol, bids, level),
                      price = taker_price(b, terms, symbol, limit, level->price),
                      qty = portion(terms, symbol, price, there, wanted - r.qty, quote);
        r.qty += qty;
        r.quote += (int128_t)price * qty;
        quote -= (int128_t)price * qty;
        r.whole = terms->quote ? qty < there : r.qty == wanted;
    }
    return r;
}

/* ---- Fills. ---- */

static void notify(struct broker *b, struct broker_order *order, const struct broker_fill *fill)
{
    order->updated_ns = b->calls.now_ns(b->calls.user);
    b->accounts.all[order->terms.account].updated_ns = order->updated_ns;
    b->calls.changed(b->calls.user, order, fill);
}

/* Gives back what an order that has ended no longer needs. */
static void unlock(struct broker *b, struct broker_order *order)
{
    struct symbol symbol;
    if (order->locked == 0 || !b->calls.symbol(b->calls.user, order->terms.symbol, &symbol))
        return;
    struct broker_balance *at = replay_account_balance(
        &b->accounts.all[order->terms.account], order->terms.side == ORDER_BUY ? symbol.quote : symbol.base);
    if (!at)
        return;
    at->locked -= order->locked;
    at->free += order->locked;
    order->locked = 0;
}

/* Pays from what is locked, at most `reserved` of it, the rest from what is free; what is reserved and not
 * paid is free again. */
static void pay(struct broker_balance *from, struct broker_order *order, int128_t reserved, int128_t amount)
{
    reserved = reserved < order->locked ? reserved : order->locked;
    from->locked -= reserved;
    from->free += reserved - amount;
    order->locked -= reserved;
}

static void fill(struct broker *b, struct broker_order *order, const struct symbol *symbol, int64_t price,
                 int64_t qty, bool maker)
{
    struct broker_account *account = &b->accounts.all[order->terms.account];
    const bool buys = order->terms.side == ORDER_BUY;
    const int128_t notional = (int128_t)price * qty;
    struct broker_balance *base = replay_account_balance(account, symbol->base),
                          *quote = replay_account_balance(account, symbol->quote);
    if (!base || !quote || !grow(&b->fills, b->n_fills, &b->cap_fills, sizeof(*b->fills)))
        return;
    const int128_t received = buys ? (int128_t)qty * b->one : notional;
    const int64_t commission =
        (int64_t)(received / b->one * b->calls.fee_e6(b->calls.user, order->terms.symbol, maker) / 1000000);
    if (buys) {
        pay(quote, order, (int128_t)(order->terms.price ? order->terms.price : price) * qty, notional);
        base->free += received - (int128_t)commission * b->one;
    } else {
        pay(base, order, (int128_t)qty * b->one, (int128_t)qty * b->one);
        quote->free += received - (int128_t)commission * b->one;
    }
    order->filled += qty;
    order->quote += notional;
    order->state = order->filled == order->terms.qty && !order->short_of ? BROKER_FILLED : BROKER_PARTIAL;
    struct broker_fill *f = &b->fills[b->n_fills++];
    *f = (struct broker_fill){.id = ++b->last_fill,
                              .order_id = order->id,
                              .time_ns = b->calls.now_ns(b->calls.user),
                              .price = price,
                              .qty = qty,
                              .commission = commission,
                              .maker = maker,
                              .account = order->terms.account,
                              .symbol = order->terms.symbol};
    if (order->state == BROKER_FILLED)
        unlock(b, order);
    notify(b, order, f);
}

static void end_order(struct broker *b, struct broker_order *order, enum broker_state state)
{
    order->state = state;
    order->waits = false;
    unlock(b, order);
    notify(b, order, NULL);
}

/* At the end of what its own side has at its price. */
static void rest(struct broker_order *order, const struct replay_ladder *own)
{
    order->queue_ahead = replay_ladder_qty(own, order->terms.price);
    order->shown = order->terms.iceberg;
}

/* How much of what could be filled now is. */
static int64_t part_of(struct broker *b, const struct broker_order *order, int64_t qty)
{
    const bool whole = !b->part || order->terms.quote || order->terms.tif == ORDER_FOK;
    return whole ? qty : b->part(b->calls.user, order, qty);
}

/* Takes what the book has for it; then it rests, or ends. */
static void arrive(struct broker *b, struct broker_order *order, const struct symbol *symbol,
                   const struct source_book *book)
{
    const struct broker_terms *terms = &order->terms;
    const bool bids = terms->side == ORDER_SELL, market = !order_has_limit(terms->type);
    const struct replay_ladder *side = bids ? book->bids : book->asks, *own = bids ? book->asks : book->bids;
    const int64_t limit = market ? 0 : terms->price;
    int128_t quote = (int128_t)terms->quote * b->one;
    const struct reach reach = reach_of(b, terms, symbol, book, limit, terms->qty - order->filled);
    if (terms->tif == ORDER_FOK && !reach.whole) {
        end_order(b, order, BROKER_EXPIRED);
        return;
    }
    if (terms->quote) {
        order->terms.qty = reach.qty;
        order->short_of = !reach.whole;
    }
    const int64_t part = reach.qty > 0 ? part_of(b, order, reach.qty) : 0, most = order->filled + part;
    for (size_t i = 0; order->filled < most; i++) {
        const struct level *level = replay_ladder_best(side, i);
        if (!level || !meets(terms, limit, level->price))
            break;
        const struct level at = *level;
        const int64_t price = taker_price(b, terms, symbol, limit, at.price),
                      qty = portion(terms, symbol, price,
                                    replay_taken_left(&b->taken, terms->symbol, bids, &at),
                                    most - order->filled, quote);
        if (qty == 0)
            continue;
        replay_taken_add(&b->taken, terms->symbol, bids, &at, qty);
        quote -= (int128_t)price * qty;
        fill(b, order, symbol, price, qty, false);
    }
    if (order->state == BROKER_FILLED)
        return;
    if (part < reach.qty && terms->tif == ORDER_GTC) /* the rest, later */
        order->arrives_ns = b->calls.now_ns(b->calls.user) + b->again_ns;
    else if (market || terms->tif != ORDER_GTC)
        end_order(b, order, BROKER_EXPIRED);
    else
        rest(order, own);
}

/* ---- Orders. ---- */

/* What it can cost at most, in the asset that it pays with. */
static int128_t cost_of(struct broker *b, const struct broker_terms *terms, const struct symbol *symbol,
                        const struct source_book *book)
{
    if (terms->side == ORDER_SELL && !terms->quote)
        return (int128_t)terms->qty * b->one;
    if (order_has_limit(terms->type))
        return (int128_t)terms->price * terms->qty;
    const int64_t stop = terms->stop ? terms->stop : replay_stop_price(terms, terms->trail.best);
    if (stop) /* a market order later: as if at its stop */
        return (int128_t)stop * terms->qty;
    if (terms->quote && terms->side == ORDER_BUY)
        return (int128_t)terms->quote * b->one;
    const struct reach reach = reach_of(b, terms, symbol, book, 0, terms->qty);
    return terms->side == ORDER_SELL ? (int128_t)reach.qty * b->one : reach.quote;
}

static bool is_known(const struct broker *b, const struct broker_terms *terms)
{
    for (size_t i = 0; i < b->n_open; i++) {
        const struct broker_order *o = &b->orders[b->open[i]];
        if (o->terms.account == terms->account && strcmp(o->terms.client_id, terms->client_id) == 0)
            return true;
    }
    return false;
}

void replay_broker_settle(struct broker *b)
{
    size_t n = 0;
    replay_lists_follow(b->lists);
    b->due_ns = INT64_MAX;
    for (size_t i = 0; i < b->n_open; i++) {
        const struct broker_order *order = &b->orders[b->open[i]];
        if (!broker_is_open(order))
            continue;
        b->open[n++] = b->open[i];
        if (order->arrives_ns && order->arrives_ns < b->due_ns)
            b->due_ns = order->arrives_ns;
    }
    b->n_open = n;
}

/* `spare`: what it may cost beside what is free. */
static enum broker_refusal check(struct broker *b, const struct broker_terms *terms,
                                 const struct symbol *symbol, const struct source_book *book, int128_t spare)
{
    if (is_known(b, terms))
        return BROKER_TWICE;
    const struct level *best = touch(terms, book);
    const struct broker_balance *at = replay_account_balance(
        &b->accounts.all[terms->account], terms->side == ORDER_SELL ? symbol->base : symbol->quote);
    const bool pays = at && cost_of(b, terms, symbol, book) <= at->free + spare + terms->covered;
    if (terms->held)
        return pays ? BROKER_TAKEN : BROKER_POOR;
    if (terms->stop && best && replay_stop_at(terms, best->price))
        return BROKER_TRIGGERS;
    if (crosses(terms, book))
        return BROKER_CROSSES;
    if (!pays)
        return BROKER_POOR;
    if (terms->quote && !best)
        return BROKER_DRY;
    if (terms->quote && reach_of(b, terms, symbol, book, 0, 0).qty == 0)
        return BROKER_SMALL;
    return BROKER_TAKEN;
}

/* What it locks itself: as a market order once its stop is reached, and less what another one covers. */
static int128_t own_cost(struct broker *b, const struct broker_order *order, const struct symbol *symbol,
                         const struct source_book *book)
{
    struct broker_terms terms = order->terms;
    if (!order->waits)
        terms.stop = terms.trail.best = 0;
    terms.qty -= order->filled;
    const int128_t cost = cost_of(b, &terms, symbol, book);
    return cost > terms.covered ? cost - terms.covered : 0;
}

/* Locks what it may cost, and lists it as open. */
static struct broker_order *accept(struct broker *b, const struct broker_terms *terms,
                                   const struct symbol *symbol, const struct source_book *book)
{
    if (!grow(&b->orders, b->n_orders, &b->cap_orders, sizeof(*b->orders)) ||
        !grow(&b->open, b->n_open, &b->cap_open, sizeof(*b->open)))
        return NULL;
    struct broker_order *order = &b->orders[b->n_orders];
    *order = (struct broker_order){.terms = *terms,
                                   .id = ++b->last_order,
                                   .time_ns = b->calls.now_ns(b->calls.user),
                                   .waits = broker_has_stop(terms),
                                   .trail_best = terms->trail.best};
    order->updated_ns = order->time_ns;
    order->trail_ns = order->trail_best ? order->time_ns : 0;
    const int64_t latency_ns = planted(b).latency_ns;
    if (terms->held)
        order->arrives_ns = HELD_NS;
    else if (!order->waits && latency_ns > 0)
        order->arrives_ns = order->time_ns + latency_ns;
    else if (!order->waits)
        order->working_ns = order->time_ns;
    order->locked = own_cost(b, order, symbol, book);
    struct broker_balance *at = replay_account_balance(
        &b->accounts.all[terms->account], terms->side == ORDER_SELL ? symbol->base : symbol->quote);
    at->free -= order->locked;
    at->locked += order->locked;
    b->open[b->n_open++] = b->n_orders++;
    return order;
}

enum broker_refusal replay_broker_place(struct broker *b, const struct broker_terms *terms,
                                        const struct broker_order **ret)
{
    struct symbol symbol;
    struct source_book book;
    if (!b->calls.symbol(b->calls.user, terms->symbol, &symbol) ||
        !b->calls.book(b->calls.user, terms->symbol, &book))
        return BROKER_EMPTY;
    enum broker_refusal refusal = check(b, terms, &symbol, &book, 0);
    if (refusal != BROKER_TAKEN)
        return refusal;
    struct broker_order *order = accept(b, terms, &symbol, &book);
    if (!order)
        return BROKER_MEMORY;
    notify(b, order, NULL);
    if (!order->waits && !order->arrives_ns)
        arrive(b, order, &symbol, &book);
    replay_broker_settle(b);
    *ret = order;
    return BROKER_TAKEN;
}

int64_t replay_broker_due(const struct broker *b)
{
    return b->due_ns;
}

/* Locks what it costs by now; false: the account has less. */
static bool lock_again(struct broker *b, struct broker_order *order, const struct symbol *symbol,
                       const struct source_book *book)
{
    const struct broker_terms *terms = &order->terms;
    struct broker_balance *at = replay_account_balance(
        &b->accounts.all[terms->account], terms->side == ORDER_SELL ? symbol->base : symbol->quote);
    const int128_t cost = own_cost(b, order, symbol, book);
    if (cost > order->locked && cost > at->free + order->locked)
        return false;
    at->free += order->locked - cost;
    at->locked += cost - order->locked;
    order->locked = cost;
    return true;
}

static void end_way(struct broker *b, struct broker_order *order)
{
    struct symbol symbol;
    struct source_book book;
    order->arrives_ns = 0;
    if (b->calls.symbol(b->calls.user, order->terms.symbol, &symbol) &&
        b->calls.book(b->calls.user, order->terms.symbol, &book) && !crosses(&order->terms, &book) &&
        lock_again(b, order, &symbol, &book)) {
        if (!order->working_ns)
            order->working_ns = b->calls.now_ns(b->calls.user);
        arrive(b, order, &symbol, &book);
    } else {
        end_order(b, order, BROKER_EXPIRED);
    }
}

void replay_broker_arrive(struct broker *b, int64_t until_ns)
{
    while (b->due_ns <= until_ns) {
        for (size_t i = 0; i < b->n_open; i++)
            if (b->orders[b->open[i]].arrives_ns == b->due_ns)
                end_way(b, &b->orders[b->open[i]]);
        replay_broker_settle(b);
    }
}

enum broker_refusal replay_broker_check(struct broker *b, const struct broker_terms *terms,
                                        const struct broker_order *old)
{
    struct symbol symbol;
    struct source_book book;
    if (!b->calls.symbol(b->calls.user, terms->symbol, &symbol) ||
        !b->calls.book(b->calls.user, terms->symbol, &book))
        return BROKER_EMPTY;
    return check(b, terms, &symbol, &book, old ? old->locked : 0);
}

static struct broker_order *find_open(struct broker *b, int account, int64_t id)
{
    for (size_t i = 0; i < b->n_open; i++) {
        struct broker_order *order = &b->orders[b->open[i]];
        if (order->id == id && order->terms.account == account)
            return order;
    }
    return NULL;
}

static const struct broker_order *end_open(struct broker *b, int account, int64_t id, enum broker_state state)
{
    struct broker_order *order = find_open(b, account, id);
    if (order)
        end_order(b, order, state);
    replay_broker_settle(b);
    return order;
}

const struct broker_order *replay_broker_cancel(struct broker *b, int account, int64_t id,
                                                const char *cancel_id)
{
    struct broker_order *order = find_open(b, account, id);
    if (order && cancel_id)
        snprintf(order->cancel_id, sizeof(order->cancel_id), "%s", cancel_id);
    else if (order)
        snprintf(order->cancel_id, sizeof(order->cancel_id), "cancel-%lld", (long long)id);
    return end_open(b, account, id, BROKER_CANCELED);
}

const struct broker_order *replay_broker_expire(struct broker *b, int account, int64_t id)
{
    return end_open(b, account, id, BROKER_EXPIRED);
}

const struct broker_order *replay_broker_reduce(struct broker *b, int account, int64_t id, int64_t qty,
                                                const char *client_id)
{
    struct broker_order *order = find_open(b, account, id);
    if (!order || qty <= order->filled || qty >= order->terms.qty)
        return NULL;
    order->terms.qty = qty;
    if (order->terms.iceberg > qty)
        order->terms.iceberg = qty;
    replay_broker_lock(b, order); /* less than before */
    snprintf(order->terms.client_id, sizeof(order->terms.client_id), "%s", client_id);
    order->amended = true;
    order->amends++;
    notify(b, order, NULL);
    order->amended = false;
    return order;
}

const struct broker_order *replay_broker_find(const struct broker *b, int account, int symbol, int64_t id,
                                              const char *client_id)
{
    const struct broker_order *found = NULL;
    for (size_t i = b->n_orders; i-- > 0;) {
        const struct broker_order *o = &b->orders[i];
        if (o->terms.account != account || o->terms.symbol != symbol)
            continue;
        if (client_id ? strcmp(o->terms.client_id, client_id) != 0 : o->id != id)
            continue;
        if (broker_is_open(o) || !client_id)
            return o;
        found = found ? found : o;
    }
    return found;
}

const struct broker_order *replay_broker_orders(const struct broker *b, size_t *ret_n)
{
    *ret_n = b->n_orders;
    return b->orders;
}

const struct broker_fill *replay_broker_fills(const struct broker *b, size_t *ret_n)
{
    *ret_n = b->n_fills;
    return b->fills;
}

/* ---- What waits. ---- */

static void trigger(struct broker *b, struct broker_order *order, const struct symbol *symbol)
{
    struct source_book book;
    replay_lists_start(b->lists, order); /* whether it can be paid for is seen below */
    order->waits = false;
    order->working_ns = b->calls.now_ns(b->calls.user);
    notify(b, order, NULL);
    if (!b->calls.book(b->calls.user, order->terms.symbol, &book))
        return;
    if (lock_again(b, order, symbol, &book))
        arrive(b, order, symbol, &book);
    else
        end_order(b, order, BROKER_EXPIRED); /* the account cannot pay for it by now */
}

/* It is held no longer. Where its stop is reached already it is triggered, or (`triggers` false) it expires,
 * as does what would take and must not, or costs more than there is. */
static void release(struct broker *b, struct broker_order *order, bool triggers)
{
    struct symbol symbol;
    struct source_book book;
    const struct broker_terms *terms = &order->terms;
    bool fits = b->calls.symbol(b->calls.user, terms->symbol, &symbol) &&
                b->calls.book(b->calls.user, terms->symbol, &book) && !crosses(terms, &book);
    const struct level *best = fits ? touch(terms, &book) : NULL;
    const bool reached = order->waits && terms->stop && best && replay_stop_at(terms, best->price);
    order->terms.held = false;
    order->arrives_ns = 0;
    if (!fits || (reached && !triggers) || !lock_again(b, order, &symbol, &book)) {
        end_order(b, order, BROKER_EXPIRED);
    } else if (reached) {
        trigger(b, order, &symbol);
    } else {
        order->working_ns = order->waits ? 0 : b->calls.now_ns(b->calls.user);
        notify(b, order, NULL);
        replay_broker_meet(b, order);
    }
}

const struct broker_order *replay_broker_release(struct broker *b, int account, int64_t id, bool reserves)
{
    struct broker_order *order = find_open(b, account, id);
    if (!order || !order->terms.held)
        return NULL;
    order->terms.covered = reserves ? 0 : BROKER_COVERED;
    release(b, order, true);
    replay_broker_settle(b);
    return order;
}

void replay_broker_fill_in_parts(struct broker *b, broker_part *part, int64_t again_ns)
{
    b->part = part;
    b->again_ns = again_ns;
}

/* ---- Trades that are played. ---- */

/* How much of a resting order the trade fills. */
static int64_t share_of(struct broker_order *order, int64_t price, int64_t qty, bool buyer_maker)
{
    const struct broker_terms *terms = &order->terms;
    const int64_t left = terms->qty - order->filled,
                  shown = terms->iceberg && order->shown < left ? order->shown : left;
    const bool buys = terms->side == ORDER_BUY;
    if (buys ? price < terms->price : price > terms->price)
        return left;
    if (price != terms->price || buyer_maker != buys)
        return 0;
    const int64_t before = order->queue_ahead;
    order->queue_ahead = before > qty ? before - qty : 0;
    const int64_t mine = qty - (before < qty ? before : qty);
    return mine < shown ? mine : shown;
}

/* What was filled of an iceberg's part; the next one stands at the end of its price. */
static void show_next(struct broker *b, struct broker_order *order, int64_t filled)
{
    struct source_book book;
    order->shown -= filled;
    if (order->shown <= 0 && b->calls.book(b->calls.user, order->terms.symbol, &book))
        rest(order, order->terms.side == ORDER_BUY ? book.bids : book.asks);
}

void replay_broker_trade(struct broker *b, int symbol, int64_t price, int64_t qty, bool buyer_maker)
{
    struct symbol listed;
    if (b->n_open == 0 || !b->calls.symbol(b->calls.user, symbol, &listed))
        return;
    const size_t n = b->n_open; /* no order is placed meanwhile */
    for (size_t i = 0; i < n; i++) {
        struct broker_order *order = &b->orders[b->open[i]];
        if (order->terms.symbol != symbol || !broker_is_open(order) || order->arrives_ns)
            continue;
        if (order->waits) {
            if (replay_stop_reached(order, price, b->calls.now_ns(b->calls.user)))
                trigger(b, order, &listed);
            continue;
        }
        const int64_t mine = share_of(order, price, qty, buyer_maker);
        if (mine <= 0)
            continue;
        const int64_t part = part_of(b, order, mine);
        if (!replay_lists_start(b->lists, order)) {
            end_order(b, order, BROKER_EXPIRED);
            continue;
        }
        fill(b, order, &listed, order->terms.price, part, true);
        if (order->terms.iceberg)
            show_next(b, order, part);
    }
    replay_broker_settle(b);
}

/* ---- The steps that an order list takes. ---- */

struct broker_order *replay_broker_order_at(struct broker *b, size_t at)
{
    return &b->orders[at];
}

bool replay_broker_accept(struct broker *b, const struct broker_terms *terms, size_t *ret_at)
{
    struct symbol symbol;
    struct source_book book;
    if (!b->calls.symbol(b->calls.user, terms->symbol, &symbol) ||
        !b->calls.book(b->calls.user, terms->symbol, &book) || !accept(b, terms, &symbol, &book))
        return false;
    *ret_at = b->n_orders - 1;
    notify(b, &b->orders[*ret_at], NULL);
    return true;
}

void replay_broker_meet(struct broker *b, struct broker_order *order)
{
    struct symbol symbol;
    struct source_book book;
    if (!order->waits && !order->arrives_ns && b->calls.symbol(b->calls.user, order->terms.symbol, &symbol) &&
        b->calls.book(b->calls.user, order->terms.symbol, &book))
        arrive(b, order, &symbol, &book);
}

void replay_broker_release_leg(struct broker *b, struct broker_order *order)
{
    release(b, order, false);
}

bool replay_broker_lock(struct broker *b, struct broker_order *order)
{
    struct symbol symbol;
    struct source_book book;
    return b->calls.symbol(b->calls.user, order->terms.symbol, &symbol) &&
           b->calls.book(b->calls.user, order->terms.symbol, &book) && lock_again(b, order, &symbol, &book);
}

void replay_broker_end(struct broker *b, struct broker_order *order, enum broker_state state,
                       const char *cancel_id)
{
    if (state == BROKER_CANCELED)
        snprintf(order->cancel_id, sizeof(order->cancel_id), "%s", cancel_id);
    end_order(b, order, state);
}

int64_t replay_broker_now(struct broker *b)
{
    return b->calls.now_ns(b->calls.user);
}

struct broker_lists *replay_broker_lists_of(const struct broker *b)
{
    return b->lists;
}
