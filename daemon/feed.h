/* The feed: from the venue's address to events in the session. It asks the venue what it lists and for
 * history, keeps the stream up, watches the age of each stream's data, and answers the engine's wishes for
 * books and bars. */
#ifndef DAEMON_FEED_H
#define DAEMON_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/daemon.h"

enum { FEED_STREAM_NAME_MAX = 24 };

/* 0, or -errno with one line. The daemon must outlive the feed. */
int feed_create(struct daemon *daemon, struct feed **ret, char *err, size_t err_size);

/* Begins with the venue's time and symbols, and keeps trying. */
void feed_start(struct feed *feed);

/* Ends the stream and all requests; `done` is called when nothing is left, then the feed is gone. */
void feed_stop(struct feed *feed, void (*done)(void *user), void *user);

/* The engine's wishes (struct session_hooks). */
void feed_need_snapshot(struct feed *feed, int symbol);
void feed_need_bars(struct feed *feed, int symbol, int64_t from_open_ns, int64_t to_open_ns);

struct feed_stream_view {
    const char *symbol;
    char name[FEED_STREAM_NAME_MAX]; /* "trade", "kline_1m" */
    int64_t age_ms;                  /* -1: nothing came yet */
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
    const struct feed_stream_view *streams; /* until the next call */
    size_t n_streams;
};

void feed_view(struct feed *feed, struct feed_view *ret);

/* Real time since the symbol's last data; -1 when nothing came yet. */
int64_t feed_symbol_age_ms(const struct feed *feed, int symbol);

#endif
