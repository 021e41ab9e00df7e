/* The policy of a proposal: the best trials' parameters, trained once more on all rows of the study. */
#ifndef TRAINER_STUDY_PROPOSAL_POLICY_H
#define TRAINER_STUDY_PROPOSAL_POLICY_H

#include <limits.h>

#include "db/studies/store.h"
#include "strategy/policy/ensemble.h"
#include "trainer/study/trial.h"

/* Which trials of a study are proposed: the best COMPLETE ones, by the study's objective. */

struct study_ranked {
    const struct study_trial **trials; /* [n] COMPLETE ones with a value, best first, the earlier of equals */
    int n;
};

/* The trials stay the study's, the list is for free(), after an error too. 0; -ENODATA with a sentence: there
 * is none; -ENOMEM. */
int study_rank(const struct study *study, struct study_ranked *ret, char err[static TRIAL_ERROR_MAX]);

struct study_proposed {
    const struct study_trial *trials[POLICY_MEMBERS_MAX]; /* borrowed of the study */
    int n;
    bool together;              /* an ensemble */
    bool rules;                 /* a strategy's parameters */
    char path[PATH_MAX];        /* of its file */
    struct trial_split holdout; /* its result there */
    double value;               /* of its best trial */
};

/* How many trials are proposed together, where there are as many. */
int study_proposed_most(const struct study_settings *settings);

/* Trains the best trial's policy into FOLDER/N/policy.safetensors below FOLDER; if several are wanted, their
 * ensemble, unless they cannot act together. A trial whose training is refused or diverges is reported, and
 * the next best takes its place. `ret` is zeroed before. 0; 1: it was asked to stop; -errno with a sentence:
 * the error of the last training, or of the machine. Of a study of a strategy nothing is trained: the file is
 * FOLDER/N/strategy.ini, of the best trial. */
int study_proposed_make(const struct study_market *market, const struct train_config *base,
                        const struct study_settings *settings, const struct study *study,
                        const struct study_ranked *ranked, const char *folder,
                        const struct trial_calls *calls, struct study_proposed *ret,
                        char err[static TRIAL_ERROR_MAX]);

/* The best trials of a study as one policy: an ensemble (strategy/policy/ensemble.h). Used by
 * proposal_policy.c alone. */

/* Writes FOLDER/ensemble.json of FOLDER/N/policy.safetensors for each number N, and tests it on the holdout,
 * in the environment of `config`, the first one's, as study_trial_final() tests each. 0; -EINVAL: they cannot
 * act together (rules that differ, execution reference), and nothing is left; errors of writing; -ENOMEM;
 * with a sentence. */
int study_ensemble_make(const struct study_market *market, const struct train_config *config,
                        const struct study_settings *settings, const int *numbers, int n, const char *folder,
                        struct trial_split *ret, char ret_path[static PATH_MAX],
                        char err[static TRIAL_ERROR_MAX]);

#endif
