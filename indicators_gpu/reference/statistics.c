#include "indicators_gpu/reference/reference.h"

#include <errno.h>
#include <stdlib.h>

#include "indicators_gpu/step/statistics.h"

/* Windows computed side by side: see moving_averages.c. */
enum { LANES = 16 };

/* The spreads of LANES windows, each of `period` values, that begin at x[0], x[1] and so on. */
static void spreads(const double *x, size_t period, struct spread ret[LANES])
{
    double sum[LANES] = {0}, mean[LANES], squares[LANES] = {0};

    for (size_t j = 0; j < period; j++)
        for (size_t lane = 0; lane < LANES; lane++)
            sum[lane] += x[j + lane] - x[lane];
    for (size_t lane = 0; lane < LANES; lane++)
        mean[lane] = sum[lane] / (double)period;
    for (size_t j = 0; j < period; j++)
        for (size_t lane = 0; lane < LANES; lane++) {
            double off = (x[j + lane] - x[lane]) - mean[lane];
            squares[lane] += off * off;
        }
    for (size_t lane = 0; lane < LANES; lane++)
        ret[lane] = (struct spread){mean[lane], squares[lane] / (double)period};
}

static struct spread spread_of(const double *x, size_t period)
{
    double sum = 0.0, squares = 0.0;

    for (size_t j = 0; j < period; j++)
        sum += x[j] - x[0];
    double mean = sum / (double)period;
    for (size_t j = 0; j < period; j++) {
        double off = (x[j] - x[0]) - mean;
        squares += off * off;
    }
    return (struct spread){mean, squares / (double)period};
}

/* A row's function of a window's spread and of its newest value less its oldest. */
typedef double of_spread(struct spread spread, double newest, double factor);

static double deviation_of(struct spread spread, double newest, double factor)
{
    (void)newest;
    return sqrt(spread.variance) * factor;
}

static double variance_of(struct spread spread, double newest, double factor)
{
    (void)newest, (void)factor;
    return spread.variance;
}

static double zscore_of(struct spread spread, double newest, double factor)
{
    (void)factor;
    return zscore_value(newest, spread.mean, spread.variance);
}

static int each_spread(of_spread *row, const double *x, size_t n, size_t period, double factor, double *out)
{
    struct spread spread[LANES];
    size_t first = 0, last = period - 1;

    for (; last + LANES <= n; first += LANES, last += LANES) {
        spreads(x + first, period, spread);
        for (size_t lane = 0; lane < LANES; lane++)
            out[last + lane] = row(spread[lane], x[last + lane] - x[first + lane], factor);
    }
    for (; last < n; first++, last++)
        out[last] = row(spread_of(x + first, period), x[last] - x[first], factor);
    return 0;
}

int reference_stddev(const double options[], const struct indicator_columns *in, size_t n,
                     double *const out[])
{
    return each_spread(deviation_of, in->close, n, (size_t)options[0], options[1], out[0]);
}

int reference_var(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    return each_spread(variance_of, in->close, n, (size_t)options[0], 0.0, out[0]);
}

int reference_zscore(const double options[], const struct indicator_columns *in, size_t n,
                     double *const out[])
{
    return each_spread(zscore_of, in->close, n, (size_t)options[0], 0.0, out[0]);
}

int reference_linreg_slope(const double options[], const struct indicator_columns *in, size_t n,
                           double *const out[])
{
    size_t period = (size_t)options[0], first = 0, last = period - 1;
    const double *x = in->close;
    double divisor = linreg_divisor(options[0]), *slope = out[0];

    for (; last + LANES <= n; first += LANES, last += LANES) {
        double sum[LANES] = {0};
        for (size_t j = 0; j < period; j++) {
            double weight = linreg_weight((double)j, options[0]);
            for (size_t lane = 0; lane < LANES; lane++)
                sum[lane] += weight * (x[first + j + lane] - x[first + lane]);
        }
        for (size_t lane = 0; lane < LANES; lane++)
            slope[last + lane] = sum[lane] / divisor;
    }
    for (; last < n; first++, last++) {
        double sum = 0.0;
        for (size_t j = 0; j < period; j++)
            sum += linreg_weight((double)j, options[0]) * (x[first + j] - x[first]);
        slope[last] = sum / divisor;
    }
    return 0;
}

int reference_linreg_angle(const double options[], const struct indicator_columns *in, size_t n,
                           double *const out[])
{
    reference_linreg_slope(options, in, n, out);
    for (size_t i = (size_t)options[0] - 1; i < n; i++)
        out[0][i] = linreg_degrees(out[0][i]);
    return 0;
}

int reference_log_return(const double options[], const struct indicator_columns *in, size_t n,
                         double *const out[])
{
    size_t bars = (size_t)options[0];

    for (size_t i = bars; i < n; i++)
        out[0][i] = exact_log_quotient(in->close[i - bars], in->close[i]);
    return 0;
}

/* Puts the value that would stand at `place` if x were sorted there, none above it before, none below it
 * behind (Hoare's selection). */
static void select_place(double *x, size_t n, size_t place)
{
    size_t low = 0, high = n - 1;

    while (low < high) {
        double pivot = x[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i >= j)
                break;
            double swap = x[i];
            x[i++] = x[j];
            x[j--] = swap;
        }
        if (place <= j)
            high = j;
        else
            low = j + 1;
    }
}

int reference_quantile(const double options[], const struct indicator_columns *in, size_t n,
                       double *const out[])
{
    size_t period = (size_t)options[0];
    struct quantile_place place = quantile_place((uint32_t)period, options[1]);
    double *window = malloc(period * sizeof(double));
    if (!window)
        return -ENOMEM;

    for (size_t i = period - 1; i < n; i++) {
        for (size_t j = 0; j < period; j++)
            window[j] = in->close[i - j] + 0.0; /* one zero only */
        select_place(window, period, place.below);
        double below = window[place.below], above = below;
        for (size_t j = place.below + 1; j < period; j++)
            if (j == place.below + 1 || window[j] < above)
                above = window[j];
        out[0][i] = quantile_between(below, above, place.share);
    }
    free(window);
    return 0;
}

int reference_rank(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    const double *x = in->close;

    for (size_t i = period - 1; i < n; i++) {
        uint32_t below = 0, equal = 0;
        for (size_t j = i - (period - 1); j <= i; j++) {
            below += x[j] < x[i];
            equal += x[j] == x[i];
        }
        out[0][i] = rank_value(below, equal, options[0]);
    }
    return 0;
}
