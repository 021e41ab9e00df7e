#include "engine/backtest/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"

typedef size_t table_function(const struct metrics_series *series, int64_t first_ns, int64_t interval_ns,
                              struct metrics_month *ret, size_t cap);

static int calendar(table_function *function, const struct metrics_series *series,
                    const struct backtest_report *report, struct metrics_month **ret, size_t *ret_n)
{
    size_t n = function(series, report->start_ns, report->interval_ns, NULL, 0);
    struct metrics_month *months = malloc((n + 1) * sizeof *months);
    if (!months)
        return -ENOMEM;
    *ret_n = function(series, report->start_ns, report->interval_ns, months, n);
    *ret = months;
    return 0;
}

static int tables(const struct metrics_series *series, size_t drawdowns, struct backtest_report *report)
{
    int r = calendar(metrics_months, series, report, &report->months, &report->n_months);
    if (r == 0)
        r = calendar(metrics_years, series, report, &report->years, &report->n_years);
    if (r < 0)
        return r;
    report->drawdowns = calloc(drawdowns + 1, sizeof *report->drawdowns);
    if (!report->drawdowns)
        return -ENOMEM;
    report->n_drawdowns = metrics_drawdowns(series, report->drawdowns, drawdowns);
    return 0;
}

static int against(const struct metrics_series *series, const struct backtest_config *config, int account,
                   const struct report_config *options, struct backtest_report *report)
{
    struct metrics_series benchmark = metrics_equity(options->given_start, options->given, series->n);
    double *held = NULL;
    if (options->benchmark == REPORT_BENCHMARK_NONE)
        return 0;
    if (options->benchmark == REPORT_BENCHMARK_GIVEN) {
        if (!options->given)
            return -EINVAL;
    } else {
        int r = backtest_report_benchmark(config, account, options, &held);
        if (r < 0)
            return r == -ENOENT ? 0 : r;
        benchmark = metrics_equity(series->start, held, series->n);
    }
    metrics_compute(&benchmark, report->periods_per_year, &report->benchmark);
    metrics_against(series, &benchmark, report->periods_per_year, &report->against);
    free(held);
    return 0;
}

static void trades(const struct backtest_account *account, int currency_scale, struct backtest_report *report)
{
    for (size_t i = 0; i < account->n_trades; i++) {
        const struct backtest_trade *trade = &account->trades[i];
        double profit = decimal_to_double(trade->profit, currency_scale);
        if (trade->exit_ns == 0) {
            report->open_trades++;
            report->open_profit += profit;
        } else {
            metrics_trades_add(&report->trades, profit, trade->exit_ns - trade->entry_ns);
        }
    }
    report->ratios = metrics_trade_ratios(&report->trades);
    report->average_held_s = report->ratios.average_held_ns * 1e-9;
}

static void costs(const struct backtest_account *account, double level, int currency_scale,
                  struct backtest_report *report)
{
    double years = (double)report->rows / report->periods_per_year;
    report->fees = decimal_to_double(account->fees, currency_scale);
    report->turnover = decimal_to_double(account->turnover, currency_scale);
    report->turnover_year = report->turnover / level / years;
    double gross = report->final_equity - report->start_equity + report->fees;
    report->fees_of_gross_profit = gross > 0 && gross >= report->fees ? report->fees / gross : NAN;
    report->fees_of_turnover = report->fees / report->turnover;
    report->exposure = (double)account->exposed / (double)report->rows;
    for (int reason = 0; reason < ORDER_REASONS; reason++)
        report->refused += account->refused[reason];
}

int backtest_report(const struct backtest_config *config, const struct backtest *backtest, int account,
                    const struct report_config *options, struct backtest_report *ret)
{
    const struct market *market = config->market;
    const struct account_spec *spec = &config->accounts[account];
    const struct backtest_account *result = &backtest->accounts[account];
    int scale = spec->currency_scale;
    size_t rows = backtest->to - backtest->from;
    struct backtest_report report = {
        .rows = rows,
        .start_ns = market->start_ns + (int64_t)backtest->from * market->interval_ns,
        .end_ns = market->start_ns + (int64_t)backtest->to * market->interval_ns,
        .interval_ns = market->interval_ns,
        .periods_per_year = metrics_periods_per_year(market->interval_ns),
        .start_equity = decimal_to_double(spec->cash, scale),
        .final_equity = decimal_to_double(result->final_equity, scale),
        .final_cash = decimal_to_double(result->final_cash, scale),
        .tails = {NAN, NAN, NAN},
        .stability = NAN,
        .against = {NAN, NAN},
    };
    struct metrics_series series = metrics_equity(report.start_equity, result->equity, rows);
    struct metrics_series nothing = metrics_returns(NULL, 0);
    metrics_look(&series, report.periods_per_year, &report.metrics);
    metrics_compute(&nothing, report.periods_per_year, &report.benchmark);
    int r = against(&series, config, account, options, &report);
    if (r == 0)
        r = tables(&series, options->drawdowns, &report);
    if (r == 0 && options->tails) {
        r = metrics_tails(&series, &report.tails);
        report.stability = metrics_stability(&series);
    }
    if (r < 0) {
        backtest_report_finish(&report);
        return r;
    }
    trades(result, scale, &report);
    costs(result, series.level, scale, &report);
    *ret = report;
    return 0;
}

void backtest_report_finish(struct backtest_report *report)
{
    free(report->months);
    free(report->years);
    free(report->drawdowns);
    *report = (struct backtest_report){0};
}
