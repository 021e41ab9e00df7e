#include "indicators_gpu/reference/reference.h"

#include <errno.h>
#include <stdlib.h>

#include "indicators_gpu/step/moving_averages.h"

/* Windows computed side by side: enough independent sums to hide the latency of an addition. Each window is
 * still summed from its oldest value to its newest, so the grouping changes no bit. */
enum { SMA_LANES = 16 };

int reference_sma(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0], i = period - 1;
    const double *x = in->close;
    double *mean = out[0];

    for (; i + SMA_LANES <= n; i += SMA_LANES) {
        const double *oldest = x + (i - (period - 1));
        double sum[SMA_LANES] = {0};
        for (size_t j = 0; j < period; j++)
            for (size_t lane = 0; lane < SMA_LANES; lane++)
                sum[lane] += oldest[j + lane];
        for (size_t lane = 0; lane < SMA_LANES; lane++)
            mean[i + lane] = sum[lane] / options[0];
    }
    for (; i < n; i++) {
        double sum = 0.0;
        for (size_t j = i - (period - 1); j <= i; j++)
            sum += x[j];
        mean[i] = sum / options[0];
    }
    return 0;
}

int reference_ema(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    const double *x = in->close;
    double k = ema_factor(options[0]), y = 0.0;

    for (size_t i = 0; i < period; i++)
        y += x[i];
    y /= options[0];
    out[0][period - 1] = y;
    for (size_t i = period; i < n; i++)
        out[0][i] = y = ema_next(y, x[i], k);
    return 0;
}

/* Fills mean[period-1..n) with the weighted means of x, side by side like SMA's. */
static void weighted_means(const double *x, size_t n, size_t period, double *mean)
{
    double weights = wma_weights((double)period);
    size_t i = period - 1;

    for (; i + SMA_LANES <= n; i += SMA_LANES) {
        const double *oldest = x + (i - (period - 1));
        double sum[SMA_LANES] = {0};
        for (size_t j = 0; j < period; j++)
            for (size_t lane = 0; lane < SMA_LANES; lane++)
                sum[lane] += (double)(j + 1) * oldest[j + lane];
        for (size_t lane = 0; lane < SMA_LANES; lane++)
            mean[i + lane] = sum[lane] / weights;
    }
    for (; i < n; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < period; j++)
            sum += (double)(j + 1) * x[i - (period - 1) + j];
        mean[i] = sum / weights;
    }
}

int reference_wma(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    weighted_means(in->close, n, (size_t)options[0], out[0]);
    return 0;
}

/* The second average's seed is the mean of the first's first values, and so on. */
int reference_dema(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0], i = 0;
    const double *x = in->close;
    double k = ema_factor(options[0]), once = 0.0, twice = 0.0;

    while (i < period)
        once += x[i++];
    once /= options[0];
    for (twice += once; i < 2 * period - 1; twice += once)
        once = ema_next(once, x[i++], k);
    twice /= options[0];
    for (;;) {
        out[0][i - 1] = dema_value(once, twice);
        if (i == n)
            return 0;
        once = ema_next(once, x[i++], k);
        twice = ema_next(twice, once, k);
    }
}

int reference_tema(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0], i = 0;
    const double *x = in->close;
    double k = ema_factor(options[0]), once = 0.0, twice = 0.0, thrice = 0.0;

    while (i < period)
        once += x[i++];
    once /= options[0];
    for (twice += once; i < 2 * period - 1; twice += once)
        once = ema_next(once, x[i++], k);
    twice /= options[0];
    for (thrice += twice; i < 3 * period - 2; thrice += twice) {
        once = ema_next(once, x[i++], k);
        twice = ema_next(twice, once, k);
    }
    thrice /= options[0];
    for (;;) {
        out[0][i - 1] = tema_value(once, twice, thrice);
        if (i == n)
            return 0;
        once = ema_next(once, x[i++], k);
        twice = ema_next(twice, once, k);
        thrice = ema_next(thrice, twice, k);
    }
}

int reference_kama(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    const double *x = in->close;
    double y = x[period - 1];

    for (size_t i = period; i < n; i++) {
        double path = 0.0;
        for (size_t j = i - period; j < i; j++)
            path += fabs(x[j + 1] - x[j]);
        out[0][i] = y = kama_next(y, x[i], x[i] - x[i - period], path);
    }
    return 0;
}

int reference_hma(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0], first = period - 1;
    double *half = malloc(n * sizeof(double)), *whole = malloc(n * sizeof(double));
    int r = half && whole ? 0 : -ENOMEM;

    if (r == 0) {
        weighted_means(in->close, n, hma_half(options[0]), half);
        weighted_means(in->close, n, period, whole);
        for (size_t i = first; i < n; i++)
            whole[i] = hma_raw(half[i], whole[i]);
        weighted_means(whole + first, n - first, hma_root(options[0]), out[0] + first);
    }
    free(half);
    free(whole);
    return r;
}
