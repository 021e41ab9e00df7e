/* What orders reserve of balances, and what an account can pay for.
 *
 * An order reserves what the rest of it needs. Some orders can never need theirs at the same time, and
 * share one reserve, kept with the first of them:
 * - the legs of an OCO: the larger need of the two;
 * - the reduce-only orders of one account, symbol and side: the sum of their needs, OCOs counted once, but
 *   not more than the position that they could close. Such a pool reserves nothing for a bracket's exit
 *   that waits for its entry, nor for an order whose cancel is on its way, nor more than is free.
 *   Reduce-only orders reserve what the others of their account, symbol and side leave them, older or
 *   younger: where one symbol alone trades an asset, what is held of it follows from the live orders, and a
 *   restore finds it again.
 *
 * Where an account may be short, a sale reserves nothing: what it lacks is borrowed. Nor does the part of a
 * purchase that pays back what is borrowed: the collateral is there for it. What opens or widens a short
 * must be covered when it is asked for and again when it trades: the currency left, with the proceeds,
 * suffices for the collateral of all shorts. What covers shorts, or is unpaid interest, buys nothing else.
 *
 * An account with a margin buys with borrowed currency (margin.c): what its orders reserve may be more than
 * there is, and it is the equity that must suffice for them, by the share that the rules ask for. */
#include "engine/match.h"
#include "exchange/fill_rules.h"
#include "exchange/filter.h"
#include "exchange/order_rules.h"

static struct balance *balance_of(struct engine *engine, const struct order *order)
{
    return order->side == ORDER_BUY ? account_quote(engine, order->account, order->symbol)
                                    : account_base(engine, order->account, order->symbol);
}

static int32_t fee_bound_e6(const struct engine *engine, int account, int symbol)
{
    return fee_rates_most_e6(account_fees(&engine->accounts[account].rules, &engine->markets[symbol].symbol));
}

int64_t engine_reserve_purchase(const struct engine *engine, int account, int symbol, int64_t price,
                                int64_t qty)
{
    return fill_purchase(price, qty, engine->markets[symbol].notional_unit,
                         fee_bound_e6(engine, account, symbol));
}

int64_t engine_reserve_price(const struct engine *engine, const struct order *order)
{
    struct book_level best;
    if (order_has_limit(order->type))
        return order->price;
    if (order->stop_price > 0)
        return order->stop_price;
    if (engine_match_best(engine, order->account, order->symbol, order->side, &best))
        return best.price;
    return engine_price(engine, order->account, order->symbol);
}

static int64_t borrowed_qty(const struct engine *engine, const struct order *order)
{
    return engine_match_reducible(engine, order->account, order->symbol, ORDER_BUY);
}

int64_t engine_reserve_need(const struct engine *engine, const struct order *order)
{
    int64_t left = order->qty - order->filled;
    if (order->side == ORDER_SELL)
        return engine_loan_allowed(engine, order->account, order->symbol) ? 0 : left;
    left -= borrowed_qty(engine, order);
    if (left <= 0 || order->reduce_only)
        return 0;
    return engine_reserve_purchase(engine, order->account, order->symbol, engine_reserve_price(engine, order),
                                   left);
}

static bool pooled(const struct order *a, const struct order *b)
{
    if (a->id == b->id)
        return true;
    if (a->account != b->account || a->symbol != b->symbol || a->side != b->side)
        return false;
    return (a->reduce_only && b->reduce_only) ||
           (a->group != 0 && a->group == b->group && a->parent == b->parent);
}

/* The members of an order's pool lie between the first and the last index; a single order is its own pool. */
static size_t pool_begin(const struct engine *engine, const struct order *order, size_t *ret_end)
{
    *ret_end = engine->n_orders;
    if (order->reduce_only || order->group != 0)
        return 0;
    size_t at = engine_match_find(engine, order->id);
    if (at < engine->n_orders)
        *ret_end = at + 1;
    return at;
}

/* What its pool reserves. */
static int64_t own_reserve(const struct engine *engine, const struct order *order)
{
    size_t end;
    int64_t sum = 0;
    for (size_t i = pool_begin(engine, order, &end); i < end; i++)
        if (pooled(&engine->orders[i].order, order))
            sum += engine->orders[i].reserved;
    return sum;
}

