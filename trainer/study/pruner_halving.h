/* Successive halving, and what all pruners ask of a study. Used by pruner.c alone. */
#ifndef TRAINER_STUDY_PRUNER_HALVING_H
#define TRAINER_STUDY_PRUNER_HALVING_H

#include "trainer/study/pruner.h"

/* Is a better than b, in the study's direction? With a NaN never. */
bool pruner_better(const struct study *study, double a, double b);
int64_t pruner_last_step(const struct study_trial *trial); /* -1: nothing was reported */
int pruner_ascending(const void *a, const void *b);        /* doubles, for qsort() */

/* 0 or -ENOMEM; *ret zeroed before. */
int pruner_judge_asha(const struct pruner_options *options, const struct study *study,
                      const struct study_trial *trial, struct pruner_verdict *ret);
int pruner_judge_hyperband(const struct pruner_options *options, const struct study *study,
                           const struct study_trial *trial, struct pruner_verdict *ret);

#endif
