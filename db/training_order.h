/* Which trainings come first where not all can be shown: those with a worker, then those that wait or are
 * paused in the order of the queue, then those that have ended, the newest end first. */
#ifndef DB_TRAINING_ORDER_H
#define DB_TRAINING_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct training_rank {
    int group;        /* db_training_group() of its state */
    int64_t priority; /* higher is served first */
    int64_t ended_ns; /* 0: it has not */
    size_t at;        /* in the order in which they were made; set by db_training_order() */
};

int db_training_group(const char *state); /* an unknown one counts as one that waits */

/* Sorts n trainings, given in the order in which they were made, so that the first are to be shown first. */
void db_training_order(struct training_rank *ranks, size_t n);

#endif
