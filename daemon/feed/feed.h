/* A feed: from one venue's address to events in the session. It asks the venue what it lists and for history,
 * keeps the stream up, watches the age of each stream's data, and answers the engine's wishes for books and
 * bars. */
#ifndef DAEMON_FEED_FEED_H
#define DAEMON_FEED_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/daemon.h"
#include "exchange/venue.h"

enum { FEED_STREAM_NAME_MAX = 24 };

struct feed;

struct feed_stream_view {
    int symbol;       /* the engine's */
    const char *name; /* "trade", "kline_1m" */
    int64_t age_ms;   /* -1: nothing came yet */
    int64_t limit_ms;
    uint64_t frames;
    bool stale;
};

struct feed_view {
    const char *state; /* "ok", "connecting", "retry", "stale", "failed" */
    const char *url, *detail;
    int64_t age_ms;      /* of the newest data; -1: none yet */
    int64_t retry_in_ms; /* -1: not waiting */
    uint64_t connects, frames, bytes, bad_frames;
    int64_t clock_offset_ms; /* the venue's clock minus ours */
    bool have_offset;
};

const struct venue *feed_venue(const struct feed *feed);
void feed_view(struct feed *feed, struct feed_view *ret);
size_t feed_streams(const struct feed *feed);
void feed_stream_view(const struct feed *feed, size_t i, struct feed_stream_view *ret);

#endif
