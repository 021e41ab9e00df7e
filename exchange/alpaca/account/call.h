/* One request of an account: sent, its answer judged, and the caller called back. Internal to this folder.
 *
 * A call is one request or, where the venue needs several, a row of steps; only PLACE and CANCEL have one
 * that changes anything, and it is the last. Nothing is tried again here.
 *
 * Outcomes of a step, by HTTP status and the code in the body, which only the venue's own answers have
 * (`{"code":40310000,"message":"…"}`; a proxy's page has none, and proves nothing):
 *   2xx                                DONE
 *   429                                NOT_SENT, until the reply says
 *   401; 403 without a code            DENIED
 *   404 40410000 of QUERY, CANCEL      ABSENT
 *   422 of the DELETE                  ABSENT: it can be cancelled no more
 *   422 that names client_order_id     EXISTS (its code, 40010001, is that of every malformed value)
 *   403 and other 4xx with a code      REFUSED
 *   5xx, what has no code, no answer   UNKNOWN; NOT_SENT where no byte of it left, or not of the DELETE yet
 */
#ifndef EXCHANGE_ALPACA_ACCOUNT_CALL_H
#define EXCHANGE_ALPACA_ACCOUNT_CALL_H

#include <uv.h>

#include "exchange/alpaca/account/order_parse.h"
#include "exchange/net/budget.h"
#include "exchange/net/http.h"
#include "exchange/text.h"

enum paper_step {
    STEP_READ,  /* GET */
    STEP_FIND,  /* GET, of one order */
    STEP_PLACE, /* POST */
    STEP_END,   /* DELETE */
};

/* What an answer of that status and body says. */
enum venue_outcome alpaca_account_outcome(enum paper_step step, int status, const char *body, size_t len,
                                          int *ret_code, struct json_text *ret_words);

struct paper_requests;
struct paper_call;

/* The body of a 2xx. True: the call is answered or another step was sent; false: it cannot be read. */
typedef bool paper_take(struct paper_call *call, const struct http_reply *reply);

struct paper_call {
    struct paper_call *next;
    struct paper_requests *requests;
    venue_answer_done *done;
    void *user;
    struct http_call *http; /* in flight */
    enum paper_step step;
    paper_take *take;
    bool cancels;   /* CANCEL: before its last step nothing is changed */
    bool due;       /* `answer` is to be delivered */
    bool has_order; /* `order` is the answer's */
    struct venue_answer answer;
    char text[VENUE_DETAIL_MAX];

    const struct symbol *symbol; /* PLACE, FILLS */
    char client_id[VENUE_CLIENT_ID_MAX], order_id[VENUE_ORDER_ID_MAX];
    struct venue_order order;
    struct paper_orders orders;
    struct paper_fills fills;
    struct paper_balances balances;
    int64_t filled, submitted_ns; /* FILLS: by the order */
    int pages;
};

struct paper_requests {
    struct net_context *net;
    char *base;                   /* https://HOST[:PORT] */
    struct net_header headers[2]; /* the keys */
    struct venue_symbols symbols;
    int64_t timeout_ms;
    struct venue_ban ban;
    struct budget budget;
    int64_t hold_ms; /* nothing is sent before */
    char why[VENUE_DETAIL_MAX];
    uv_timer_t timer; /* delivers what is due without a reply */
    struct paper_call *calls;
    bool destroyed;
    uint64_t sent;
};

/* A call that has sent nothing yet; NULL without memory. */
struct paper_call *alpaca_account_call_create(struct paper_requests *requests, venue_answer_done *done,
                                              void *user);
void alpaca_account_call_destroy(struct paper_call *call);

/* Sends a step: `path` begins with '/', is taken and freed, and may be a failed text; `body`: JSON or NULL.
 * 0; -ENOMEM, then nothing was sent. Where the limit or a hold is in the way it is NOT_SENT, which is
 * delivered from the loop. */
int alpaca_account_call_send(struct paper_call *call, enum paper_step step, struct text *path,
                             const char *body, paper_take *take);

/* Answers with the call's lists; the call is gone then. To be called from the loop. */
void alpaca_account_call_finish(struct paper_call *call, enum venue_outcome outcome, int code,
                                const char *text);
/* The same later, from the loop. */
void alpaca_account_call_finish_later(struct paper_call *call, enum venue_outcome outcome, const char *text);

/* Another step; the call ends where memory is out. */
void alpaca_account_call_continue(struct paper_call *call, enum paper_step step, struct text *path,
                                  paper_take *take);

void alpaca_requests_hold(struct paper_requests *requests, int64_t until_ms, const char *why);

#endif
