/* The rows' reference functions: float64, in the plainest loops with the agreed order of operations.
 * Contract: struct indicator_code's `reference` in registry.h. */
#ifndef INDICATORS_GPU_REFERENCE_REFERENCE_H
#define INDICATORS_GPU_REFERENCE_REFERENCE_H

#include "indicators_gpu/registry.h"

typedef int reference_fn(const double options[], const struct indicator_columns *in, size_t n,
                         double *const out[]);

#define REFERENCE_DECLARED(number, ID, row, kernels) extern reference_fn reference_##row;
INDICATOR_ROWS(REFERENCE_DECLARED)
#undef REFERENCE_DECLARED

#endif
