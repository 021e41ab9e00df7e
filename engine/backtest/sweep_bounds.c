#include "engine/backtest/sweep_bounds.h"

#include <math.h>
#include <string.h>

#include "strategy/metrics/deflate.h"

/* Metrics of closed trades are undefined without one; those of returns where nothing was ever held, which the
 * screen knows exactly, and where a sum of losses is 0, which it does not. */
static bool undefined(const struct screen_row *row, enum sweep_metric metric)
{
    bool of_trades = metric == SWEEP_PROFIT_FACTOR || metric == SWEEP_EXPECTANCY || metric == SWEEP_SQN ||
                     metric == SWEEP_WIN_RATE;
    if (of_trades)
        return row->trades < (metric == SWEEP_SQN ? 2 : 1);
    return row->fills == 0;
}

static bool claims(const struct screen_row *row, enum sweep_metric metric)
{
    return !isnan(row->metrics[metric]) && !backtest_screen_uncertain(row->metrics[metric]);
}

bool backtest_sweep_bounds_unknown(const struct screen_row *row)
{
    return row->fills > 0 && !claims(row, SWEEP_SHARPE);
}

/* ---- the deflated Sharpe ratio ---- */

struct bounds_moments {
    double sharpe, skew, kurtosis; /* a row's; 3 of a normal distribution */
};

static struct bounds_moments moments_of(const struct sweep_bounds *bounds, size_t i)
{
    const struct sweep_result *exact = bounds->exact[i];
    const struct screen_row *row = &bounds->rows[i];
    double year = sqrt(bounds->periods);
    return exact ? (struct bounds_moments){exact->metrics[SWEEP_SHARPE] / year, exact->skew, exact->kurtosis}
                 : (struct bounds_moments){row->metrics[SWEEP_SHARPE] / year, (double)row->skew,
                                           (double)row->kurtosis + 3};
}

/* Of the screen's moments, as stated. */
static struct bounds_moments errors_of(const struct sweep_bounds *bounds, const struct bounds_moments *m)
{
    double year = sqrt(bounds->periods);
    return (struct bounds_moments){backtest_screen_error(SWEEP_SHARPE, m->sharpe * year) / year,
                                   SCREEN_MOMENTS_ERROR * (1 + fabs(m->skew)),
                                   SCREEN_MOMENTS_ERROR * (1 + fabs(m->kurtosis))};
}

/* By how much the sum under the root of the scale is off: its derivatives, and a tenth for what is beyond. */
static double scale_error(const struct bounds_moments *m, const struct bounds_moments *off)
{
    double s = fabs(m->sharpe);
    return 1.1 *
           (s * off->skew + fabs(m->skew) * off->sharpe + s * s * off->kurtosis / 4 +
            fabs(m->kurtosis - 1) / 2 * s * off->sharpe + off->sharpe * off->sharpe * fabs(m->kurtosis));
}

static void exact_deflated(const struct sweep_bounds *bounds, const struct bounds_moments *m, double *ret_low,
                           double *ret_high)
{
    double scale = overfit_deflated_moments(m->sharpe, m->skew, m->kurtosis, bounds->length, 0).scale;
    *ret_low = isnan(scale) ? -INFINITY : (m->sharpe - bounds->expected_high) * scale;
    *ret_high = isnan(scale) ? -INFINITY : (m->sharpe - bounds->expected_low) * scale;
}

/* In standard errors: dsr_errors. */
static void deflated(const struct sweep_bounds *bounds, size_t i, double *ret_low, double *ret_high)
{
    const struct screen_row *row = &bounds->rows[i];
    struct bounds_moments m = moments_of(bounds, i), off = errors_of(bounds, &m);
    if (bounds->exact[i]) {
        exact_deflated(bounds, &m, ret_low, ret_high);
        return;
    }
    double off_sharpe = bounds->wide * off.sharpe, off_scale = bounds->wide * scale_error(&m, &off);
    double sum = 1 - m.skew * m.sharpe + (m.kurtosis - 1) / 4 * m.sharpe * m.sharpe;
    double root = sqrt((double)bounds->length - 1), least = root / sqrt(sum + off_scale),
           most = root / sqrt(sum - off_scale);
    double low = m.sharpe - off_sharpe - bounds->expected_high,
           high = m.sharpe + off_sharpe - bounds->expected_low;
    bool known = claims(row, SWEEP_SHARPE) && isfinite(least) && isfinite(most);
    *ret_low = known ? low * (low < 0 ? most : least) : -INFINITY;
    *ret_high = known ? high * (high < 0 ? least : most) : INFINITY;
}

/* 0 of equity that never moved, as backtest_luck() has it. */
static double sharpe_of(const struct sweep_bounds *bounds, size_t i)
{
    double sharpe = moments_of(bounds, i).sharpe;
    return isfinite(sharpe) ? sharpe : 0;
}

static double error_of(const struct sweep_bounds *bounds, size_t i)
{
    struct bounds_moments m = moments_of(bounds, i);
    return bounds->exact[i] || bounds->rows[i].fills == 0 ? 0 : bounds->wide * errors_of(bounds, &m).sharpe;
}

