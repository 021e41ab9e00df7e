/* Alpaca's market data streams, kept up: one connection for stocks (/v2/FEED) and one for crypto
 * (/v1beta3/crypto/LOC), each only while names ask for it: "trades:AAPL", "quotes:BTC/USD", "bars:AAPL",
 * "dailyBars:AAPL", "orderbooks:BTC/USD". What belongs to them comes along: late bars with bars; halts,
 * bands and imbalances with a stock; corrections and cancellations with trades.
 *
 * Errors of the venue that no retry helps are final: keys refused (402), HTTP 4xx. A stream that the plan has
 * not (408 to 411) is tried again after `refused_ms`, since plans change, and a connection that another
 * program has (406) after five minutes or that, where it is sooner, as the venue allows one an endpoint (with
 * backoff where it may be our own, lost just before); an
 * exceeded limit of symbols (405) is reported and leaves the rest up. See exchange/venue.h for the calls'
 * contracts. */
#ifndef EXCHANGE_ALPACA_STREAM_H
#define EXCHANGE_ALPACA_STREAM_H

#include "exchange/venue.h"

int alpaca_stream_create(const struct venue_stream_config *config, const struct venue_stream_handler *handler,
                         void *user, struct venue_stream **ret);
void alpaca_stream_destroy(struct venue_stream *stream);
int alpaca_stream_connection(const struct venue_stream *stream, const char *name);
bool alpaca_stream_connection_up(const struct venue_stream *stream, int connection);
bool alpaca_stream_refuses(const struct venue_stream *stream, const char *name);
bool alpaca_stream_replace(struct venue_stream *stream, int connection, const char *why);
void alpaca_stream_pause(struct venue_stream *stream, bool paused);
const struct venue_status *alpaca_stream_status(struct venue_stream *stream);
int alpaca_stream_follow(struct venue_stream *stream, const char *const *names, size_t n);
int alpaca_stream_unfollow(struct venue_stream *stream, const char *const *names, size_t n);
int alpaca_stream_list(struct venue_stream *stream,
                       void (*done)(void *user, const char *const *names, size_t n, const char *error),
                       void *user);
void alpaca_stream_hold(struct venue_stream *stream, int64_t until_ns, const char *why);

#endif
