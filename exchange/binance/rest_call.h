/* One request of exchange/binance/rest.c: its URL, and how its reply is parsed. Internal to the two. */
#ifndef EXCHANGE_BINANCE_REST_CALL_H
#define EXCHANGE_BINANCE_REST_CALL_H

#include "exchange/binance/rest.h"
#include "exchange/net/requests.h"
#include "exchange/venue.h"

struct binance_rest {
    struct venue_rest base;
    const struct binance_variant *variant;
    int64_t minute_ends_ms; /* when the venue's count of weight starts over, at the latest */
    int64_t weight_used; /* as the venue said, plus what was sent since; or what was sent, if that is more */
    int64_t weight_sent; /* in this minute */
};

struct binance_call {
    struct venue_call base; /* BARS: start_ns and max are what is still wanted; TRADES: next_id */
    bool whole_list;        /* SYMBOLS */
    int depth;              /* BOOK: levels a side; set when it is sent */
};

/* The weight of one attempt. */
int binance_call_weight(const struct venue_call *call);

/* As in struct requests_venue. take() sets the limit where exchangeInfo has it. */
char *binance_call_url(const struct venue_call *call, bool whole);
void binance_call_title(const struct venue_call *call, char ret[static VENUE_DETAIL_MAX]);
int binance_call_take(struct venue_call *call, const char *body, size_t len, struct venue_reply *reply,
                      void **storage);

/* REST's answer to what a stream sent last: trades, aggTrades, ticker/bookTicker, ticker/24hr. Pure. */

/* Trades ascending by id, at most `cap` (more are malformed); one quote or ticker, none where the venue has
 * no price of it. What is written is as exchange/venue.h says of LATEST. 0 or -EBADMSG, also for kinds other
 * than TRADE, AGG_TRADE, QUOTE and TICKER. */
int binance_parse_latest(const char *text, size_t len, const struct symbol *symbol, enum market_kind kind,
                         struct market_event *ret, size_t cap, size_t *ret_n);

#endif
