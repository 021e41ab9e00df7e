/* Bars at which a strategy said that it does nothing. */
#include <math.h>

#include "engine/backtest/find.h"
#include "engine/backtest/sim.h"
#include "strategy/clones.h"

static bool bounds_share(const struct strategy_idle *idle)
{
    return isfinite(idle->share_low) || isfinite(idle->share_high);
}

void backtest_sim_idle_take(struct sim *sim, struct sim_symbol *symbol, const struct strategy_input *input,
                            size_t n_intents)
{
    const struct strategy *strategy = sim->spec->strategy;
    symbol->idle = strategy->idle && !symbol->sessions && n_intents == 0;
    if (!symbol->idle)
        return;
    symbol->until = (struct strategy_idle){.until_ns = INT64_MAX,
                                           .low = -INFINITY,
                                           .high = INFINITY,
                                           .share_low = -INFINITY,
                                           .share_high = INFINITY};
    strategy->idle(sim->spec->params, symbol->memory, input, &symbol->until);
    sim->shares |= bounds_share(&symbol->until);
}

/* The first row whose bar closes at a time or later. */
static size_t row_until(const struct sim *sim, int64_t until_ns)
{
    const struct market *market = sim->config->market;
    int64_t first_ns = market->start_ns + market->interval_ns; /* row 0 closes */
    if (until_ns <= first_ns)
        return 0;
    if (until_ns > market_open_ns(market, sim->config->to))
        return sim->config->to;
    return (size_t)((until_ns - first_ns + market->interval_ns - 1) / market->interval_ns);
}

/* The first bar in [from, to) that closes outside the bounds. */
static size_t find_outside(const struct sim_symbol *symbol, size_t from, size_t to)
{
    double low = symbol->until.low, high = symbol->until.high;
    const double *close = symbol->series->close;
    if (!isfinite(low) && !isfinite(high))
        return to;
    if (!symbol->bars.rows) /* at or beyond the next numbers */
        return backtest_find_reached(close + symbol->bars.first, close + symbol->bars.first,
                                     nextafter(low, -INFINITY), nextafter(high, INFINITY), from, to);
    while (from < to && close[symbol->bars.rows[from]] >= low && close[symbol->bars.rows[from]] <= high)
        from++;
    return from;
}

size_t backtest_sim_idle_end(const struct sim *sim, const struct sim_symbol *symbol)
{
    const struct sim_bars *bars = &symbol->bars;
    if (bounds_share(&symbol->until))
        return symbol->at;
    return find_outside(symbol, symbol->at,
                        sim_find_row(bars, row_until(sim, symbol->until.until_ns), symbol->at, bars->n));
}

/* ---- bounds of shares ---- */

enum { BLOCK = 256 }; /* rows at once */

/* What a symbol's share is bounded by, in plain numbers, a little inside of what the strategy said: the
 * account counts in units, and rounds. */
struct share {
    const double *close;
    double qty, low, high;
};

/* The equity as a symbol's bar closes is that of the closes of the symbols up to it, and of the closes before
 * of those after it. */
CLONES static void add_before(double *restrict equity, const struct share *share, size_t row, size_t n)
{
    const double *close = share->close + row - 1;
    for (size_t i = 0; i < n; i++)
        equity[i] += share->qty * close[i];
}

/* Adds to `out` the rows at which it is outside, or the equity is below `least`. */
CLONES static void check(double *restrict equity, double *restrict out, const struct share *share, size_t row,
                         size_t n, double least)
{
    const double *close = share->close + row;
    double qty = share->qty, low = share->low, high = share->high;
    for (size_t i = 0; i < n; i++) {
        equity[i] += qty * (close[i] - close[(ptrdiff_t)i - 1]);
        double value = qty * close[i];
        bool inside = (value >= low * equity[i]) & (value <= high * equity[i]) & (equity[i] >= least);
        out[i] += inside ? 0.0 : 1.0;
    }
}

/* Of [row, end), the first at which a symbol is outside; row > 0. */
static size_t find_share(const struct share *shares, int n_symbols, double cash, double least, size_t row,
                         size_t end)
{
    double equity[BLOCK], out[BLOCK];
    while (row < end) {
        size_t n = end - row < BLOCK ? end - row : BLOCK, i = 0;
        for (size_t k = 0; k < n; k++) {
            equity[k] = cash;
            out[k] = 0;
        }
        for (int s = 0; s < n_symbols; s++)
            add_before(equity, &shares[s], row, n);
        for (int s = 0; s < n_symbols; s++)
            check(equity, out, &shares[s], row, n, least);
        while (i < n && out[i] == 0)
            i++;
        row += i;
        if (i < n)
            break;
    }
    return row;
}

/* Is the next bar of each the one of the same row, and nothing is on its way? */
static bool all_idle(const struct sim *sim)
{
    size_t row = sim->symbols[0].next_row;
    for (int s = 0; s < sim->n_symbols; s++) {
        const struct sim_symbol *symbol = &sim->symbols[s];
        if (!symbol->idle || symbol->n_live > 0 || symbol->n_pending > 0 || symbol->n_amends > 0 ||
            symbol->n_kept > 0 || symbol->bars.rows || symbol->next_row != row)
            return false;
    }
    return row > 0 && row != SIZE_MAX && !sim->lends;
}

/* Of an equity of so much, in units of 1 / money_units. */
static struct share share_of(const struct sim *sim, const struct sim_symbol *symbol, double equity)
{
    const struct strategy_idle *until = &symbol->until;
    double low = until->share_low, high = until->share_high;
    double most = fmax(isfinite(low) ? fabs(low) : 0, isfinite(high) ? fabs(high) : 0);
    double off = most * (1e-9 + 4 * (sim->n_symbols + 2) / sim->money_units / equity);
    return (struct share){.close = symbol->series->close,
                          .qty = sim_number(symbol->qty, symbol->qty_units),
                          .low = low + off,
                          .high = high - off};
}

/* The first row in [row, end) at which the symbol is not idle, whatever its share is. */
static size_t idle_until(const struct sim *sim, const struct sim_symbol *symbol, size_t row, size_t end)
{
    size_t until = row_until(sim, symbol->until.until_ns);
    end = until < end ? until : end;
    return end > row ? row + find_outside(symbol, symbol->at, symbol->at + (end - row)) - symbol->at : row;
}

static void pass_to(struct sim *sim, size_t row)
{
    for (int s = 0; s < sim->n_symbols; s++) {
        struct sim_symbol *symbol = &sim->symbols[s];
        symbol->at += row - symbol->next_row;
        symbol->next_row = symbol->at < symbol->bars.n ? row : SIZE_MAX;
    }
}

void backtest_sim_idle_rows(struct sim *sim, size_t end)
{
    enum { SYMBOLS_MOST = 64 };
    struct share shares[SYMBOLS_MOST];
    if (sim->n_symbols > SYMBOLS_MOST || !all_idle(sim))
        return;
    size_t row = sim->symbols[0].next_row, to = end;
    double cash = sim_number(sim->cash, sim->money_units), equity = cash;
    for (int s = 0; s < sim->n_symbols; s++) {
        const struct sim_symbol *symbol = &sim->symbols[s];
        to = idle_until(sim, symbol, row, to);
        equity += sim_number(symbol->qty, symbol->qty_units) * symbol->series->close[row - 1];
    }
    if (to <= row || !(equity > 0))
        return;
    for (int s = 0; s < sim->n_symbols; s++)
        shares[s] = share_of(sim, &sim->symbols[s], equity);
    to = find_share(shares, sim->n_symbols, cash, equity / 2, row, to);
    pass_to(sim, to);
}
