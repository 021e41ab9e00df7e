/* Buy and hold, the benchmark for a strategy. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/report.h"
#include "exchange/decimal.h"

static size_t bar_from(const struct market_series *series, size_t from, size_t to)
{
    while (from < to && !market_present(series, from))
        from++;
    return from;
}

static bool holdable(const struct market_series *series, const struct account_spec *account, size_t from,
                     size_t to)
{
    return strcmp(series->symbol.quote, account->currency) == 0 && bar_from(series, from, to) < to;
}

/* What is held of a symbol, and the dividends that it was paid, which stay cash. */
struct held {
    double qty, cash;
    size_t action; /* the next one */
};

/* The symbol's actions of the rows before `row`, once it is held; they come to nothing before. Returns the
 * first row after the next one, or `to`. */
static size_t pass_actions(const struct backtest_config *config, int symbol, size_t row, struct held *held)
{
    const struct market *market = config->market;
    for (; held->action < config->n_actions; held->action++) {
        const struct backtest_action *next = &config->actions[held->action];
        if (next->symbol != symbol)
            continue;
        size_t at = next->at_ns <= market->start_ns
                        ? 0
                        : (size_t)((next->at_ns - market->start_ns) / market->interval_ns);
        at = bar_from(&market->series[symbol], at, config->to);
        if (at > row)
            return at;
        if (next->action.kind == ACTION_SPLIT)
            held->qty *= (double)next->action.shares / (double)next->action.per;
        else
            held->cash += held->qty * decimal_to_double(next->action.cash, ACTION_CASH_SCALE);
    }
    return config->to;
}

/* Adds the part of the cash for which a symbol is bought at its first bar. */
static void hold(const struct backtest_config *config, int symbol, double cash, double fee,
                 double *restrict equity)
{
    const struct market_series *series = &config->market->series[symbol];
    size_t from = config->from, bought = bar_from(series, from, config->to);
    const double *close = series->close + from;
    struct held held = {0};
    size_t until = pass_actions(config, symbol, bought, &held);
    held.qty = cash / (series->open[bought] * (1 + fee));
    for (size_t i = 0; i < bought - from; i++)
        equity[i] += cash;
    for (size_t i = bought - from; i < config->to - from; i++) {
        if (i + from == until)
            until = pass_actions(config, symbol, until, &held);
        equity[i] += held.cash + held.qty * close[i];
    }
}

int backtest_report_benchmark(const struct backtest_config *config, int account,
                              const struct report_config *options, double **ret)
{
    const struct market *market = config->market;
    const struct account_spec *spec = &config->accounts[account];
    enum report_benchmark kind = options->benchmark;
    bool named = kind == REPORT_BENCHMARK_SYMBOL;
    if (kind == REPORT_BENCHMARK_GIVEN || kind == REPORT_BENCHMARK_NONE ||
        (named && (options->symbol < 0 || options->symbol >= market->n_symbols)))
        return -EINVAL;
    int first = named ? options->symbol : 0, end = named ? first + 1 : market->n_symbols, n = 0;
    for (int s = first; s < end; s++)
        n += holdable(&market->series[s], spec, config->from, config->to);
    if (n == 0)
        return -ENOENT;
    if (kind == REPORT_BENCHMARK_FIRST)
        n = 1;
    double *equity = calloc(config->to - config->from, sizeof *equity);
    if (!equity)
        return -ENOMEM;
    double cash = decimal_to_double(spec->cash, spec->currency_scale);
    for (int s = first, held = 0; held < n; s++) {
        if (!holdable(&market->series[s], spec, config->from, config->to))
            continue;
        const struct fee_rates *fees = account_fees(&spec->rules, &market->series[s].symbol);
        hold(config, s, cash / n, fees->taker_e6 / 1e6, equity);
        held++;
    }
    *ret = equity;
    return 0;
}
