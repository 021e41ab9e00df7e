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
    const char *state; /* "ok"; "quiet": by REST there is nothing to tell; "stale"; "closed": the market is */
    int64_t asked_ms;  /* since REST was asked for it in this silence; -1: it was not */
};

/* Of the last minute; below 0: not known. */
struct feed_rates {
    double per_second, latency_p50_ms, latency_p99_ms;
};

struct feed_view {
    const char *state; /* "ok", "connecting", "retry", "stale", "failed", "closed" */
    const char *venue, *url, *rest_url, *detail;
    int64_t age_ms;      /* of the newest data; -1: none yet */
    int64_t retry_in_ms; /* -1: not waiting */
    uint64_t connects, frames, bytes, bad_frames;
    int64_t clock_offset_ms; /* the venue's clock minus ours */
    bool have_offset;
    uint64_t renewals, doubled, sent;
    uint32_t connections, connections_up, connect_budget, connect_budget_used;
    uint64_t bad_per_minute;
    struct feed_rates rates;
    uint64_t requests, requests_failed;
    uint32_t requests_waiting;
    int64_t used_weight, weight_limit; /* used_weight -1: not known */
    int64_t banned_until_ns;           /* 0: not */
    const char *calendar;              /* of its symbols; NULL: none has one */
    const char *market;                /* "always", or the calendar's phase */
    int64_t market_next_ns;            /* 0: not known */
    int64_t market_open_ns;            /* the next session opens, or this one did; 0: not known */
    bool market_half;
    int symbols; /* streamed */
};

const struct venue *feed_venue(const struct feed *feed);
void feed_view(struct feed *feed, struct feed_view *ret);
size_t feed_streams(const struct feed *feed);
/* False of one whose symbol is not streamed any more. */
bool feed_stream_view(const struct feed *feed, size_t i, struct feed_stream_view *ret);
void feed_stream_rates(struct feed *feed, size_t i, struct feed_rates *ret);

/* What is asked of one feed while it runs. A taker is called once from the loop, not from within; `code` is
 * NULL, or a code of docs/control.md with one line. */
typedef void feed_found(void *user, const char *code, const char *why, const struct symbol *symbol);
/* Does the venue list it? 0 or -errno, then the taker is not called. */
int feed_find_symbol(struct feed *feed, const char *name, feed_found *taker, void *user);
/* Streams it from now on, as the venue lists it: its events and rows. 0; -ENOSPC, -EINVAL, -ENOMEM. */
int feed_add_symbol(struct feed *feed, const struct symbol *symbol);
/* Streams it no more. */
void feed_remove_symbol(struct feed *feed, int index);
bool feed_streams_symbol(const struct feed *feed, int index); /* the engine's */
bool feed_is_up(const struct feed *feed);                     /* there is a stream, connected or not */

/* What the venue says that it sends. */
typedef void feed_listed(void *user, const char *code, const char *why, const char *const *names, size_t n);
/* 0; -EOPNOTSUPP, -ENOTCONN, -EBUSY, -ENOMEM. */
int feed_list_streams(struct feed *feed, feed_listed *taker, void *user);

#endif
