/* A feed: from one venue's address to events in the session. It asks the venue what it lists and for history,
 * keeps the stream up, watches the age of each stream's data, and answers the engine's requests for books and
 * bars. */
#ifndef DAEMON_FEED_FEED_H
#define DAEMON_FEED_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/daemon.h"
#include "exchange/venue.h"
#include "record/status.h"

enum { FEED_STREAM_NAME_MAX = 24 };

struct feed;

struct feed_stream_view {
    int index; /* the symbol's, in the engine */
    RECORD_VIEW(RECORD_SHOWN_STREAM)
};

struct feed_view {
    RECORD_VIEW(RECORD_SHOWN_VENUE)
};

const struct venue *feed_venue(const struct feed *feed);
void feed_view(struct feed *feed, struct feed_view *ret);
size_t feed_streams(const struct feed *feed);
/* False of one whose symbol is not streamed any more. The symbol's name and the rates are not in it. */
bool feed_stream_view(const struct feed *feed, size_t i, struct feed_stream_view *ret);
void feed_stream_rates(struct feed *feed, size_t i, struct feed_stream_view *ret);

/* Requests to one feed while it runs. A callback is called once from the loop, not from within; `code` is
 * NULL, or a code of docs/control.md with one line. */
typedef void feed_found(void *user, const char *code, const char *why, const struct symbol *symbol);
/* Does the venue list it? 0 or -errno, then the taker is not called. */
int feed_find_symbol(struct feed *feed, const char *name, feed_found *taker, void *user);
/* Streams it from now on, as the venue lists it: its events and rows. 0; -ENOSPC, -EINVAL, -ENOMEM. */
int feed_add_symbol(struct feed *feed, const struct symbol *symbol);
void feed_remove_symbol(struct feed *feed, int index);
bool feed_streams_symbol(const struct feed *feed, int index); /* the engine's */
bool feed_is_up(const struct feed *feed);                     /* there is a stream, connected or not */

/* The venue's list of streams. */
typedef void feed_listed(void *user, const char *code, const char *why, const char *const *names, size_t n);
/* 0; -EOPNOTSUPP, -ENOTCONN, -EBUSY, -ENOMEM. */
int feed_list_streams(struct feed *feed, feed_listed *taker, void *user);

#endif
