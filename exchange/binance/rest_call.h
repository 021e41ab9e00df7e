/* One request of exchange/binance/rest.c: what it asks, and what its reply means. Internal to the two. */
#ifndef EXCHANGE_BINANCE_REST_CALL_H
#define EXCHANGE_BINANCE_REST_CALL_H

#include "exchange/binance/rest.h"
#include "exchange/net/backoff.h"
#include "exchange/net/http.h"

struct binance_call {
    struct binance_call *next; /* in order of asking */
    struct binance_rest *rest;
    const struct binance_variant *variant;
    enum venue_reply_kind kind;
    venue_reply_done *done;
    void *user;

    struct symbol symbol;           /* BARS, BOOK */
    struct venue_bars_request bars; /* BARS: start_ns and max are what is still wanted */
    struct venue_symbol *wanted;    /* SYMBOLS */
    size_t n_wanted;
    bool whole_list;

    struct backoff backoff;
    int attempts;           /* of this page */
    int64_t not_before_ms;  /* monotonic */
    struct http_call *http; /* in flight */
    bool delivering, cancelled;
};

/* What a try costs of the venue's limit. */
int binance_call_weight(const struct binance_call *call);

/* The URL, to be freed; NULL without memory. */
char *binance_call_url(const struct binance_call *call, const char *base);

/* "klines BTCUSDT", for messages. */
void binance_call_title(const struct binance_call *call, char ret[static VENUE_DETAIL_MAX]);

/* What a 200 brought. Fills the reply's kind-specific part, from *storage (to be freed after use), and for
 * bars moves the call to its next page, saying in reply->more that there is one. 0, -EBADMSG, -ENOMEM.
 * *ret_weight is written when the reply tells the limit per minute. */
int binance_call_take(struct binance_call *call, const char *body, size_t len, struct venue_reply *reply,
                      void **storage, int64_t *ret_weight);

#endif