void engine_reserve_lift(struct engine *engine, const struct order *order)
{
    size_t end;
    for (size_t i = pool_begin(engine, order, &end); i < end; i++) {
        struct live_order *live = &engine->orders[i];
        if (live->reserved > 0 && pooled(&live->order, order)) {
            balance_of(engine, &live->order)->reserved -= live->reserved;
            live->reserved = 0;
        }
    }
}

static int64_t wants(const struct engine *engine, const struct live_order *live)
{
    if (live->order.state == ORDER_HELD || (live->cancel_queued && !engine_venue_asked(engine, live)))
        return 0;
    if (live->amends == 0)
        return engine_reserve_need(engine, &live->order);
    int64_t need;
    engine_amend_foresee(engine, live, &need);
    return need;
}

static void set_pool(struct engine *engine, const struct order *order)
{
    size_t end;
    struct live_order *holder = NULL;
    int128_t sum = 0;
    engine_reserve_lift(engine, order);
    for (size_t i = pool_begin(engine, order, &end); i < end; i++) {
        struct live_order *live = &engine->orders[i];
        if (!pooled(&live->order, order))
            continue;
        int64_t need = wants(engine, live);
        const struct live_order *other = engine_live_other_leg(engine, &live->order);
        if (other) {
            int64_t others = wants(engine, other);
            if (others > need || (others == need && other < live))
                continue; /* it counts with the other */
        }
        if (need > 0 && !holder)
            holder = live;
        sum += need;
    }
    if (!holder)
        return;
    struct balance *balance = balance_of(engine, order);
    if (order->reduce_only && order->side == ORDER_SELL) {
        int64_t held = engine_match_reducible(engine, order->account, order->symbol, order->side);
        sum = sum < held ? sum : held;
    }
    int64_t available = order->side == ORDER_BUY && engine_margin_lends(engine, order->account, order->symbol)
                            ? MONEY_MAX - balance->reserved
                            : balance->total - balance->reserved;
    sum = sum < available ? sum : available;
    holder->reserved = sum > 0 ? (int64_t)sum : 0;
    balance->reserved += holder->reserved;
}

/* For an order that is not reduce-only: a reduce-only order of its account, symbol and side, or NULL. */
static const struct order *reducing_beside(const struct engine *engine, const struct order *order)
{
    if (order->reduce_only || engine->markets[order->symbol].live_orders == 0)
        return NULL;
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct order *other = &engine->orders[i].order;
        if (other->reduce_only && other->account == order->account && other->symbol == order->symbol &&
            other->side == order->side)
            return other;
    }
    return NULL;
}

void engine_reserve_set(struct engine *engine, const struct order *order)
{
    const struct order *reducing = reducing_beside(engine, order);
    if (reducing)
        engine_reserve_lift(engine, reducing);
    set_pool(engine, order);
    if (reducing)
        set_pool(engine, reducing);
}

int64_t engine_match_reducible(const struct engine *engine, int account, int symbol, enum order_side side)
{
    int64_t held = engine->accounts[account].positions[symbol].qty;
    if (side == ORDER_BUY)
        held = -held;
    return held > 0 ? held : 0;
}

/* The base asset that is free; what covers shorts is not for sale. */
static int64_t free_base(const struct engine *engine, int index, int symbol)
{
    const struct account *account = &engine->accounts[index];
    const struct balance *base = &account->assets[account->pairs[symbol].base];
    return account->pairs[symbol].base == account->currency_at ? engine_loan_spendable(engine, index)
                                                               : base->total - base->reserved;
}

/* The quantity of a symbol that is held and not reserved by sales. */
int64_t engine_reserve_sellable(const struct engine *engine, int account, int symbol)
{
    int64_t unsold = engine->accounts[account].positions[symbol].qty;
    int64_t owned = free_base(engine, account, symbol);
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct live_order *live = &engine->orders[i];
        if (live->order.account == account && live->order.symbol == symbol && live->order.side == ORDER_SELL)
            unsold -= live->reserved;
    }
    return unsold < owned ? unsold : owned; /* symbols may share a base */
}

/* ---- what is asked for ---- */

