#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/metrics/series.h"

/* Radix selection by digits of keys that sort as the doubles do: 2048 counts a digit, six digits. */
enum { KEY_BITS = 64, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static uint64_t key_of(double x)
{
    uint64_t bits;
    x += 0.0; /* -0 and 0 are equal */
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
            left[kept] = key; /* over keys that were read already, where the memory is the same */
            kept += (key >> shift & mask) == digit;
        }
        keys = left;
        n = kept;
        above = shift;
    }
    return of_key(keys[0]);
}

/* Keys between two bounds which a sample suggests, or all keys: then no key equals a bound. In order they are
 * `below` ones, n_low times the lower bound, the band's n, and n_high times the upper bound. */
struct band {
    const uint64_t *keys;
    uint64_t low, high;
    size_t n, below, n_low, n_high;
};

enum { SAMPLE = 512, SAMPLE_SPREAD = 25 }; /* five deviations of a 5 % quantile's place in the sample */

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The keys that probably hold the quantile, gathered in `room`. */
static struct band gather(const uint64_t *keys, size_t n, const uint64_t sample[static SAMPLE], double share,
                          uint64_t *room)
{
    int place = (int)(share * (SAMPLE - 1)), first = place - SAMPLE_SPREAD, last = place + SAMPLE_SPREAD;
    uint64_t low = first > 0 ? sample[first] : 0, high = last < SAMPLE ? sample[last] : UINT64_MAX;
    struct band band = {.keys = room, .low = low, .high = high};
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys[i];
        room[band.n] = key;
        band.n += (key > low) & (key < high);
        band.below += key < low;
        band.n_low += key == low;
        band.n_high += (key == high) & (high != low);
    }
    return band;
}

/* The value of a rank among all keys; false: it is not of the band. */
static bool in_band(const struct band *band, size_t rank, uint64_t *room, double *ret)
{
    if (rank < band->below)
        return false;
    rank -= band->below;
    if (rank < band->n_low)
        *ret = of_key(band->low);
    else if (rank - band->n_low < band->n)
        *ret = ranked(band->keys, band->n, rank - band->n_low, room);
    else if (rank - band->n_low - band->n < band->n_high)
        *ret = of_key(band->high);
    else
        return false;
    return true;
}

static double at_rank(const struct band *band, const struct band *all, size_t rank, uint64_t *room)
{
    double value = NAN;
    if (!in_band(band, rank, room, &value))
        (void)in_band(all, rank, room, &value);
    return value;
}

/* As np.percentile's "linear". */
static double quantile(const struct band *band, const struct band *all, double share, uint64_t *room)
{
    double place = share * (double)(all->n - 1);
    size_t below = (size_t)place, next = below + 1 < all->n ? below + 1 : below;
    double part = place - (double)below;
    double a = at_rank(band, all, below, room), b = at_rank(band, all, next, room);
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

static void tails_of(const uint64_t *keys, size_t n, uint64_t *gathered, uint64_t *room,
                     struct metrics_tails *ret)
{
    const double low = 0.05, high = 0.95;
    const struct band all = {.keys = keys, .n = n, .high = UINT64_MAX};
    struct band band = all;
    uint64_t sample[SAMPLE];
    bool many = n > (size_t)8 * SAMPLE;
    for (size_t i = 0; many && i < SAMPLE; i++)
        sample[i] = keys[i * (n / SAMPLE)];
    if (many) {
        qsort(sample, SAMPLE, sizeof(sample[0]), by_key);
        band = gather(keys, n, sample, high, gathered);
    }
    double best = quantile(&band, &all, high, room);
    if (many)
        band = gather(keys, n, sample, low, gathered);
    ret->value_at_risk = quantile(&band, &all, low, room);
    ret->tail_ratio = fabs(best) / fabs(ret->value_at_risk);
    size_t last = (size_t)((double)(n - 1) * low);
    ret->conditional_value_at_risk = mean_worst(keys, n, last + 1, at_rank(&band, &all, last, room));
}

int metrics_tails(const struct metrics_series *series, struct metrics_tails *ret)
{
    if (series->n == 0) {
        *ret = (struct metrics_tails){NAN, NAN, NAN};
        return 0;
    }
    if (series->n > SIZE_MAX / 3 / sizeof(uint64_t))
        return -ENOMEM;
    uint64_t *keys = malloc(3 * series->n * sizeof(*keys)); /* of all, of a band, of a selection */
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
    *ret = (struct metrics_tails){NAN, NAN, NAN};
    if (present > 0)
        tails_of(keys, present, keys + series->n, keys + 2 * series->n, ret);
    if (present < series->n)
        ret->value_at_risk = NAN;
    free(keys);
    return 0;
}
