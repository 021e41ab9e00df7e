/* One call of an account, and what its answers say. Internal to this folder.
 *
 * A call is one request or, where the venue needs several, a row of steps; only PLACE and CANCEL have one
 * that changes anything, and it is the last.
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

#include "exchange/alpaca/account/order_parse.h"
#include "exchange/net/account_calls.h"

enum paper_step {
    STEP_READ,  /* GET */
    STEP_FIND,  /* GET, of one order */
    STEP_PLACE, /* POST */
    STEP_END,   /* DELETE */
};

/* What an answer of that status and body says. */
enum venue_outcome alpaca_account_outcome(enum paper_step step, int status, const char *body, size_t len,
                                          int *ret_code, struct json_text *ret_words);

struct paper_call;

/* The body of a 2xx. True: the call is answered or another step was sent; false: it cannot be read. */
typedef bool paper_take(struct paper_call *call, const struct http_reply *reply);

struct paper_call {
    struct account_call base;
    enum paper_step step;
    paper_take *take;
    struct venue_order order;
    int64_t submitted_ns; /* FILLS: by the order */
    int pages;
};

extern const struct account_calls_venue alpaca_account_calls;

/* operations.c: the first step of each kind of call, as account_calls_venue.send. */
int alpaca_account_send(struct account_call *call, const struct order *order);

/* The call's first step: 0; -ENOMEM, then it is gone. `path` and `body`: as of net_account_call_send(). */
int alpaca_account_call_start(struct paper_call *call, enum paper_step step, struct text *path,
                              const char *body, paper_take *take);
/* Another step; the call ends where memory is out. */
void alpaca_account_call_continue(struct paper_call *call, enum paper_step step, struct text *path,
                                  paper_take *take);

#endif