/* The currency that can open a position, once what is borrowed of this symbol is paid back. */
int64_t engine_reserve_to_open(const struct engine *engine, const struct order *order)
{
    const struct account *account = &engine->accounts[order->account];
    const struct account_pair *pair = &account->pairs[order->symbol];
    const struct balance *quote = &account->assets[pair->quote];
    int64_t available = quote->total - quote->reserved;
    if (pair->quote != account->currency_at)
        return available;
    int64_t value = engine_loan_value(engine, order->account);
    if (borrowed_qty(engine, order) > 0)
        value += account_position_value(engine, order->account, order->symbol);
    return available - account->unpaid_interest - account->payable -
           engine_settle_barred(engine, order->account) -
           engine_loan_collateral(engine, order->account, value);
}

void engine_reserve_cover(const struct engine *engine, const struct order *order, int64_t price, int64_t qty,
                          int64_t short_qty, struct engine_lack *ret)
{
    const struct market_state *market = &engine->markets[order->symbol];
    const struct account *account = &engine->accounts[order->account];
    const struct balance *currency = &account->assets[account->currency_at];
    int128_t value = engine_loan_value(engine, order->account);
    int64_t before = borrowed_qty(engine, order), last = engine_price(engine, order->account, order->symbol);
    last = last > 0 ? last : price;
    if (before > 0)
        value += account_position_value(engine, order->account, order->symbol);
    value += ((int128_t)last * (before + short_qty) + market->notional_unit - 1) / market->notional_unit;
    int128_t proceeds = (int128_t)price * qty / market->notional_unit;
    bool beyond = value > MONEY_MAX / 2 || proceeds > MONEY_MAX / 2;
    value = value > MONEY_MAX / 2 ? MONEY_MAX / 2 : value;
    proceeds = proceeds > MONEY_MAX / 2 ? MONEY_MAX / 2 : proceeds;
    int64_t fee = fill_fee((int64_t)proceeds, fee_bound_e6(engine, order->account, order->symbol));
    if (account->rules.margin != MARGIN_OFF) {
        engine_margin_cover(engine, order, price, fee, short_qty, ret);
    } else {
        ret->available = currency->total - currency->reserved - account->unpaid_interest - account->payable +
                         (int64_t)proceeds - fee;
        ret->needed = engine_loan_collateral(engine, order->account, (int64_t)value);
        ret->refused = ret->available < ret->needed;
    }
    ret->refused |= beyond;
}

static bool covered(const struct engine *engine, const struct order *order, int64_t price, int64_t qty,
                    int64_t short_qty)
{
    struct engine_lack lack;
    engine_reserve_cover(engine, order, price, qty, short_qty, &lack);
    return !lack.refused;
}

/* Why a purchase that lacks so much is refused. */
static enum order_reason purchase_reason(const struct engine *engine, const struct order *order,
                                         int64_t lacks)
{
    const struct account *account = &engine->accounts[order->account];
    if (account->pairs[order->symbol].quote != account->currency_at)
        return ORDER_INSUFFICIENT_BALANCE;
    if (account->rules.margin != MARGIN_OFF)
        return engine_margin_shortage(engine, order->account);
    int64_t barred = engine_settle_barred(engine, order->account);
    return barred > 0 && lacks <= barred ? ORDER_UNSETTLED_CASH : ORDER_INSUFFICIENT_BALANCE;
}

static enum order_reason short_reason(const struct engine *engine, const struct order *order)
{
    return engine->accounts[order->account].rules.margin != MARGIN_OFF
               ? engine_margin_shortage(engine, order->account)
               : ORDER_COLLATERAL;
}

/* Why no short is allowed: by the account's rules, else by its venue's. */
static enum order_reason unlent(const struct engine *engine, const struct order *order)
{
    const struct account *account = &engine->accounts[order->account];
    if (!account->rules.shorts || account->positions[order->symbol].qty >= order->qty - order->filled)
        return ORDER_INSUFFICIENT_BALANCE; /* other orders hold what there is of it */
    enum order_reason reason = order_rules_short(&engine->markets[order->symbol].symbol);
    return reason == ORDER_OK ? ORDER_NO_SHORTS : reason;
}

