/* An account's equity at the end of each UTC day, the money put in or taken out, and the Sharpe ratio of
 * these days. */
#ifndef DAEMON_ARENA_DAYS_H
#define DAEMON_ARENA_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_DAY_NS (86400 * INT64_C(1000000000))

struct arena_day {
    double equity; /* of its last point; where it has none, that of the day before */
    double flow;   /* money put in less money taken out */
    double moved;  /* both together */
    bool seen;     /* it has a point */
    bool reset;    /* the account was reset in it */
};

struct arena_days {
    struct arena_day *day; /* [n], consecutive */
    size_t n, cap;
    int64_t first;    /* days since 1970 */
    double start;     /* equity at the first point, */
    int64_t start_ns; /* and when that was: what was put in before is part of it */
};

/* A point, not before the newest day's: the last one of a day stays. 0 or -ENOMEM. */
int arena_days_add(struct arena_days *days, int64_t ts_ns, double equity);
/* Adds money put in (or taken out, below zero), or a reset of the account; in any order. 0 or -ENOMEM. */
int arena_days_flow(struct arena_days *days, int64_t ts_ns, double amount);
int arena_days_reset(struct arena_days *days, int64_t ts_ns);

/* Money of an account's ledger, as above. */
struct arena_flow {
    uint64_t id; /* of its row */
    int64_t ts_ns;
    double amount;
    bool reset;
};
/* Merges newer days of the same account (taken over whole where `days` is empty) and its flows, oldest
 * first; *newest is the id of the newest flow that is in `days`: it and older ones are not added again. 0;
 * -ENOMEM: a part was merged, and all of it may be merged again. */
int arena_days_merge(struct arena_days *days, uint64_t *newest, struct arena_days *more,
                     const struct arena_flow *flows, size_t n_flows);

/* The time from which points may still change something; 0: from the beginning. */
int64_t arena_days_from(const struct arena_days *days);

/* A day on which more than this share of the equity before was moved has no return: the new money gained
 * too for a part of the day, and its gain would be divided by the old equity alone. */
#define ARENA_DAYS_MOVED 0.1

/* A day's return (days since 1970): its equity, less what was put in, over the last equity known before it,
 * less 1. NaN without a point in it or before it, where the account was reset in it, and where too much was
 * moved. */
double arena_days_return(const struct arena_days *days, int64_t day);

/* Annualised over 365 days; NaN below two days, and where no day differs. Money put in or out is no gain. */
double arena_days_sharpe(const struct arena_days *days);
void arena_days_finish(struct arena_days *days);

#endif
