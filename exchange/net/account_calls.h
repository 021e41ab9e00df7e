/* Requests of a venue's account by HTTP: each is sent once, never again, and answered once, from the loop;
 * a limit or a ban holds what follows. What an answer says is the venue's own part.
 *
 * A venue's own call begins with struct account_call, and its account with struct account_calls: its table
 * has NET_ACCOUNT_CALLS. */
#ifndef EXCHANGE_NET_ACCOUNT_CALLS_H
#define EXCHANGE_NET_ACCOUNT_CALLS_H

#include <uv.h>

#include "exchange/net/backoff.h"
#include "exchange/net/budget.h"
#include "exchange/net/http.h"
#include "exchange/net/url.h"
#include "exchange/text.h"
#include "exchange/venue_account.h"

enum { ACCOUNT_HEADERS_MAX = 2, ACCOUNT_BASE_MAX = URL_HOST_MAX + 16 };

struct account_calls;

/* From the call until its answer was delivered. */
struct account_call {
    struct account_call *next; /* in order of asking */
    struct account_calls *calls;
    venue_answer_done *done;
    void *user;
    struct http_call *http; /* in flight */
    bool due;               /* `answer` is to be delivered by the timer */

    enum account_ask ask;
    const struct symbol *symbol; /* not of OPEN, BALANCES */
    char client_id[ORDER_CLIENT_ID_MAX],
        order_id[VENUE_ORDER_ID_MAX]; /* PLACE, CANCEL, QUERY; FILLS, and QUERY where it is known */

    struct venue_answer
        answer; /* outcome, code, retry_ms, settled_ns, ts_ns; the lists of DONE are `lists` */
    struct venue_lists lists;
    char text[VENUE_DETAIL_MAX]; /* of the answer */
};

struct account_calls_venue {
    size_t call_size;
    const char *banned_before; /* of a ban that is known at the start; NULL: LINK_LIMITED_BEFORE */
    /* Sends its first request, or answers it later; `order`: of PLACE. 0; -ENOMEM: then the call is gone. */
    int (*send)(struct account_call *call, const struct order *order);
    /* A reply came: the call is ended, or continued by another request. */
    void (*take)(struct account_call *call, const struct http_reply *reply);
    /* The call has ended: `answer` may be changed; NULL: it is not. */
    void (*settle)(struct account_call *call);
};

struct account_calls {
    const struct account_calls_venue *venue;
    struct net_context *net;
    char base[ACCOUNT_BASE_MAX];      /* https://HOST[:PORT] */
    const struct net_header *headers; /* of every request, at most ACCOUNT_HEADERS_MAX; the owner's */
    size_t n_headers;
    struct venue_symbols symbols;
    int64_t timeout_ms;
    struct venue_ban ban;
    struct budget *budget;  /* of requests; the owner's; NULL: there is no limit that is known */
    struct backoff backoff; /* after what did not leave, */
    int64_t unsent_ms;      /* which is not tried again before: one step for all that fail by then */
    int64_t hold_ms;        /* nothing is sent before */
    char why[VENUE_DETAIL_MAX];
    uv_timer_t timer; /* delivers what is due */
    struct account_call *list;
    uint64_t sent;
    void (*closed)(void *user);
    void *user;
};

/* For a zeroed one; `rest_url` is valid, as venue_account_urls() says. */
void net_account_calls_init(struct account_calls *calls, const struct account_calls_venue *venue,
                            const struct venue_account_config *config, const char *rest_url,
                            void (*closed)(void *user), void *user);
/* No answer follows; `closed` does. */
void net_account_calls_close(struct account_calls *calls);
/* Nothing is sent before; an earlier time than the one known changes nothing. */
void net_account_calls_hold(struct account_calls *calls, int64_t until_ms, const char *why);

void net_account_call_free(struct account_call *call); /* no answer follows */

/* Sends its first request, or prepares the answer that it must wait. `path` begins with '/', is taken and
 * freed, and may be a failed text; `body` is JSON, or NULL. 0; -ENOMEM: then the call is gone. */
int net_account_call_send(struct account_call *call, const char *method, struct text *path, const char *body);
/* Another one, from the loop; without memory the call ends by `outcome`. */
void net_account_call_continue(struct account_call *call, const char *method, struct text *path,
                               enum venue_outcome outcome);

/* Answers, with the call's lists where it is DONE; the call is gone then. From the loop. `text` is made one
 * line; it may be the call's own. */
void net_account_call_end(struct account_call *call, enum venue_outcome outcome, int code, const char *text);
/* The same from the timer. NOT_SENT: not before retry_ms; 0: after a pause that grows with
 * each outage, not with each call in it. */
void net_account_call_end_later(struct account_call *call, enum venue_outcome outcome, int code,
                                int64_t retry_ms, const char *text);
/* The venue limits or bans: NOT_SENT, everything waits so long, and the ban is reported. From the loop. */
void net_account_call_limited(struct account_call *call, int code, int64_t wait_ms, const char *text);

/* As struct venue_accounts says. */
int net_account_place(struct venue_account *account, const struct order *order, const char *client_id,
                      venue_answer_done *done, void *user);
int net_account_cancel(struct venue_account *account, int symbol, const char *client_id,
                       venue_answer_done *done, void *user);
int net_account_query(struct venue_account *account, int symbol, const char *client_id, const char *venue_id,
                      venue_answer_done *done, void *user);
int net_account_recent(struct venue_account *account, int symbol, venue_answer_done *done, void *user);
int net_account_open(struct venue_account *account, venue_answer_done *done, void *user);
int net_account_fills(struct venue_account *account, int symbol, const char *order_id,
                      venue_answer_done *done, void *user);
int net_account_balances(struct venue_account *account, venue_answer_done *done, void *user);

/* Without `recent`, which is for venues that take a client id again. */
#define NET_ACCOUNT_CALLS \
    .place = net_account_place, .cancel = net_account_cancel, .query = net_account_query, \
    .open = net_account_open, .fills = net_account_fills, .balances = net_account_balances

#endif
