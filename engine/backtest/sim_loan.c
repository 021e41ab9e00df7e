/* Shorts of a vectorised account, by the rules of engine/loan.c and reserve.c: what is borrowed, the money
 * that covers it, its interest, and whether its cover is too small. What a margin call does is left to the
 * engine. */
#include <errno.h>
#include <math.h>

#include "engine/backtest/find.h"
#include "engine/backtest/sim.h"
#include "exchange/margin.h"
#include "exchange/order_rules.h"

#define HOUR_NS (3600 * INT64_C(1000000000))

static int64_t clamped(int128_t value)
{
    return value > FILL_MONEY_MAX ? FILL_MONEY_MAX : (int64_t)value;
}

/* ---- what is borrowed, and what covers it ---- */

/* What is held of a symbol at its last close before the bars of row `row` that come after symbol `now`'s. */
static int64_t value_at(const struct sim *sim, int s, size_t row, int now)
{
    const struct sim_symbol *symbol = &sim->symbols[s];
    int64_t last = sim_units(symbol->series->close[s > now ? row - 1 : row], symbol->price_units);
    return sim_value(symbol, last);
}

/* The value of all shorts once the bar of symbol `now` in a row has closed; -1: before the row's first. */
static int64_t borrowed_at(const struct sim *sim, size_t row, int now)
{
    int128_t value = 0;
    for (int s = 0; s < sim->n_symbols; s++)
        if (sim->symbols[s].qty < 0)
            value -= value_at(sim, s, row, now);
    return clamped(value);
}

/* The same at the last prices, as something is done in `symbol`. */
static int64_t borrowed_now(const struct sim *sim, const struct sim_symbol *symbol)
{
    int128_t value = 0;
    for (int s = 0; sim->shorts > 0 && s < sim->n_symbols; s++)
        if (sim->symbols[s].qty < 0)
            value -= backtest_sim_value(sim, &sim->symbols[s], sim_index(sim, symbol));
    return clamped(value);
}

static int64_t collateral(const struct sim *sim, int64_t value)
{
    return margin_share(value, sim->spec->rules.collateral_e4);
}

static int64_t borrowed_qty(const struct sim_symbol *symbol)
{
    return sim_reducible(symbol, ORDER_BUY);
}

/* The value of a symbol's own short at its last price; 0: it is none. */
static int64_t own_debt(const struct sim_symbol *symbol)
{
    return symbol->qty < 0 ? -sim_value(symbol, symbol->last) : 0;
}

int64_t backtest_sim_spendable(const struct sim *sim, const struct sim_symbol *symbol, bool left)
{
    int64_t value = borrowed_now(sim, symbol), closed = 0, fee = 0;
    if (left) {
        closed = sim_value(symbol, symbol->last);
        fee = fill_fee(closed < 0 ? -closed : closed, symbol->fee_bound_e6);
        value -= own_debt(symbol);
    }
    int128_t most = (int128_t)sim->cash - sim->reserved - sim->unpaid + closed - fee - collateral(sim, value);
    return most > 0 ? clamped(most) : 0;
}

/* The currency that can open a position, once what is borrowed of this symbol is paid back. */
static int64_t to_open(const struct sim *sim, const struct sim_symbol *symbol)
{
    return sim->cash - sim->reserved - sim->unpaid -
           collateral(sim, borrowed_now(sim, symbol) - own_debt(symbol));
}

/* Is the currency, with the proceeds, enough for the collateral of all shorts once `qty` is sold at `price`,
 * short_qty of it borrowed? */
static bool covered(const struct sim *sim, const struct sim_symbol *symbol, int64_t price, int64_t qty,
                    int64_t short_qty)
{
    int128_t value = borrowed_now(sim, symbol) - own_debt(symbol);
    int64_t last = symbol->last > 0 ? symbol->last : price;
    value += ((int128_t)last * (borrowed_qty(symbol) + short_qty) + symbol->unit - 1) / symbol->unit;
    int128_t proceeds = (int128_t)price * qty / symbol->unit;
    if (value > FILL_MONEY_MAX / 2 || proceeds > FILL_MONEY_MAX / 2)
        return false;
    int64_t fee = fill_fee((int64_t)proceeds, symbol->fee_bound_e6);
    return sim->cash - sim->reserved - sim->unpaid + (int64_t)proceeds - fee >=
           collateral(sim, (int64_t)value);
}

/* ---- orders ---- */

