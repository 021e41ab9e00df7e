/* A venue, behind one table: its hosts, its streams' names, the format of its messages, and its
 * connections. Everything above knows venues only by this table and by the list in exchange/venues.h;
 * everything of one venue is in its folder. docs/venues.md has the steps that add one. */
#ifndef EXCHANGE_VENUE_H
#define EXCHANGE_VENUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/bar.h"
#include "exchange/book.h"
#include "exchange/corporate_action.h"
#include "exchange/market_kind.h"
#include "exchange/symbol.h"
#include "exchange/trading_day.h"
#include "exchange/venue_format.h"

struct net_context;
struct budget;
struct venue_accounts;

/* An option of its section of the configuration, in addition to those of every venue. */
struct venue_option {
    const char *name, *fallback;
    const char *values; /* with blanks between; NULL: any text */
    const char *summary;
};

/* One of them as it is set; those that are left out have their fallback. */
struct venue_setting {
    const char *name, *value;
};

/* A client's keys at the venue. The caller holds them for as long as the object that they are given to;
 * they are in no message. */
struct venue_keys {
    const char *id, *secret; /* NULL: none */
};

/* A venue that bans an address, or says how long to wait, means every connection and request of it. Each part
 * that receives it calls the callback; the caller passes it to the others with stream_hold() and
 * net_requests_hold(), and keeps it over restarts. `until_ns` is of the wall's clock. */
struct venue_ban {
    int64_t until_ns; /* known when the stream or REST is made; 0: none */
    void (*reported)(void *user, int64_t until_ns, const char *why); /* NULL: no callback */
    void *user;
};

/* Streams. */

enum venue_link {
    VENUE_DOWN,       /* not started yet */
    VENUE_RESOLVING,  /* looking up the name */
    VENUE_CONNECTING, /* TCP, TLS, upgrade */
    VENUE_UP,
    VENUE_WAITING, /* trying again at retry_ms */
    VENUE_FAILED,  /* refused, as by a plan: trying again at retry_ms, rarely; 0: never */
    VENUE_FINAL,   /* refused, and no retry helps (keys, rights): nothing is tried any more */
};

enum { VENUE_DETAIL_MAX = 200, VENUE_STREAM_NAME_MAX = 64 };

/* Times are monotonic milliseconds (uv_hrtime() / 10^6); 0: never. Counts are since creation. A stream may be
 * several connections: by the names it carries, and by the endpoints that they belong to. */
struct venue_status {
    /* UP while every connection that it needs is; else that of the worst, but FINAL only where all are: with
     * others FAILED, and no retry_ms. */
    enum venue_link link;
    char detail[VENUE_DETAIL_MAX]; /* why, one line: the last failure, or what is being done; may be empty */
    int64_t since_ms;              /* when `link` was entered */
    int64_t retry_ms;              /* WAITING, FAILED: when the next attempt is due */
    int64_t last_frame_ms;
    uint64_t attempts, connects; /* tried, established */
    uint64_t failures;           /* attempts that failed, names without an address among them */
    uint64_t reconnects;         /* of the established, those after one that was lost: no renewal */
    uint64_t renewals;           /* connections replaced by overlap, before the venue ends them */
    uint64_t frames, bytes;
    uint64_t doubled;             /* frames that two overlapping connections both brought: one was dropped */
    uint32_t connections, up;     /* that it needs, and that are there */
    uint32_t budget, budget_used; /* attempts to connect in the budget's window, and those used of it */
    uint64_t sent;                /* requests to the venue */
};

struct venue_stream_config {
    struct net_context *net;
    const char *ws_url;         /* wss://HOST[:PORT]; NULL: the venue's own */
    const char *const *streams; /* names as venue->stream_name writes them */
    size_t n_streams;
    struct budget
        *budget; /* of connection attempts, shared by all streams of a venue; NULL: one of its own */
    uint64_t jitter_seed;
    int64_t backoff_min_ms, backoff_max_ms; /* 0: 500 and 60,000 */
    int64_t refused_ms; /* until a refusal by the client's plan is tried again; 0: 15 minutes */
    int64_t age_max_ms; /* of a connection, before it is replaced; 0: what the venue allows, less a margin */
    struct venue_keys keys;
    const struct venue_setting *settings; /* valid ones: venue->options */
    size_t n_settings;
    struct venue_ban ban;
};