void backtest_sweep_bounds_luck(struct sweep_bounds *bounds)
{
    double mean = 0, squares = 0, errors = 0, n = 0;
    for (size_t i = 0; i < bounds->n; i++)
        n += bounds->rows[i].state == SCREEN_RUN;
    for (size_t i = 0; i < bounds->n; i++)
        mean += bounds->rows[i].state == SCREEN_RUN ? sharpe_of(bounds, i) / n : 0;
    for (size_t i = 0; i < bounds->n; i++) {
        double apart = sharpe_of(bounds, i) - mean, off = error_of(bounds, i);
        squares += bounds->rows[i].state == SCREEN_RUN ? apart * apart : 0;
        errors += bounds->rows[i].state == SCREEN_RUN ? off * off : 0;
    }
    double deviation = n > 1 ? sqrt(squares / (n - 1)) : 0, off = n > 1 ? sqrt(errors / (n - 1)) : 0;
    double low = deviation > off ? deviation - off : 0, high = deviation + off;
    low = overfit_luck_variance(low * low, bounds->length);
    high = overfit_luck_variance(high * high, bounds->length);
    bounds->expected_low = overfit_expected_sharpe((size_t)n, low);
    bounds->expected_high = overfit_expected_sharpe((size_t)n, high);
}

/* ---- all metrics ---- */

void backtest_sweep_bounds_of(const struct sweep_bounds *bounds, size_t i, double *ret_low, double *ret_high)
{
    enum sweep_metric metric = bounds->metric;
    const struct screen_row *row = &bounds->rows[i];
    if (metric == SWEEP_DSR && (bounds->exact[i] || row->fills > 0)) {
        deflated(bounds, i, ret_low, ret_high);
        return;
    }
    double value = metric == SWEEP_DSR ? NAN
                   : bounds->exact[i]  ? bounds->exact[i]->metrics[metric]
                                       : row->metrics[metric];
    if (bounds->exact[i] || metric == SWEEP_DSR || undefined(row, metric)) {
        *ret_low = *ret_high = isnan(value) ? -INFINITY : value;
    } else if (!claims(row, metric)) {
        *ret_low = -INFINITY;
        *ret_high = INFINITY;
    } else {
        double error = bounds->wide * backtest_screen_error(metric, value);
        *ret_low = value - error;
        *ret_high = value + error;
    }
}

bool backtest_sweep_bounds_before(const struct sweep_bounds *bounds, size_t i, size_t k)
{
    double low[2], high[2];
    backtest_sweep_bounds_of(bounds, i, &low[0], &high[0]);
    backtest_sweep_bounds_of(bounds, k, &low[1], &high[1]);
    return (high[0] > high[1] && low[0] > low[1]) || (high[0] == high[1] && low[0] == low[1]);
}

static double times(double value, double is, double error)
{
    double ret = fabs(value - is) / error;
    return ret >= 0 && isfinite(ret) ? ret : 0;
}

double backtest_sweep_bounds_measured(const struct sweep_bounds *bounds, size_t i)
{
    enum sweep_metric metric = bounds->metric == SWEEP_DSR ? SWEEP_SHARPE : bounds->metric;
    const struct screen_row *row = &bounds->rows[i];
    const struct sweep_result *exact = bounds->exact[i];
    if (undefined(row, metric) || !claims(row, metric))
        return 0;
    double value = row->metrics[metric];
    double most = times(value, exact->metrics[metric], backtest_screen_error(metric, value));
    if (bounds->metric != SWEEP_DSR)
        return most;
    double skew = (double)row->skew, kurtosis = (double)row->kurtosis + 3;
    most = fmax(most, times(skew, exact->skew, SCREEN_MOMENTS_ERROR * (1 + fabs(skew))));
    return fmax(most, times(kurtosis, exact->kurtosis, SCREEN_MOMENTS_ERROR * (1 + fabs(kurtosis))));
}

/* ---- as a row ---- */

/* Sums as overfit_block() has them. */
static void blocks_of(const struct screen_row *row, size_t length, struct sweep_result *to)
{
    for (int b = 0; length > 1 && b < SWEEP_BLOCKS; b++) {
        double sum = (double)row->block_sum[b], n = (double)length;
        double squares = (double)row->block_square[b] - sum * sum / n;
        to->block_mean[b] = isfinite(sum) ? sum / n : 0;
        to->block_squares[b] = squares > 0 && isfinite(squares) ? squares : 0;
    }
}

struct sweep_result backtest_sweep_bounds_row(size_t combination, const struct screen_row *row, size_t length)
{
    struct sweep_result result = {.combination = combination,
                                  .final_equity = (double)row->final_equity,
                                  .fees = (double)row->fees,
                                  .exposure = (double)row->exposure,
                                  .trades = row->trades,
                                  .fills = row->fills,
                                  .refused = row->refused,
                                  .skew = (double)row->skew,
                                  .kurtosis = (double)row->kurtosis + 3,
                                  .dsr = NAN,
                                  .dsr_errors = NAN};
    memcpy(result.metrics, row->metrics, sizeof result.metrics);
    blocks_of(row, length, &result);
    return result;
}
