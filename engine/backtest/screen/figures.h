/* What a set's sums are as figures: the formulas of strategy/metrics.c and metrics/trades.c. */
#ifndef ENGINE_BACKTEST_SCREEN_FIGURES_H
#define ENGINE_BACKTEST_SCREEN_FIGURES_H

#include <math.h>

#include "engine/backtest/screen/account.h"
#include "engine/backtest/screen/row.h"

/* Of all sets: rows, those of a year, the one behind the last; the last close, in units. */
struct screen_span {
    double rows, per_year;
    uint32_t to;
    double last;
};

struct screen_moments {
    double n, mean, squares, m2, m3, m4;
};

SCREEN_RULE struct screen_moments screen_moments(const struct screen_group *g, int lane, double n)
{
    double s1 = g->sums[SUM_R][lane] / n, s2 = g->sums[SUM_R2][lane] / n, s3 = g->sums[SUM_R3][lane] / n,
           s4 = g->sums[SUM_R4][lane] / n;
    struct screen_moments m = {n, s1, 0, s2 - s1 * s1, 0, 0};
    m.m2 = m.m2 > 0 ? m.m2 : 0;
    m.squares = m.m2 * n;
    m.m3 = s3 - 3 * s1 * s2 + 2 * s1 * s1 * s1;
    m.m4 = s4 - 4 * s1 * s3 + 6 * s1 * s1 * s2 - 3 * s1 * s1 * s1 * s1;
    return m;
}

SCREEN_RULE void screen_ratios(const struct screen_terms *terms, const struct screen_span *span,
                               const struct screen_group *g, int lane, double equity, struct screen_row *row)
{
    double per_year = span->per_year, n = span->rows;
    struct screen_moments m = screen_moments(g, lane, n);
    double deviation = n > 1 ? sqrt(m.squares / (n - 1)) : NAN, product = equity / terms->cash;
    double downside = sqrt(g->sums[SUM_DOWN2][lane] / n) * sqrt(per_year), loss = g->sums[SUM_LOSS][lane];
    double drawdown = (double)g->trough[lane], cagr = pow(product, 1 / (n / per_year)) - 1;
    double *out = row->metrics;
    out[SWEEP_SHARPE] = (m.mean / deviation * sqrt(per_year));
    out[SWEEP_SORTINO] = (m.mean * per_year / downside);
    out[SWEEP_CALMAR] = drawdown < 0 && isfinite(cagr) ? cagr / -drawdown : NAN;
    out[SWEEP_CAGR] = cagr;
    out[SWEEP_RETURN] = (product - 1);
    out[SWEEP_MAX_DRAWDOWN] = drawdown;
    out[SWEEP_OMEGA] = (loss < 0 ? (g->sums[SUM_R][lane] - loss) / -loss : NAN);
    row->skew = (float)(m.m3 / pow(m.m2, 1.5));
    row->kurtosis = (float)(m.m4 / (m.m2 * m.m2) - 3);
}

SCREEN_RULE void screen_trade_figures(const struct screen_account *account, double units,
                                      struct screen_row *row)
{
    double n = account->trades, won = account->won / units, lost = account->lost / units;
    double off = account->off / n, mean = (account->shift + off) / units;
    double deviation = sqrt((account->squares - n * off * off) / (n - 1)) / units;
    double *out = row->metrics;
    out[SWEEP_PROFIT_FACTOR] = won / fabs(lost);
    out[SWEEP_EXPECTANCY] = n > 0 ? mean : NAN;
    out[SWEEP_SQN] = n < 2 ? NAN : sqrt(n) * mean / deviation;
    out[SWEEP_WIN_RATE] = account->wins / n;
}

/* All of a lane's row but its state. */
SCREEN_RULE void screen_figures(const struct screen_terms *terms, const struct screen_span *span,
                                struct screen_group *g, int lane, struct screen_row *row)
{
    screen_finish(terms, g, lane, span->last);
    double equity = g->money[lane] + g->units[lane] * span->last / terms->unit;
    double exposed = g->accounts[lane].exposed;
    if (g->units[lane] != 0)
        exposed += (double)(span->to - g->accounts[lane].entry_row);
    screen_ratios(terms, span, g, lane, equity, row);
    screen_trade_figures(&g->accounts[lane], terms->money_units, row);
    row->final_equity = (float)(equity / terms->money_units);
    row->fees = (float)(g->accounts[lane].fees / terms->money_units);
    row->exposure = (float)(exposed / span->rows);
    row->trades = g->accounts[lane].trades;
    row->fills = g->accounts[lane].fills;
    row->refused = g->accounts[lane].refused;
    for (int k = 0; k < SWEEP_BLOCKS; k++) {
        row->block_sum[k] = (float)g->block_sum[k][lane];
        row->block_square[k] = (float)g->block_square[k][lane];
    }
}

#endif