/* Called from the loop, never from within a call below; each may call any of them, destroy included. */
struct venue_stream_handler {
    void (*state)(void *user, const struct venue_status *status); /* the link or its reason changed */
    void (*frame)(void *user, const char *data, size_t len);      /* one message, as received */
};

/* REST. */

enum venue_reply_kind {
    VENUE_REPLY_TIME,
    VENUE_REPLY_SYMBOLS,
    VENUE_REPLY_BARS,
    VENUE_REPLY_BOOK,
    VENUE_REPLY_DAYS,
    VENUE_REPLY_ACTIONS,
    VENUE_REPLY_LATEST,
    VENUE_REPLY_TRADES,
};

/* A corporate action and whose it is. */
struct venue_action {
    char symbol[SYMBOL_NAME_MAX];
    char renamed[SYMBOL_NAME_MAX]; /* not "": its name from action.ex_ns on; `action` has only an id */
    struct corporate_action action;
};

/* Parts of a reply that are not used: rows that do not parse, and actions that are not booked. */
enum { VENUE_SKIPPED_MAX = 16 };
struct venue_skipped {
    size_t n; /* all of them; the list has the first ones */
    struct {
        char symbol[SYMBOL_NAME_MAX]; /* whose; "" where that is not said */
        char text[VENUE_DETAIL_MAX];  /* what and why, one line */
    } list[VENUE_SKIPPED_MAX];
};

/* Everything lives during the callback only. */
struct venue_reply {
    enum venue_reply_kind kind;
    int error; /* 0; -ENOENT unknown symbol; -EACCES refused (401, 403, 451); -EBADMSG malformed; -EPROTO
                  another refusal; -EIO no answer or a broken venue after all tries; -ENOMEM */
    const char *text; /* why, one line, when error is set */
    int status;       /* HTTP; 0: no reply */
    const char *body; /* raw; "" when there is none */
    size_t len;
    int64_t elapsed_ms;
    bool more; /* BARS, TRADES: another page of the same call follows in another callback */
    const struct venue_skipped *skipped; /* ACTIONS, BARS, TRADES; NULL: nothing was */
    union {
        int64_t server_ns; /* TIME */
        struct {
            const struct venue_symbol *list; /* in the order asked for */
            size_t n, n_missing;
        } symbols;
        struct {
            const struct bar *list; /* ascending; the first n_closed are closed */
            size_t n, n_closed;
        } bars;
        struct {
            uint64_t last_id;
            const struct book_level *bids, *asks; /* best first */
            uint32_t n_bids, n_asks;
        } book;
        struct {
            const char *calendar; /* as in struct symbol */
            const struct trading_day *list;
            size_t n;
        } days;
        struct {
            const struct venue_action *list; /* corporate_action_order() */
            size_t n;
        } actions;
        struct {
            const struct market_event *list; /* `symbol` is not written, nor a quote's update_id */
            size_t n;                        /* 0: the venue has none */
        } latest;                            /* and of TRADES: those of the past, ascending by time */
    };
};

typedef void venue_reply_done(void *user, const struct venue_reply *reply);

struct venue_rest_config {
    struct net_context *net;
    const char *rest_url; /* https://HOST[:PORT]; NULL: the venue's own */
    uint64_t jitter_seed;
    int attempts_max;                       /* per request; 0: 5 */
    int64_t backoff_min_ms, backoff_max_ms; /* 0: 1,000 and 30,000 */
    int64_t timeout_ms;                     /* per attempt; 0: 20,000 */
    /* Gets each good reply as it came, before the parsed one is delivered; NULL: none */
    void (*tap)(void *tap_user, const char *path, const char *body, size_t len);
    void *tap_user;
    struct venue_keys keys;
    const struct venue_setting *settings;
    size_t n_settings;
    struct venue_ban ban;
    bool past; /* it plays the past, whose minutes may be shorter: only what it says limits the requests */
};

