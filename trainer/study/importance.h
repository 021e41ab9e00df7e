/* How much each parameter matters to a study's values: fANOVA (Hutter, Hoos, Leyton-Brown 2014) over a
 * random forest, as Optuna's FanovaImportanceEvaluator understands it: the share of the forest's variance
 * that each parameter explains alone, the others averaged out over their ranges. Deterministic for a seed.
 * Pure.
 *
 * Other than there: a logarithmic parameter is averaged over in its logarithm, as it is drawn; one with
 * steps has the room of half a step at either end; a category is one axis of equally likely choices, not one
 * column a choice; interactions between parameters are attributed to no parameter; and the trials may be of
 * several studies, the workers of one study. */
#ifndef TRAINER_STUDY_IMPORTANCE_H
#define TRAINER_STUDY_IMPORTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "db/studies/study.h"

enum { IMPORTANCE_TRIALS_MAX = 2000 }; /* of more those that completed last count */

struct importance {
    const char *param; /* borrowed of a study */
    double share;      /* of 1, summing to 1 over all; highest first */
};

/* What it was computed from. */
struct importance_basis {
    int trials;
    int studies;  /* that have such trials, and are compatible */
    int left_out; /* that have some, and are not compatible */
};

/* Of the COMPLETE trials' `objective` where it is finite, of all `studies` together (at least one), over
 * parameters that all of these have, always of the same kind, scale and choices; others are left out. Ranges
 * may differ, within a study or between two: the box has room for all of them. The study with the most such
 * trials, the first of equals, decides which are compatible: one of other directions, or that has a parameter
 * of its as another kind, scale or choices or never, is left out whole. Returns how many there are in ret
 * [cap]; 0 where there are fewer than 4 trials, or no values that differ. -ENOMEM, and *ret_basis is left
 * alone. */
int importance_compute(struct study *const *studies, size_t n, int objective, uint64_t seed,
                       struct importance *ret, int cap, struct importance_basis *ret_basis);

/* The random forest under trainer/study/importance.c, and what each axis explains of it. Pure. */

struct importance_axis {
    int choices;      /* 0: a number; else values are 0 … choices - 1, at most 64 */
    double low, high; /* of a number; low < high */
};

struct importance_forest {
    int trees, depth; /* Optuna's: 64, 64 */
    bool bootstrap;   /* each tree from n draws with replacement; else from all, once */
    uint64_t seed;
};

/* Fits trees to y [n] over x [n][d], fully grown: leaves of one value, or of samples that x does not
 * separate. Splits are halfway between neighbours; the first axis and the lowest place win ties. Each
 * ret_share [d] becomes the mean over the trees (that vary at all) of the axis' own variance by the tree's
 * whole; all 0 where none does. 0 or -ENOMEM. */
int importance_fit(const struct importance_forest *forest, const double *x, const double *y, int n,
                   const struct importance_axis *axes, int d, double *ret_share);

#endif
