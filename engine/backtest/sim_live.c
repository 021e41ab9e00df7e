/* Orders of a vectorised account: whether they are accepted, what they reserve, how they end. */
#include <errno.h>
#include <string.h>

#include "engine/backtest/sim.h"
#include "exchange/filter.h"
#include "exchange/order_rules.h"

struct sim_order *backtest_sim_find(struct sim_symbol *symbol, uint64_t id)
{
    for (int i = 0; i < symbol->n_live; i++)
        if (symbol->live[i].id == id)
            return &symbol->live[i];
    return NULL;
}

/* ---- what purchases reserve of the cash: a sale, of what is held or is lent, reserves none ---- */

/* The price that an order is valued at before it trades. */
static int64_t price_of(const struct sim_symbol *symbol, const struct sim_order *order)
{
    if (order_has_limit(order->type))
        return order->price;
    return order->stop_price > 0 ? order->stop_price : symbol->last;
}

static int64_t needs(const struct sim_symbol *symbol, const struct sim_order *order)
{
    int64_t left = order->qty - order->filled;
    if (order->side == ORDER_SELL)
        return 0;
    left -= sim_reducible(symbol, ORDER_BUY); /* what it buys back, the collateral is there for */
    return left > 0 ? fill_purchase(price_of(symbol, order), left, symbol->unit, symbol->fee_bound_e6) : 0;
}

void backtest_sim_lift(struct sim *sim, struct sim_order *live)
{
    sim->reserved -= live->reserved;
    live->reserved = 0;
}

static void hold(struct sim *sim, struct sim_order *live, int64_t need)
{
    int64_t available = sim->cash - sim->reserved;
    need = need < available ? need : available;
    live->reserved = need > 0 ? need : 0;
    sim->reserved += live->reserved;
}

void backtest_sim_reserve(struct sim *sim, struct sim_symbol *symbol, struct sim_order *live)
{
    backtest_sim_lift(sim, live);
    if (sim_opens(symbol, live))
        hold(sim, live, needs(symbol, live));
}

/* ---- the account's value ---- */

/* The last price of another symbol: bars of this row come in the symbols' order, after what opens with it. */
static int64_t last_of(const struct sim *sim, const struct sim_symbol *symbol, int now)
{
    int s = sim_index(sim, symbol);
    if (s == now)
        return symbol->last;
    size_t row = s < now && !sim->opening ? sim->row : sim->row - 1;
    return sim_units(symbol->series->close[row], symbol->price_units);
}

static inline int64_t value_of(const struct sim *sim, const struct sim_symbol *symbol, int now)
{
    return symbol->qty == 0 ? 0 : sim_value(symbol, last_of(sim, symbol, now));
}

int64_t backtest_sim_value(const struct sim *sim, const struct sim_symbol *symbol, int now)
{
    return value_of(sim, symbol, now);
}

/* ---- the gate ---- */

/* Is a price that exits of `side` gain at on its side of another? 0: there is none. */
static bool sides_fit(enum order_side side, int64_t better, int64_t worse)
{
    return better == 0 || worse == 0 || (side == ORDER_SELL ? better > worse : better < worse);
}

static bool bracket_fits(const struct sim_order *legs, int n)
{
    int64_t entry = legs[0].price, stop = 0, profit = 0;
    enum order_side side = (enum order_side)legs[1].side;
    for (int i = 1; i < n; i++)
        *(legs[i].type == ORDER_LIMIT ? &profit : &stop) =
            legs[i].type == ORDER_LIMIT ? legs[i].price : legs[i].stop_price;
    return sides_fit(side, profit, entry) && sides_fit(side, entry, stop) && sides_fit(side, profit, stop);
}

/* A bracket's stop stays on its side of the profit. */
static bool amended_fits(struct sim_symbol *symbol, const struct sim_order *stop)
{
    for (int i = 0; i < symbol->n_live; i++) {
        const struct sim_order *other = &symbol->live[i];
        if (stop->parent != 0 && other->parent == stop->parent && other->type == ORDER_LIMIT &&
            !sides_fit((enum order_side)stop->side, other->price, stop->stop_price))
            return false;
    }
    return true;
}

