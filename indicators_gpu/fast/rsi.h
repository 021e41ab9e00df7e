/* RSI of the next n closes by its recurrence one bar at a time, with the reference's bits (compiled without
 * contraction, which the kernels are not); 0 where there is none yet. */
#ifndef INDICATORS_GPU_FAST_RSI_H
#define INDICATORS_GPU_FAST_RSI_H

#include <stddef.h>

#include "indicators_gpu/step/recurrence.h"

void fast_rsi(struct rsi_state *s, const double close[], size_t n, double rsi[]);

#endif
