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
/* Streams it from now on, as the venue lists it: its events and rows. `command`: that holds over restarts,
 * whatever the configuration says; else it says so. 0; -ENOSPC, -EINVAL, -ENOMEM. */
int feed_add_symbol(struct feed *feed, const struct symbol *symbol, bool command);
void feed_remove_symbol(struct feed *feed, int index, bool command);
bool feed_streams_symbol(const struct feed *feed, int index); /* the engine's */
/* The configuration does not name it, and it stays, since it is in use; false: it names it again. */
void feed_leave_out(struct feed *feed, int index, bool left_out);
bool feed_leaves_out(const struct feed *feed, int index); /* is it streamed in spite of that? */
bool feed_is_up(const struct feed *feed);                 /* there is a stream, connected or not */

/* ---- the configuration, read again: reload.c ---- */

/* The symbol of the engine that the venue lists by that name, or that had it first (a stock); -1. */
int feed_symbol_named(const struct feed *feed, const char *name);
/* Has the venue one of these kinds of streams of a symbol of that name? */
bool feed_has_streams(const struct feed *feed, const char *name, const bool kinds[static MARKET_CHANNELS]);
/* How the venue lists each of `n` names, by one request. The names are the caller's until the answer: a
 * list in their order, for the call, or a code and why. 0 or -errno, then the taker is not called. */
typedef void feed_found_all(void *user, const char *code, const char *why, const struct venue_symbol *list);
int feed_find_symbols(struct feed *feed, const char (*names)[SYMBOL_NAME_MAX], int n, feed_found_all *taker,
                      void *user);
/* "does not list it", or what else is missing. */
const char *feed_unlisted(const struct venue_symbol *listed_now);
/* The daemon's configuration is another now: what is subscribed follows. What brings less is read again from
 * the start, as after an interruption. Returns for how many symbols something changed. */
int feed_take_streams(struct feed *feed);
/* Other keys: for the next requests and connections; a venue that refused the former ones is asked again. */
struct feed_keys;
bool feed_take_keys(struct feed *feed, const struct feed_keys *keys); /* are they others? */
/* [market] history may be another. */
void feed_take_history(struct feed *feed);
/* The limits of silence are those of the daemon's configuration now. */
void feed_take_limits(struct feed *feed);

/* ---- an account at its venue: daemon/execution/ ---- */

/* Fills in what it shares with the feed: the network, the venue's settings, and its ban. */
struct venue_account_config;
void feed_account_config(struct feed *feed, struct venue_account_config *ret);
/* The venue's time as it said it; 0: it has not yet. */
int64_t feed_known_clock_ns(const struct feed *feed);
/* Reads the venue's time again at once, unless it is being read; daemon_executions_clock_renewed() follows.
 */
void feed_renew_clock(struct feed *feed);

/* The venue's list of streams. */
typedef void feed_listed(void *user, const char *code, const char *why, const char *const *names, size_t n);
/* 0; -EOPNOTSUPP, -ENOTCONN, -EBUSY, -ENOMEM. */
int feed_list_streams(struct feed *feed, feed_listed *taker, void *user);

#endif
