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

/* ---- Inside, and for tests: the forest itself. ---- */

struct importance_axis {
    int choices;      /* 0: a number; else values are 0 … choices - 1, at most 64 */
    double low, high; /* of a number; low < high */
};

struct importance_forest {
    int trees, depth; /* Optuna's: 64, 64 */
    bool bootstrap;   /* each tree from n draws with replacement; else from all, once */
    uint64_t seed;
};

/* Fits trees to y [n] over x [n][d], fully grown: leaves of one value, or of what cannot be told apart.
 * Splits are halfway between neighbours; the first axis and the lowest place win ties. Each ret_share [d]
 * becomes the mean over the trees (that vary at all) of the axis' own variance by the tree's whole; all 0
 * where none does. 0 or -ENOMEM. */
int importance_fit(const struct importance_forest *forest, const double *x, const double *y, int n,
                   const struct importance_axis *axes, int d, double *ret_share);

#endif
