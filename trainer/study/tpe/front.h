/* The best `n_below` of points with several losses: by ranks of non-domination, and of the rank that does not
 * fit whole those that a greedy choice by hypervolume takes first (Guerreiro, Fonseca, Paquete, "Greedy
 * Hypervolume Subset Selection in Low Dimensions", 2016). As Optuna 5.0.0's TPESampler does it. */
#ifndef TRAINER_STUDY_TPE_FRONT_H
#define TRAINER_STUDY_TPE_FRONT_H

#include <stdbool.h>

/* losses [n][m], lower is better, no NaN; chosen [n]. 0 or -ENOMEM. */
int tpe_front_choose(const double *losses, int n, int m, int n_below, bool *ret_chosen);

/* The volume between `points` [n][m] and the reference, which none exceeds. */
double tpe_hypervolume(const double *points, int n, int m, const double *reference);

#endif
