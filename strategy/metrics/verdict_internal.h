/* The two tests of a verdict. */
#ifndef STRATEGY_METRICS_VERDICT_INTERNAL_H
#define STRATEGY_METRICS_VERDICT_INTERNAL_H

#include "strategy/metrics/verdict.h"

/* Sets p and n_random; `returns` [n] are the policy's own, above -1. 0 or -ENOMEM. */
int metrics_verdict_luck(const struct verdict_input *input, const double *returns, struct verdict *ret);

/* Sets low, high and block; d [n] are the differences of log returns, ret->benchmark_return is set. 0 or
 * -ENOMEM. */
int metrics_verdict_interval(const double *d, size_t n, struct verdict *ret);

/* The mean length of the stationary bootstrap's blocks for x [n], n >= VERDICT_STEPS_LEAST. `room` [n] is
 * overwritten. */
double metrics_verdict_block(const double *x, size_t n, double *room);

enum verdict_draw {
    VERDICT_DRAW_BLOCK = 1 << 24,
    VERDICT_DRAW_SHIFT = 2 << 24,
    VERDICT_DRAW_ORDER = 3 << 24
};

#endif
