/* A vectorised account: finds which bar is next. */
#include "engine/backtest/sim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/find.h"
#include "engine/specs.h"
#include "exchange/decimal.h"
#include "exchange/filter.h"
#include "exchange/order_rules.h"
#include "strategy/external.h"

static bool apart(const struct market *market, const char *currency)
{
    for (int s = 0; s < market->n_symbols; s++) {
        const struct symbol *symbol = &market->series[s].symbol;
        if (strcmp(symbol->quote, currency) != 0 || strcmp(symbol->base, currency) == 0)
            return false;
        for (int k = 0; k < s; k++)
            if (strcmp(symbol->base, market->series[k].symbol.base) == 0)
                return false;
    }
    return true;
}

static bool reads_columns(const struct backtest_config *config, const struct account_spec *spec)
{
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    char why[SPECS_ERROR_MAX];
    size_t n;
    return config->external && spec->strategy &&
           engine_runner_specs(spec->strategy, spec->params, config->market->interval_ns, specs, &n, why) ==
               0 &&
           engine_runner_specs_read_columns(specs, n);
}

const char *backtest_sim_covers(const struct backtest_config *config, const struct account_spec *spec)
{
    if (config->ticks)
        return "trades are played one by one";
    if (config->n_actions > 0)
        return "splits and dividends change what is held";
    if (config->universe)
        return "its universe changes";
    if (spec->policy)
        return "a policy decides on the bars of all its symbols at once";
    if (strategy_is_asked(spec->strategy))
        return "its process is asked at one bar after the other";
    if (reads_columns(config, spec))
        return "it reads external columns";
    if (spec->strategy && strategy_sees_peers(spec->strategy))
        return "it sees the bars of other symbols";
    const struct account_rules *rules = &spec->rules;
    if (rules->margin != MARGIN_OFF)
        return "it may buy on margin";
    if (rules->settlement != SETTLEMENT_OFF)
        return "its sales settle later";
    if (rules->fee_tiers[0])
        return "its rates follow its volume";
    if (rules->regulatory_fees)
        return "its sales cost regulatory fees";
    if (backtest_run_calendar(config) && spec->session != SESSION_REGULAR)
        return "it also decides outside the regular session";
    if (rules->risk.daily_loss > 0 || rules->risk.drawdown > 0)
        return "its limits of loss look at each price";
    if (!apart(config->market, spec->currency))
        return "not all symbols are of different assets quoted in its currency";
    return NULL;
}

int backtest_sim_open(struct sim *sim, const struct backtest_config *config, int account, size_t n_outputs,
                      struct backtest_account *ret)
{
    const struct market *market = config->market;
    const struct account_spec *spec = &config->accounts[account];
    *sim = (struct sim){.config = config,
                        .spec = spec,
                        .account = account,
                        .ret = ret,
                        .n_symbols = market->n_symbols,
                        .n_outputs = n_outputs,
                        .money_units = (double)decimal_pow10(spec->currency_scale)};
    sim->symbols = calloc((size_t)market->n_symbols, sizeof *sim->symbols);
    sim->ahead_outputs = malloc(((size_t)market->n_symbols * SIM_AHEAD * n_outputs + 1) * sizeof(double));
    size_t state_size = (strategy_state_size(spec->strategy) + 7) / 8 * 8;
    sim->memories = calloc((size_t)market->n_symbols, state_size);
    if (!sim->symbols || !sim->ahead_outputs || !sim->memories ||
        backtest_curve_open(&sim->curve, market, config->from, config->to) < 0) {
        backtest_sim_close(sim);
        return -ENOMEM;
    }
    sim->curve.cash = sim_number(spec->cash, sim->money_units);
    for (int s = 0; s < market->n_symbols; s++) {
        struct sim_symbol *symbol = &sim->symbols[s];
        symbol->series = &market->series[s];
        symbol->own = backtest_run_symbol(config, s);
        symbol->listed = &symbol->own;
        symbol->unit = filter_notional_unit(symbol->listed);
        symbol->fees = account_fees(&spec->rules, symbol->listed);
        symbol->fee_bound_e6 = fee_rates_most_e6(symbol->fees);
        symbol->price_units = (double)decimal_pow10(symbol->listed->price_scale);
        symbol->qty_units = (double)decimal_pow10(symbol->listed->qty_scale);
        symbol->ahead_outputs = sim->ahead_outputs + (size_t)s * SIM_AHEAD * n_outputs;
        symbol->lends = spec->rules.shorts && order_rules_short(symbol->listed) == ORDER_OK;
        sim->lends |= symbol->lends;
        symbol->memory = sim->memories + (size_t)s * state_size;
    }
    sim->interest_row = SIZE_MAX;
    sim->plain = !sim->lends && backtest_sim_plain_run(sim);
    backtest_sim_sessions_begin(sim);
    return 0;
}

