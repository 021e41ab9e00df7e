/* Weighted sums of windows that move on by a bar: with deviations y from a base near the price, s_i the sum
 * of a window and w_i the sum weighted 1 for the oldest to p for the newest, s_i = s_(i-1) + y_i - y_(i-p),
 * w_i = w_(i-1) + p y_i - s_(i-1), both scanned within a vector of doubles. Rounding grows with the square of
 * the bars gone: both sums are computed again from the window every RUNNING_BARS bars, or every eighth of a
 * long period. This suits averages and lines, whose error is a share of the price; sums that may come near 0
 * use ladders (window.h). */
#ifndef INDICATORS_GPU_FAST_RUNNING_H
#define INDICATORS_GPU_FAST_RUNNING_H

#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/wide.h"

enum { RUNNING_BARS = 256, RUNNING_SHARE = 8 };

/* The output: base * of_base + sum * of_sum + weighted * of_weighted. */
struct running {
    size_t period, due; /* bars until both are computed again */
    double of_base, of_sum, of_weighted;
    double base, sum, weighted;
};

static inline void running_recompute(struct running *r, const real *x)
{
    enum { LANES = 8 };
    const real *oldest = x - r->period;
    const double base = (double)x[-1];
    double sums[LANES] = {0}, weighted[LANES] = {0};
    size_t t = 0;

    for (; t + LANES <= r->period; t += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            double y = (double)oldest[t + lane] - base;
            sums[lane] += y;
            weighted[lane] += (double)(int32_t)(t + lane + 1) * y;
        }
    r->base = base;
    r->sum = r->weighted = 0.0;
    for (size_t lane = 0; lane < LANES; lane++) {
        r->sum += sums[lane];
        r->weighted += weighted[lane];
    }
    for (; t < r->period; t++) {
        r->sum += (double)oldest[t] - base;
        r->weighted += (double)(t + 1) * ((double)oldest[t] - base);
    }
    r->due = r->period / RUNNING_SHARE;
    r->due = r->due > RUNNING_BARS ? r->due : RUNNING_BARS;
}

#define WIDE_COUNT(j) ((j) + 1)

/* Both sums, in every lane those of the last bar. */
struct running_sums {
    vec_double sum, weighted;
};

/* The outputs of the bars after `s`, which advances: from the values that enter and leave the window. */
static inline vec_double running_step(const struct running *r, struct running_sums *s, vec_double come,
                                      vec_double gone)
{
    const vec_double bars = {WIDE_LANES(WIDE_COUNT)}, moved = come - gone;
    vec_double sums = wide_scan(moved); /* without s->sum, of which each bar has one more */
    vec_double add = wide_scan(((come - r->base) * (double)r->period + moved) - sums);
    vec_double weighted = add + (s->weighted - bars * s->sum);
    vec_double y = weighted * r->of_weighted + ((sums + s->sum) * r->of_sum + r->base * r->of_base);
    s->weighted += wide_last(add) - s->sum * WIDE;
    s->sum += wide_last(sums);
    return y;
}

/* For the next n bars of x, of which `period` more precede x; may read and write up to a whole vector. */
static inline void running_next(struct running *r, const real *x, size_t n, real *out, bool stream)
{
    for (size_t i = 0, end; i < n; i = end) {
        if (r->due == 0)
            running_recompute(r, x + i);
        end = n - i < RUNNING_BARS ? n : i + RUNNING_BARS;
        r->due -= r->due < end - i ? r->due : end - i;

        const struct running now = *r;
        struct running_sums sums = {wide_all(r->sum), wide_all(r->weighted)};
        for (; i < end; i += W) {
            fast_fetch(x + i, sizeof(real), (size_t)W);
            vec_wide come = vec_load_wide(x + i), gone = vec_load_wide(x + i - now.period);
            come.lo = running_step(&now, &sums, come.lo, gone.lo);
#if FAST_F32
            come.hi = running_step(&now, &sums, come.hi, gone.hi);
#endif
            vec_put(out + i, vec_narrow(come), stream);
        }
        r->sum = sums.sum[0];
        r->weighted = sums.weighted[0];
    }
}

#endif
