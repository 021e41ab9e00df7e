/* How soon one order book may be requested again. The first request is sent at once; one that follows soon
 * after another waits, a second at first, twice as long each time, a minute at most. */
#ifndef DAEMON_FEED_PACE_H
#define DAEMON_FEED_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PACE_MIN_MS = 1000,
    PACE_MAX_MS = 60 * 1000,
    PACE_STEADY_MS = 10 * 1000, /* so long after it might have been asked again, the delays start over */
    PACE_ALERT = 5,             /* requests in a row that are worth an alert */
};

struct pace {
    int64_t asked_ms;
    int64_t delay_ms; /* from then on; 0: never asked */
    unsigned row;     /* requests one soon after the other */
};

/* May it be asked now? Any clock that does not go back. */
bool feed_pace_due(const struct pace *pace, int64_t now_ms);
/* Was the last request so long ago that the next starts a row of its own? */
bool feed_pace_steady(const struct pace *pace, int64_t now_ms);
/* It was requested. True for the request that is worth an alert, once a row. */
bool feed_pace_asked(struct pace *pace, int64_t now_ms);

#endif
