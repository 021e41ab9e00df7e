/* Means and sums of squared differences of windows, by ladders (window.h). Two windows of a and b bars whose
 * means are d apart are put together by the pairwise formula of Chan, Golub and LeVeque (Updating Formulae
 * and a Pairwise Algorithm for Computing Sample Variances, 1979): squares = squares_a + squares_b +
 * d*d*ab/(a+b). A mean is kept as what it is above the window's newest value: all numbers are then of the
 * size of the movement within the window, so that a high price costs no digits and a flat window has no
 * spread. */
#ifndef INDICATORS_GPU_FAST_MOMENTS_H
#define INDICATORS_GPU_FAST_MOMENTS_H

#include "indicators_gpu/fast/window.h"

struct moments {
    size_t period;
    struct past values;
    struct ladder above, squares; /* both steps 0 stay 0 */
};

static inline size_t moments_layout(struct moments *m, size_t used, size_t period)
{
    m->period = period;
    used = past_layout(&m->values, used, period, sizeof(double));
    used = ladder_layout(&m->above, used, period, sizeof(double));
    return ladder_layout(&m->squares, used, period, sizeof(double));
}

/* Windows of twice `span` bars. */
static inline void moments_double(const double *x, const double *above, const double *squares, size_t span,
                                  size_t n, double *restrict above2, double *restrict squares2)
{
    const double *x_before = x - span, *above_before = above - span, *squares_before = squares - span;
    double weight = 0.5 * (double)span;

    for (size_t i = 0; i < n; i++) {
        double apart = (x_before[i] - x[i]) + (above_before[i] - above[i]);
        above2[i] = above[i] + 0.5 * apart;
        squares2[i] = squares[i] + squares_before[i] + weight * (apart * apart);
    }
}

static inline void moments_first(const double *x, size_t n, double *restrict above2,
                                 double *restrict squares2)
{
    const double *x_before = x - 1;
    for (size_t i = 0; i < n; i++) {
        double apart = x_before[i] - x[i];
        above2[i] = 0.5 * apart;
        squares2[i] = 0.5 * apart * apart;
    }
}

/* Puts `more` older bars to the `have` newer ones. */
static inline void moments_join(const double *x, const double *above_before, const double *squares_before,
                                size_t have, size_t more, size_t n, double *restrict above,
                                double *restrict squares)
{
    const double *x_before = x - have;
    double share = (double)more / (double)(have + more), weight = (double)have * share;

    for (size_t i = 0; i < n; i++) {
        double apart = (x_before[i] - x[i]) + (above_before[i] - above[i]);
        above[i] += share * apart;
        squares[i] += squares_before[i] + weight * (apart * apart);
    }
}

/* Of the windows that end at each bar of one part. */
struct moments_scratch {
    double above[WINDOW_BARS]; /* the mean less the newest value */
    double squares[WINDOW_BARS];
};

/* Where the series' next n values go before moments_of(). */
static inline double *moments_next(void *state, struct moments *m, size_t n)
{
    return past_next(state, &m->values, n * sizeof(double));
}

static inline void moments_of(void *state, struct moments *m, const double *x, size_t n,
                              struct moments_scratch *result)
{
    struct rungs above, squares;
    rungs_next(state, &m->above, n, &above);
    rungs_next(state, &m->squares, n, &squares);
    if (above.top > 0)
        moments_first(x, n, above.at[1], squares.at[1]);
    for (size_t s = 1; s < above.top; s++)
        moments_double(x, above.at[s], squares.at[s], (size_t)1 << s, n, above.at[s + 1], squares.at[s + 1]);

    size_t first = (size_t)__builtin_ctzll((unsigned long long)m->period);
    memcpy(result->above, above.at[first], n * sizeof(double));
    memcpy(result->squares, squares.at[first], n * sizeof(double));
    for (size_t s = first + 1, have = (size_t)1 << first; m->period >> s; s++) {
        size_t more = (size_t)1 << s;
        if (!(m->period & more))
            continue;
        moments_join(x, above.at[s] - have, squares.at[s] - have, have, more, n, result->above,
                     result->squares);
        have += more;
    }
}

#endif