void backtest_sim_close(struct sim *sim)
{
    free(sim->curve.equity);
    backtest_curve_close(&sim->curve);
    free(sim->symbols);
    free(sim->ahead_outputs);
    free(sim->memories);
    *sim = (struct sim){0};
}

/* ---- which bar is next ---- */

/* The first bar in [from, to) that may reach a resting order, or at which one may expire. */
static size_t find_orders(const struct sim *sim, const struct sim_symbol *symbol, size_t from, size_t to)
{
    double below = -INFINITY, above = INFINITY;
    int64_t expires_ns = INT64_MAX;
    for (int i = 0; i < symbol->n_live; i++) {
        const struct sim_order *order = &symbol->live[i];
        if (order->expires_ns > 0 && order->expires_ns < expires_ns)
            expires_ns = order->expires_ns;
        if (order->state == ORDER_HELD)
            continue;
        bool stop = order->type == ORDER_STOP;
        double price = sim_number(stop ? order->stop_price : order->price, symbol->price_units);
        if (stop == (order->side == ORDER_SELL))
            below = fmax(below, price);
        else
            above = fmin(above, price);
    }
    const struct market *market = sim->config->market;
    if (expires_ns < INT64_MAX) {
        size_t low = from, high = to;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (market_open_ns(market, sim_row_of(&symbol->bars, middle)) < expires_ns)
                low = middle + 1;
            else
                high = middle;
        }
        to = low;
    }
    if (symbol->bars.rows == NULL) {
        const struct market_series *series = symbol->series;
        size_t first = symbol->bars.first;
        return backtest_find_reached(series->low + first, series->high + first, below, above, from, to);
    }
    for (; from < to; from++) {
        size_t row = symbol->bars.rows[from];
        if (symbol->series->low[row] <= below || symbol->series->high[row] >= above)
            break;
    }
    return from;
}

static void prefetch(const struct sim *sim, const struct sim_symbol *symbol, size_t at, size_t row)
{
    const struct market_series *series = symbol->series;
    const struct sim_bars *bars = &symbol->bars;
    for (size_t k = 0; bars->outputs && !bars->sparse && k < sim->n_outputs; k++)
        __builtin_prefetch(bars->outputs[k] + at);
    __builtin_prefetch(series->open + row);
    __builtin_prefetch(series->high + row);
    __builtin_prefetch(series->low + row);
    __builtin_prefetch(series->close + row);
    __builtin_prefetch(series->volume + row);
}

static void find_next(const struct sim *sim, struct sim_symbol *symbol)
{
    size_t at = symbol->at, n = symbol->bars.n;
    const uint64_t *marks = symbol->marks;
    if (at < n && (marks || symbol->idle) && symbol->n_pending == 0 && symbol->n_amends == 0 &&
        symbol->n_kept == 0) {
        at = marks ? find_mark(marks, at, n) : backtest_sim_idle_end(sim, symbol);
        if (symbol->n_live > 0)
            at = find_orders(sim, symbol, symbol->at, at);
        if (symbol->sessions && symbol->n_entering > 0) /* which its session's last bar may end */
            at = sim_find_row(&symbol->bars, backtest_sim_last_row(sim), symbol->at, at);
    }
    symbol->at = at;
    symbol->next_row = at < n ? sim_row_of(&symbol->bars, at) : SIZE_MAX;
    if (at < n) /* while other symbols' bars are examined */
        prefetch(sim, symbol, at, symbol->next_row);
}

void backtest_sim_give(struct sim *sim, int s, const struct sim_bars *bars)
{
    struct sim_symbol *symbol = &sim->symbols[s];
    symbol->bars = *bars;
    symbol->at = symbol->n_ahead = 0;
    sim_choose_marks(symbol);
    find_next(sim, symbol);
}

/* ---- one bar ---- */

