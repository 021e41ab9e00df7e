/* Means and sums of squared differences of windows, by ladders (window.h). Two windows of a and b bars whose
 * means are d apart are put together by the pairwise formula of Chan, Golub and LeVeque (Updating Formulae
 * and a Pairwise Algorithm for Computing Sample Variances, 1979): squares = squares_a + squares_b +
 * d*d*ab/(a+b). Nothing cancels but the means' difference. */
#ifndef INDICATORS_GPU_FAST_MOMENTS_H
#define INDICATORS_GPU_FAST_MOMENTS_H

#include "indicators_gpu/fast/window.h"

/* Windows whose spread is below this share of their mean, where the rounding of means begins to show, are
 * summed anew as the reference sums them: from the oldest to the newest, twice. */
#define MOMENTS_FINE 1e-6

struct moments {
    size_t period;
    struct past values;
    struct ladder mean, squares; /* a step 0 of squares would be 0 */

    /* What a window of nothing but `flat` gives: its mean may be off by a digit, as the reference's is. */
    double flat, flat_mean, flat_squares;
};

static inline size_t moments_layout(struct moments *m, size_t used, size_t period)
{
    m->period = period;
    m->flat = m->flat_mean = m->flat_squares = 0.0;
    used = past_layout(&m->values, used, period, sizeof(double));
    used = ladder_layout(&m->mean, used, period, sizeof(double));
    return ladder_layout(&m->squares, used, period, sizeof(double));
}

static inline void moments_double(const double *mean, const double *squares, size_t span, size_t n,
                                  double *restrict mean2, double *restrict squares2)
{
    const double *mean_before = mean - span, *squares_before = squares - span;
    double weight = 0.5 * (double)span;

    if (span == 1)
        for (size_t i = 0; i < n; i++) {
            double apart = mean[i] - mean_before[i];
            mean2[i] = 0.5 * (mean[i] + mean_before[i]);
            squares2[i] = 0.5 * (apart * apart);
        }
    else
        for (size_t i = 0; i < n; i++) {
            double apart = mean[i] - mean_before[i];
            mean2[i] = 0.5 * (mean[i] + mean_before[i]);
            squares2[i] = squares[i] + squares_before[i] + weight * (apart * apart);
        }
}

/* Puts `more` older bars to the `have` newer ones. */
static inline void moments_join(const double *restrict mean_before, const double *restrict squares_before,
                                size_t have, size_t more, size_t n, double *restrict mean,
                                double *restrict squares)
{
    double share = (double)more / (double)(have + more), weight = (double)have * share;

    for (size_t i = 0; i < n; i++) {
        double apart = mean_before[i] - mean[i];
        mean[i] += share * apart;
        squares[i] += squares_before[i] + weight * (apart * apart);
    }
}

static inline void moments_again(const double *x, size_t period, double *ret_mean, double *ret_squares)
{
    double sum = 0.0, squares = 0.0;
    for (const double *v = x - (period - 1); v <= x; v++)
        sum += *v;
    double mean = sum / (double)period;
    for (const double *v = x - (period - 1); v <= x; v++)
        squares += (*v - mean) * (*v - mean);
    *ret_mean = mean;
    *ret_squares = squares;
}

static inline void moments_refine(struct moments *m, const double *x, size_t n, double *mean, double *squares)
{
    const double fine = MOMENTS_FINE * MOMENTS_FINE * (double)m->period;
    unsigned suspects = 0;

    for (size_t i = 0; i < n; i++)
        suspects |= squares[i] <= fine * (mean[i] * mean[i]);
    if (!suspects)
        return;
    for (size_t i = 0; i < n; i++) {
        if (!(squares[i] <= fine * (mean[i] * mean[i])))
            continue;
        if (squares[i] > 0.0) {
            moments_again(x + i, m->period, &mean[i], &squares[i]);
            continue;
        }
        if (x[i] != m->flat) {
            m->flat = x[i];
            moments_again(x + i, m->period, &m->flat_mean, &m->flat_squares);
        }
        mean[i] = m->flat_mean;
        squares[i] = m->flat_squares;
    }
}

/* Results for one part. */
struct moments_scratch {
    double mean[WINDOW_BARS], squares[WINDOW_BARS];
};

/* Where the series' next n values go before moments_of(). */
static inline double *moments_next(void *state, struct moments *m, size_t n)
{
    return past_next(state, &m->values, n * sizeof(double));
}

/* Means and sums of squared differences of the windows that end at each of the n values. */
static inline void moments_of(void *state, struct moments *m, const double *x, size_t n,
                              struct moments_scratch *result)
{
    struct rungs mean, squares;
    memcpy(rungs_next(state, &m->mean, n, &mean), x, n * sizeof(double));
    rungs_next(state, &m->squares, n, &squares);
    for (size_t s = 0; s < mean.top; s++)
        moments_double(mean.at[s], squares.at[s], (size_t)1 << s, n, mean.at[s + 1], squares.at[s + 1]);

    size_t first = (size_t)__builtin_ctzll((unsigned long long)m->period);
    memcpy(result->mean, mean.at[first], n * sizeof(double));
    memcpy(result->squares, squares.at[first], n * sizeof(double));
    for (size_t s = first + 1, have = (size_t)1 << first; m->period >> s; s++) {
        size_t more = (size_t)1 << s;
        if (!(m->period & more))
            continue;
        moments_join(mean.at[s] - have, squares.at[s] - have, have, more, n, result->mean, result->squares);
        have += more;
    }
    moments_refine(m, x, n, result->mean, result->squares);
}

#endif
