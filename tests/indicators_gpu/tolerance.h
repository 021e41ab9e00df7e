/* How far the GPU's methods may be from the reference: the figures of indicators_gpu/cuda/fused.h. */
#ifndef TESTS_INDICATORS_GPU_TOLERANCE_H
#define TESTS_INDICATORS_GPU_TOLERANCE_H

#include <math.h>

#include "indicators_gpu/cuda/abi.h"
#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/indicators.h"

enum { TOLERANCE_PERIOD_MAX = 256 }; /* longer ones are exact by either method */

/* Absolute; `top` is the series' largest price. 0 where the bits must be the same. */
static inline double tolerance_of(enum gpu_method method, const struct indicator_spec *spec, double top)
{
    double period = 0;
    for (size_t i = 0; i < spec->row->n_options; i++)
        period = fmax(period, spec->options[i]);
    if (method == GPU_EXACT || period > TOLERANCE_PERIOD_MAX)
        return 0.0;
    switch (spec->row->id) {
    case INDICATOR_SMA:
        return 0x1p-48 * top;
    case INDICATOR_RSI:
        return 1e-9;
    case INDICATOR_EMA:
    case INDICATOR_MACD:
    case INDICATOR_ATR:
        return 0x1p-48 * period * top;
    default:
        return 0.0;
    }
}

/* Cells of `got` that are not the reference's: other bits where `tolerance` is 0, else a NaN of one only or a
 * larger difference. float32 columns round both. */
static inline size_t tolerance_misses(const double *got, const double *reference, size_t n, double tolerance,
                                      enum indicator_precision precision)
{
    size_t misses = 0;
    for (size_t i = 0; i < n; i++) {
        double want = precision == INDICATOR_F32 ? (double)(float)reference[i] : reference[i];
        double rounding = precision == INDICATOR_F32 && tolerance > 0.0 ? 0x1p-23 * fabs(want) : 0.0;
        if (isnan(want))
            misses += !isnan(got[i]);
        else if (got[i] != want && !(fabs(got[i] - want) <= tolerance + rounding))
            misses++;
        else if (tolerance == 0.0 && signbit(got[i]) != signbit(want))
            misses++;
    }
    return misses;
}

#endif
