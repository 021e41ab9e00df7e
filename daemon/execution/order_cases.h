/* What to ask of a venue next, for each order that was sent there or is to be: to place it, to cancel it, to
 * query it, to fetch its fills; and for the account, to reconcile its open orders and its balances. Pure: no
 * IO, and no clock but the time that is passed in. docs/venue-paper.md has the rules in words.
 *
 * An order is placed once. Where the outcome is open it is first looked for: in user data, then by its client
 * id; and it is placed again only to protect a position, and only once the earlier request can have no effect
 * any more, or where the venue never takes the same client id twice. A request may still reach the venue
 * twice, on its way: its second order of the client id is found in user data, and by the comparison once the
 * balances differ, and is an order of its own here. One that the venue refused for its timestamp was not
 * taken: it is sent again once the venue's time was read again, CASE_RESENT_MAX times.
 *
 * Whether the venue reset the account is decided by an order that it had at the last comparison that found
 * nothing wrong, the witness: what it knows of newer ones proves nothing. From the first answer that does not
 * know an order that was there until that is decided nothing is placed, and no difference is booked. */
#ifndef DAEMON_EXECUTION_ORDER_CASES_H
#define DAEMON_EXECUTION_ORDER_CASES_H

#include "engine/event.h"
#include "exchange/venue_account.h"

struct order_cases;

/* Both go forward; `now_ns` is of a clock that never jumps, `venue_ns` is the venue's time as far as it is
 * known: 0 where it is not, then nothing is proved by it. */
struct case_time {
    int64_t now_ns, venue_ns;
};

enum case_request {
    CASE_PLACE,
    CASE_CANCEL,
    CASE_QUERY,
    CASE_FILLS,
    CASE_OPEN,     /* the account's open orders */
    CASE_BALANCES, /* the account's */
    CASE_WITNESS,  /* to query an order that the venue had: is it still the same account? Its client_id */
    CASE_RIGHTS,   /* the balances, once an order was denied: are the keys good for anything? */
    CASE_RECENT,   /* the newest orders of a symbol, of any state: is one there twice? */
    CASE_REQUESTS,
};

/* A request of the venue. It is handed back with its answer. */
struct case_ask {
    enum case_request request;
    uint64_t order_id; /* 0: of the account */
    struct case_time at;
    int symbol;
    char client_id[ORDER_CLIENT_ID_MAX];
    char venue_id[VENUE_ORDER_ID_MAX]; /* FILLS; of QUERY where it is known */
};

/* May call none of the functions below, but those with a const set. */
struct order_cases_sink {
    void *ctx;
    void (*ask)(void *ctx, const struct case_ask *ask, const struct order *order); /* `order`: of PLACE */
    /* `text`: the venue's words, or "". `fill`: of VENUE_UPDATE_FILL. */
    void (*update)(void *ctx, uint64_t order_id, enum venue_update update, const char *venue_id,
                   const char *text, const struct venue_fill *fill);
    bool (*ours)(void *ctx, const char *client_id);
    /* The venue's id of the order that has this client id here; "": it is not known, or not any more. */
    const char *(*venue_id)(void *ctx, const char *client_id);
    /* Is an order of that client id and the venue's id known here? */
    bool (*booked)(void *ctx, const char *client_id, const char *venue_id);
    /* The venue has another order of that client id than the one that is known here. Returns the number that
     * it has here from now on; 0: none. */
    uint64_t (*duplicate)(void *ctx, const struct venue_order *order);
    /* Are they others than the account has here? `symbol`: of the config's, in its base asset; -1: in any. */
    bool (*differ)(void *ctx, const struct venue_balance *balances, size_t n, int symbol);
    /* While no outcome was open, and all fills before them were reported. */
    void (*balances)(void *ctx, const struct venue_balance *balances, size_t n);
    void (*reset)(void *ctx, const char *text); /* the account is another one, or its keys are refused */
    /* The venue does not know the order of that client id, which it had: until it is known whether the
     * account was reset there no order is placed. NULL: it is known, or reset() follows. */
    void (*doubt)(void *ctx, const char *client_id);
    /* The keys can read, and may not trade: the venue's words; NULL: an order was taken, it is over. */
    void (*rights)(void *ctx, const char *text);
};

