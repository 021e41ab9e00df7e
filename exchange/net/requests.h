/* The requests of one venue's REST, in order except books and then those of the background, which come last:
 * so many in flight, within the venue's limits, tried again with backoff when the venue or the network fails,
 * paused while it limits or bans. A venue's own parts are in struct requests_venue.
 *
 * A venue's own queue and call begin with struct venue_rest and struct venue_call. */
#ifndef EXCHANGE_NET_REQUESTS_H
#define EXCHANGE_NET_REQUESTS_H

#include <uv.h>

#include "exchange/net/backoff.h"
#include "exchange/net/http.h"
#include "exchange/trading_calendar.h"
#include "exchange/venue.h"

enum { REQUESTS_HEADERS_MAX = 2, REQUESTS_WORDS_MAX = 160 };

/* Which are sent first. */
enum requests_rank { REQUESTS_FIRST, REQUESTS_BOOKS, REQUESTS_BACKGROUND, REQUESTS_RANKS };

/* One request, of as many pages as it takes. */
struct venue_call {
    struct venue_call *next; /* in order of asking */
    struct venue_rest *rest;
    enum venue_reply_kind kind;
    venue_reply_done *done;
    void *user;

    /* The request. The venue may change it from page to page. */
    struct symbol symbol;           /* BARS, BOOK, LATEST, TRADES */
    struct trading_calendar days;   /* BARS: bars.calendar; its own */
    enum market_kind latest;        /* LATEST: since from_ns */
    struct venue_bars_request bars; /* BARS */
    struct venue_symbol *wanted;    /* SYMBOLS: what is wanted; ACTIONS: whose */
    size_t n_wanted;
    int64_t from_ns, to_ns;          /* DAYS, ACTIONS, TRADES */
    int64_t next_id;                 /* TRADES: of the next page; -1: by from_ns */
    size_t max;                      /* TRADES */
    const struct net_header *header; /* one in addition to the queue's; NULL */

    struct backoff backoff;
    int attempts;           /* of this page */
    int64_t not_before_ms;  /* monotonic */
    struct http_call *http; /* in flight */
    bool delivering, cancelled;
};

struct requests_venue {
    size_t size, call_size;    /* of the venue's own queue and call; 0: they have no parts of their own */
    int64_t weight_limit;      /* the first status.weight_limit */
    const char *banned_before; /* the detail of a ban that is known at the start; NULL: LINK_LIMITED_BEFORE */
    int64_t refused_wait_ms;   /* everything waits so long after a 401, 403 or 451 */

    /* Checks the request, and prepares the rest of the call. 0; -EINVAL for what the venue does not have. */
    int (*prepare)(struct venue_call *call);
    /* Frees what the venue's parts hold; NULL: nothing. */
    void (*finish_call)(struct venue_call *call);
    void (*finish)(struct venue_rest *rest); /* likewise */

    /* Is there nothing to ask for? Then an empty reply is the answer. NULL: never. */
    bool (*is_nothing)(const struct venue_call *call);
    /* Of the next page, to be freed; NULL without memory. `whole`: with its host. */
    char *(*url)(const struct venue_call *call, bool whole);
    /* "bars AAPL", for messages. */
    void (*title)(const struct venue_call *call, char ret[static VENUE_DETAIL_MAX]);

    /* When the limit allows the next page: at `now` or before, then it is taken from the limit. Of the
     * background: its share of it (net_requests_rank()). NULL: the venue counts nothing. */
    int64_t (*room_ms)(struct venue_rest *rest, struct venue_call *call, int64_t now);
    /* Called with every reply, also one that failed: reads the state of the limit. NULL: it has none. */
    void (*note)(struct venue_rest *rest, const struct http_reply *http);

    /* The body of a 200. 0: the reply's kind-specific part is filled, from *storage (to be freed after use)
     * or from the call, and reply->more says whether another page follows; 1: nothing to deliver yet, the
     * call continues; -EBADMSG, -ENOMEM. */
    int (*take)(struct venue_call *call, const char *body, size_t len, struct venue_reply *reply,
                void **storage);