static void look(struct sim *sim, struct sim_symbol *symbol)
{
    const struct market *market = sim->config->market;
    const struct market_series *series = symbol->series;
    size_t bar = symbol->at++, row = symbol->next_row;
    double units = symbol->price_units;
    sim->row = row;
    sim->seq = row * (size_t)sim->n_symbols + (size_t)sim_index(sim, symbol) + 1;
    const int64_t close = sim_units(series->close[row], units);
    if (symbol->plain.id != 0) {
        sim->now_ns = market_open_ns(market, row);
        backtest_sim_plain_fill(sim, symbol, sim_units(series->open[row], units));
    } else if (symbol->n_live > 0) {
        const struct bar_prices prices = {sim_units(series->open[row], units),
                                          sim_units(series->high[row], units),
                                          sim_units(series->low[row], units), close};
        if (symbol->lends) /* what it is worth until the bar has closed */
            symbol->last = sim_units(series->close[row - 1], units);
        backtest_sim_bar(sim, symbol, &prices);
    }
    symbol->last = close;
    int64_t end_ns = backtest_sim_bar_end(sim, symbol, market_open_ns(market, row));
    sim->now_ns = end_ns;
    const uint64_t *marks = symbol->marks;
    if (!marks || marks[bar / 64] >> (bar % 64) & 1)
        backtest_sim_decide(sim, symbol, bar, row >= sim->config->from);
    if (symbol->sessions && symbol->n_entering > 0)
        backtest_sim_end_entries(sim, symbol, end_ns);
    find_next(sim, symbol);
}

static struct sim_symbol *first_of(const struct sim *sim)
{
    struct sim_symbol *first = &sim->symbols[0];
    for (int s = 1; s < sim->n_symbols; s++)
        if (sim->symbols[s].next_row < first->next_row)
            first = &sim->symbols[s];
    return first;
}

/* What is due of loans before a symbol's next bar, or before row `end`. */
static bool lend(struct sim *sim, const struct sim_symbol *symbol, size_t end)
{
    bool looks = symbol->next_row < end;
    if (sim->interest_row != SIZE_MAX || sim->shorts > 0)
        backtest_sim_loans_until(sim, looks ? symbol->next_row : end, looks ? sim_index(sim, symbol) : 0,
                                 looks);
    return sim->failed == 0;
}

int backtest_sim_rows(struct sim *sim, size_t end)
{
    while (sim->failed == 0) {
        if (sim->shares)
            backtest_sim_idle_rows(sim, end);
        struct sim_symbol *symbol = first_of(sim);
        if (sim->lends && !lend(sim, symbol, end))
            break;
        if (symbol->next_row >= end)
            break;
        if (symbol->next_row >= sim->change_row)
            backtest_sim_sessions(sim, symbol->next_row);
        look(sim, symbol);
    }
    return sim->failed;
}

/* Did the account's value exceed what the engine can count? A run that starts and ends below a thousandth
 * of that is assumed not to have exceeded it in between. */
static bool beyond(const struct sim *sim, int128_t equity)
{
    const double most = (double)FILL_MONEY_MAX / sim->money_units;
    bool any = false;
    if (equity <= FILL_MONEY_MAX / 1000 && sim->spec->cash <= FILL_MONEY_MAX / 1000)
        return false;
    for (size_t i = 0; i < sim->config->to - sim->config->from; i++)
        any |= sim->curve.equity[i] >= most;
    return any;
}

/* Orders that are still live, in their last state. */
int backtest_sim_finish(struct sim *sim)
{
    const struct backtest_config *config = sim->config;
    struct backtest_account *ret = sim->ret;
    int128_t equity = (int128_t)sim->cash - sim->unpaid;
    backtest_sim_sessions_end(sim);
    backtest_curve_to(&sim->curve, config->to);
    for (int s = 0; s < sim->n_symbols; s++) {
        const struct sim_symbol *symbol = &sim->symbols[s];
        int64_t last = sim_units(symbol->series->close[config->to - 1], symbol->price_units);
        equity += sim_value(symbol, last);
    }
    if (beyond(sim, equity))
        return -ENOTSUP;
    ret->way = BACKTEST_COLUMNS;
    ret->equity = sim->curve.equity;
    sim->curve.equity = NULL;
    ret->exposed = sim->curve.exposed;
    ret->final_equity = (int64_t)equity;
    ret->final_cash = sim->cash;
    return backtest_trades_sum(config, ret);
}
