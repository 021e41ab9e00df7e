/* Forms higher bars from closed lower ones: one symbol's bars of one timeframe.
 *
 * A higher bar is returned when its last lower bar has closed, and only when every one of its lower bars
 * was there: one whose beginning was not seen, or that lacks a lower bar, is left out, since a chart shows
 * the venue's bar or none, and the next one is formed. (Feature matrices keep incomplete bars:
 * indicators_gpu/features/group.h.) The lower timeframe itself is the case of one lower bar a bar,
 * wherever that opens; the others open by the clock. Pure; no
 * clock is read, so that nothing of the future can be in a bar. */
#ifndef DAEMON_TIMEFRAME_H
#define DAEMON_TIMEFRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/bar.h"

struct timeframe {
    int64_t interval_ns, lower_ns; /* the first is a multiple of the second */
    struct bar forming;            /* of the lower bars so far; open_ns is the higher bar's */
    bool have_forming, whole;      /* whole: none of its lower bars is missing so far */
    int64_t last_ns;               /* open time of the newest lower bar taken */
    int64_t next_ns; /* lower bars that open before this are in bars that ended: never needed again */
    uint64_t left_out;
};

void daemon_timeframe_init(struct timeframe *tf, int64_t interval_ns, int64_t lower_ns);

/* Takes a closed lower bar. True when it closes a whole higher bar, into *ret. One that opens no later than
 * the newest taken, or before next_ns, is ignored. */
bool daemon_timeframe_take(struct timeframe *tf, const struct bar *lower, struct bar *ret);

/* What the higher bar would be with a lower bar that has not closed yet. False when that bar will be left
 * out, or `lower` does not come after the newest taken. */
bool daemon_timeframe_peek(const struct timeframe *tf, const struct bar *lower, struct bar *ret);

#endif
