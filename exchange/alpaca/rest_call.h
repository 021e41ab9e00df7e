/* One request of exchange/alpaca/rest.c: what it asks, page by page, and what its replies mean. Internal to
 * the two. */
#ifndef EXCHANGE_ALPACA_REST_CALL_H
#define EXCHANGE_ALPACA_REST_CALL_H

#include "exchange/alpaca/message.h"
#include "exchange/alpaca/rest.h"
#include "exchange/alpaca/settings.h"
#include "exchange/net/backoff.h"
#include "exchange/net/http.h"

enum { ALPACA_TOKEN_MAX = 512 };

struct alpaca_call {
    struct alpaca_call *next; /* in order of asking */
    struct alpaca_rest *rest;
    enum venue_reply_kind kind;
    venue_reply_done *done;
    void *user;

    struct symbol symbol;           /* BARS, BOOK */
    struct venue_bars_request bars; /* BARS: max is what is still wanted */
    size_t limit;                   /* BARS: of a page, the same for all of them */
    int64_t before_ns;              /* BARS: open time of the last bar received; INT64_MIN before the first */
    struct bar partial;             /* BARS: the long bar that the next page goes on with */
    bool has_partial;
    struct venue_symbol *wanted; /* SYMBOLS: what is wanted; ACTIONS: whose */
    size_t n_wanted, first;      /* ACTIONS: of the request under way */
    bool crypto_list;            /* SYMBOLS: the second list */
    int64_t from_ns, to_ns;      /* DAYS, ACTIONS */
    struct venue_action *actions;
    size_t n_actions, cap_actions;
    char token[ALPACA_TOKEN_MAX]; /* of the page that is asked for next; "": the first */
    int empty_pages;

    struct backoff backoff;
    int attempts;           /* of this page */
    int64_t not_before_ms;  /* monotonic */
    struct http_call *http; /* in flight */
    bool delivering, cancelled;
};

void alpaca_call_free(struct alpaca_call *call);

/* Is there nothing to ask for: all of it too late for the feed, or crypto's corporate actions? An empty reply
 * is the answer. */
bool alpaca_call_is_nothing(const struct alpaca_call *call, const struct alpaca_settings *settings);

/* The URL, to be freed; NULL without memory. `data` and `trading` are the two hosts. */
char *alpaca_call_url(const struct alpaca_call *call, const char *data, const char *trading,
                      const struct alpaca_settings *settings);

/* "bars AAPL", for messages. */
void alpaca_call_title(const struct alpaca_call *call, char ret[static VENUE_DETAIL_MAX]);

/* What a 200 brought. 0: the reply's kind-specific part is filled, from *storage (to be freed after use), and
 * reply->more says whether the call has another page for the caller; 1: nothing to deliver yet, the call asks
 * on; -EBADMSG, -ENOMEM. */
int alpaca_call_take(struct alpaca_call *call, const char *body, size_t len,
                     const struct alpaca_settings *settings, struct alpaca_levels *levels,
                     struct venue_reply *reply, void **storage);

#endif