static int64_t value_at(const struct sim_symbol *symbol, const struct sim_order *order)
{
    int128_t value = (int128_t)price_of(symbol, order) * (order->qty - order->filled) / symbol->unit;
    return value > FILL_MONEY_MAX / 2 ? FILL_MONEY_MAX / 2 : (int64_t)value;
}

/* Is `other` an exit, which trades before `order`, the entry that is turned with? */
static bool leaves(const struct sim_order *other, const struct sim_order *order)
{
    return !order->reduce_only && other->reduce_only && other->type == ORDER_MARKET;
}

/* The exposure to a symbol, long by what is bought or short by what is sold, once all of that side is filled.
 * Negative: so much the other way round. `order`: of this symbol, not live; or NULL. */
static int64_t exposure(const struct sim *sim, const struct sim_symbol *symbol, int now, enum order_side side,
                        const struct sim_order *order)
{
    int128_t value = value_of(sim, symbol, now);
    if (side == ORDER_SELL)
        value = -value;
    for (int i = 0; i < symbol->n_live; i++) {
        const struct sim_order *other = &symbol->live[i];
        if (other->side == side && (!other->reduce_only || (order && leaves(other, order))))
            value += value_at(symbol, other);
    }
    return value > FILL_MONEY_MAX ? FILL_MONEY_MAX : (int64_t)value;
}

/* The larger of the two directions. */
static int64_t largest_exposure(const struct sim *sim, const struct sim_symbol *symbol, int now)
{
    int64_t bought = exposure(sim, symbol, now, ORDER_BUY, NULL);
    int64_t sold = symbol->lends ? exposure(sim, symbol, now, ORDER_SELL, NULL) : bought;
    return sold > bought ? sold : bought;
}

/* Does it, in a symbol that may be short, only close what is held, together with what else is on order to? */
static bool reduces(const struct sim_symbol *symbol, const struct sim_order *order)
{
    int128_t closing = order->qty - order->filled;
    if (order->reduce_only)
        return true;
    for (int i = 0; i < symbol->n_live; i++) {
        const struct sim_order *other = &symbol->live[i];
        if (other->side == order->side && (!other->reduce_only || leaves(other, order)))
            closing += other->qty - other->filled;
    }
    return closing <= sim_reducible(symbol, (enum order_side)order->side);
}

int64_t backtest_sim_equity(const struct sim *sim, const struct sim_symbol *symbol)
{
    int now = sim_index(sim, symbol);
    int128_t equity = (int128_t)sim->cash - sim->unpaid;
    for (int s = 0; s < sim->n_symbols; s++)
        equity += value_of(sim, &sim->symbols[s], now);
    if (equity < -FILL_MONEY_MAX)
        return -FILL_MONEY_MAX;
    return equity > FILL_MONEY_MAX ? FILL_MONEY_MAX : (int64_t)equity;
}

static void gather_exposure(const struct sim *sim, const struct sim_symbol *symbol,
                            const struct sim_order *order, struct risk_facts *facts)
{
    int now = sim_index(sim, symbol);
    int128_t sum = 0;
    for (int s = 0; s < sim->n_symbols; s++)
        if (s != now)
            sum += largest_exposure(sim, &sim->symbols[s], now);
    facts->order_notional = value_at(symbol, order);
    facts->symbol_notional = exposure(sim, symbol, now, (enum order_side)order->side, order);
    sum += facts->symbol_notional;
    facts->account_notional = sum > FILL_MONEY_MAX ? FILL_MONEY_MAX : (int64_t)sum;
}

static enum order_reason check_filters(const struct sim_symbol *symbol, const struct sim_order *order,
                                       int ahead)
{
    const struct filter_request request = {
        .side = order->side,
        .type = order->type,
        .qty = order->qty,
        .price = order->price,
        .stop_price = order->stop_price,
        .reference = symbol->last,
        .open_orders = ahead + symbol->n_live,
    };
    return filter_check(symbol->listed, &request);
}

/* A purchase's need is kept: it will be reserved. */
static enum order_reason check_balance(struct sim *sim, const struct sim_symbol *symbol,
                                       const struct sim_order *order)
{
    if (order->state == ORDER_HELD)
        return ORDER_OK;
    if (order->reduce_only)
        return sim_reducible(symbol, (enum order_side)order->side) > 0 ? ORDER_OK : ORDER_REDUCE_ONLY;
    sim->need = needs(symbol, order);
    if (sim->lends)
        return backtest_sim_loan_check(sim, symbol, (enum order_side)order->side, order->qty - order->filled,
                                       price_of(symbol, order));
    return sim->need <= sim->cash - sim->reserved ? ORDER_OK : ORDER_INSUFFICIENT_BALANCE;
}

