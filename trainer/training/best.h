/* The policy that did best on the rows of validation so far: it is what a training keeps. */
#ifndef TRAINER_TRAINING_BEST_H
#define TRAINER_TRAINING_BEST_H

#include "trainer/training/evaluate.h"
#include "trainer/training/keep.h"

struct training_best {
    struct kept_policy policy; /* zeroed before the first */
    int64_t steps;             /* of training when it was taken */
    double score;              /* its training_score() */
    int64_t without;           /* validations since, none of which was better */
};

/* What validations are compared by: the logarithm of the equity's growth over its rows; -infinity of a loss
 * of all. */
double training_score(const struct evaluation *evaluation);

/* A validation's policy: true, and it is taken (zeroed there), if none scored as high before. */
bool training_best_offer(struct training_best *best, struct kept_policy *policy, double score, int64_t steps);
void training_best_drop(struct training_best *best); /* fine on a zeroed one */

/* Pieces of a checkpoint, "best", "best_params" and "best_scale"; none of a zeroed one. Borrowed. */
enum { TRAINING_BEST_PIECES = 3 };
struct training_best_pieces {
    struct training_best_head {
        int64_t steps, without;
        double score;
    } head;
    struct checkpoint_piece piece[TRAINING_BEST_PIECES];
    size_t n;
    float *scales; /* mean, then scale; owned */
};
/* 0, for training_best_pieces_finish(); -ENOMEM. */
int training_best_pieces_init(struct training_best_pieces *pieces, const struct training_best *best);
void training_best_pieces_finish(struct training_best_pieces *pieces);

/* From a checkpoint, for a network of `like`; a checkpoint without one leaves *ret zeroed. 0; -EINVAL: it has
 * other sizes, -ENOMEM, with a sentence. */
int training_best_restore(const struct checkpoint *checkpoint, const struct learner *like,
                          struct training_best *ret, char err[static KEEP_ERROR_MAX]);

#endif
