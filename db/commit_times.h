/* How long commits take: a histogram with eight classes an octave, so that a quantile is right within an
 * eighth. */
#ifndef DB_COMMIT_TIMES_H
#define DB_COMMIT_TIMES_H

#include <stdint.h>

enum { DB_COMMIT_CLASSES = 8 * 44 }; /* 1 ns … about 4 h */

struct db_commit_times {
    uint64_t counts[DB_COMMIT_CLASSES];
    uint64_t total;
};

void db_commit_times_add(struct db_commit_times *times, int64_t ns);

/* The quantile q in 0..1 in nanoseconds: the upper end of its class; 0 when nothing was added. */
int64_t db_commit_times_quantile(const struct db_commit_times *times, double q);

#endif