    /* The venue's own words in a refusal. False: there are none. */
    bool (*words)(const struct http_reply *http, char ret[static REQUESTS_WORDS_MAX]);
    /* For a status that limits or bans: how long everything waits where Retry-After does not say, and in
     * `why` (the refusal, unless it is replaced) the reason to report; else -1. NULL: a minute, of 429 and
     * 418. */
    int64_t (*limited_ms)(const struct http_reply *http, char why[static VENUE_DETAIL_MAX]);
    /* Another 4xx: the call's -ENOENT or -EPROTO; 1: the call was changed and is sent again at once. NULL:
     * -ENOENT of 404. */
    int (*refused)(struct venue_call *call, const struct http_reply *http);
};

struct venue_rest {
    const struct requests_venue *venue;
    struct net_context *net;
    char *url;                                       /* https://HOST[:PORT], for requests_venue.url */
    struct net_header headers[REQUESTS_HEADERS_MAX]; /* of every request */
    size_t n_headers;
    struct venue_rest_status status;
    struct venue_ban ban;
    int attempts_max;
    int64_t backoff_min_ms, backoff_max_ms, timeout_ms;
    struct backoff random; /* seeds each call's own */
    uv_timer_t timer;
    struct venue_call *calls, **last;
    bool destroyed;
    void (*tap)(void *tap_user, const char *path, const char *body, size_t len);
    void *tap_user;
};

/* The config's URL, or the venue's own. 0; -EINVAL, -EPROTONOSUPPORT for the URL; -ENOMEM. */
int net_requests_create(const struct requests_venue *venue, const struct venue_rest_config *config,
                        const char *own_url, struct venue_rest **ret);

enum requests_rank net_requests_rank(const struct venue_call *call);

/* Nothing is sent before; a time before the present one changes nothing. */
void net_requests_pause(struct venue_rest *rest, int64_t until_ms);

/* The reply of SYMBOLS, when `wanted` is filled. */
void net_requests_fill_symbols(const struct venue_call *call, struct venue_reply *reply);

/* Requests are queued, kept within the venue's limits, and tried again when the venue or the network fails;
 * `done` comes from the loop, once (BARS, TRADES: once a page), unless the call is cancelled. They return 0
 * and the call in *ret (may be NULL; gone once `done` came without `more`), or -ENOMEM, -EINVAL. */
void net_requests_destroy(struct venue_rest *rest); /* cancels everything; NULL is fine */
int net_requests_time(struct venue_rest *rest, venue_reply_done *done, void *user, struct venue_call **ret);
int net_requests_symbols(struct venue_rest *rest, const char *const *names, size_t n, venue_reply_done *done,
                         void *user, struct venue_call **ret);
int net_requests_bars(struct venue_rest *rest, const struct venue_bars_request *request,
                      venue_reply_done *done, void *user, struct venue_call **ret);
int net_requests_book(struct venue_rest *rest, const struct symbol *symbol, venue_reply_done *done,
                      void *user, struct venue_call **ret);
/* What a stream brought last, by REST. -EINVAL for kinds that bars and book cover, and for those that the
 * venue does not have. */
int net_requests_latest(struct venue_rest *rest, const struct venue_latest_request *request,
                        venue_reply_done *done, void *user, struct venue_call **ret);
/* Trades in order of their time, aggregates of their ids too, page by page. -EINVAL of a venue without struct
 * venue.trades_span_ns. */
int net_requests_trades(struct venue_rest *rest, const struct venue_trades_request *request,
                        venue_reply_done *done, void *user, struct venue_call **ret);
/* The trading days of each calendar between two times, a reply a calendar (`more`). Not of a venue that is
 * always open. */
int net_requests_days(struct venue_rest *rest, int64_t from_ns, int64_t to_ns, venue_reply_done *done,
                      void *user, struct venue_call **ret);
/* Splits and dividends of these symbols whose ex_ns lies between; likewise. */
int net_requests_actions(struct venue_rest *rest, const char *const *names, size_t n, int64_t from_ns,
                         int64_t to_ns, venue_reply_done *done, void *user, struct venue_call **ret);
void net_requests_hold(struct venue_rest *rest, int64_t until_ns, const char *why);
void net_requests_cancel(struct venue_rest *rest, struct venue_call *call); /* NULL is fine */
const struct venue_rest_status *net_requests_status(const struct venue_rest *rest);

#endif
