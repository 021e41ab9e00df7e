/* Which trials are below, that is good, and which above: Optuna 5.0.0's split. n finished trials make
 * min(ceil(gamma_share * n), gamma_most) below (several objectives: without that limit): feasible COMPLETE
 * ones by their objective, then PRUNED ones by the last step that they reported, later ones first, and its
 * value, then infeasible ones by how far they are from being feasible. RUNNING ones, others than the one that
 * is drawn for, are above (constant liar). */
#ifndef TRAINER_STUDY_TPE_DIVIDE_H
#define TRAINER_STUDY_TPE_DIVIDE_H

#include "trainer/study/sampler.h"
#include "trainer/study/tpe/history.h"

enum tpe_side { TPE_NEITHER, TPE_BELOW, TPE_ABOVE };

/* ret_sides [n_trials] enum tpe_side. 0 or -ENOMEM. */
int tpe_divide(const struct tpe_history *history, const struct tpe_options *options, int number,
               unsigned char *ret_sides);

#endif
