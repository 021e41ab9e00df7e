/* The policy of a proposal: the best trials' parameters, trained once more on all rows of the search. */
#ifndef TRAINER_STUDY_PROPOSAL_POLICY_H
#define TRAINER_STUDY_PROPOSAL_POLICY_H

#include <limits.h>

#include "strategy/policy/ensemble.h"
#include "trainer/study/ranking.h"

struct study_proposed {
    const struct study_trial *trials[POLICY_MEMBERS_MAX]; /* borrowed of the study */
    int n;
    bool together;              /* an ensemble */
    char path[PATH_MAX];        /* of its file */
    struct trial_split holdout; /* what it did there */
    double value;               /* of its best trial */
};

/* How many trials are proposed together, where there are as many. */
int study_proposed_most(const struct search_settings *settings);

/* The best trial's below FOLDER, FOLDER/N/policy.safetensors; with more of them wanted the ensemble of these,
 * unless they cannot act together. One whose training is refused or diverges is told, and the next best takes
 * its place. `ret` is zeroed before. 0; 1: it was told to stop; -errno with a sentence: what the last
 * training, or the machine, was at fault for. */
int study_proposed_make(const struct study_market *market, const struct train_config *base,
                        const struct search_settings *settings, const struct study *study,
                        const struct study_ranked *ranked, const char *folder,
                        const struct trial_calls *calls, struct study_proposed *ret,
                        char err[static TRIAL_ERROR_MAX]);

#endif
