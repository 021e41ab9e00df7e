/* Which trials of a study are proposed: the best COMPLETE ones, by the study's objective. */
#ifndef TRAINER_STUDY_RANKING_H
#define TRAINER_STUDY_RANKING_H

#include "db/studies/store.h"
#include "trainer/study/trial.h"

struct study_ranked {
    const struct study_trial **trials; /* [n] COMPLETE ones with a value, best first, the earlier of equals */
    int n;
};

/* The trials stay the study's, the list is for free(), after an error too. 0; -ENODATA with a sentence: there
 * is none; -ENOMEM. */
int study_rank(const struct study *study, struct study_ranked *ret, char err[static TRIAL_ERROR_MAX]);

#endif
