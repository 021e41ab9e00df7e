/* Binance's accounts (struct venue_accounts): orders and questions over REST, user data over the WebSocket
 * API, and orders over that too with the setting `orders = websocket`. The parts of one account; internal to
 * this folder, except binance_accounts. */
#ifndef EXCHANGE_BINANCE_ACCOUNT_ACCOUNT_H
#define EXCHANGE_BINANCE_ACCOUNT_ACCOUNT_H

#include <uv.h>

#include "exchange/binance/account/event_parse.h"
#include "exchange/binance/account/parameters.h"
#include "exchange/fail.h"
#include "exchange/net/account_calls.h"
#include "exchange/net/link.h"
#include "exchange/net/resolver.h"
#include "exchange/net/url.h"
#include "exchange/net/websocket.h"

extern const struct venue_accounts binance_accounts; /* of the venue's testnet and demo mode */

enum {
    BINANCE_ENGINE_MS = 10 * 1000, /* the longest that the venue waits for its matching engine */
    BINANCE_TRADES_PAGE = 1000,    /* the most fills in an answer */
    BINANCE_READS_PERCENT = 95,    /* of the address's weight: what is left is for orders and cancels */
};

struct binance_request {
    struct account_call base;
    struct binance_parameters params; /* all but the time, of the first page */
    int64_t settled_ns;               /* PLACE, once it was sent */
    int64_t message_id;               /* while it is under way by the WebSocket API (0: not), */
    int connection;                   /* on that of the two, */
    int64_t deadline_ms;              /* and until then */
};

/* A connection to the WebSocket API. */
struct binance_user_connection {
    struct binance_account *account;
    struct websocket *websocket; /* NULL: none */
    enum {
        USER_CONNECTING,
        USER_LOGGING_ON,
        USER_SUBSCRIBING,
        USER_SUBSCRIBED,
    } stage;
    int64_t message_id;  /* of the request that its stage waits for */
    int64_t deadline_ms; /* for the answer to it */
    bool shuts_down;     /* its server announced it */
    bool pinged, ponged; /* to learn that it has brought all */
};

struct binance_user_stream {
    struct link link; /* opened: subscribed */
    struct budget budget;
    struct resolver_query *query;
    struct resolver_result addresses;
    struct binance_user_connection connections[2];
    int current, next;  /* the one that is up, and the one that is to follow it; -1: none */
    int64_t overlap_ms; /* since when both are subscribed */
    int64_t last_id;    /* of messages */
    struct url url;     /* of the WebSocket API */
    char *path;         /* the whole URL */
    int64_t timeout_ms; /* of an answer */
};

struct binance_account {
    struct account_calls calls;
    const struct venue_account_handler *handler;
    void *user;
    struct binance_signer *signer;
    struct net_header key; /* of each request */
    int64_t (*venue_ns)(void *user);
    void (*bad_timestamp)(void *user); /* NULL: not reported */
    bool by_websocket;                 /* orders */
    int64_t orders_hold_ms;            /* no new order is sent before, … */
    int64_t reads_hold_ms;             /* … and nothing that only asks */
    uint64_t messages;                 /* sent by the WebSocket API */
    struct binance_user_stream stream;
    struct venue_status status, reported; /* the second: as the handler last got it */
    uv_timer_t timer;
    int open; /* handles that are not closed yet */
    bool destroyed;
};

/* account.c */

int64_t binance_account_now_ms(const struct binance_account *account); /* the venue's time */
void binance_account_wake(struct binance_account *account);            /* the timer, at once */
void binance_account_notify(struct binance_account *account);          /* from the loop */
void binance_account_hold(struct binance_account *account, int64_t until_ms, const char *why); /* all of it */
/* The venue refused a timestamp. */
void binance_account_report_bad_timestamp(struct binance_account *account);
/* The venue limits or bans the address: so that everything else waits, too. */
void binance_account_report_ban(struct binance_account *account, int64_t until_ms, const char *why);

/* Its status' detail, in one line. */
#define binance_account_say(account, ...) \
    ((void)fail_line(0, (account)->status.detail, VENUE_DETAIL_MAX, NULL, __VA_ARGS__))

/* request.c: requests, by whichever way */

extern const struct account_calls_venue binance_account_calls;
void binance_request_next_page(struct binance_request *request);
/* The connection has ended: what was sent on it may have been done. */
void binance_requests_lost(struct binance_account *account, int connection, const char *why);
/* Ends those whose time is over; returns when to look again. */
int64_t binance_requests_expire(struct binance_account *account, int64_t now_ms);
bool binance_requests_wait(const struct binance_account *account, int connection); /* any on it? */

/* answer.c: an answer came, by REST and by the WebSocket API */

void binance_request_take_http(struct account_call *call, const struct http_reply *http);
void binance_requests_take(struct binance_account *account, const struct binance_message *message);

/* user_session.c: a connection */

void binance_user_begin(struct binance_user_connection *connection); /* it is open */
void binance_user_message(void *user, const char *data, size_t len); /* it brought that */
/* Sends a message, signed or not. 0 and its id; or -errno, then nothing was sent. */
int binance_user_send(struct binance_user_connection *connection, const char *method,
                      struct binance_parameters *params, bool signs, int64_t *ret_id);

/* user_stream.c: both of them */

int binance_user_index(const struct binance_user_connection *connection);
void binance_user_received(struct binance_user_connection *connection); /* something */
/* It has ended, or is given up. */
void binance_user_fail(struct binance_user_connection *connection, enum link_failure failure,
                       int64_t retry_after_ms, const char *why);

int binance_user_stream_init(struct binance_user_stream *stream, struct binance_account *account,
                             const char *ws_url, uint64_t jitter_seed);
void binance_user_stream_close(struct binance_user_stream *stream);  /* no callback follows */
void binance_user_stream_finish(struct binance_user_stream *stream); /* frees its parts */
/* Does all that is due, and returns when it is to be called again. */
int64_t binance_user_stream_drive(struct binance_user_stream *stream, int64_t now_ms);
/* Sends a method's message on the connection that is up; the session may have logged on. 0 and its id and
 * connection; -ENOTCONN, -ENOBUFS, -ENOMEM: nothing was sent. */
int binance_user_stream_send(struct binance_user_stream *stream, const char *method,
                             struct binance_parameters *params, int64_t *ret_id, int *ret_connection);

#endif
