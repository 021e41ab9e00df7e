/* `train --seeds N`: one configuration trained with N seeds, one after the other, and their results as one.
 */
#ifndef TRAINER_COMMAND_TRAIN_SEEDS_H
#define TRAINER_COMMAND_TRAIN_SEEDS_H

#include "trainer/command/train_run.h"

enum { TRAIN_SEEDS_MAX = 1000 };

/* What is left of a seed's training. */
struct train_seed {
    uint64_t seed;
    int64_t steps, kept_steps;
    double score; /* of the kept policy on the rows of validation; NaN without them */
    bool evaluated;
    struct evaluation evaluation;
};

struct train_seeds {
    int n, done; /* wanted, and ended */
    struct train_seed *each;
    int best;                  /* the highest score, the first without validation; -1 before the first */
    struct kept_policy policy; /* the best one's */
};

/* Room for n. 0, for train_seeds_finish(); -ENOMEM. */
int train_seeds_init(struct train_seeds *seeds, int n);
void train_seeds_finish(struct train_seeds *seeds); /* fine on a zeroed one */

/* A seed's training has ended well: takes its figures, and its policy (zeroed there) if it is the best. */
void train_seeds_add(struct train_seeds *seeds, const struct train_seed *seed, struct kept_policy *policy);

/* The verdict on all that were evaluated; VERDICT_NONE where no seed was. */
struct verdict train_seeds_verdict(const struct train_seeds *seeds);

/* Fields of the event `end`: `seeds`, an array; `return_median`, `return_low`, `return_high`; `best_seed`.
 * False: without memory. */
bool train_seeds_json(const struct train_seeds *seeds, json_t *object);

/* The returns of those that were evaluated: their median, lowest, highest. False: there are none. */
bool train_seeds_returns(const struct train_seeds *seeds, double *ret_median, double *ret_low,
                         double *ret_high);

#endif
