/* One request of exchange/alpaca/rest.c: what it asks, page by page, and what its replies mean. Internal to
 * the two. */
#ifndef EXCHANGE_ALPACA_REST_CALL_H
#define EXCHANGE_ALPACA_REST_CALL_H

#include "exchange/alpaca/message.h"
#include "exchange/alpaca/rest.h"
#include "exchange/net/budget.h"
#include "exchange/net/requests.h"

enum { ALPACA_TOKEN_MAX = 512 };

struct alpaca_rest {
    struct venue_rest base;
    char *data, *trading;        /* hosts */
    char feed[16], crypto[16];   /* settings */
    struct budget budget;        /* calls of the last minute */
    struct alpaca_levels levels; /* of the reply that is read */
};

struct alpaca_call {
    struct venue_call base; /* BARS: max is what is still wanted */
    size_t limit;           /* BARS: of a page, the same for all of them */
    int64_t before_ns;      /* BARS: open time of the last bar received; INT64_MIN before the first */
    struct bar partial;     /* BARS: the long bar that the next page goes on with */
    bool has_partial;
    size_t first;     /* ACTIONS: whose, of the request under way */
    bool crypto_list; /* SYMBOLS: the second list */
    struct venue_action *actions;
    size_t n_actions, cap_actions;
    char token[ALPACA_TOKEN_MAX]; /* of the page that is asked for next; "": the first */
    int empty_pages;
    struct venue_left_out left_out; /* ACTIONS: of all pages; BARS: of this one */
};

/* As in struct requests_venue. */
int alpaca_call_prepare(struct venue_call *call);
void alpaca_call_finish(struct venue_call *call);
bool alpaca_call_is_nothing(const struct venue_call *call);
char *alpaca_call_url(const struct venue_call *call, bool whole);
void alpaca_call_title(const struct venue_call *call, char ret[static VENUE_DETAIL_MAX]);
int alpaca_call_take(struct venue_call *call, const char *body, size_t len, struct venue_reply *reply,
                     void **storage);

#endif
