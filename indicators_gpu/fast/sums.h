/* Sums of windows, by ladders (window.h) in double in either precision: off by at most SUMS_SHORT roundings,
 * or log2(period) + 2, of the window's sum of absolute values. The ladder begins with windows of an odd
 * number of bars, if that is small, and then its steps suffice. */
#ifndef INDICATORS_GPU_FAST_SUMS_H
#define INDICATORS_GPU_FAST_SUMS_H

#include "indicators_gpu/fast/wide.h"
#include "indicators_gpu/fast/window.h"

/* Windows of so many bars are added up one by one; those of fewer bars are not halved further. */
enum { SUMS_SHORT = 16, SUMS_HALVED = 8 };

struct sums {
    size_t period, first, top; /* step s is of first * 2^s bars */
    struct past step[LADDER_STEPS];
    struct past threes; /* the first windows consist of these, if they divide by 3 */
};

static inline size_t sums_layout(struct sums *s, size_t used, size_t period)
{
    s->period = s->first = period;
    s->top = 0;
    while (s->first > SUMS_HALVED && s->first % 2 == 0) {
        s->first /= 2;
        s->top++;
    }
    if (s->first > SUMS_SHORT) {
        s->first = 1;
        s->top = window_log2(period);
    }
    used = past_layout(&s->threes, used, s->first, sizeof(double));
    for (size_t step = 0; step <= s->top; step++)
        used = past_layout(&s->step[step], used, s->first << step, sizeof(double));
    return used;
}

/* Of `count` values each, `apart` from each other, added up one by one, times `factor`. */
static inline void sums_short(const double *x, size_t count, size_t apart, size_t n, double factor,
                              double *sum)
{
    for (size_t i = 0; i < n; i += 2 * WIDE) {
        vec_double sum0 = wide_load(x + i), sum1 = wide_load(x + i + WIDE);
        for (size_t age = apart; age < count * apart; age += apart) {
            sum0 += wide_load(x + i - age);
            sum1 += wide_load(x + i + WIDE - age);
        }
        wide_store(sum + i, sum0 * factor);
        wide_store(sum + i + WIDE, sum1 * factor);
    }
}

/* Windows of s->first values. */
static inline void sums_first(void *state, struct sums *s, const double *x, size_t n, double factor,
                              double *sum)
{
    if (s->first <= 3 || s->first % 3 != 0) {
        sums_short(x, s->first, 1, n, factor, sum);
        return;
    }
    double *threes = past_next(state, &s->threes, n * sizeof(double));
    sums_short(x, 3, 1, n, 1.0, threes);
    sums_short(threes, s->first / 3, 3, n, factor, sum);
}

static inline void sums_join(const double *newer, const double *older, size_t n, double factor, double *sum)
{
    for (size_t i = 0; i < n; i += WIDE)
        wide_store(sum + i, (wide_load(newer + i) + wide_load(older + i)) * factor);
}

/* Sums of the windows that end at each of the next n values, times `factor`; s->period more precede x. May
 * write up to two whole vectors. */
static inline void sums_of(void *state, struct sums *s, const double *x, size_t n, double factor, double *sum)
{
    const size_t bytes = n * sizeof(double);
    const bool whole = s->first << s->top == s->period;
    const double *at[LADDER_STEPS] = {x};

    if (s->top == 0) {
        sums_first(state, s, x, n, factor, sum);
        return;
    }
    if (s->first > 1) {
        double *first = past_next(state, &s->step[0], bytes);
        sums_first(state, s, x, n, 1.0, first);
        at[0] = first;
    }
    for (size_t step = 1; step <= s->top; step++) {
        const double *half = at[step - 1];
        bool last = whole && step == s->top;
        double *to = last ? sum : past_next(state, &s->step[step], bytes);
        sums_join(half, half - (s->first << (step - 1)), n, last ? factor : 1.0, to);
        at[step] = to;
    }
    if (whole)
        return;

    size_t step = (size_t)__builtin_ctzll((unsigned long long)s->period), have = (size_t)1 << step;
    const double *so_far = at[step];
    while (have < s->period) { /* the shortest part is the newest */
        size_t more = (size_t)1 << ++step;
        if (!(s->period & more))
            continue;
        sums_join(so_far, at[step] - have, n, have + more == s->period ? factor : 1.0, sum);
        so_far = sum;
        have += more;
    }
}

/* A series and its windows' sums. */
struct summed {
    struct past values;
    struct sums sums;
};

static inline size_t summed_layout(struct summed *s, size_t used, size_t period)
{
    used = past_layout(&s->values, used, period, sizeof(double));
    return sums_layout(&s->sums, used, period);
}

/* Where the next n values go before sums_of(). */
static inline double *summed_next(void *state, struct summed *s, size_t n)
{
    return past_next(state, &s->values, n * sizeof(double));
}

#endif
