/* The set of orders that are, or were lately, of a venue: shared by its own files. order_cases.c keeps them
 * and asks what is due, order_case_answer.c reads answers, order_case_report.c what the venue says of an
 * order, order_cases_reconcile.c compares the account, order_cases_witness.c decides whether it was reset. */
#ifndef DAEMON_EXECUTION_ORDER_CASES_INTERNAL_H
#define DAEMON_EXECUTION_ORDER_CASES_INTERNAL_H

#include "daemon/execution/order_cases.h"

#define CASE_SECOND_NS INT64_C(1000000000)
#define CASE_MOMENT_NS CASE_SECOND_NS /* for user data that are on their way, before it is asked */
#define CASE_NEVER     INT64_MAX

enum {
    CASE_LOST_ANSWERS = 3, /* an order that the venue had is lost once it is absent so often, and … */
    CASE_LOST_S = 20,      /* … for so long */
    CASE_PAUSE_MAX_S = 30,
    CASE_KEPT_S = 300, /* an ended order stays known for so long, for what comes late */
};

enum case_state {
    CASE_TO_PLACE, /* to be placed at place_ns */
    CASE_PLACING,  /* the answer is awaited */
    CASE_UNKNOWN,  /* the venue may have it or not */
    CASE_ABSENT,   /* it certainly has it not: VENUE_UPDATE_AGAIN was said, order_cases_place() awaited */
    CASE_LIVE,     /* the venue has it, or had: its end is not booked */
    CASE_ENDED,
};

/* Moments are of case_time.now_ns unless they say so; CASE_NEVER: not. */
struct order_case {
    struct order order;
    char client_id[ORDER_CLIENT_ID_MAX];
    char venue_id[VENUE_ORDER_ID_MAX];
    enum case_state state;
    bool protects;
    bool mute;    /* it has ended for the engine, but may live at the venue: cancelled, and no update of it */
    bool cancel;  /* it is to be cancelled */
    bool unsure;  /* TO_PLACE, PLACING: an earlier request may have had its effect */
    bool refused; /* a later request of it, while an earlier one's outcome was open */
    bool again;   /* it was placed a second time */
    bool awaits_clock;        /* TO_PLACE: it waits for the venue's time, after a refusal for its timestamp */
    int64_t bad_timestamp_ns; /* since when it is, and the time was not read; 0: it is not */
    int resent;               /* so often it was sent again by a time that was read since */
    bool reported_open, reported_unknown;
    unsigned asking; /* bits: requests whose answer is awaited */
    int64_t booked;  /* quantity of the fills that were reported */
    int64_t filled;  /* the venue says so much */
    bool ending;     /* the venue says that it ended with `filled`, as `end` */
    enum venue_order_state end;
    char text[VENUE_UPDATE_TEXT_MAX];                /* of its end, or refusal */
    int64_t place_ns, query_ns, cancel_ns, fills_ns; /* what is due when */
    int64_t pause_ns;                                /* grows while nothing is learned */
    int64_t begun_ns;                                /* since when it is to be placed */
    int64_t seen_ns;                                 /* the last sign of it at the venue */
    int64_t ended_ns;
    int64_t settle_ns, settle_venue_ns; /* from then on a request can have no effect any more; … */
    unsigned absent;                    /* LIVE: answers that did not know it, since … */
    int64_t absent_ns;
};

enum case_reconcile_step {
    RECONCILE_IDLE,
    RECONCILE_BALANCES, /* asked for */
    RECONCILE_OPEN,     /* likewise */
    RECONCILE_WITNESS,  /* the balances differ, and the witness is asked for */
    RECONCILE_RECENT,   /* likewise, of symbol `recent` and those after it */
};

struct case_reconcile {
    enum case_reconcile_step step;
    bool asked;
    int64_t due_ns;
    uint64_t serial;                /* struct order_cases's when the balances were asked for */
    struct venue_balance *balances; /* [n], the cycle's; n 0 without */
    size_t n;
    bool have_balances;
    struct case_findings now;            /* of the cycle that runs */
    int recent;                          /* index of a symbol */
    char failing[VENUE_UPDATE_TEXT_MAX]; /* why the last ones failed; "" */
    int64_t failing_ns;                  /* since when they do */
};

/* An order or a cancel was denied: only reading says whether the keys are good for anything. */
struct case_rights {
    bool asked;
    int64_t due_ns;                   /* CASE_NEVER: not to be asked for */
    char text[VENUE_UPDATE_TEXT_MAX]; /* the venue's */
    bool reported;                    /* that they may not trade */
};

/* An order that the venue had. */
struct case_witness {
    char client_id[ORDER_CLIENT_ID_MAX]; /* "": none */
    int symbol;
};

/* Was the account reset at the venue? */
struct case_doubt {
    bool open;  /* an order that was there is not known */
    bool lost;  /* the witness is not, which was asked for often enough: the balances say what that means */
    bool asked; /* the witness is, and its answer awaited */
    bool reported;
    unsigned absent;           /* answers that did not know the witness, since … */
    int64_t absent_ns, due_ns; /* CASE_NEVER: the witness is not to be asked for */
};

