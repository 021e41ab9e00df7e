/* The random forest under trainer/study/importance.c, and what each axis explains of it. Pure. */
#ifndef TRAINER_STUDY_IMPORTANCE_FOREST_H
#define TRAINER_STUDY_IMPORTANCE_FOREST_H

#include <stdbool.h>
#include <stdint.h>

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
