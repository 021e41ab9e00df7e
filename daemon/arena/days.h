/* What an account's equity was at the end of each UTC day, and the Sharpe ratio of these days. */
#ifndef DAEMON_ARENA_DAYS_H
#define DAEMON_ARENA_DAYS_H

#include <stddef.h>
#include <stdint.h>

struct arena_days {
    double *equity; /* [n], of days that follow one another; where one has no point, the day's before */
    size_t n, cap;
    int64_t first; /* days since 1970 */
    double start;  /* equity at the first point */
};

/* A point, not before the newest day's: the last one of a day stays. 0 or -ENOMEM. */
int arena_days_add(struct arena_days *days, int64_t ts_ns, double equity);
/* From when on points may still change something; 0: from the beginning. */
int64_t arena_days_from(const struct arena_days *days);
/* Annualised over 365 days; NaN below two days, and where no day differs. */
double arena_days_sharpe(const struct arena_days *days);
void arena_days_finish(struct arena_days *days);

#endif
