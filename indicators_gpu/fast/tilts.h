/* Sums of windows and their tilts, by ladders (window.h): the tilt of x_0..x_(p-1), oldest first, is the sum
 * of (t - (p-1)/2) x_t. Weighted averages and the least-squares line follow from the two. Of an older window
 * a and a newer one b, of a and b bars, both tilts and (a sum_b - b sum_a) / 2 make the tilt of the whole:
 * only differences of sums enter, so that a high price costs no digits. */
#ifndef INDICATORS_GPU_FAST_TILTS_H
#define INDICATORS_GPU_FAST_TILTS_H

#include "indicators_gpu/fast/window.h"

struct tilts {
    struct ladder sum, tilt; /* the tilt's step 0 stays 0 */
};

/* For windows of up to `period` bars. */
static inline size_t tilts_layout(struct tilts *t, size_t used, size_t period)
{
    used = ladder_layout(&t->sum, used, period, sizeof(double));
    return ladder_layout(&t->tilt, used, period, sizeof(double));
}

struct tilts_rungs {
    struct rungs sum, tilt;
};

/* Returns where the series' next n values go before tilts_climb(). */
static inline double *tilts_next(void *state, struct tilts *t, size_t n, struct tilts_rungs *r)
{
    rungs_next(state, &t->tilt, n, &r->tilt);
    return rungs_next(state, &t->sum, n, &r->sum);
}

static inline void tilts_climb(struct tilts_rungs *r, size_t n)
{
    rungs_sum(&r->sum, n);
    for (size_t s = 0; s < r->tilt.top; s++) {
        size_t span = (size_t)1 << s;
        const double *sum = r->sum.at[s], *sum_before = sum - span;
        const double *tilt = r->tilt.at[s], *tilt_before = tilt - span;
        double *restrict whole = r->tilt.at[s + 1];
        double half = 0.5 * (double)span;
        for (size_t i = 0; i < n; i++)
            whole[i] = tilt[i] + tilt_before[i] + half * (sum[i] - sum_before[i]);
    }
}

struct tilts_scratch {
    double sum[WINDOW_BARS], tilt[WINDOW_BARS];
};

/* Sums and tilts of `period` bars. */
static inline void tilts_of(const struct tilts_rungs *r, size_t period, size_t n,
                            struct tilts_scratch *result)
{
    size_t first = (size_t)__builtin_ctzll((unsigned long long)period);
    double *restrict sum = result->sum, *restrict tilt = result->tilt;

    memcpy(sum, r->sum.at[first], n * sizeof(double));
    memcpy(tilt, r->tilt.at[first], n * sizeof(double));
    for (size_t s = first + 1, have = (size_t)1 << first; period >> s; s++) {
        size_t more = (size_t)1 << s;
        if (!(period & more))
            continue;
        const double *older = r->sum.at[s] - have, *older_tilt = r->tilt.at[s] - have;
        double half_more = 0.5 * (double)more, half_have = 0.5 * (double)have;
        for (size_t i = 0; i < n; i++) {
            tilt[i] += older_tilt[i] + (half_more * sum[i] - half_have * older[i]);
            sum[i] += older[i];
        }
        have += more;
    }
}

#endif
