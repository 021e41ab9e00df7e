/* Highest highs and lowest lows of windows. */
#ifndef INDICATORS_GPU_FAST_RANGE_H
#define INDICATORS_GPU_FAST_RANGE_H

#include "indicators_gpu/fast/window.h"

#define EXTREMES(name) extremes_##name
#define EXTREMES_OF    real
#define EXTREMES_VEC   vec
#define EXTREMES_N     W
#define EXTREMES_LOG   LOG_W
#define EXTREMES_LANES VEC_LANES
#define EXTREMES_MAX   vec_max
#define EXTREMES_MIN   vec_min
#include "indicators_gpu/fast/extremes.h"

struct range {
    struct extremes_ladder high, low;
};

static inline size_t range_layout(struct range *range, size_t used, size_t shortest, size_t longest)
{
    used = extremes_layout(&range->high, used, shortest, longest);
    return extremes_layout(&range->low, used, shortest, longest);
}

/* history() of the kernels with a range. */
static inline size_t range_history(const double options[])
{
    (void)options;
    return W;
}

struct range_rungs {
    struct extremes_rungs high, low;
};

static inline void range_climb(void *state, struct range *range, const struct fast_block *block,
                               const struct part *part, struct range_rungs *r)
{
    extremes_climb(state, &range->high, part_in(block, part, FAST_HIGH), part->n, true, &r->high);
    extremes_climb(state, &range->low, part_in(block, part, FAST_LOW), part->n, false, &r->low);
}

static inline void range_middles(const struct range_rungs *r, size_t period, size_t n, real *restrict middle)
{
    struct extremes_two high = extremes_of(&r->high, period), low = extremes_of(&r->low, period);
    for (size_t i = 0; i < n; i++)
        middle[i] = (extremes_highest(high, i) + extremes_lowest(low, i)) * (real)0.5;
}

#endif
