/* Which parameters are drawn together. Parameters of a single value are left out, and spaces without any. */
#ifndef TRAINER_STUDY_TPE_JOINT_H
#define TRAINER_STUDY_TPE_JOINT_H

#include "trainer/study/space.h"
#include "trainer/study/tpe/history.h"

/* One space: what all COMPLETE and PRUNED trials have with an identical distribution. For space_finish() of
 * each and free(). */
int tpe_intersection(const struct tpe_history *history, struct space **ret, int *ret_n);

/* Optuna's group-decomposed space: two parameters are in one group where they occur in the same COMPLETE and
 * PRUNED trials; each with the distribution that it had first. */
int tpe_groups(const struct study *study, struct space **ret, int *ret_n);

#endif
