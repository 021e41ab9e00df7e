/* How much each parameter matters to a study's values: fANOVA (Hutter, Hoos, Leyton-Brown 2014) over a random
 * forest, as Optuna's FanovaImportanceEvaluator understands it: the share of the forest's variance that each
 * parameter explains alone. Deterministic for a seed. Pure. */
#ifndef TRAINER_STUDY_IMPORTANCE_H
#define TRAINER_STUDY_IMPORTANCE_H

#include "db/studies/study.h"

struct importance {
    int param;    /* index into study->params */
    double share; /* of 1, summing to 1 over all; highest first */
};

/* Of the COMPLETE trials' `objective`, over parameters that all of them have; others are left out. Returns
 * how many there are in ret [cap]; 0 where fewer than 4 trials, or no values that differ. -ENOMEM. */
int importance_compute(const struct study *study, int objective, uint64_t seed, struct importance *ret,
                       int cap);

#endif
