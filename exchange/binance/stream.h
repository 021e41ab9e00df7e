/* Binance's market data, kept up: combined streams, over as few connections as the venue's limit of names
 * allows (exchange/binance/shard.h), each renewed before the venue ends it (exchange/binance/renew.h).
 *
 * It reconnects as exchange/net/link.h says, with one budget for all connections: at once when the venue
 * announces a shutdown; after Retry-After on 429 and 418; and rarely after another 4xx, which no retry
 * helps. Names are subscribed and unsubscribed at run time, within the venue's limit of messages. See
 * exchange/venue.h for the calls' contracts. */
#ifndef EXCHANGE_BINANCE_STREAM_H
#define EXCHANGE_BINANCE_STREAM_H

#include "exchange/binance/variant.h"
#include "exchange/json.h"
#include "exchange/venue.h"

enum {
    BINANCE_CONNECTIONS_MAX = 24,
    BINANCE_STREAMS_MAX = BINANCE_CONNECTIONS_MAX * 1024, /* names; 1024 a connection, by the venue */
};

/* -EINVAL also for a setting that the venue has not. */
int binance_stream_create(const struct binance_variant *variant, const struct venue_stream_config *config,
                          const struct venue_stream_handler *handler, void *user, struct venue_stream **ret);
void binance_stream_destroy(struct venue_stream *stream);
int binance_stream_connection(const struct venue_stream *stream, const char *name);
bool binance_stream_connection_up(const struct venue_stream *stream, int connection);
bool binance_stream_replace(struct venue_stream *stream, int connection, const char *why);
void binance_stream_pause(struct venue_stream *stream, bool paused);
const struct venue_status *binance_stream_status(struct venue_stream *stream);
int binance_stream_follow(struct venue_stream *stream, const char *const *names, size_t n);
int binance_stream_unfollow(struct venue_stream *stream, const char *const *names, size_t n);
int binance_stream_list(struct venue_stream *stream,
                        void (*done)(void *user, const char *const *names, size_t n, const char *error),
                        void *user);
void binance_stream_hold(struct venue_stream *stream, int64_t until_ns, const char *why);

/* "btcusdt@aggTrade", "btcusdt@kline_1m", "btcusdt@depth@100ms", … */
int binance_stream_name(const char *symbol, enum market_kind kind, int64_t interval_ns,
                        char ret[VENUE_STREAM_NAME_MAX]);

/* The names that the venue says it sends, gathered from several connections. Internal to
 * exchange/binance/stream.c. */

enum { LISTING_MAX_MS = 15 * 1000 /* that all answers may take */ };

/* All zero: no list is requested. */
struct listing {
    void (*done)(void *user, const char *const *names, size_t n,
                 const char *error); /* NULL: no list is requested */
    void *user;
    unsigned left; /* connections still to answer */
    int64_t until_ms;
    char **names;
    size_t n, cap;
};

/* Adds the names of the next array. False for another value, or without memory. */
bool binance_listing_take(struct listing *listing, struct json list);

/* Passes the names or the error to `done`, and clears the list before: `done` may request another. */
void binance_listing_end(struct listing *listing, const char *error);

/* Forgets all of it. */
void binance_listing_drop(struct listing *listing);

#endif