static enum order_reason check_sale(const struct sim *sim, const struct sim_symbol *symbol, int64_t qty,
                                    int64_t price)
{
    int64_t held = sim_reducible(symbol, ORDER_SELL);
    if (qty <= held)
        return ORDER_OK;
    enum order_reason reason = order_rules_lends(symbol->listed, qty); /* an exit sells before what is held */
    if (reason == ORDER_OK && !covered(sim, symbol, price, qty, qty - held))
        reason = ORDER_COLLATERAL;
    return reason;
}

enum order_reason backtest_sim_loan_check(const struct sim *sim, const struct sim_symbol *symbol,
                                          enum order_side side, int64_t qty, int64_t price)
{
    if (side == ORDER_SELL)
        return check_sale(sim, symbol, qty, price);
    if (qty <= borrowed_qty(symbol))
        return ORDER_OK;
    return fill_purchase(price, qty, symbol->unit, symbol->fee_bound_e6) <= to_open(sim, symbol)
               ? ORDER_OK
               : ORDER_INSUFFICIENT_BALANCE;
}

/* The most of `qty` of which what is not held can be borrowed. */
static int64_t coverable(const struct sim *sim, const struct sim_symbol *symbol, int64_t price, int64_t qty)
{
    int64_t held = sim_reducible(symbol, ORDER_SELL), fits = held, fails = qty;
    if (covered(sim, symbol, price, qty, qty - held))
        return qty;
    while (fails - fits > 1) {
        int64_t middle = fits + (fails - fits) / 2;
        if (covered(sim, symbol, price, middle, middle - held))
            fits = middle;
        else
            fails = middle;
    }
    const struct fill_lot lot = order_rules_lot(symbol->listed, qty);
    int64_t whole = fill_floor_qty(&lot, true, fits);
    return whole > held ? whole : held;
}

static int64_t payable(const struct sim_symbol *symbol, int64_t cash, int64_t price, int64_t qty, int64_t of)
{
    const struct fill_lot lot = order_rules_lot(symbol->listed, of);
    return fill_affordable(cash, price, qty, symbol->unit, symbol->fee_bound_e6, &lot);
}

int64_t backtest_sim_loan_affordable(const struct sim *sim, const struct sim_symbol *symbol,
                                     enum order_side side, int64_t price, int64_t qty)
{
    int64_t back = borrowed_qty(symbol), held = sim_reducible(symbol, side);
    if (qty <= 0 ||
        (held == 0 && (int128_t)price * qty >= (int128_t)(FILL_MONEY_MAX - symbol->cost) * symbol->unit))
        return 0;
    if (side == ORDER_SELL)
        return qty > held ? coverable(sim, symbol, price, qty) : qty;
    int64_t opens = qty > back ? payable(symbol, to_open(sim, symbol), price, qty, qty) : 0;
    if (opens > back || back == 0)
        return opens;
    return payable(symbol, sim->cash - sim->reserved, price, qty < back ? qty : back, qty);
}

/* ---- interest ---- */

static int64_t hour_of(int64_t ns)
{
    return ns / HOUR_NS * HOUR_NS;
}

/* The first row from `row` on with a bar that opens in a later hour than interest was booked for. */
static void find_interest(struct sim *sim, size_t row)
{
    const struct market *market = sim->config->market;
    int64_t since_ns = sim->interest_ns + HOUR_NS - market->start_ns;
    size_t due = since_ns <= 0 ? 0 : (size_t)((since_ns + market->interval_ns - 1) / market->interval_ns);
    row = row > due ? row : due;
    while (row < sim->config->to && !market_any_present(market, row))
        row++;
    sim->interest_row = row < sim->config->to ? row : SIZE_MAX;
}

static void charge(struct sim *sim, int64_t due)
{
    int64_t available = sim->cash - sim->reserved;
    int64_t paid = due < available ? due : available;
    backtest_sim_pay_interest(sim, paid);
    sim->unpaid = clamped((int128_t)sim->unpaid + due - paid);
}

