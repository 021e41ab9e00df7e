/* Forms higher bars from one base bar after the other, and decides when each is closed: by the rules of
 * indicators_gpu/features/group.h, aligned as trading_bar_span() aligns: of a market with a calendar the
 * first of a session begins with it, and the last one ends with it; else as bar_open_time().
 *
 * A higher bar is what there is of its interval: open of the first base bar, close of the last, extremes
 * and sums between. It closes with the base bar that ends its interval, or, where that one is missing, when
 * the first base bar of a later interval comes. The very first one counts only if the history starts where
 * it does. An interval without a base bar has no higher bar. */
#ifndef ENGINE_FRAME_H
#define ENGINE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/trading_calendar.h"
#include "indicators_gpu/indicators.h"

/* {.interval_ns = …, .base_ns = …} has seen nothing; the first is a multiple of the second. */
struct frame {
    int64_t interval_ns, base_ns;
    bool started, forming, whole; /* whole: what forms starts where its interval does */
    int64_t open_ns;              /* of what forms */
    double open, high, low, close, volume;
};

/* Takes a base bar. Returns how many higher bars it closed, oldest first: 2 where it shows that the one
 * before is closed and ends its own. */
size_t engine_frame_add(struct frame *frame, const struct trading_calendar *calendar, int64_t open_ns,
                        const struct indicator_bar *bar, struct indicator_bar closed[static 2]);

/* When a bar opened, in seconds, as indicators expect it. */
static inline double frame_seconds(int64_t open_ns)
{
    return (double)open_ns * 1e-9;
}

#endif
