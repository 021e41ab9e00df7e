/* One request of exchange/alpaca/rest.c: its URL, page by page, and how its replies are parsed. Internal to
 * the two. */
#ifndef EXCHANGE_ALPACA_REST_CALL_H
#define EXCHANGE_ALPACA_REST_CALL_H

#include "exchange/alpaca/message.h"
#include "exchange/alpaca/rest.h"
#include "exchange/json.h"
#include "exchange/net/budget.h"
#include "exchange/net/requests.h"
#include "exchange/venue.h"

enum { ALPACA_TOKEN_MAX = 512 };

struct alpaca_rest {
    struct venue_rest base;
    char *trading;               /* its host; of data: base.url */
    char feed[16], crypto[16];   /* settings */
    struct budget budget;        /* calls of the last minute */
    int64_t reset_ms;            /* when the venue's count starts again, as far as it said; 0: it did not */
    bool past;                   /* they are not counted */
    struct alpaca_levels levels; /* of the reply that is read */
};

struct alpaca_call {
    struct venue_call base; /* BARS: max is what is still wanted */
    size_t limit;           /* BARS: of a page, the same for all of them */
    int64_t before_ns;      /* BARS: open time of the last bar received; INT64_MIN before the first */
    struct bar partial;     /* BARS: the long bar that the next page continues */
    bool has_partial;
    size_t first;     /* ACTIONS: whose, of the request under way */
    bool crypto_list; /* SYMBOLS: the second list */
    struct venue_action *actions;
    size_t n_actions, cap_actions;
    int64_t last_ns;              /* TRADES: the time of the last one received */
    char token[ALPACA_TOKEN_MAX]; /* of the page that is requested next; "": the first */
    int empty_pages;
    struct venue_skipped skipped; /* ACTIONS: of all pages; BARS, TRADES: of this one */
};

/* As in struct requests_venue. */
int alpaca_call_prepare(struct venue_call *call);
void alpaca_call_finish(struct venue_call *call);
bool alpaca_call_is_nothing(const struct venue_call *call);
char *alpaca_call_url(const struct venue_call *call, bool whole);
void alpaca_call_title(const struct venue_call *call, char ret[static VENUE_DETAIL_MAX]);
int alpaca_call_take(struct venue_call *call, const char *body, size_t len, struct venue_reply *reply,
                     void **storage);

/* Corporate actions from Alpaca: splits and dividends, and rows that are not booked. */

/* A page of /v1/corporate-actions: splits both ways, stock dividends (splits) and cash dividends. Written
 * to `ret`, as far as `cap` goes, in the reply's order. Rows that do not parse, and other kinds, are added
 * to `skipped`, unless they say a day (ex-date, else effective or process date) that begins outside of
 * from..to. *ret_next: the next page's token, in the text; empty at the last. *ret_rows: all rows of the
 * page. 0; -EBADMSG for any other text; -E2BIG. */
int alpaca_parse_actions(const char *text, size_t len, int64_t from_ns, int64_t to_ns,
                         struct venue_action *ret, size_t cap, size_t *ret_n, size_t *ret_rows,
                         struct json_text *ret_next, struct venue_skipped *skipped);

/* Records one more row that is not used: its symbol (data NULL: unknown), and one line, in which bytes that
 * are not printable ASCII become '?'. */
void alpaca_skipped_add(struct venue_skipped *skipped, struct json_text symbol, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A reply of Alpaca's market data REST: trades, quotes, bars or order books by symbol, lists or the latest
 * one, and snapshots, as the events that the streams emit. */

struct alpaca_reply {
    struct json_text next_page; /* token, within the text; empty: the last page */
    size_t messages;
    size_t odd; /* left out: messages that the streams' rules refuse, or books of too many levels */
};

struct alpaca_reply_handler {
    /* The symbol of the messages that follow; NULL skips them. */
    const struct symbol *(*symbol)(void *user, struct json_text name);
    /* One message; ret->symbol is not written, KLINE says one minute whatever was requested. 0 continues;
     * any other value ends the reading and is returned. */
    int (*message)(void *user, const struct symbol *symbol, const struct market_event *event);
    void *user;
};

/* 0; -EBADMSG for another text. */
int alpaca_parse_reply(const char *text, size_t len, struct alpaca_levels *levels,
                       const struct alpaca_reply_handler *handler, struct alpaca_reply *ret);

#endif