static enum order_reason check_sale(struct engine *engine, const struct order *order)
{
    int64_t left = order->qty - order->filled;
    int64_t sellable =
        engine_reserve_sellable(engine, order->account, order->symbol) + own_reserve(engine, order);
    if (left <= sellable)
        return ORDER_OK;
    if (!engine_loan_allowed(engine, order->account, order->symbol))
        return unlent(engine, order);
    int64_t held = engine_match_reducible(engine, order->account, order->symbol, ORDER_SELL);
    if (held > 0 && held > sellable)
        return ORDER_INSUFFICIENT_BALANCE;              /* it was spent on another symbol */
    int64_t lent = order->by_hand ? left - held : left; /* a strategy's exit sells before what is held */
    enum order_reason reason = order_rules_lends(&engine->markets[order->symbol].symbol, lent);
    if (reason == ORDER_OK)
        reason = engine_margin_entry(engine, order->account, order->symbol);
    if (reason == ORDER_OK && !covered(engine, order, engine_reserve_price(engine, order), left, left - held))
        reason = short_reason(engine, order);
    return reason;
}

/* Equity must suffice for what it opens. */
static enum order_reason check_on_margin(struct engine *engine, const struct order *order, int64_t opens)
{
    struct engine_lack lack;
    enum order_reason reason = engine_margin_entry(engine, order->account, order->symbol);
    engine_margin_bill(engine, order, opens, own_reserve(engine, order), &lack);
    return reason == ORDER_OK && lack.refused ? engine_margin_shortage(engine, order->account) : reason;
}

static enum order_reason check_purchase(struct engine *engine, const struct order *order)
{
    int64_t left = order->qty - order->filled;
    if (left <= borrowed_qty(engine, order))
        return ORDER_OK;
    if (engine_margin_lends(engine, order->account, order->symbol))
        return check_on_margin(engine, order, left - borrowed_qty(engine, order));
    int64_t cost = engine_reserve_purchase(engine, order->account, order->symbol,
                                           engine_reserve_price(engine, order), left);
    int64_t available = engine_reserve_to_open(engine, order) + own_reserve(engine, order);
    return cost <= available ? ORDER_OK : purchase_reason(engine, order, cost - available);
}

/* For an amended order, what its pool reserves counts as free. */
enum order_reason engine_reserve_check(struct engine *engine, const struct order *order)
{
    if (order->state == ORDER_HELD)
        return ORDER_OK; /* it will close what its entry has filled */
    if (order->reduce_only)
        return engine_match_reducible(engine, order->account, order->symbol, order->side) > 0
                   ? ORDER_OK
                   : ORDER_REDUCE_ONLY;
    return order->side == ORDER_SELL ? check_sale(engine, order) : check_purchase(engine, order);
}

/* ---- what a trade can have ---- */

/* The most of `qty` of which what is not held can be borrowed. */
static int64_t coverable(const struct engine *engine, const struct order *order, int64_t price, int64_t qty)
{
    const struct market_state *market = &engine->markets[order->symbol];
    int64_t held = engine_match_reducible(engine, order->account, order->symbol, ORDER_SELL);
    if (covered(engine, order, price, qty, qty - held))
        return qty;
    int64_t fits = held, fails = qty; /* what is held needs no cover */
    while (fails - fits > 1) {
        int64_t middle = fits + (fails - fits) / 2;
        if (covered(engine, order, price, middle, middle - held))
            fits = middle;
        else
            fails = middle;
    }
    const struct fill_lot lot = order_rules_lot(&market->symbol, order->qty);
    int64_t whole = fill_floor_qty(&lot, true, fits);
    return whole > held ? whole : held;
}

static int64_t deliverable(struct engine *engine, const struct order *order, int64_t price, int64_t qty)
{
    const struct market_state *market = &engine->markets[order->symbol];
    const struct balance *base = account_base(engine, order->account, order->symbol);
    int64_t quote = account_quote(engine, order->account, order->symbol)->total;
    int64_t held = engine_match_reducible(engine, order->account, order->symbol, ORDER_SELL);
    int64_t available = free_base(engine, order->account, order->symbol);
    if (held > available || !engine_loan_allowed(engine, order->account, order->symbol)) {
        held = held < available ? held : available;
        qty = qty < held ? qty : held;
    }
    if (qty <= 0 || qty > MONEY_MAX - base->borrowed ||
        quote + (int128_t)price * qty / market->notional_unit > MONEY_MAX)
        return 0;
    return qty > held ? coverable(engine, order, price, qty) : qty;
}

/* The most of `qty` that `available` pays for. */
static int64_t payable(const struct engine *engine, const struct order *order, int64_t price, int64_t qty,
                       int64_t available)
{
    const struct market_state *market = &engine->markets[order->symbol];
    const struct fill_lot lot = order_rules_lot(&market->symbol, order->qty);
    return fill_affordable(available, price, qty, market->notional_unit,
                           fee_bound_e6(engine, order->account, order->symbol), &lot);
}

