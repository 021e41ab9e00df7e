/* A row of a sweep: the figures of one run, and the sums that all of them are judged by. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/report.h"
#include "engine/backtest/sweep.h"
#include "exchange/decimal.h"
#include "strategy/metrics/overfit.h"

static void take(struct sweep_result *to, const struct backtest_report *report)
{
    const struct metrics *m = &report->metrics;
    const double metrics[SWEEP_METRICS] = {
        [SWEEP_SHARPE] = m->sharpe,
        [SWEEP_SORTINO] = m->sortino,
        [SWEEP_CALMAR] = m->calmar,
        [SWEEP_CAGR] = m->cagr,
        [SWEEP_RETURN] = m->total_return,
        [SWEEP_MAX_DRAWDOWN] = m->max_drawdown,
        [SWEEP_OMEGA] = m->omega,
        [SWEEP_PROFIT_FACTOR] = report->ratios.profit_factor,
        [SWEEP_EXPECTANCY] = report->ratios.expectancy,
        [SWEEP_SQN] = report->ratios.sqn,
        [SWEEP_WIN_RATE] = report->ratios.win_rate,
    };
    memcpy(to->metrics, metrics, sizeof metrics);
    to->final_equity = report->final_equity;
    to->fees = report->fees;
    to->exposure = report->exposure;
    to->trades = report->trades.n;
    to->refused = report->refused;
    to->skew = m->skew;
    to->kurtosis = m->kurtosis + 3;
}

/* More than all cannot be lost in a row, and nothing is lost or gained of nothing. */
static void returns_of(double start, const double *equity, size_t n, double *returns)
{
    double before = start;
    for (size_t i = 0; i < n; i++) {
        double r = (equity[i] - before) / before;
        returns[i] = before > 0 && isfinite(r) ? (r < -1 ? -1 : r) : 0;
        before = equity[i];
    }
}

/* The same blocks of returns that nothing else needs: one after the other in the same memory, which stays in
 * the cache. 0 or -ENOMEM. */
static int blocks_alone(double start, const double *equity, size_t rows, struct sweep_result *to)
{
    size_t length = rows / SWEEP_BLOCKS, at = rows % SWEEP_BLOCKS;
    double *block = length > 1 ? malloc(length * sizeof *block) : NULL;
    if (length <= 1)
        return 0;
    if (!block)
        return -ENOMEM;
    for (int b = 0; b < SWEEP_BLOCKS; b++, at += length) {
        returns_of(at > 0 ? equity[at - 1] : start, equity + at, length, block);
        overfit_block(block, length, 1, &to->block_mean[b], &to->block_squares[b]);
    }
    free(block);
    return 0;
}

static void blocks_of(const double *returns, size_t rows, struct sweep_result *to)
{
    size_t length = rows / SWEEP_BLOCKS;
    const double *block = returns + rows % SWEEP_BLOCKS;
    for (int b = 0; length > 1 && b < SWEEP_BLOCKS; b++, block += length)
        overfit_block(block, length, 1, &to->block_mean[b], &to->block_squares[b]);
}

int backtest_sweep_row_of(const struct backtest_report *report, const struct backtest_account *ran,
                          size_t combination, double *returns, struct sweep_result *ret)
{
    struct sweep_result row;
    int r = 0;
    memset(&row, 0, sizeof row);
    row.combination = combination;
    row.fills = ran->n_fills;
    row.exact = true;
    row.dsr = row.dsr_errors = NAN;
    take(&row, report);
    if (returns) {
        returns_of(report->start_equity, ran->equity, report->rows, returns);
        blocks_of(returns, report->rows, &row);
    } else {
        r = blocks_alone(report->start_equity, ran->equity, report->rows, &row);
    }
    if (r == 0)
        memcpy(ret, &row, sizeof row);
    return r;
}

int backtest_sweep_row(const struct backtest_config *config, const struct backtest *backtest, int account,
                       size_t combination, double *returns, struct sweep_result *ret)
{
    const struct report_config options = {.benchmark = REPORT_BENCHMARK_NONE};
    struct backtest_report report;
    int r = backtest_report(config, backtest, account, &options, &report);
    if (r < 0)
        return r;
    r = backtest_sweep_row_of(&report, &backtest->accounts[account], combination, returns, ret);
    backtest_report_finish(&report);
    return r;
}
