/* Binance's keyless REST: time, exchangeInfo, klines, depth, aggTrades. See exchange/venue.h for the calls'
 * contracts.
 *
 * The venue counts weight per minute and reports it in each reply: near the limit (from exchangeInfo)
 * requests wait for the next minute. Books weigh most: they come last, leave room to all else, and where
 * many wait have fewer levels. On 429 and 418 everything waits as long as Retry-After says. Replies of 5xx
 * and broken connections are tried again with backoff, a bounded number of times: all requests only read.
 *
 * Symbols are first requested by their names alone; when the venue does not know one of them, its whole
 * list is requested, to name the nearest. Names that are not listed are no error: see struct venue_symbol. */
#ifndef EXCHANGE_BINANCE_REST_H
#define EXCHANGE_BINANCE_REST_H

#include "exchange/binance/variant.h"
#include "exchange/venue.h"

enum {
    BINANCE_KLINES_MAX = 1000, /* a page */
    BINANCE_TRADES_MAX = 1000,
    BINANCE_DEPTH_LIMIT = 5000,
    BINANCE_WEIGHT_LIMIT_DEFAULT = 6000, /* a minute, until exchangeInfo says */
};

/* The venue wants less than an hour between both times of a request for trades. */
#define BINANCE_TRADES_SPAN_NS (59 * 60 * INT64_C(1000000000))

/* The requests themselves: exchange/net/requests.h. */
int binance_rest_create(const struct binance_variant *variant, const struct venue_rest_config *config,
                        struct venue_rest **ret);

#endif
