/* Highest highs and lowest lows of windows. */
#ifndef INDICATORS_GPU_FAST_RANGE_H
#define INDICATORS_GPU_FAST_RANGE_H

#include "indicators_gpu/fast/window.h"

#define EXTREMES_OF    real
#define EXTREMES(name) extremes_##name
#include "indicators_gpu/fast/extremes.h"

struct range {
    struct ladder high, low;
};

static inline size_t range_layout(struct range *range, size_t used, size_t period)
{
    used = ladder_layout(&range->high, used, period, sizeof(real));
    return ladder_layout(&range->low, used, period, sizeof(real));
}

struct range_rungs {
    struct extremes_rungs high, low;
    real highest[WINDOW_BARS], lowest[WINDOW_BARS];
};

static inline void range_climb(void *state, struct range *range, const struct fast_block *block,
                               const struct part *part, struct range_rungs *r)
{
    extremes_climb(state, &range->high, part_in(block, part, FAST_HIGH), part->n, true, &r->high);
    extremes_climb(state, &range->low, part_in(block, part, FAST_LOW), part->n, false, &r->low);
}

/* Highs and lows of the last `period` bars, good until the next call. */
static inline void range_of(struct range_rungs *r, size_t period, size_t n, const real **ret_high,
                            const real **ret_low)
{
    *ret_high = extremes_of(&r->high, period, n, true, r->highest);
    *ret_low = extremes_of(&r->low, period, n, false, r->lowest);
}

static inline void range_middles(struct range_rungs *r, size_t period, size_t n, real *restrict middle)
{
    const real *high, *low;
    range_of(r, period, n, &high, &low);
    for (size_t i = 0; i < n; i++)
        middle[i] = (high[i] + low[i]) * (real)0.5;
}

#endif
