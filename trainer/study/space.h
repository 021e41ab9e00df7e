/* A search space: named distributions, sorted by name. */
#ifndef TRAINER_STUDY_SPACE_H
#define TRAINER_STUDY_SPACE_H

#include "db/studies/study.h"

struct space_param {
    char *name;
    struct distribution distribution;
};
struct space {
    struct space_param *params; /* [n], by name; owned */
    int n;
};

int space_add(struct space *space, const char *name,
              const struct distribution *distribution);      /* copies; 0, -EEXIST, -ENOMEM */
void space_finish(struct space *space);                      /* fine on a zeroed one */
int space_find(const struct space *space, const char *name); /* -1 */

/* All that any trial ever had, each with its newest distribution: what a stored study was searched over. */
int space_union(const struct study *study, struct space *ret);

/* Adds one trial to Optuna's intersection search space, the parameters that all trials have with identical
 * distributions: distributions [n_params] of the study's parameters, -1 where it is not in common; `first`
 * starts it. */
void space_intersect(const struct study_trial *trial, bool first, int *distributions, int n_params);

#endif
