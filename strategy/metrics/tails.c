#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/metrics/series.h"

/* Selecting goes by digits of keys that sort as the doubles do: 2048 counts a digit, six digits. */
enum { KEY_BITS = 64, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static uint64_t key_of(double x)
{
    uint64_t bits;
    x += 0.0; /* -0 and 0 are one */
    memcpy(&bits, &x, sizeof(bits));
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double of_key(uint64_t key)
{
    double x;
    uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* The value of rank `rank` among n > rank of them; `left` has room for n. */
static double ranked(const uint64_t *keys, size_t n, size_t rank, uint64_t *left)
{
    for (int above = KEY_BITS; above > 0 && n > 1;) {
        int shift = above > DIGIT_BITS ? above - DIGIT_BITS : 0;
        uint64_t mask = (UINT64_C(1) << (above - shift)) - 1, digit = 0;
        size_t counts[DIGITS] = {0}, kept = 0;
        for (size_t i = 0; i < n; i++)
            counts[keys[i] >> shift & mask]++;
        while (rank >= counts[digit])
            rank -= counts[digit++];
        for (size_t i = 0; i < n; i++) {
            uint64_t key = keys[i];
            left[kept] = key; /* over what was read already, when it is its own room */
            kept += (key >> shift & mask) == digit;
        }
        keys = left;
        n = kept;
        above = shift;
    }
    return of_key(keys[0]);
}

/* As np.percentile's "linear". */
static double quantile(const uint64_t *keys, size_t n, double share, uint64_t *room)
{
    double place = share * (double)(n - 1);
    size_t below = (size_t)place, next = below + 1 < n ? below + 1 : below;
    double part = place - (double)below;
    double a = ranked(keys, n, below, room), b = ranked(keys, n, next, room);
    return part >= 0.5 ? b - (b - a) * (1 - part) : a + (b - a) * part;
}

/* The mean of the `n_worst` least; `bound` is the greatest of them. */
static double mean_worst(const uint64_t *keys, size_t n, size_t n_worst, double bound)
{
    double sum = 0;
    size_t below = 0;
    for (size_t i = 0; i < n; i++) {
        double r = of_key(keys[i]);
        if (r < bound) {
            sum += r;
            below++;
        }
    }
    if (below < n_worst) /* as many as there are of the bound itself, which may be infinite */
        sum += bound * (double)(n_worst - below);
    return sum / (double)n_worst;
}

int metrics_tails(const struct metrics_series *series, struct metrics_tails *ret)
{
    const double tail = 0.05;
    if (series->n == 0) {
        *ret = (struct metrics_tails){NAN, NAN, NAN};
        return 0;
    }
    if (series->n > SIZE_MAX / 2 / sizeof(uint64_t))
        return -ENOMEM;
    uint64_t *keys = malloc(2 * series->n * sizeof(*keys));
    if (!keys)
        return -ENOMEM;
    double room[SERIES_BLOCK];
    size_t present = 0;
    for (size_t from = 0, n; from < series->n; from += n) {
        n = series_block(series, from);
        const double *returns = series_load(series, from, n, room);
        for (size_t i = 0; i < n; i++)
            if (!isnan(returns[i]))
                keys[present++] = key_of(returns[i]);
    }
    struct metrics_tails tails = {NAN, NAN, NAN};
    if (present > 0) {
        uint64_t *left = keys + series->n;
        double low = quantile(keys, present, tail, left);
        double high = quantile(keys, present, 0.95, left);
        size_t last = (size_t)((double)(present - 1) * tail);
        tails.value_at_risk = present == series->n ? low : NAN;
        tails.conditional_value_at_risk =
            mean_worst(keys, present, last + 1, ranked(keys, present, last, left));
        tails.tail_ratio = fabs(high) / fabs(low);
    }
    free(keys);
    *ret = tails;
    return 0;
}
