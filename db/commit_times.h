/* How long commits take: a histogram with eight classes an octave, so that a quantile is right within an
 * eighth. */
#ifndef DB_COMMIT_TIMES_H
#define DB_COMMIT_TIMES_H

#include <stdint.h>

enum {
    DB_COMMIT_CLASSES = 8 * 44, /* 1 ns … about 4 h */
    DB_COMMIT_BOUNDS = 16,
};

/* Upper bounds for readers who add up counts, going up: 100 us … 10 s, three a decade. */
extern const int64_t db_commit_bounds_ns[DB_COMMIT_BOUNDS];

struct db_commit_times {
    uint64_t counts[DB_COMMIT_CLASSES];
    uint64_t total;
    uint64_t within[DB_COMMIT_BOUNDS]; /* of `total`, those that took no longer than that bound */
    double sum_ns;
};

void db_commit_times_add(struct db_commit_times *times, int64_t ns);

/* The quantile q in 0..1 in nanoseconds: the upper end of its class; 0 when nothing was added. */
int64_t db_commit_times_quantile(const struct db_commit_times *times, double q);

#endif
