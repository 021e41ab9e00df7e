/* The true ranges of a vector of bars. */
#ifndef INDICATORS_GPU_FAST_TRUE_RANGE_H
#define INDICATORS_GPU_FAST_TRUE_RANGE_H

#include "indicators_gpu/fast/simd.h"

/* Of bars i, i + 1...; reads the close before them. */
static inline vec true_ranges(const real *high, const real *low, const real *close, size_t i)
{
    vec h = vec_load(high + i), l = vec_load(low + i), before = vec_load(close + i - 1);
    return vec_max(vec_max(vec_abs(h - before), vec_abs(l - before)), h - l);
}

#endif
