#include <errno.h>
#include <stdlib.h>

#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/step/momentum.h"

static double highest_of(const double *x, size_t n)
{
    double highest = x[0];
    for (size_t i = 1; i < n; i++)
        if (x[i] > highest)
            highest = x[i];
    return highest;
}

static double lowest_of(const double *x, size_t n)
{
    double lowest = x[0];
    for (size_t i = 1; i < n; i++)
        if (x[i] < lowest)
            lowest = x[i];
    return lowest;
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* K of bars period-1..n-1. */
static void stochastic(const double *high, const double *low, const double *close, size_t period, size_t n,
                       double *k)
{
    for (size_t i = period - 1; i < n; i++) {
        size_t oldest = i + 1 - period;
        k[i] = stochastic_value(close[i], lowest_of(low + oldest, period), highest_of(high + oldest, period));
    }
}

int reference_willr(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    for (size_t i = period - 1; i < n; i++) {
        size_t oldest = i + 1 - period;
        out[0][i] = willr_value(in->close[i], lowest_of(in->low + oldest, period),
                                highest_of(in->high + oldest, period));
    }
    return 0;
}

int reference_stochf(const double options[], const struct indicator_columns *in, size_t n,
                     double *const out[])
{
    size_t k_period = (size_t)options[0], d_period = (size_t)options[1];
    double *k = malloc(n * sizeof(double));
    if (!k)
        return -ENOMEM;
    stochastic(in->high, in->low, in->close, k_period, n, k);
    for (size_t i = k_period + d_period - 2; i < n; i++) {
        out[0][i] = k[i];
        out[1][i] = mean_of(k + (i + 1 - d_period), d_period);
    }
    free(k);
    return 0;
}

int reference_stoch(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t fast = (size_t)options[0], k_period = (size_t)options[1], d_period = (size_t)options[2];
    double *k = malloc(2 * n * sizeof(double));
    if (!k)
        return -ENOMEM;
    double *slow_k = k + n;
    stochastic(in->high, in->low, in->close, fast, n, k);
    for (size_t i = fast + k_period - 2; i < n; i++)
        slow_k[i] = mean_of(k + (i + 1 - k_period), k_period);
    for (size_t i = fast + k_period + d_period - 3; i < n; i++) {
        out[0][i] = slow_k[i];
        out[1][i] = mean_of(slow_k + (i + 1 - d_period), d_period);
    }
    free(k);
    return 0;
}

int reference_stochrsi(const double options[], const struct indicator_columns *in, size_t n,
                       double *const out[])
{
    size_t first = (size_t)options[0], k_period = (size_t)options[1], d_period = (size_t)options[2];
    double *rsi = malloc(2 * n * sizeof(double));
    if (!rsi)
        return -ENOMEM;
    double *k = rsi + n;
    reference_rsi(options, in, n, (double *const[]){rsi});
    stochastic(rsi + first, rsi + first, rsi + first, k_period, n - first, k + first);
    for (size_t i = first + k_period + d_period - 2; i < n; i++) {
        out[0][i] = k[i];
        out[1][i] = mean_of(k + (i + 1 - d_period), d_period);
    }
    free(rsi);
    return 0;
}
