/* How much each parameter matters to a study's values: fANOVA (Hutter, Hoos, Leyton-Brown 2014) over a random
 * forest, as Optuna's FanovaImportanceEvaluator understands it: the share of the forest's variance that each
 * parameter explains alone, the others averaged out over their ranges. Deterministic for a seed. Pure.
 *
 * Other than there: a logarithmic parameter is averaged over in its logarithm, as it is drawn; one with
 * steps has the room of half a step at either end; a category is one axis of equally likely choices, not one
 * column a choice; what parameters explain only together is nobody's. */
#ifndef TRAINER_STUDY_IMPORTANCE_H
#define TRAINER_STUDY_IMPORTANCE_H

#include "db/studies/study.h"

enum { IMPORTANCE_TRIALS_MAX = 2000 }; /* of more the newest count */

struct importance {
    int param;    /* index into study->params */
    double share; /* of 1, summing to 1 over all; highest first */
};

/* Of the COMPLETE trials' `objective` where it is finite, over parameters that all of them have, always of
 * the same kind and choices; others are left out. Returns how many there are in ret [cap]; 0 where there are
 * fewer than 4 trials, or no values that differ. -ENOMEM. */
int importance_compute(const struct study *study, int objective, uint64_t seed, struct importance *ret,
                       int cap);

#endif