struct order_cases_config {
    const struct symbol *symbols; /* the account's: orders of no other have numbers */
    size_t n_symbols;             /* a symbol without a name is not there */
    int64_t settle_ns;    /* a request of a former run, or whose answer does not say, is settled after that */
    int64_t reconcile_ns; /* between two reconciliations */
    bool id_for_life;     /* struct venue_accounts */
};

enum {
    CASE_QUERIES_A_SECOND = 10, /* QUERY and FILLS together */
    CASE_EXTERNAL_MAX = 64,     /* orders from elsewhere that are kept */
    CASE_RESENT_MAX = 3,        /* so often an order that protects nothing is sent again, by the venue's time
                                   that was read since, after it was refused for its timestamp */
};
#define CASE_MARGIN_NS INT64_C(2000000000) /* how far the venue's time may be wrong */
#define CASE_UNSENT_NS \
    INT64_C(60000000000) /* an order that could not be sent for so long is given up, unless \
                            it protects a position */

/* NULL: no memory. */
struct order_cases *order_cases_create(const struct order_cases_config *config,
                                       const struct order_cases_sink *sink);
void order_cases_destroy(struct order_cases *cases); /* NULL is fine */

/* Nothing is asked within the calls up to order_cases_answer(): order_cases_step() follows each.
 *
 * The engine has decided so, and that is stored. PLACE again with the same id answers VENUE_UPDATE_AGAIN.
 * 0 or -ENOMEM. */
int order_cases_place(struct order_cases *cases, const struct order *order, const char *client_id,
                      bool protects, const struct case_time *at);
void order_cases_cancel(struct order_cases *cases, uint64_t order_id, const struct case_time *at);
/* A former run's live order, which may have been sent or not. `venue_id`: the venue's, "" where it is not
 * known. `cancels`: it was to be cancelled. 0 or -ENOMEM. */
int order_cases_adopt(struct order_cases *cases, const struct order *order, const char *client_id,
                      const char *venue_id, bool protects, bool cancels, const struct case_time *at);

/* An order that the venue had before this run: without it there, it is another account. */
void order_cases_witness(struct order_cases *cases, const char *client_id, int symbol);

/* User data, and its link. */
void order_cases_link(struct order_cases *cases, bool up, const struct case_time *at);
void order_cases_order(struct order_cases *cases, const struct venue_order *order,
                       const struct case_time *at);
void order_cases_fill(struct order_cases *cases, const struct venue_fill *fill, const struct case_time *at);

/* The venue's time was read again: what was refused for its timestamp is due, after a pause that grows from
 * the second time on. */
void order_cases_clock_renewed(struct order_cases *cases, const struct case_time *at);

/* Of the answer retry_ms is a time from now on. */
void order_cases_answer(struct order_cases *cases, const struct case_ask *ask,
                        const struct venue_answer *answer, const struct case_time *at);

/* Asks what is due. Returns when it is to be called at the latest, of now_ns; INT64_MAX: after the next
 * input. */
int64_t order_cases_step(struct order_cases *cases, const struct case_time *at);

/* The account is halted: nothing more is asked of the venue. */
void order_cases_stop(struct order_cases *cases);
void order_cases_reconcile(struct order_cases *cases, const struct case_time *at); /* now, not later */

/* What a reconciliation found, of the last one that ended. */
struct case_findings {
    int64_t at_ns;    /* of now_ns; 0: none ended yet */
    unsigned missing; /* orders that live here, and were not among the venue's open ones */
    unsigned fills;   /* fills that user data had not said */
    unsigned strays;  /* orders of ours that had ended here, and lived there: cancelled */
    bool balances;    /* they were compared */
    bool differed;    /* and differed from ours */
};
struct order_cases_view {
    unsigned live, unknown; /* orders; of them those of open outcome */
    uint64_t unknown_id;    /* one of the latter; 0: none */
    size_t n_external;
    const struct venue_order *external; /* [n_external] until the next call; symbol may be NULL */
    struct case_findings found;
    const char *doubted; /* client id of sink.doubt(), until the next call; "": none */
    const char *failing; /* why no reconciliation ends, until the next call; ""; … */
    int64_t failing_ns;  /* … since when, of now_ns */
};
void order_cases_view(const struct order_cases *cases, struct order_cases_view *ret);

#endif
