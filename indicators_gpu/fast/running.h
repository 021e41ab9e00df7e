/* Weighted sums of windows that move on by a bar: with deviations y from a base near the price, s_i the sum
 * of a window and w_i the sum weighted 1 for the oldest to p for the newest, s_i = s_(i-1) + y_i - y_(i-p),
 * w_i = w_(i-1) + p y_i - s_(i-1), both scanned within a vector of doubles. Rounding grows with the square of
 * the bars gone: both sums are made anew from the window every RUNNING_BARS bars, or every eighth of a long
 * period. Averages and lines may do so, whose error is a share of the price; what may come near 0 has ladders
 * (window.h). */
#ifndef INDICATORS_GPU_FAST_RUNNING_H
#define INDICATORS_GPU_FAST_RUNNING_H

#include "indicators_gpu/fast/wide.h"
#include "indicators_gpu/fast/window.h"

enum { RUNNING_BARS = WINDOW_BARS, RUNNING_SHARE = 8 };

/* What is made of them: base * of_base + sum * of_sum + weighted * of_weighted. */
struct running {
    size_t period, due; /* bars until both are to be made anew */
    double of_base, of_sum, of_weighted;
    double base, sum, weighted;
};

static inline void running_anew(struct running *r, const double *x)
{
    enum { LANES = 8 };
    const double *oldest = x - r->period, base = x[-1];
    double sums[LANES] = {0}, weighted[LANES] = {0};
    size_t t = 0;

    for (; t + LANES <= r->period; t += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            double y = oldest[t + lane] - base;
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
        r->sum += oldest[t] - base;
        r->weighted += (double)(t + 1) * (oldest[t] - base);
    }
    r->due = r->period / RUNNING_SHARE;
    r->due = r->due > RUNNING_BARS ? r->due : RUNNING_BARS;
}

/* For the next n bars of x, of which `period` more stand before; may read and write on to a whole vector. */
static inline void running_next(struct running *r, const double *x, size_t n, double *out)
{
    const double period = (double)r->period;
    for (size_t i = 0, end; i < n; i = end) {
        if (r->due == 0)
            running_anew(r, x + i);
        end = n - i < RUNNING_BARS ? n : i + RUNNING_BARS;
        r->due -= r->due < end - i ? r->due : end - i;

        const double base = r->base, of_sum = r->of_sum, of_weighted = r->of_weighted;
        const double of_base = base * r->of_base;
        vec_double sum_carry = wide_all(r->sum), weighted_carry = wide_all(r->weighted);
        vec_double sum_before = sum_carry;
        for (; i < end; i += WIDE) {
            vec_double come = wide_load(x + i), gone = wide_load(x + i - r->period);
            vec_double scanned = wide_scan(come - gone), sum = scanned + sum_carry;
            vec_double add = (come - base) * period - WIDE_SHUFFLE(sum_before, sum, WIDE_BY_1);
            vec_double scanned_add = wide_scan(add);
            wide_store(out + i, (scanned_add + weighted_carry) * of_weighted + (sum * of_sum + of_base));
            sum_carry += wide_last(scanned);
            weighted_carry += wide_last(scanned_add);
            sum_before = sum;
        }
        r->sum = sum_carry[0];
        r->weighted = weighted_carry[0];
    }
}

#endif
