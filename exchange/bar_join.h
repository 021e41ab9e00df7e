/* Joins bars of a short interval to bars of a long one, for venues that stream only minutes. A minute
 * without trades may have no bar, so a long bar is known to be complete only when the stream was up since
 * before it started; any other is not returned (REST has it). By a market's calendar long bars begin at a
 * session's start and the last one of a session ends with it; without its days by the clock. Pure. */
#ifndef EXCHANGE_BAR_JOIN_H
#define EXCHANGE_BAR_JOIN_H

#include "exchange/bar.h"
#include "exchange/trading_calendar.h"

enum { BAR_JOIN_MAX = 2 };

struct bar_join {
    int64_t interval_ns; /* of the long bars; a multiple of the parts' */
    struct bar bar;      /* forming; trades 0 and volume 0 are fine */
    int64_t bar_end_ns;  /* when it ends */
    bool have, whole;    /* a part of it came; no part was missed */
    bool following;      /* a part came since the last interruption */
    int64_t end_ns;      /* of the last long bar that was returned or given up: older parts are ignored */
};

void bar_join_init(struct bar_join *join, int64_t interval_ns);

/* Parts may have been missed: the stream was down. */
void bar_join_interrupt(struct bar_join *join);

/* Adds one closed part of `part_ns`, which belongs to one long bar. Writes the long bars that it closes, the
 * one before and its own, and returns how many. The calendar may be another one, of the same market, from one
 * part to the next. */
int bar_join_add(struct bar_join *join, const struct trading_calendar *calendar, const struct bar *part,
                 int64_t part_ns, struct bar ret[static BAR_JOIN_MAX]);

/* Adds one more part to a bar: the first one when `first`. */
void bar_join_merge(struct bar *bar, const struct bar *part, bool first);

#endif
