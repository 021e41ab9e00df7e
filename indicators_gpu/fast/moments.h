/* Means and sums of squared differences of windows. A mean is kept relative to the window's newest value: all
 * numbers are then of the size of the movement within the window, so that a high price costs no digits and a
 * flat window has no spread.
 *
 * Short windows: from the differences d to the newest value, squares = sum d^2 - (sum d)^2 / p. The terms
 * that cancel are at most p times the result.
 *
 * Long ones: ladders (window.h). Two windows of a and b bars whose means are d apart are combined by the
 * pairwise formula of Chan, Golub and LeVeque (Updating Formulae and a Pairwise Algorithm for Computing
 * Sample Variances, 1979): squares = squares_a + squares_b + d*d*ab/(a+b). */
#ifndef INDICATORS_GPU_FAST_MOMENTS_H
#define INDICATORS_GPU_FAST_MOMENTS_H

#include "indicators_gpu/fast/wide.h"
#include "indicators_gpu/fast/window.h"

/* Up to here a short window takes less work. */
enum { MOMENTS_SHORT = VEC_BYTES > 16 ? 32 : 8 };

struct moments {
    size_t period;
    struct ladder above, squares; /* both steps 0 stay 0 */
};

static inline size_t moments_layout(struct moments *m, size_t used, size_t period)
{
    m->period = period;
    if (period <= MOMENTS_SHORT)
        return used;
    used = ladder_layout(&m->above, used, period, sizeof(double));
    return ladder_layout(&m->squares, used, period, sizeof(double));
}

/* Of the windows that end at each bar of one part. */
struct moments_scratch {
    double above[WINDOW_BARS]; /* the mean less the newest value */
    double squares[WINDOW_BARS];
};

static inline void moments_short(const double *x, size_t period, size_t n, struct moments_scratch *result)
{
    const double share = 1.0 / (double)period;
    for (size_t i = 0; i < n; i += 2 * WIDE) {
        vec_double now0 = wide_load(x + i), now1 = wide_load(x + i + WIDE);
        vec_double sum0 = {0}, sum1 = {0}, squares0 = {0}, squares1 = {0};
        for (size_t age = 1; age < period; age++) {
            vec_double off0 = wide_load(x + i - age) - now0, off1 = wide_load(x + i + WIDE - age) - now1;
            sum0 += off0;
            sum1 += off1;
            squares0 += off0 * off0;
            squares1 += off1 * off1;
        }
        wide_store(result->above + i, sum0 * share);
        wide_store(result->above + i + WIDE, sum1 * share);
        wide_store(result->squares + i, squares0 - sum0 * (sum0 * share));
        wide_store(result->squares + i + WIDE, squares1 - sum1 * (sum1 * share));
    }
}

/* Combines `more` older bars, those of *_before, with the `have` newer ones. */
static inline void moments_join(const double *x, const double *above, const double *squares, size_t have,
                                const double *above_before, const double *squares_before, size_t more,
                                size_t n, double *above_all, double *squares_all)
{
    const double share = (double)more / (double)(have + more), weight = (double)have * share;
    const double *x_before = x - have;

    for (size_t i = 0; i < n; i += WIDE) {
        vec_double here = wide_load(above + i);
        vec_double apart =
            (wide_load(x_before + i) - wide_load(x + i)) + (wide_load(above_before + i) - here);
        vec_double both = wide_load(squares + i) + wide_load(squares_before + i);
        wide_store(above_all + i, here + apart * share);
        wide_store(squares_all + i, both + apart * apart * weight);
    }
}

static inline void moments_long(void *state, struct moments *m, const double *x, size_t n,
                                struct moments_scratch *result)
{
    struct rungs above, squares;
    rungs_next(state, &m->above, n, &above);
    rungs_next(state, &m->squares, n, &squares);
    for (size_t s = 0; s < above.top; s++) {
        size_t span = (size_t)1 << s;
        moments_join(x, above.at[s], squares.at[s], span, above.at[s] - span, squares.at[s] - span, span, n,
                     above.at[s + 1], squares.at[s + 1]);
    }

    size_t s = (size_t)__builtin_ctzll((unsigned long long)m->period), have = (size_t)1 << s;
    const double *above_so_far = above.at[s], *squares_so_far = squares.at[s];
    if (have == m->period) {
        memcpy(result->above, above_so_far, n * sizeof(double));
        memcpy(result->squares, squares_so_far, n * sizeof(double));
        return;
    }
    while (m->period >> ++s) {
        size_t more = (size_t)1 << s;
        if (!(m->period & more))
            continue;
        moments_join(x, above_so_far, squares_so_far, have, above.at[s] - have, squares.at[s] - have, more, n,
                     result->above, result->squares);
        above_so_far = result->above;
        squares_so_far = result->squares;
        have += more;
    }
}

/* Of the next n values, of which m->period more stand before. */
static inline void moments_of(void *state, struct moments *m, const double *x, size_t n,
                              struct moments_scratch *result)
{
    if (m->period <= MOMENTS_SHORT)
        moments_short(x, m->period, n, result);
    else
        moments_long(state, m, x, n, result);
}

#endif