struct order_cases {
    struct order_cases_config config;
    struct order_cases_sink sink;
    struct order_case **cases;
    size_t n, cap;
    bool up, stopped;
    uint64_t serial; /* of all that may change balances, or that says that they did */
    int64_t second_ns;
    int queries;  /* in the second that began then */
    size_t first; /* whose turn it is to be asked for first */
    struct case_reconcile reconcile;
    struct case_witness witness, newest; /* of the last comparison that was good; and reported since */
    struct case_doubt doubt;
    struct case_rights rights;
    struct venue_order external[CASE_EXTERNAL_MAX];
    size_t n_external;
    struct case_findings found;
};

/* order_cases.c */
/* By the venue's id; else by the client id, unless it is known to be another of the venue's orders. Either
 * may be "". */
struct order_case *order_case_find(const struct order_cases *cases, const char *client_id,
                                   const char *venue_id);
struct order_case *order_case_by_id(const struct order_cases *cases, uint64_t order_id);
struct order_case *order_case_add(struct order_cases *cases, const struct order *order, const char *client_id,
                                  const struct case_time *at); /* NULL: no memory */
bool order_case_outcome_open(const struct order_case *c);
/* May a query or a request of fills be sent now? Counts it. */
bool order_cases_may_query(struct order_cases *cases, const struct case_time *at);
/* The next pause: 1 s, 2 s … */
int64_t order_case_pause(struct order_case *c);
void order_case_update(struct order_cases *cases, struct order_case *c, enum venue_update update,
                       const char *text, const struct venue_fill *fill);
/* Reports the update and ends it. */
void order_case_end(struct order_cases *cases, struct order_case *c, enum venue_update update,
                    const char *text, const struct case_time *at);

/* order_case_report.c */
/* The venue has it: ends what is open about that. */
void order_case_seen(struct order_case *c, const char *venue_id, const struct case_time *at);
void order_case_report(struct order_cases *cases, struct order_case *c, const struct venue_order *order,
                       const struct case_time *at);
void order_case_fill(struct order_cases *cases, struct order_case *c, const struct venue_fill *fill,
                     const struct case_time *at);
/* It has ended for us, and lives there: it is looked for once more, and then cancelled. */
void order_case_stray(struct order_cases *cases, struct order_case *c, const struct case_time *at);
void order_cases_external(struct order_cases *cases, const struct venue_order *order);
/* One of ours that is not known: is it the second of its client id, or one that was refused here? Then it is
 * an order of its own from now on. False: it is neither, or that is not sure. */
bool order_case_duplicate(struct order_cases *cases, const struct venue_order *order,
                          const struct case_time *at);

/* order_case_answer.c */
void order_case_answer(struct order_cases *cases, struct order_case *c, const struct case_ask *ask,
                       const struct venue_answer *answer, const struct case_time *at);
/* Whether it reached the venue is not known; `query_ns`: when it is asked for. */
void order_case_unknown(struct order_case *c, int64_t query_ns);
/* It certainly did not. */
void order_case_absent(struct order_cases *cases, struct order_case *c, const struct case_time *at);

/* order_cases_reconcile.c */
int64_t order_cases_reconcile_step(struct order_cases *cases, const struct case_time *at);
void order_cases_reconcile_answer(struct order_cases *cases, const struct case_ask *ask,
                                  const struct venue_answer *answer, const struct case_time *at);
void order_cases_reset(struct order_cases *cases, const char *text);
/* The witness is known, or cannot be asked for, while the balances differ: that cycle continues, or ends. */
void order_cases_witness_known(struct order_cases *cases, const struct case_time *at);
void order_cases_witness_fails(struct order_cases *cases, const struct venue_answer *answer,
                               const struct case_time *at);

/* order_cases_witness.c */
/* The venue has it, and reported it. */
void order_cases_newest(struct order_cases *cases, const struct order_case *c);
/* The account was compared, and is the one that it was. */
void order_cases_confirmed(struct order_cases *cases);
/* The venue lost that order, and not the account: what it knows of it proves nothing from now on. */
void order_cases_no_witness(struct order_cases *cases, const char *client_id);
/* The same of the witness, while the doubt is `lost`, which is over. */
void order_cases_witness_lost(struct order_cases *cases);
/* Asks for the witness, unless it is asked for. */
void order_cases_ask_witness(struct order_cases *cases, const struct case_time *at);
/* The venue does not know `c`, which it had. */
void order_cases_doubt(struct order_cases *cases, const struct order_case *c, const struct case_time *at);
void order_cases_doubt_over(struct order_cases *cases);
/* The balances differ while the doubt is `lost`: the account is another one. */
void order_cases_other_account(struct order_cases *cases);
void order_cases_witness_answer(struct order_cases *cases, const struct case_ask *asked,
                                const struct venue_answer *answer, const struct case_time *at);
int64_t order_cases_witness_step(struct order_cases *cases, const struct case_time *at);

#endif
