/* What a screen says of a set; for host and device alike. */
#ifndef ENGINE_BACKTEST_SCREEN_ROW_H
#define ENGINE_BACKTEST_SCREEN_ROW_H

#include <stdint.h>

#include "engine/backtest/sweep_metric.h"

enum screen_state { SCREEN_RUN, SCREEN_CONTRADICTS, SCREEN_TOO_SHORT };

/* Of one set. Shares, not percent; NaN where undefined, as in struct sweep_result. */
struct screen_row {
    double metrics[SWEEP_METRICS];
    float final_equity, fees, exposure;
    uint32_t trades, fills, refused;
    float skew, kurtosis; /* of the returns of the rows; the latter 0 of a normal distribution */
    /* Sums of the returns and of their squares in each block. */
    float block_sum[SWEEP_BLOCKS], block_square[SWEEP_BLOCKS];
    uint32_t state; /* enum screen_state; not SCREEN_RUN: the rest is undefined */
};

#endif
