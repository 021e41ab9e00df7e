/* Which streams have gone silent. An open socket proves nothing: venues keep one open for hours without
 * sending. Pure: time is passed in, in any one unit (the daemon uses monotonic nanoseconds). */
#ifndef EXCHANGE_NET_WATCHDOG_H
#define EXCHANGE_NET_WATCHDOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watchdog_stream {
    int64_t max_age;    /* silence allowed; <= 0: never stale */
    int64_t touched_at; /* the last data, or when watching began */
};

/* Streams are the caller's array, which must outlive the watchdog. */
struct watchdog {
    struct watchdog_stream *streams;
    size_t n;
};

/* All n streams, with max_age filled in by the caller, count from `now`. */
void watchdog_init(struct watchdog *watchdog, struct watchdog_stream *streams, size_t n, int64_t now);

/* Data of stream i came. */
static inline void watchdog_touch(struct watchdog *watchdog, size_t i, int64_t now)
{
    watchdog->streams[i].touched_at = now;
}

/* Counts all streams from `now` again: after a reconnection, a pause of reading, a suspended machine. */
void watchdog_restart(struct watchdog *watchdog, int64_t now);

int64_t watchdog_age(const struct watchdog *watchdog, size_t i, int64_t now);
bool watchdog_stale(const struct watchdog *watchdog, size_t i, int64_t now);

/* Returns the number of stale streams and writes the indices of the first `cap` of them. */
size_t watchdog_check(const struct watchdog *watchdog, int64_t now, size_t *ret_stale, size_t cap);

/* The earliest time at which a stream that is not stale becomes so, if nothing comes; INT64_MAX for never. */
int64_t watchdog_next(const struct watchdog *watchdog, int64_t now);

#endif