/* Times as in struct venue_status. */
struct venue_rest_status {
    uint32_t queued, in_flight;
    uint64_t requests, failures;       /* attempts sent; of those without a good reply */
    int64_t paused_until_ms;           /* the venue said to wait, or its limit is near; 0: not paused */
    int64_t used_weight, weight_limit; /* of this minute; used_weight -1: not said yet */
    char detail[VENUE_DETAIL_MAX];     /* the last failure */
    int attempt, attempts_max; /* how often a page has failed, of those that are tried again; 0: none */
    int64_t retry_ms;          /* … and when it is sent again, at the earliest */
};

/* For what prices are adjusted, up to now: the venue's "adjustment". Adjusted ones change with every action.
 */
#define VENUE_ADJUSTMENT_NAMES "raw split dividend all"
enum venue_adjustment { VENUE_RAW, VENUE_SPLIT, VENUE_DIVIDEND, VENUE_ALL, VENUE_ADJUSTMENTS };
extern const char *const venue_adjustment_names[VENUE_ADJUSTMENTS];

struct venue_bars_request {
    const struct symbol *symbol; /* copied */
    int64_t interval_ns;
    int64_t start_ns, end_ns; /* open times, both included */
    int64_t now_ns;           /* the venue's time now: bars that close later are forming */
    size_t max;               /* bars in all; 0: no bound */
    /* Copied: bars below a day begin and end by its sessions. NULL: the symbol has none, or its days are not
     * known: by the clock. */
    const struct trading_calendar *calendar;
    /* VENUE_SPLIT: so that the bars continue into what is streamed. Others than VENUE_RAW of stocks only. */
    enum venue_adjustment adjustment;
    /* Of stocks' bars of a day: the venue's own, dated by their day at midnight UTC; else they are made of
     * its shorter ones, by the clock. */
    bool venue_days;
    /* Sent behind every other request, and only while less than VENUE_BACKGROUND_PERCENT of the venue's limit
     * is used, by whomever: the other half of what this program takes stays free. No tap gets the reply. */
    bool background;
};

enum {
    VENUE_BACKGROUND_PERCENT = 40,
    VENUE_CONNECTIONS_MAX = 32, /* of a stream: stream_connection() is below it */
    VENUE_LATEST_MAX = 500,     /* trades in one reply */
};

/* A request for what a stream would have brought last. */
struct venue_latest_request {
    const struct symbol *symbol; /* copied */
    enum market_kind kind;       /* TRADE, AGG_TRADE: the newest ones, ascending; QUOTE, TICKER: one */
    int64_t since_ns;            /* trades before may be left out; 0: all but the newest may */
};

/* A request for trades of the past: aggregates, or single ones without those that were cancelled. */
struct venue_trades_request {
    const struct symbol *symbol; /* copied */
    int64_t start_ns, end_ns;    /* trades in [start_ns, end_ns) */
    size_t max;                  /* of one reply, without another page; 0: all of the range */
};

struct venue_stream;
struct venue_rest;
struct venue_call;

struct venue {
    const struct venue_format *format; /* its name, fees, and parsers */
    const char *title;                 /* for people: */
    const char *ws_url, *rest_url;     /* its own hosts */
    /* Others that it documents, of the same market and of its testnet: NULL at the end; NULL: none. */
    const char *const *live_hosts, *const *test_hosts;
    const struct venue_option *options;
    size_t n_options;
    /* The budget of requests for silent streams: units a minute, at most BUDGET_ATTEMPTS_MAX, and those of
     * one request by the stream's kind. */
    uint32_t asks_a_minute;
    uint8_t ask_cost[MARKET_CHANNELS];
    uint32_t bars_page; /* the most bars in an answer; needed */
    /* Trades of the past are asked for in stretches of so long at most; 0: it does not answer
     * net_requests_trades(). */
    int64_t trades_span_ns;
    bool aggregates; /* they are joined, and their ids leave none out; else single ones */
    bool archives;   /* its archive has files of bars, as docs/history.md describes them */
    bool needs_keys; /* it answers no request without keys */
    const struct venue_accounts *accounts; /* exchange/venue_account.h; NULL: no orders are sent to it */
    /* Are all its symbols' calendars ""? Then it has no trading days and no corporate actions. */
    bool always_open;

