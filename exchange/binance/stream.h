/* One combined stream of Binance's market data, kept up: /stream?streams=a/b/c.
 *
 * It reconnects with backoff, jitter and a budget of attempts; at once when the venue announces a shutdown
 * or the connection nears the 24 hours that the venue allows it; after Retry-After on 429 and 418; and rarely
 * after another 4xx, which no retry mends. The backoff starts over only once a new connection has brought
 * data. See exchange/venue.h for the calls' contracts. */
#ifndef EXCHANGE_BINANCE_STREAM_H
#define EXCHANGE_BINANCE_STREAM_H

#include "exchange/venue.h"

#define BINANCE_WS_URL "wss://data-stream.binance.vision:443"

enum { BINANCE_STREAMS_MAX = 1024 }; /* per connection, by the venue */

struct binance_stream;

int binance_stream_create(const struct venue_stream_config *config,
                          const struct venue_stream_handler *handler, void *user,
                          struct binance_stream **ret);
void binance_stream_destroy(struct binance_stream *stream);
void binance_stream_reconnect(struct binance_stream *stream, const char *why);
void binance_stream_pause(struct binance_stream *stream, bool paused);
const struct venue_status *binance_stream_status(const struct binance_stream *stream);

/* "btcusdt@aggTrade", "btcusdt@kline_1m", "btcusdt@depth@100ms", … */
int binance_stream_name(const char *symbol, enum market_kind kind, int64_t interval_ns,
                        char ret[VENUE_STREAM_NAME_MAX]);

#endif
