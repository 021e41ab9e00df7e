/* Higher bars of a whole history at once: bit for bit those of engine/frame.h. */
#ifndef ENGINE_BACKTEST_HIGHER_H
#define ENGINE_BACKTEST_HIGHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "indicators_gpu/indicators.h"

struct columns_bars;

/* How many higher bars are closed at each bar of the run: counts[bar], or without them (NULL) one more at
 * each `per` bars after the first `skipped`. */
struct higher_closed {
    const uint32_t *counts;
    size_t skipped, per;
};

static inline size_t higher_closed(const struct higher_closed *closed, size_t bar)
{
    if (closed->counts)
        return closed->counts[bar];
    return bar < closed->skipped ? 0 : (bar + 1 - closed->skipped) / closed->per;
}

struct higher {
    size_t n;
    struct indicator_columns columns; /* [n] each */
    struct higher_closed closed;
    double *cells;    /* theirs */
    uint32_t *counts; /* closed.counts */
};

/* Of bars with open_ns. Without `volume` that column is of unknown contents. 0 or -ENOMEM. */
int backtest_higher_build(const struct columns_bars *bars, int64_t frame_ns, bool volume, struct higher *ret);
void backtest_higher_finish(struct higher *higher);

#endif
