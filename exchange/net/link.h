/* Decides when a connection that must be kept up is made, waited for, replaced or given up. Pure: it opens
 * nothing; its owner does what net_link_next() says and reports the result. Time is passed in, monotonic
 * milliseconds that never run backward, so that a test can simulate days.
 *
 * A link has at most two connections: the one that carries data and, while that one is being replaced, the
 * attempt that is to follow it. The attempt is made while the old one stays (`overlap`); the owner ends the
 * overlap with net_link_took_over() when the new one has all that the old one had.
 *
 *   for (;;) switch ((step = net_link_next(&link, now)).act) {
 *       case LINK_RESOLVE: look the name up, then net_link_resolved() or net_link_failed(); continue
 *       case LINK_CONNECT: connect to address link.address, then net_link_opened() or net_link_failed();
 *       continue case LINK_WAIT:    set the timer to step.at_ms; return
 *   }
 *
 * Every event below may change what is next: call net_link_next() after it. */
#ifndef EXCHANGE_NET_LINK_H
#define EXCHANGE_NET_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/net/backoff.h"
#include "exchange/net/budget.h"
#include "exchange/venue.h"

enum {
    LINK_BACKOFF_MIN_MS = 500,
    LINK_BACKOFF_MAX_MS = 60 * 1000,
    LINK_STEADY_MS = 5 * 1000,        /* that a connection has brought data for: the backoff starts over */
    LINK_AT_ONCE_MS = 60 * 1000,      /* at most one reconnection without backoff in so long */
    LINK_REFUSED_MS = 15 * 60 * 1000, /* after a refusal that only the client's plan or rights may end */
    LINK_LIMITED_MS = 60 * 1000,      /* after a 429 that does not say for how long */
    LINK_BANNED_MS = 5 * 60 * 1000,   /* a 418, likewise */
};

/* Why nothing is tried at first, where a limit or a ban is known at the start. */
#define LINK_LIMITED_BEFORE "the venue's limit, as known from before"

enum link_act {
    LINK_WAIT,    /* until at_ms (INT64_MAX: for an event) */
    LINK_RESOLVE, /* said once */
    LINK_CONNECT, /* said once; the attempt is taken from the budget */
};

struct link_step {
    enum link_act act;
    int64_t at_ms; /* WAIT */
};

enum link_failure {
    LINK_LOST,      /* broken, no address, 5xx: again with backoff */
    LINK_UNREACHED, /* this address did not answer: the name's next one at once, after the last as LOST */
    LINK_LIMITED,   /* 429, or a venue's own code for it */
    LINK_BANNED,    /* 418 */
    LINK_REFUSED,   /* another 4xx: tried again, rarely */
    LINK_ENDED,     /* no retry helps: nothing is tried any more */
};

/* What an HTTP status means; `final` for venues whose other refusals (4xx) no retry helps. 0: LINK_LOST. */
enum link_failure net_link_failure_of(int http_status, bool final);

/* Milliseconds to wait after LINK_LIMITED or LINK_BANNED: as the venue said (said_ms >= 0), else a default.
 * -1: another failure. */
int64_t net_link_wait_ms(enum link_failure failure, int64_t said_ms);

struct link_config {
    int64_t backoff_min_ms, backoff_max_ms, refused_ms; /* 0: those above */
    uint64_t jitter_seed;
    struct budget *budget; /* must outlive the link */
    int64_t age_max_ms;    /* a connection so old is replaced; 0: never */
    int64_t age_jitter_ms; /* at most so much later, so that several are not replaced together */
    bool alone;            /* the venue allows one connection: it is ended before the next is made */
};

struct link {
    struct link_config config;
    struct backoff backoff;
    enum {
        LINK_ATTEMPT_NONE, /* nothing is tried: the connection is up */
        LINK_ATTEMPT_DUE,  /* at retry_ms */
        LINK_ATTEMPT_RESOLVING,
        LINK_ATTEMPT_RESOLVED,
        LINK_ATTEMPT_CONNECTING,
        LINK_ATTEMPT_OPEN,  /* beside the old one */
        LINK_ATTEMPT_ENDED, /* for good */
    } attempt;
    bool up;           /* a connection carries data, or would */
    bool lost;         /* one was, and none took its place yet */
    bool received;     /* the newest connection has brought data, first at received_ms */
    bool steady;       /* and still did LINK_STEADY_MS later */
    bool refused;      /* DUE: after LINK_REFUSED */
    bool budget_short; /* DUE: the budget is used up */
    int address, n_addresses;
    int64_t retry_ms;
    int64_t received_ms;
    int64_t hold_ms;             /* no attempt before */
    int64_t at_once_ms;          /* when a reconnection without backoff was last made */
    int64_t renew_ms, renew2_ms; /* when the connection is to be replaced; of the attempt that is open */
    uint64_t attempts, connects, renewals, failures;
    uint64_t reconnects; /* of the connects, those after one that was lost */
    bool at_once_used;
};

/* The first attempt is due at once. */
void net_link_init(struct link *link, const struct link_config *config, int64_t now_ms);

/* The next step. RESOLVE and CONNECT are returned once for each attempt. */
struct link_step net_link_next(struct link *link, int64_t now_ms);

/* n >= 1 addresses; link->address says which of them LINK_CONNECT means. */
void net_link_resolved(struct link *link, int n_addresses);

/* The attempt is connected. Without an old connection it is the one that is up; else both are, until
 * net_link_took_over(). */
void net_link_opened(struct link *link, int64_t now_ms);

/* The newest connection brought data; called each time. Once it has for LINK_STEADY_MS it works, and the
 * backoff starts over; before, a venue may accept connections and close them again and again. */
void net_link_received(struct link *link, int64_t now_ms);

/* The attempt failed, before it was open or (beside the old one) after. The old connection stays.
 * retry_after_ms: as the venue said, -1 where it did not. Returns when the next attempt is due at the
 * earliest; INT64_MAX: never. */
int64_t net_link_failed(struct link *link, int64_t now_ms, enum link_failure failure, int64_t retry_after_ms);

/* The connection that was up ended. An attempt that is open beside it takes its place at once. Returns as
 * net_link_failed(). */
int64_t net_link_lost(struct link *link, int64_t now_ms, enum link_failure failure, int64_t retry_after_ms);

/* The connection that was up was closed by its owner, who wants another: at once, unless that was so within
 * LINK_AT_ONCE_MS; then with backoff. */
void net_link_again(struct link *link, int64_t now_ms);

/* The connection that is up is to be replaced while it stays: the venue announced that it will end it. At
 * once by the same rule. Does nothing when an attempt is under way, there is no connection, or the link is
 * `alone`. */
void net_link_renew(struct link *link, int64_t now_ms);

/* Its owner closed what it had, and wants no other for now: what is known of waits stays. */
void net_link_rest(struct link *link);

/* The overlap is over: the old connection is closed, the new one is the one that is up. */
void net_link_took_over(struct link *link);

/* No attempt is made before; a time before the present one changes nothing. */
void net_link_hold(struct link *link, int64_t until_ms);

/* UP while a connection is, whatever else is attempted; WAITING also while attempts are paused. */
enum venue_link net_link_state(const struct link *link);

/* When the next attempt is due: WAITING, FAILED; else 0. */
int64_t net_link_retry_ms(const struct link *link);

#endif
