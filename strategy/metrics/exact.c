#include "strategy/metrics/lanes.h"

#include <math.h>

#include "strategy/metrics/series.h"

/* The deepest so far, and what share of a peak a value must fall below to be as deep, with a margin for
 * rounding: only such values are divided. */
struct deepest {
    double peak, depth, floor;
};

static inline void see_value(struct deepest *deepest, double value)
{
    const double margin = 1e-15;
    if (value > deepest->peak)
        deepest->peak = value;
    if (!(value < deepest->peak * deepest->floor))
        return;
    double depth = (value - deepest->peak) / deepest->peak;
    if (isnan(depth) || depth >= deepest->depth)
        return;
    deepest->depth = depth;
    deepest->floor = 1 + depth + margin * (1 + fabs(depth));
}

static void add_forward(const struct metrics_series *series, struct metrics_sums *sums)
{
    double room[SERIES_BLOCK], sum = 0, product = 1, down = 0, gains = 0, losses = 0;
    double best = -INFINITY, worst = INFINITY;
    struct deepest deepest = {.peak = 100, .depth = NAN, .floor = INFINITY}; /* 100: empyrical's start */
    size_t present = 0;
    for (size_t from = 0, n; from < series->n; from += n) {
        n = series_block(series, from);
        const double *returns = series_load(series, from, n, room);
        for (size_t i = 0; i < n; i++) {
            double r = returns[i], below = r < 0 ? r : 0;
            if (!isnan(r)) {
                present++;
                sum += r;
                product *= r + 1;
                down += below * below;
                losses += below;
                gains += r > 0 ? r : 0;
                best = r > best ? r : best;
                worst = r < worst ? r : worst;
            }
            see_value(&deepest, product * 100);
        }
    }
    sums->present = present;
    sums->mean = present ? sum / (double)present : NAN;
    sums->product = product;
    sums->down_squares = down;
    sums->gains = gains;
    sums->losses = losses;
    sums->max_drawdown = deepest.depth;
    sums->best = present ? best : NAN;
    sums->worst = present ? worst : NAN;
}

double metrics_product_exact(const struct metrics_series *series)
{
    double room[SERIES_BLOCK], product = 1;
    for (size_t from = 0, n; from < series->n; from += n) {
        n = series_block(series, from);
        const double *returns = series_load(series, from, n, room);
        for (size_t i = 0; i < n; i++)
            product *= isnan(returns[i]) ? 1 : returns[i] + 1;
    }
    return product;
}

static double squares_forward(const struct metrics_series *series, double mean)
{
    double room[SERIES_BLOCK], sum = 0;
    for (size_t from = 0, n; from < series->n; from += n) {
        n = series_block(series, from);
        const double *returns = series_load(series, from, n, room);
        for (size_t i = 0; i < n; i++)
            if (!isnan(returns[i]))
                sum += (returns[i] - mean) * (returns[i] - mean);
    }
    return sum;
}

/* NumPy's order: eight sums side by side over at most 128 values, larger ranges by halves of whole eights. */
enum { PAIRWISE_LANES = 8, POWERS = 3 };

static inline double fold(const double lanes[static PAIRWISE_LANES])
{
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

static size_t half(size_t n)
{
    return n / 2 - n / 2 % PAIRWISE_LANES;
}

static double leaf_sum(const double *x, size_t n)
{
    if (n < PAIRWISE_LANES) {
        double sum = -0.0;
        for (size_t i = 0; i < n; i++)
            sum += x[i];
        return sum;
    }
    double lanes[PAIRWISE_LANES];
    size_t i;
    for (i = 0; i < PAIRWISE_LANES; i++)
        lanes[i] = x[i];
    for (; i + PAIRWISE_LANES <= n; i += PAIRWISE_LANES)
        for (size_t k = 0; k < PAIRWISE_LANES; k++)
            lanes[k] += x[i + k];
    double sum = fold(lanes);
    for (; i < n; i++)
        sum += x[i];
    return sum;
}

static double pairwise_sum(const struct metrics_series *series, size_t from, size_t n)
{
    if (n <= SERIES_BLOCK) {
        double room[SERIES_BLOCK];
        return leaf_sum(series_load(series, from, n, room), n);
    }
    size_t left = half(n);
    double sum = pairwise_sum(series, from, left);
    return sum + pairwise_sum(series, from + left, n - left);
}

/* Sums of the second, third and fourth powers of what lies off the centre. */
static void pairwise_powers(const struct metrics_series *series, size_t from, size_t n, double centre,
                            double ret[static POWERS])
{
    if (n <= SERIES_BLOCK) {
        double room[SERIES_BLOCK], powers[POWERS][SERIES_BLOCK];
        const double *returns = series_load(series, from, n, room);
        for (size_t i = 0; i < n; i++) {
            double off = returns[i] - centre, square = off * off;
            powers[0][i] = square;
            powers[1][i] = square * off;
            powers[2][i] = square * square;
        }
        for (int p = 0; p < POWERS; p++)
            ret[p] = leaf_sum(powers[p], n);
        return;
    }
    size_t left = half(n);
    double right[POWERS];
    pairwise_powers(series, from, left, centre, ret);
    pairwise_powers(series, from + left, n - left, centre, right);
    for (int p = 0; p < POWERS; p++)
        ret[p] += right[p];
}

void metrics_sums_exact(const struct metrics_series *series, struct metrics_sums *ret)
{
    *ret = (struct metrics_sums){.n = series->n, .centre = NAN, .m2 = NAN, .m3 = NAN, .m4 = NAN};
    add_forward(series, ret);
    ret->squares = squares_forward(series, ret->mean);
    if (ret->present == 0 || ret->present < ret->n)
        return;
    double n = (double)ret->n, powers[POWERS];
    ret->centre = pairwise_sum(series, 0, ret->n) / n;
    pairwise_powers(series, 0, ret->n, ret->centre, powers);
    ret->m2 = powers[0] / n;
    ret->m3 = powers[1] / n;
    ret->m4 = powers[2] / n;
}
