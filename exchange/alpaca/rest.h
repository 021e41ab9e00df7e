/* Alpaca's REST: clock, calendar and assets of the trading API, bars, order books and corporate actions of
 * the market data API. See exchange/venue.h for the calls' contracts.
 *
 * The venue allows 200 calls a minute and says in each reply how many are left: eight of ten are used, then
 * requests wait; on 429 everything waits as the reply says. Replies of 5xx and broken connections are tried
 * again with backoff, a bounded number of times: all requests only read. 401 and 403 are final for the
 * call. Keys go into headers and into no message.
 *
 * Bars of up to an hour are the venue's own; longer ones are joined from hours, so that days begin at 0:00
 * UTC as everywhere here; a stock's own days are for who asks for them (venue_days). With `feed =
 * delayed_sip` the last quarter of an hour is not requested: the venue refuses it. A book is of crypto:
 * -EINVAL for a stock. */
#ifndef EXCHANGE_ALPACA_REST_H
#define EXCHANGE_ALPACA_REST_H

#include "exchange/venue.h"

enum {
    ALPACA_CALLS_PER_MINUTE = 200,
    ALPACA_BARS_MAX = 10000,   /* a page */
    ALPACA_ACTIONS_MAX = 1000, /* a page */
    ALPACA_TRADES_MAX = 10000, /* likewise */
};

/* A quarter of an hour, and what it takes until the bars are there. */
#define ALPACA_DELAY_NS (16 * 60 * INT64_C(1000000000))
int64_t alpaca_bars_late_ns(const struct symbol *symbol, const struct venue_setting *settings, size_t n);

/* So much of its trades is one request, of as many pages as it takes. */
#define ALPACA_TRADES_SPAN_NS (24 * 3600 * INT64_C(1000000000))

/* The requests themselves: exchange/net/requests.h. */
int alpaca_rest_create(const struct venue_rest_config *config, struct venue_rest **ret);

#endif