static enum order_reason check_risk(struct sim *sim, const struct sim_symbol *symbol,
                                    const struct sim_order *order)
{
    const struct risk_limits *limits = &sim->spec->rules.risk;
    const bool lowers = symbol->lends ? reduces(symbol, order) : order->reduce_only;
    bool turns = symbol->lends && !lowers && sim_reducible(symbol, (enum order_side)order->side) > 0;
    struct risk_facts facts = {
        .now_ns = sim->now_ns,
        .reduces = lowers,
        .begins = symbol->qty == 0 || turns,
        .entered = symbol->qty != 0 || symbol->n_entering > 0,
        .closed_ns = turns ? sim->now_ns : symbol->closed_ns,
        .last = symbol->last,
        .limit_price = order->price,
        .stop_price = order->stop_price,
    };
    facts.positions = sim->entered - facts.entered;
    if (!facts.reduces && (limits->exposure_symbol > 0 || limits->exposure_account > 0)) {
        gather_exposure(sim, symbol, order, &facts);
        facts.equity = backtest_sim_equity(sim, symbol);
    }
    return risk_check(limits, &sim->rate, &facts);
}

/* `ahead`: orders of the same request before it; -1: it is live already, and is not counted against itself.
 */
static enum order_reason check(struct sim *sim, const struct sim_symbol *symbol,
                               const struct sim_order *order, int ahead)
{
    enum order_reason reason = check_filters(symbol, order, ahead);
    if (reason == ORDER_OK)
        reason = check_balance(sim, symbol, order);
    if (reason == ORDER_OK && order->state != ORDER_HELD)
        reason = check_risk(sim, symbol, order);
    return reason;
}

/* Its venue's rules of orders; what it does not take is held here. */
static enum order_reason check_rules(const struct sim_symbol *symbol, const struct sim_order *order)
{
    const struct order of = {.side = order->side,
                             .type = order->type,
                             .tif = order->tif,
                             .qty = order->qty,
                             .price = order->price,
                             .stop_price = order->stop_price,
                             .emulated = order->emulated};
    return order_rules_check(symbol->listed, &of, order->group != 0);
}

static enum order_reason check_legs(struct sim *sim, const struct sim_symbol *symbol,
                                    const struct sim_order *legs, int n)
{
    for (int i = 0; i < n; i++) {
        enum order_reason rule = check_rules(symbol, &legs[i]);
        if (rule != ORDER_OK)
            return rule;
        if (legs[i].tif == ORDER_GTD && legs[i].expires_ns <= legs[i].effective_ns)
            return ORDER_BAD_TIF;
    }
    enum order_reason reason = n == 1 || bracket_fits(legs, n) ? ORDER_OK : ORDER_BAD_GROUP;
    for (int i = 0; i < n && reason == ORDER_OK; i++)
        reason = check(sim, symbol, &legs[i], i);
    return reason;
}

/* ---- orders come and go ---- */

void backtest_sim_refused(struct sim *sim, const struct sim_symbol *symbol, enum order_reason reason, int n)
{
    const struct run_refusal refusal = {.listed = symbol->listed,
                                        .symbol = sim_index(sim, symbol),
                                        .last = symbol->last,
                                        .free_cash = sim->cash - sim->reserved,
                                        .spec = sim->spec};
    backtest_run_refused(sim->ret, reason, n, &refusal);
}

static void refuse(struct sim *sim, const struct sim_symbol *symbol, struct sim_order *legs, int n,
                   enum order_reason reason)
{
    backtest_sim_refused(sim, symbol, reason, n);
    for (int i = 0; i < n; i++) {
        sim->last_order++;
        legs[i].state = ORDER_REJECTED;
        backtest_sim_report_new(sim, symbol, &legs[i], reason);
    }
}

