/* The stationary bootstrap of a mean, and the length of its blocks. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "strategy/metrics/verdict_internal.h"
#include "strategy/philox.h"

/* ---- the length: Politis and White 2004, Patton, Politis and White 2009, for the stationary bootstrap ----
 */

static double covariance(const double *x, size_t n, size_t lag)
{
    double sum = 0;
    for (size_t i = lag; i < n; i++)
        sum += x[i] * x[i - lag];
    return sum / (double)n;
}

/* The smallest lag that `quiet` insignificant ones follow; else the last significant one of all. */
static size_t last_lag(const double *g, size_t lags, size_t quiet, double limit)
{
    size_t run = 0, last = 0;
    for (size_t k = 1; k <= lags; k++) {
        bool significant = fabs(g[k] / g[0]) > limit;
        run = significant ? 0 : run + 1;
        last = significant ? k : last;
        if (run == quiet)
            break;
    }
    return last > 0 ? last : 1;
}

/* G and the spectral density at 0, with the flat-top window to lag m. */
static double choice(const double *g, size_t m, double n)
{
    double slope = 0, density = g[0];
    for (size_t k = 1; k <= m; k++) {
        double share = (double)k / (double)m, window = share <= 0.5 ? 1 : 2 * (1 - share);
        slope += 2 * window * (double)k * g[k];
        density += 2 * window * g[k];
    }
    return density != 0 ? cbrt(2 * slope * slope / (2 * density * density)) * cbrt(n) : 1;
}

double metrics_verdict_block(const double *x, size_t n, double *room)
{
    double rows = (double)n, mean = 0, spread = log10(rows) / rows;
    size_t quiet = (size_t)fmax(5, ceil(sqrt(log10(rows)))), lags = (size_t)ceil(sqrt(rows)) + quiet;
    double least = cbrt(rows), most = fmin(3 * sqrt(rows), rows / 3), *g = calloc(lags + 1, sizeof *g);
    for (size_t i = 0; i < n; i++)
        mean += x[i] / rows;
    for (size_t i = 0; i < n; i++)
        room[i] = x[i] - mean;
    double block = least;
    for (size_t k = 0; g && k <= lags && k < n; k++)
        g[k] = covariance(room, n, k);
    if (g && g[0] > 0) {
        size_t m = 2 * last_lag(g, lags, quiet, 2 * sqrt(spread));
        block = fmax(choice(g, m < lags ? m : lags, rows), least);
    }
    free(g);
    return g ? fmin(block, fmax(most, 1)) : NAN;
}

/* ---- the resamples ---- */

struct resampling {
    const double *before; /* [n + 1] sums of the values before each step */
    size_t n;
    double scale; /* 1 / log(1 - 1 / block): of a block's length */
};

/* Steps [start, start + length), round the end; length <= n. */
static double sum_of(const struct resampling *from, size_t start, size_t length)
{
    size_t end = start + length;
    if (end <= from->n)
        return from->before[end] - from->before[start];
    return from->before[from->n] - from->before[start] + from->before[end - from->n];
}

static size_t length_of(const struct resampling *from, uint32_t word, size_t left)
{
    double length = 1 + floor(log(((double)word + 1) * 0x1p-32) * from->scale);
    return length < (double)left ? (size_t)length : left;
}

static double resample(const struct resampling *from, uint32_t number)
{
    double sum = 0;
    for (size_t left = from->n, pair = 0; left > 0; pair++) {
        struct philox draw = philox(VERDICT_SEED, number, (uint32_t)pair, 0, VERDICT_DRAW_BLOCK);
        for (int i = 0; i < 4 && left > 0; i += 2) {
            size_t length = length_of(from, draw.word[i + 1], left);
            sum += sum_of(from, philox_below(draw.word[i], (uint32_t)from->n), length);
            left -= length;
        }
    }
    return sum;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int metrics_verdict_interval(const double *d, size_t n, struct verdict *ret)
{
    double *room = malloc((n + 1) * sizeof *room), sums[VERDICT_RESAMPLES];
    double block = room ? metrics_verdict_block(d, n, room) : NAN;
    if (!isfinite(block)) {
        free(room);
        return -ENOMEM;
    }
    room[0] = 0;
    for (size_t i = 0; i < n; i++)
        room[i + 1] = room[i] + d[i];
    const struct resampling from = {room, n, 1 / log1p(-1 / block)};
    for (uint32_t k = 0; k < VERDICT_RESAMPLES; k++)
        sums[k] = resample(&from, k);
    free(room);
    qsort(sums, VERDICT_RESAMPLES, sizeof *sums, compare);
    size_t outside = (size_t)((1 - VERDICT_CONFIDENCE) / 2 * (VERDICT_RESAMPLES + 1) + 0.5);
    ret->block = block;
    ret->low = (1 + ret->benchmark_return) * expm1(sums[outside - 1]);
    ret->high = (1 + ret->benchmark_return) * expm1(sums[VERDICT_RESAMPLES - outside]);
    return 0;
}
