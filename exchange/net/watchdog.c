#include "exchange/net/watchdog.h"

void watchdog_init(struct watchdog *watchdog, struct watchdog_stream *streams, size_t n, int64_t now)
{
    *watchdog = (struct watchdog){.streams = streams, .n = n};
    watchdog_restart(watchdog, now);
}

void watchdog_restart(struct watchdog *watchdog, int64_t now)
{
    for (size_t i = 0; i < watchdog->n; i++)
        watchdog->streams[i].touched_at = now;
}

int64_t watchdog_age(const struct watchdog *watchdog, size_t i, int64_t now)
{
    return now - watchdog->streams[i].touched_at;
}

bool watchdog_stale(const struct watchdog *watchdog, size_t i, int64_t now)
{
    int64_t max_age = watchdog->streams[i].max_age;
    return max_age > 0 && watchdog_age(watchdog, i, now) > max_age;
}

size_t watchdog_check(const struct watchdog *watchdog, int64_t now, size_t *ret_stale, size_t cap)
{
    size_t stale = 0;
    for (size_t i = 0; i < watchdog->n; i++) {
        if (!watchdog_stale(watchdog, i, now))
            continue;
        if (stale < cap)
            ret_stale[stale] = i;
        stale++;
    }
    return stale;
}

int64_t watchdog_next(const struct watchdog *watchdog, int64_t now)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < watchdog->n; i++) {
        const struct watchdog_stream *stream = &watchdog->streams[i];
        if (stream->max_age <= 0 || watchdog_stale(watchdog, i, now))
            continue;
        int64_t at = stream->touched_at + stream->max_age + 1;
        if (at < next)
            next = at;
    }
    return next;
}
