#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/step/recurrence.h"

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
