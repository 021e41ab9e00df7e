/* Forms higher bars from closed lower ones: one symbol's bars of one timeframe.
 *
 * Without a calendar they open by the clock, and a higher bar is returned when its last lower bar has closed,
 * and only when every one of its lower bars was there: one whose beginning was not seen, or that lacks a
 * lower bar, is left out, since a chart shows the venue's bar or none, and the next one is formed. (Feature
 * matrices keep incomplete bars: indicators_gpu/features/group.h.)
 *
 * Of a market with a calendar they begin and end with its sessions, by trading_bar_span() as a strategy's
 * do (engine/frame.h), each with bars of one session; those of a day or more have the regular sessions of
 * their trading days, and nothing of the hours around them (trading_long_span()). There a time without trades
 * has no bar, so that a higher bar is what there is of it: it is returned with its last lower bar or, where
 * that one is missing, with the next one of any session; only one whose beginning was not seen is left out.
 * Closed times, and those that the calendar does not reach, have none.
 *
 * The lower timeframe itself is the case of one lower bar a bar, wherever that opens. Pure; no clock is read,
 * so that nothing of the future can be in a bar. */
#ifndef DAEMON_TIMEFRAME_H
#define DAEMON_TIMEFRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/bar.h"
#include "exchange/trading_calendar.h"

enum { TIMEFRAME_CLOSED_MAX = 2 };

struct timeframe {
    int64_t interval_ns, lower_ns; /* the first is a multiple of the second */
    struct bar forming;            /* of the lower bars so far; open_ns is the higher bar's */
    bool have_forming, whole;      /* whole: none of its lower bars is missing so far */
    bool by_session;               /* what forms is by a calendar */
    int64_t end_ns;                /* of what forms */
    int64_t last_ns;               /* open time of the newest lower bar taken */
    int64_t next_ns; /* lower bars that open before this are in bars that ended: never needed again */
    uint64_t left_out;
};

void daemon_timeframe_init(struct timeframe *tf, int64_t interval_ns, int64_t lower_ns);

/* Takes a closed lower bar; the calendar may have other days from one to the next. Returns how many whole
 * higher bars it closes, oldest first: the one before, which it shows to be over, and its own. One that opens
 * no later than the newest taken, or before next_ns, is ignored. */
int daemon_timeframe_take(struct timeframe *tf, const struct trading_calendar *calendar,
                          const struct bar *lower, struct bar ret[static TIMEFRAME_CLOSED_MAX]);

/* What the higher bar would be with a lower bar that has not closed yet. False when that bar will be left
 * out, `lower` does not come after the newest taken, or it is part of none. */
bool daemon_timeframe_peek(const struct timeframe *tf, const struct trading_calendar *calendar,
                           const struct bar *lower, struct bar *ret);

/* What forms of the lower bars taken so far, while none of a later one is known. False: nothing does, or it
 * will be left out. */
bool daemon_timeframe_forming(const struct timeframe *tf, struct bar *ret);

/* May a higher bar open there? Of bars that were stored before the calendar was known; true of times that it
 * does not reach. */
bool daemon_timeframe_opens(const struct timeframe *tf, const struct trading_calendar *calendar,
                            int64_t open_ns);

#endif
