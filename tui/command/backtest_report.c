#include "tui/command/backtest_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "exchange/decimal.h"

struct benchmark benchmark_of(const struct market *market, int symbol, size_t from, size_t to)
{
    const struct market_series *series = &market->series[symbol];
    (void)to;
    return (struct benchmark){.closes = series->close + from,
                              .start = from > 0 ? series->close[from - 1] : series->open[0]};
}

static void sum_trades(const struct backtest_account *account, int scale, struct account_report *ret)
{
    for (size_t i = 0; i < account->n_trades; i++) {
        const struct backtest_trade *trade = &account->trades[i];
        if (trade->exit_ns == 0) {
            ret->open_trades++;
            continue;
        }
        metrics_trades_add(&ret->trades, decimal_to_double(trade->profit, scale),
                           trade->exit_ns - trade->entry_ns);
    }
    ret->ratios = metrics_trade_ratios(&ret->trades);
}

static int sum_months(const struct metrics_series *series, const struct market *market, size_t from,
                      struct account_report *ret)
{
    int64_t first_ns = market_open_ns(market, from);
    size_t n = metrics_months(series, first_ns, market->interval_ns, NULL, 0);
    ret->months = calloc(n + 1, sizeof *ret->months);
    if (!ret->months)
        return -ENOMEM;
    ret->n_months = metrics_months(series, first_ns, market->interval_ns, ret->months, n);
    return 0;
}

static double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return n > 0 ? sum / (double)n : NAN;
}

int account_report_make(const struct market *market, const struct backtest *backtest, int account,
                        const struct account_spec *spec, const struct benchmark *benchmark,
                        struct account_report *ret)
{
    const struct backtest_account *of = &backtest->accounts[account];
    int scale = spec->currency_scale;
    size_t n = backtest->to - backtest->from;
    struct account_report report = {.start = decimal_to_double(spec->cash, scale),
                                    .final = decimal_to_double(of->final_equity, scale),
                                    .exposure = (double)of->exposed / (double)n,
                                    .fees = decimal_to_double(of->fees, scale),
                                    .turnover = decimal_to_double(of->turnover, scale)};
    struct metrics_series series = metrics_equity(report.start, of->equity, n);
    struct metrics_series held = metrics_equity(benchmark->start, benchmark->closes, n);
    double periods = metrics_periods_per_year(market->interval_ns);
    metrics_compute(&series, periods, &report.metrics);
    metrics_against(&series, &held, periods, &report.against);
    report.n_drawdowns = metrics_drawdowns(&series, report.drawdowns, REPORT_DRAWDOWNS);
    sum_trades(of, scale, &report);
    double before_fees = report.final - report.start + report.fees;
    report.fee_share = before_fees > 0 ? report.fees / before_fees : NAN;
    report.turns = report.turnover / mean_of(of->equity, n);
    for (int why = 0; why < ORDER_REASONS; why++)
        report.refused += of->refused[why];
    if (metrics_tails(&series, &report.tails) < 0 || sum_months(&series, market, backtest->from, &report) < 0)
        return -ENOMEM;
    *ret = report;
    return 0;
}

void account_report_finish(struct account_report *report)
{
    free(report->months);
    report->months = NULL;
}
