/* Means of sliding windows: at a block's beginning the window is summed again; from there on each bar adds
 * the entering value and subtracts the leaving one, as deviations from the mean at the beginning. A window
 * that is longer than a block is summed again each time it has advanced by an eighth. So a mean's error is
 * the rounding of one block, whatever came before. */
#ifndef INDICATORS_GPU_FAST_SLIDING_H
#define INDICATORS_GPU_FAST_SLIDING_H

#include "indicators_gpu/fast/kernel.h"
#include "indicators_gpu/fast/recurrence.h"

enum { SLIDING_FRESH = 8 };

struct sliding {
    struct decay running; /* a = 1 */
    size_t period, fresh; /* bar at which to sum again */
    double mean;          /* of the window that ends before the block */
};

static inline void sliding_start(struct sliding *s, size_t period)
{
    s->running = decay_of(1.0);
    s->period = period;
}

static inline double sliding_mean_of(const real *x, size_t n)
{
    enum { SUMS = 8 };
    double sums[SUMS] = {0};
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t j = 0; j < SUMS; j++)
            sums[j] += (double)x[i + j];
    for (; i < n; i++)
        sums[0] += (double)x[i];
    return (((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))) /
           (double)n;
}

/* The means y of a block of x, which can be read `period` bars back. Those before the first whole window are
 * undefined. */
static inline void sliding_run(struct sliding *s, const real *x, size_t begin, size_t count, real *y,
                               bool stream)
{
    size_t period = s->period, cells = fast_cells(count);
    if (begin + count < period)
        return;
    if (begin >= s->fresh) {
        s->mean = sliding_mean_of(x - period, period);
        s->fresh = begin + period / SLIDING_FRESH;
    }
    const struct decay running = s->running;
    const vec base = vec_all((real)s->mean), share = vec_all((real)(1.0 / (double)period)), one = vec_all(1);
    vec sum = vec_all((real)((s->mean - (double)base[0]) * (double)period));
    for (size_t i = 0; i < cells; i += 2 * W) {
        vec come0 = vec_load(x + i), come1 = vec_load(x + i + W), sum0, sum1;
        come0 -= vec_load(x + i - period);
        come1 -= vec_load(x + i + W - period);
        decay_next2(&running, one, come0, come1, &sum, &sum0, &sum1);
        vec_put(y + i, sum0 * share + base, stream);
        vec_put(y + i + W, sum1 * share + base, stream);
    }
    s->mean = (double)base[0] + (double)sum[0] / (double)period;
}

#endif
