/* When a sink is tried next: at once; where it fails every `retry` (3 s) for the first 300 of them (15
 * minutes), then twice as long each time, up to 100 of them (5 minutes). A new notice starts that again. What
 * a sink asks for by Retry-After is waited for, whatever comes. Pure; times are monotonic ns. */
#ifndef DAEMON_NOTIFY_BACKOFF_H
#define DAEMON_NOTIFY_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#define NOTIFY_RETRY_NS (3 * INT64_C(1000000000)) /* the default */

enum {
    NOTIFY_EAGER_RETRIES = 300, /* 15 minutes of 3 s */
    NOTIFY_WAIT_RETRIES = 100,  /* 5 minutes */
};
#define NOTIFY_RETRY_AFTER_MAX_NS \
    (24 * 3600 * INT64_C(1000000000)) /* a sink that asks for more is asked each day */

/* All zero: it has not failed. */
struct notify_backoff {
    bool failing;
    int64_t since_ns;   /* the first attempt that failed */
    int64_t eager_ns;   /* since when it is tried often */
    int64_t started_ns; /* the last attempt */
    int64_t wait_ns;    /* from one attempt's start to the next */
    int64_t until_ns;   /* not before: Retry-After; 0: it asked for nothing */
};

/* An attempt failed that started then; retry_after_ns as struct notify_outcome. */
void daemon_notify_backoff_failed(struct notify_backoff *backoff, int64_t retry_ns, int64_t started_ns,
                                  int64_t now_ns, int64_t retry_after_ns);
void daemon_notify_backoff_accepted(struct notify_backoff *backoff);
/* A new run: it has failed since then, and is tried at once. */
void daemon_notify_backoff_resume(struct notify_backoff *backoff, int64_t since_ns, int64_t now_ns);
/* There is a new notice, or the sink was configured again. */
void daemon_notify_backoff_again(struct notify_backoff *backoff, int64_t retry_ns, int64_t now_ns);

/* The moment of the next attempt; 0: at once. */
int64_t daemon_notify_backoff_next(const struct notify_backoff *backoff);

/* Is a minute of the day in from..to, which may pass midnight? from -1: never. */
bool daemon_notify_quiet(int from, int to, int minute);

#endif
