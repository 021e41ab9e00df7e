/* How far the parallel kernels may be from the reference: the figures of indicators_gpu/cuda/parallel.h. */
#ifndef TESTS_INDICATORS_GPU_TOLERANCE_H
#define TESTS_INDICATORS_GPU_TOLERANCE_H

#include <math.h>

#include "indicators_gpu/cuda/abi.h"
#include "indicators_gpu/indicators.h"

enum { TOLERANCE_SMA_WINDOW = 64 }; /* SMA up to this period is exact */

/* Absolute; `top` is the series' largest price. 0 where the bits must be the same. */
static inline double tolerance_parallel(const struct indicator_spec *spec, double top, size_t n_bars)
{
    double period = 0;
    for (size_t i = 0; i < spec->row->n_options; i++)
        period = fmax(period, spec->options[i]);
    switch (spec->row->id) {
    case INDICATOR_SMA:
        return period <= TOLERANCE_SMA_WINDOW ? 0.0 : 0x1p-46 * top * (double)n_bars / period;
    case INDICATOR_RSI:
        return 1e-9;
    default:
        return 0x1p-48 * period * top;
    }
}

/* Cells of `got` that are not the reference's: other bits where `tolerance` is 0, else a NaN of one only or a
 * larger difference. */
static inline size_t tolerance_misses(const double *got, const double *reference, size_t n, double tolerance)
{
    size_t misses = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(reference[i]))
            misses += !isnan(got[i]);
        else if (!(fabs(got[i] - reference[i]) <= tolerance))
            misses++;
        else if (tolerance == 0.0 && signbit(got[i]) != signbit(reference[i]))
            misses++;
    }
    return misses;
}

#endif
