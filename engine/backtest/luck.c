#include "engine/backtest/luck.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "strategy/metrics/deflate.h"
#include "strategy/metrics/overfit.h"

/* A row's; 0 of equity that never moved. */
static double sharpe_of(const struct sweep_result *row, double periods)
{
    double sharpe = row->metrics[SWEEP_SHARPE];
    return isfinite(sharpe) ? sharpe / sqrt(periods) : 0;
}

static double variance_of(const struct sweep_results *results, double periods)
{
    double mean = 0, squares = 0, n = (double)results->n;
    for (size_t i = 0; i < results->n; i++)
        mean += sharpe_of(&results->results[i], periods) / n;
    for (size_t i = 0; i < results->n; i++) {
        double apart = sharpe_of(&results->results[i], periods) - mean;
        squares += apart * apart;
    }
    return results->n > 1 ? squares / (n - 1) : 0;
}

static void deflate(struct sweep_result *row, size_t rows, double periods, double expected)
{
    double sharpe = row->metrics[SWEEP_SHARPE] / sqrt(periods);
    struct deflated of = overfit_deflated_moments(sharpe, row->skew, row->kurtosis, rows, expected);
    row->dsr = of.dsr;
    row->dsr_errors = (sharpe - expected) * of.scale;
}

/* Columns of the blocks' sums, [SWEEP_BLOCKS][n] each, in one allocation. */
static double *columns_of(const struct sweep_results *results)
{
    size_t n = results->n;
    double *mean = calloc(n, 2 * SWEEP_BLOCKS * sizeof *mean);
    for (size_t i = 0; mean && i < n; i++)
        for (size_t b = 0; b < SWEEP_BLOCKS; b++) {
            mean[b * n + i] = results->results[i].block_mean[b];
            mean[(SWEEP_BLOCKS + b) * n + i] = results->results[i].block_squares[b];
        }
    return mean;
}

static int overfit(const struct sweep_results *results, struct backtest_luck *luck)
{
    struct overfit of;
    char err[OVERFIT_ERROR_MAX];
    if (results->n < 2 || results->block_rows == 0)
        return 0;
    double *mean = columns_of(results);
    if (!mean)
        return -ENOMEM;
    const struct overfit_blocks blocks = {results->n, SWEEP_BLOCKS, results->block_rows, mean,
                                          mean + SWEEP_BLOCKS * results->n};
    int r = overfit_of_blocks(&blocks, &of, err);
    free(mean);
    if (r < 0)
        return r;
    luck->pbo = of.pbo;
    luck->loss = of.probability_of_loss;
    luck->splits = of.splits;
    overfit_finish(&of);
    return 0;
}

int backtest_luck(struct sweep_results *results, size_t rows, double periods_per_year,
                  struct backtest_luck *ret)
{
    double variance = variance_of(results, periods_per_year);
    double of_luck = overfit_luck_variance(variance, rows), year = sqrt(periods_per_year);
    double expected = overfit_expected_sharpe(results->n, of_luck);
    struct backtest_luck luck = {.trials = results->n,
                                 .deviation = sqrt(variance) * year,
                                 .deviation_luck = sqrt(of_luck) * year,
                                 .expected = expected * year,
                                 .pbo = NAN,
                                 .loss = NAN};
    int r = overfit(results, &luck);
    if (r < 0)
        return r;
    for (size_t i = 0; i < results->n; i++) {
        deflate(&results->results[i], rows, periods_per_year, expected);
        luck.few += results->results[i].trades < results->min_trades;
    }
    *ret = luck;
    return 0;
}

enum backtest_verdict backtest_luck_verdict(const struct sweep_results *results)
{
    if (results->stopped)
        return BACKTEST_VERDICT_STOPPED;
    if (results->n == 0 || results->results[0].trades < results->min_trades || isnan(results->results[0].dsr))
        return BACKTEST_VERDICT_UNKNOWN;
    return results->results[0].dsr > DEFLATE_LUCK_LEVEL ? BACKTEST_VERDICT_MORE : BACKTEST_VERDICT_LUCK;
}

const char *backtest_luck_word(enum backtest_verdict verdict)
{
    static const char *const words[] = {[BACKTEST_VERDICT_UNKNOWN] = "unknown",
                                        [BACKTEST_VERDICT_LUCK] = "luck",
                                        [BACKTEST_VERDICT_STOPPED] = "stopped",
                                        [BACKTEST_VERDICT_MORE] = "more_than_luck"};
    return words[verdict];
}

int backtest_luck_beside(const struct sweep_results *results, const struct backtest_sets *sets, size_t top,
                         struct backtest_beside *ret)
{
    enum { NOT_RUN = -1 };
    size_t n = sets->n, beside[BACKTEST_SETS_BESIDE];
    ptrdiff_t *rows = malloc((n + 1) * sizeof *rows); /* the row of each set */
    if (!rows)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        rows[i] = NOT_RUN;
    for (size_t i = 0; i < results->n; i++)
        rows[results->results[i].combination] = (ptrdiff_t)i;
    for (size_t i = 0; i < top; i++) {
        size_t found =
            backtest_sets_beside(sets, results->results[i].combination, beside, BACKTEST_SETS_BESIDE);
        double half = results->results[i].metrics[SWEEP_SHARPE] / 2;
        struct backtest_beside of = {0};
        for (size_t k = 0; k < found; k++) {
            if (rows[beside[k]] == NOT_RUN)
                continue;
            double sharpe = results->results[rows[beside[k]]].metrics[SWEEP_SHARPE];
            of.n++;
            of.hold += sharpe > 0 && sharpe >= half;
        }
        of.share = of.n > 0 ? (double)of.hold / (double)of.n : NAN;
        ret[i] = of;
    }
    free(rows);
    return 0;
}