/* As the first bar of the row opens, at the prices of the rows before. */
static void charge_all(struct sim *sim)
{
    size_t row = sim->interest_row;
    int64_t open_ns = market_open_ns(sim->config->market, row), unpaid = sim->unpaid;
    int64_t hours = (hour_of(open_ns) - sim->interest_ns) / HOUR_NS;
    sim->row = row;
    sim->now_ns = open_ns;
    sim->interest_ns = hour_of(open_ns);
    if (unpaid > 0) {
        sim->unpaid = 0;
        charge(sim, unpaid);
    }
    for (int s = 0; s < sim->n_symbols; s++) {
        const struct sim_symbol *symbol = &sim->symbols[s];
        if (symbol->qty >= 0 || symbol->listed->easy_to_borrow == SYMBOL_SAYS_YES)
            continue;
        int64_t due = margin_interest(-value_at(sim, s, row, -1), sim->spec->rules.borrow_rate_e6, hours);
        if (due > 0)
            charge(sim, due);
    }
    backtest_sim_curve(sim);
    sim->calm = false;
    find_interest(sim, row + 1);
}

/* ---- its cover ---- */

/* Would the engine make a margin call as the bar of symbol `now` in a row closes? */
static bool too_little(const struct sim *sim, size_t row, int now)
{
    return sim->cash - sim->unpaid <
           margin_share(borrowed_at(sim, row, now), sim->spec->rules.maintenance_e4);
}

/* Prices up to which there is no margin call, whatever the order in which the symbols come to theirs: the
 * shorts may all rise by as much as the cover is larger than what they need. */
static void find_calm(struct sim *sim, size_t row)
{
    double value = (double)borrowed_at(sim, row, -1) + sim->n_symbols + 2; /* each is rounded up */
    double share = (double)(sim->cash - sim->unpaid) * 10000 / (value * sim->spec->rules.maintenance_e4);
    for (int s = 0; s < sim->n_symbols; s++)
        sim->symbols[s].calm_below = sim->symbols[s].series->close[row - 1] * share * (1 - 1e-9);
    sim->calm = true;
}

/* The first row from `row` on, before `end`, in which a short closes above its calm price. */
static size_t first_loud(const struct sim *sim, size_t row, size_t end)
{
    for (int s = 0; s < sim->n_symbols; s++) {
        const struct sim_symbol *symbol = &sim->symbols[s];
        if (symbol->qty < 0)
            end = backtest_find_reached(symbol->series->close, symbol->series->close, -INFINITY,
                                        symbol->calm_below, row, end);
    }
    return end;
}

/* The bars of a row from symbol `from` to before symbol `to`. */
static void check_row(struct sim *sim, size_t row, int from, int to)
{
    for (int s = from; s < to && sim->failed == 0; s++)
        if (sim->symbols[s].qty < 0 && market_present(sim->symbols[s].series, row) && too_little(sim, row, s))
            sim->failed = -ENOTSUP;
}

/* Checks what was not checked yet, up to the bar of symbol `s` in a row. */
static void check_until(struct sim *sim, size_t row, int s)
{
    size_t at = sim->checked_row;
    if (at < row && sim->checked_symbol > 0) {
        check_row(sim, at++, sim->checked_symbol, sim->n_symbols);
        sim->checked_symbol = 0;
    }
    while (at < row && sim->failed == 0) {
        if (!sim->calm)
            find_calm(sim, at);
        at = first_loud(sim, at, row);
        if (at < row) {
            check_row(sim, at++, 0, sim->n_symbols);
            sim->calm = false;
        }
    }
    check_row(sim, row, sim->checked_symbol, s);
    sim->checked_row = row;
    sim->checked_symbol = s;
}

void backtest_sim_loans_until(struct sim *sim, size_t row, int s, bool opens)
{
    while (sim->failed == 0 && (sim->interest_row < row || (opens && sim->interest_row == row))) {
        size_t due = sim->interest_row;
        if (due >= sim->change_row)
            backtest_sim_sessions(sim, due);
        if (sim->shorts > 0)
            check_until(sim, due, 0);
        charge_all(sim);
        if (sim->shorts == 0 && sim->unpaid == 0)
            sim->interest_row = SIZE_MAX;
    }
    if (sim->shorts > 0 && sim->failed == 0)
        check_until(sim, row, s);
}

void backtest_sim_loan_moved(struct sim *sim, struct sim_symbol *symbol, int64_t held)
{
    bool any = sim->shorts > 0;
    sim->shorts += (symbol->qty < 0) - (held < 0);
    sim->calm = false;
    if (any || sim->shorts == 0)
        return;
    sim->checked_row = sim->row;
    sim->checked_symbol = sim_index(sim, symbol);
    if (sim->unpaid == 0) {
        sim->interest_ns = hour_of(market_open_ns(sim->config->market, sim->row));
        find_interest(sim, sim->row + 1);
    }
}