    /* The name of one stream: `symbol` as listed, interval_ns for MARKET_KLINE. 0; -EINVAL for a kind or an
     * interval that the venue has not; -ENAMETOOLONG. */
    int (*stream_name)(const char *symbol, enum market_kind kind, int64_t interval_ns,
                       char ret[VENUE_STREAM_NAME_MAX]);

    /* -EINVAL, -EPROTONOSUPPORT for the URL; -E2BIG for more names than its connections may carry; -ENOMEM.
     * The handler must outlive the stream, the config need not. It starts to connect at once and keeps
     * trying. */
    int (*stream_create)(const struct venue_stream_config *config, const struct venue_stream_handler *handler,
                         void *user, struct venue_stream **ret);
    void (*stream_destroy)(struct venue_stream *stream); /* no callback follows; NULL is fine */
    /* Which of its connections carries that name: 0 to VENUE_CONNECTIONS_MAX - 1; -1: there is none. Valid
     * until names are added or removed. */
    int (*stream_connection)(const struct venue_stream *stream, const char *name);
    /* Is everything up that it needs? A change of it is a change of the status. */
    bool (*stream_connection_up)(const struct venue_stream *stream, int connection);
    /* Is the name beyond the number that the client's plan allows, so that it is not subscribed to while
     * others are? A change of it is a change of the status. NULL: there is no such limit. */
    bool (*stream_refuses)(const struct venue_stream *stream, const char *name);
    /* Makes another in place of that connection, if it is up, within backoff and budget; the others stay as
     * they are. Where the venue allows two, the old one stays until the new one brings something, and the
     * link stays UP; else the old one is dropped first. `why` becomes the detail. False: it is not up, or
     * another is being made already. */
    bool (*stream_replace)(struct venue_stream *stream, int connection, const char *why);
    void (*stream_pause)(struct venue_stream *stream, bool paused); /* of reading; holds over reconnections */
    const struct venue_status *(*stream_status)(struct venue_stream *stream);
    /* Subscribes and unsubscribes names while it runs, within the venue's limits of messages and of names
     * for a connection: a connection that is down does it when it is up. Names that are subscribed already,
     * or not, are ignored. 0; -EINVAL for an invalid name; -E2BIG for too many; -ENOMEM; then nothing has
     * changed. */
    int (*stream_follow)(struct venue_stream *stream, const char *const *names, size_t n);
    int (*stream_unfollow)(struct venue_stream *stream, const char *const *names, size_t n);
    /* Requests the venue's list of streams; `done` comes once from the loop, with the names, or with an
     * error in one line; not after stream_destroy(). 0; -ENOTCONN; -EBUSY while another is unanswered;
     * -ENOMEM. */
    int (*stream_list)(struct venue_stream *stream,
                       void (*done)(void *user, const char *const *names, size_t n, const char *error),
                       void *user);
    /* Until then no attempt to connect is made (what is connected stays): see struct venue_ban. */
    void (*stream_hold)(struct venue_stream *stream, int64_t until_ns, const char *why);

    /* How late its bars of a symbol come by REST, with these settings; NULL: at once. */
    int64_t (*bars_late_ns)(const struct symbol *symbol, const struct venue_setting *settings, size_t n);
    /* For the requests of exchange/net/requests.h. */
    int (*rest_create)(const struct venue_rest_config *config, struct venue_rest **ret);
};

#endif
