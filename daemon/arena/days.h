/* What an account's equity was at the end of each UTC day, what of it was put in or taken out, and the Sharpe
 * ratio of these days. */
#ifndef DAEMON_ARENA_DAYS_H
#define DAEMON_ARENA_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_DAY_NS (86400 * INT64_C(1000000000))

struct arena_day {
    double equity; /* of its last point; where it has none, the day's before */
    double flow;   /* money put in less money taken out */
    double moved;  /* both together */
    bool seen;     /* it has a point */
    bool anew;     /* the account was begun anew in it */
};

struct arena_days {
    struct arena_day *day; /* [n], that follow one another */
    size_t n, cap;
    int64_t first;    /* days since 1970 */
    double start;     /* equity at the first point, */
    int64_t start_ns; /* and when that was: what was put in before is part of it */
};

/* A point, not before the newest day's: the last one of a day stays. 0 or -ENOMEM. */
int arena_days_add(struct arena_days *days, int64_t ts_ns, double equity);
/* Money put in (or taken out, below zero), or the account begun anew; in any order. 0 or -ENOMEM. */
int arena_days_flow(struct arena_days *days, int64_t ts_ns, double amount);
int arena_days_anew(struct arena_days *days, int64_t ts_ns);

/* Money of an account's ledger, as above. */
struct arena_flow {
    uint64_t id; /* of its row */
    int64_t ts_ns;
    double amount;
    bool anew;
};
/* Newer days of the same account (all of it where `days` is empty, and taken over then) and its flows, oldest
 * first; *newest is the id of the newest flow that is in `days`: an older one, and that one, is not taken
 * again. 0; -ENOMEM: a part was taken, and all of it may be merged again. */
int arena_days_merge(struct arena_days *days, uint64_t *newest, struct arena_days *more,
                     const struct arena_flow *flows, size_t n_flows);

/* From when on points may still change something; 0: from the beginning. */
int64_t arena_days_from(const struct arena_days *days);

/* A day in which more than this share of the equity before was moved says nothing of a policy: new money has
 * gained as well, for a part of the day, and the gain would be reckoned on the old alone. */
#define ARENA_DAYS_MOVED 0.1

/* Of a day (since 1970): its equity, less what was put in, over the last equity known before it, less 1. NaN
 * without a point in it or before it, where the account was begun anew in it, and where too much was moved.
 */
double arena_days_return(const struct arena_days *days, int64_t day);

/* Annualised over 365 days; NaN below two days, and where no day differs. Money put in or out is no gain. */
double arena_days_sharpe(const struct arena_days *days);
void arena_days_finish(struct arena_days *days);

#endif