/* The most of `qty` that the equity suffices for, after what it buys back. */
static int64_t payable_on_margin(const struct engine *engine, const struct order *order, int64_t price,
                                 int64_t qty)
{
    const struct market_state *market = &engine->markets[order->symbol];
    const struct fill_lot lot = order_rules_lot(&market->symbol, order->qty);
    int64_t back = borrowed_qty(engine, order);
    if (qty <= back)
        return qty;
    int32_t fee_e6 = fee_bound_e6(engine, order->account, order->symbol);
    return back + fill_affordable(engine_margin_money(engine, order->account, order->symbol, 0), price,
                                  qty - back, market->notional_unit,
                                  engine_margin_fee_e6(engine, order->account, order->symbol, fee_e6), &lot);
}

/* Would the cost of the position stay within what money can be? */
static bool cost_fits(const struct engine *engine, const struct order *order, int64_t price, int64_t qty)
{
    const struct position *position = &engine->accounts[order->account].positions[order->symbol];
    if (engine_match_reducible(engine, order->account, order->symbol, order->side) > 0)
        return true;
    int64_t cost = position->cost > position->fifo_cost ? position->cost : position->fifo_cost;
    return cost + (int128_t)price * qty / engine->markets[order->symbol].notional_unit < MONEY_MAX;
}

int64_t engine_reserve_affordable(struct engine *engine, const struct order *order, int64_t price,
                                  int64_t qty)
{
    if (order->reduce_only) {
        int64_t held = engine_match_reducible(engine, order->account, order->symbol, order->side);
        qty = qty < held ? qty : held;
    }
    if (qty <= 0 || !cost_fits(engine, order, price, qty))
        return 0;
    if (order->side == ORDER_SELL)
        return deliverable(engine, order, price, qty);
    const struct balance *quote = account_quote(engine, order->account, order->symbol);
    int64_t back = borrowed_qty(engine, order);
    if (qty > MONEY_MAX - account_base(engine, order->account, order->symbol)->total)
        return 0;
    if (engine_margin_lends(engine, order->account, order->symbol))
        return payable_on_margin(engine, order, price, qty);
    int64_t opens =
        qty > back ? payable(engine, order, price, qty, engine_reserve_to_open(engine, order)) : 0;
    if (opens > back || back == 0)
        return opens;
    return payable(engine, order, price, qty < back ? qty : back, quote->total - quote->reserved);
}

enum order_reason engine_reserve_shortage(const struct engine *engine, const struct order *order)
{
    if (order->reduce_only && engine_match_reducible(engine, order->account, order->symbol, order->side) == 0)
        return ORDER_REDUCE_ONLY;
    bool short_sale = order->side == ORDER_SELL &&
                      engine_loan_allowed(engine, order->account, order->symbol) &&
                      engine_match_reducible(engine, order->account, order->symbol, ORDER_SELL) == 0;
    if (short_sale)
        return short_reason(engine, order);
    return order->side == ORDER_BUY ? purchase_reason(engine, order, 0) : ORDER_INSUFFICIENT_BALANCE;
}

bool engine_reserve_lacks(enum order_reason reason)
{
    return reason == ORDER_INSUFFICIENT_BALANCE || reason == ORDER_COLLATERAL ||
           (reason >= ORDER_INITIAL_MARGIN && reason <= ORDER_UNSETTLED_CASH);
}

bool engine_reserve_affords(struct engine *engine, const struct order *order, int64_t qty, int128_t cost,
                            int64_t price)
{
    if (order->side == ORDER_SELL || engine_margin_lends(engine, order->account, order->symbol))
        return engine_reserve_affordable(engine, order, price, qty) == qty;
    const struct balance *balance = balance_of(engine, order);
    int64_t available = qty > borrowed_qty(engine, order) ? engine_reserve_to_open(engine, order)
                                                          : balance->total - balance->reserved;
    if (cost > available)
        return false;
    int64_t base = account_base(engine, order->account, order->symbol)->total;
    return qty <= MONEY_MAX - base &&
           (!order->reduce_only ||
            qty <= engine_match_reducible(engine, order->account, order->symbol, order->side));
}
