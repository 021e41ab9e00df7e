/* By what a device ranks screened sets: only which of them are looked at first, since what the error leaves
 * open is decided on the CPU. For host and device alike. */
#ifndef ENGINE_BACKTEST_SCREEN_RANK_H
#define ENGINE_BACKTEST_SCREEN_RANK_H

#include <math.h>

#include "engine/backtest/screen/lanes.h"
#include "engine/backtest/screen/row.h"

struct screen_ranking {
    enum sweep_metric metric;
    uint32_t min_trades; /* with fewer a set is not ranked */
    double rows, year;   /* of a run; the root of a year's rows */
    double expected;     /* of SWEEP_DSR: the Sharpe ratio, a row's, that luck would show */
};

struct screen_ranked {
    double key; /* more is better; -INFINITY: not ranked */
    uint32_t at, unused;
};

/* Of the Sharpe ratios, a row's, 0 of equity that never moved. */
struct screen_luck {
    double n, sum, squares;
};

SCREEN_RULE double screen_row_sharpe(const struct screen_ranking *by, const struct screen_row *row)
{
    double sharpe = row->metrics[SWEEP_SHARPE] / by->year;
    return isfinite(sharpe) ? sharpe : 0;
}

/* overfit_deflated_moments(), in standard errors. */
SCREEN_RULE double screen_deflated(const struct screen_ranking *by, const struct screen_row *row)
{
    double sharpe = row->metrics[SWEEP_SHARPE] / by->year, kurtosis = (double)row->kurtosis + 2;
    double variance = 1 - (double)row->skew * sharpe + kurtosis / 4 * sharpe * sharpe;
    return (sharpe - by->expected) * sqrt(by->rows - 1) / sqrt(variance);
}

SCREEN_RULE double screen_key(const struct screen_ranking *by, const struct screen_row *row)
{
    if (row->trades < by->min_trades)
        return -INFINITY;
    double key = by->metric == SWEEP_DSR ? screen_deflated(by, row) : row->metrics[by->metric];
    return isfinite(key) ? key : -INFINITY;
}

/* The better first; of equals the earlier one. */
SCREEN_RULE bool screen_ranked_before(const struct screen_ranked *a, const struct screen_ranked *b)
{
    return a->key != b->key ? a->key > b->key : a->at < b->at;
}

#endif