void backtest_sim_push(struct sim *sim, struct sim_symbol *symbol, const struct sim_order *order,
                       int64_t reserved)
{
    struct sim_order *live = &symbol->live[symbol->n_live++];
    *live = *order;
    symbol->n_pending += order->state == ORDER_PENDING;
    if (sim_opens(symbol, order)) {
        backtest_sim_entering(sim, symbol, 1);
        hold(sim, live, reserved);
    }
    backtest_sim_report_new(sim, symbol, order, ORDER_OK);
}

enum order_reason backtest_sim_submit(struct sim *sim, struct sim_symbol *symbol, struct sim_order *legs,
                                      int n)
{
    for (int i = 0; i < n; i++) {
        struct sim_order *leg = &legs[i];
        leg->id = sim->last_order + 1 + (uint64_t)i;
        leg->group = n > 1 ? legs[0].id : 0;
        leg->parent = i > 0 ? legs[0].id : 0;
        leg->state = i > 0 ? ORDER_HELD : ORDER_PENDING;
        leg->reduce_only |= i > 0;
        leg->updated_ns = sim->now_ns;
        leg->effective_ns = sim->now_ns + sim->config->latency_ns;
        leg->ends_ns = sim_opens(symbol, leg) ? backtest_sim_ends(sim, symbol) : 0;
    }
    for (int i = 0; i < n; i++)
        legs[i].emulated = order_rules_holds(check_rules(symbol, &legs[i]));
    enum order_reason reason = check_legs(sim, symbol, legs, n);
    if (reason != ORDER_OK) {
        refuse(sim, symbol, legs, n, reason);
        return reason;
    }
    if (symbol->n_live + n > SIM_LIVE_MAX) {
        sim->failed = -ENOTSUP;
        return ORDER_OK;
    }
    for (int i = 0; i < n; i++) {
        sim->last_order++;
        backtest_sim_push(sim, symbol, &legs[i], sim->need);
    }
    return ORDER_OK;
}

bool backtest_sim_amend(struct sim *sim, struct sim_symbol *symbol, struct sim_order *live,
                        int64_t stop_price)
{
    struct sim_order next = *live;
    next.stop_price = stop_price;
    if (check_rules(symbol, &next) != ORDER_OK || !amended_fits(symbol, &next) ||
        check(sim, symbol, &next, -1) != ORDER_OK)
        return false;
    if (symbol->n_amends == SIM_LIVE_MAX) {
        sim->failed = -ENOTSUP;
        return false;
    }
    symbol->amends[symbol->n_amends++] =
        (struct sim_amend){.order_id = next.id,
                           .created_ns = sim->now_ns,
                           .effective_ns = sim->now_ns + sim->config->latency_ns,
                           .stop_price = stop_price};
    return true;
}

/* A bracket's entry ended: its exits start with what it filled, or end with it. */
static void entry_ended(struct sim *sim, struct sim_symbol *symbol, const struct sim_order *entry)
{
    for (uint64_t id = entry->id + 1; id < entry->id + ORDER_LEGS_MAX; id++) {
        struct sim_order *exit = backtest_sim_find(symbol, id);
        if (!exit || exit->parent != entry->id)
            continue;
        if (entry->filled == 0) {
            backtest_sim_end(sim, symbol, id, ORDER_CANCELED, ORDER_OTHER_LEG);
            continue;
        }
        exit->state = ORDER_PENDING;
        exit->qty = entry->filled;
        exit->updated_ns = exit->effective_ns = sim->now_ns;
        symbol->n_pending++;
        sim_report(sim, exit);
    }
}

void backtest_sim_end(struct sim *sim, struct sim_symbol *symbol, uint64_t id, enum order_state state,
                      enum order_reason reason)
{
    struct sim_order *live = backtest_sim_find(symbol, id);
    if (!live)
        return;
    backtest_sim_lift(sim, live);
    symbol->n_pending -= live->state == ORDER_PENDING;
    struct sim_order order = *live;
    if (order.state != ORDER_FILLED) {
        order.state = state;
        order.updated_ns = sim->now_ns;
    }
    symbol->n_live--;
    memmove(live, live + 1, (size_t)(&symbol->live[symbol->n_live] - live) * sizeof *live);
    if (sim_opens(symbol, &order))
        backtest_sim_entering(sim, symbol, -1);
    backtest_sim_report_ended(sim, &order, reason);
    if (order.group == order.id)
        entry_ended(sim, symbol, &order);
}
