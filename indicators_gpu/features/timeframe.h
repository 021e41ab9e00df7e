/* Higher bars from lower ones, and which of them is closed at each. */
#ifndef INDICATORS_GPU_FEATURES_TIMEFRAME_H
#define INDICATORS_GPU_FEATURES_TIMEFRAME_H

#include "indicators_gpu/features/features.h"

/* The bars of one timeframe. */
struct feature_timeframe {
    int64_t seconds;
    size_t n;      /* higher bars, closed ones only */
    double *cells; /* the columns' memory */
    struct indicator_columns columns;
    uint32_t *closed; /* [bars->n]: how many of them are closed when bar i is; the newest is closed[i] - 1 */
};

/* Builds one. A higher bar is what there is of its interval: open of the first, close of the last, extremes
 * and sums between. History has holes that nothing fills, and every row needs its features: to leave such a
 * bar out would leave the one before it in its place for a whole interval longer. Bars with a NaN before the
 * first complete one are not there. Returns 0; -EINVAL and a sentence: bars that begin less than an interval
 * after the one before or at no whole second, a later bar that is not finite, a column that is missing, an
 * interval that does not divide the timeframe; -ENOMEM. */
int feature_timeframe_build(int64_t seconds, const struct feature_bars *bars, struct feature_timeframe *ret,
                            char *err, size_t err_cap);

void feature_timeframe_finish(struct feature_timeframe *frame);

#endif
