#include "indicators_gpu/features/scaling.h"

#include <math.h>
#include <stdlib.h>

enum { QUANTILE_ROWS = 65536 };

/* The standard normal distribution's quantile, by bisection and Newton steps on erfc(); rounded to 1e-6, so
 * that every C library gives the same knots. */
static double normal_quantile(double p)
{
    double low = -8.0, high = 8.0;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        *(0.5 * erfc(-middle * M_SQRT1_2) < p ? &low : &high) = middle;
    }
    return nearbyint(low * 1e6) * 1e-6;
}

static double probability_of(size_t knot)
{
    return ((double)knot + 0.5) / FEATURE_KNOTS;
}

static void fit_zscore(struct feature *feature, const double *values, size_t n)
{
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++)
        mean += values[i];
    mean /= (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    double deviation = sqrt(squares / (double)n);
    /* A deviation of a constant is rounding, and counts as 0. */
    bool constant = !(deviation > 1e-12 * fabs(mean));
    feature->offset = mean;
    feature->scale = constant ? 1.0 : 1.0 / deviation;
}

static void fit_minmax(struct feature *feature, const double *values, size_t n)
{
    double least = values[0], most = values[0];
    for (size_t i = 1; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    feature->offset = least;
    feature->scale = most > least ? 1.0 / (most - least) : 0.0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fit_normal(struct feature *feature, double *values, size_t n)
{
    qsort(values, n, sizeof(*values), by_value);
    for (size_t k = 0; k < FEATURE_KNOTS; k++) {
        double at = probability_of(k) * (double)(n - 1);
        size_t below = (size_t)at, above = below + 1 < n ? below + 1 : below;
        feature->knots[k] = values[below] + (at - (double)below) * (values[above] - values[below]);
    }
}

size_t feature_scaling_thin(const struct feature *feature, double *values, size_t n)
{
    if (feature->scaling != FEATURE_NORMAL || n <= QUANTILE_ROWS)
        return n;
    for (size_t k = 0; k < QUANTILE_ROWS; k++)
        values[k] = values[k * n / QUANTILE_ROWS];
    return QUANTILE_ROWS;
}

size_t feature_scaling_fit(struct feature *feature, double *values, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            values[kept++] = values[i];
    if (kept == 0)
        return 0;
    switch (feature->scaling) {
    case FEATURE_ZSCORE:
        fit_zscore(feature, values, kept);
        break;
    case FEATURE_MINMAX:
        fit_minmax(feature, values, kept);
        break;
    case FEATURE_NORMAL:
        fit_normal(feature, values, kept);
        break;
    case FEATURE_UNSCALED:
        break;
    }
    return kept;
}

void feature_scaling_normal_quantiles(double z[FEATURE_KNOTS])
{
    for (size_t k = 0; k < FEATURE_KNOTS; k++)
        z[k] = normal_quantile(probability_of(k));
}

/* Knots nearer than this, as a share of their size, are equal: backends may differ by as much. */
#define SAME_KNOT 1e-9

static bool same_knot(double a, double b)
{
    return b - a <= SAME_KNOT * fmax(fabs(a), fabs(b));
}

/* Equal knots share the middle of their values. */
static double middle_of(const double knots[FEATURE_KNOTS], const double z[FEATURE_KNOTS], size_t k)
{
    size_t first = k, last = k;
    while (first > 0 && same_knot(knots[first - 1], knots[first]))
        first--;
    while (last + 1 < FEATURE_KNOTS && same_knot(knots[last], knots[last + 1]))
        last++;
    return 0.5 * (z[first] + z[last]);
}

void feature_scaler_prepare(const struct feature *feature, const double z[FEATURE_KNOTS],
                            struct feature_scaler *ret)
{
    ret->scaling = feature->scaling;
    ret->offset = feature->offset;
    ret->scale = feature->scale;
    if (feature->scaling != FEATURE_NORMAL)
        return;
    const double *knots = feature->knots;
    for (size_t k = 0; k < FEATURE_KNOTS; k++) {
        ret->knots[k] = knots[k];
        ret->z[k] = middle_of(knots, z, k);
    }
    for (size_t k = 0; k + 1 < FEATURE_KNOTS; k++) {
        double step = knots[k + 1] - knots[k];
        ret->slope[k] = step > 0.0 ? (ret->z[k + 1] - ret->z[k]) / step : 0.0;
    }
}

/* Between the knots on both sides. The search has no branch to be mispredicted: seven halvings of the 128
 * pieces. */
static double normal_of(const struct feature_scaler *s, double x)
{
    enum { PIECES = FEATURE_KNOTS - 1 };
    size_t piece = 0; /* the last that begins at x or before */
    for (size_t half = PIECES / 2; half > 0; half /= 2)
        piece += x >= s->knots[piece + half] ? half : 0;
    double z = s->z[piece] + (x - s->knots[piece]) * s->slope[piece];
    z = x < s->knots[0] ? s->z[0] : z;
    return x >= s->knots[PIECES] ? s->z[PIECES] : z;
}

void feature_scaler_apply(const struct feature_scaler *s, const double *values, size_t n, float *out)
{
    switch (s->scaling) {
    case FEATURE_NORMAL:
        for (size_t i = 0; i < n; i++)
            out[i] = isnan(values[i]) ? NAN : (float)normal_of(s, values[i]);
        break;
    case FEATURE_ZSCORE:
    case FEATURE_MINMAX:
        for (size_t i = 0; i < n; i++)
            out[i] = (float)((values[i] - s->offset) * s->scale);
        break;
    case FEATURE_UNSCALED:
        for (size_t i = 0; i < n; i++)
            out[i] = (float)values[i];
        break;
    }
}
