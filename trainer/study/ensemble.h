/* The best trials of a search as one policy: an ensemble (strategy/policy/ensemble.h). Used by
 * proposal_policy.c alone. */
#ifndef TRAINER_STUDY_ENSEMBLE_H
#define TRAINER_STUDY_ENSEMBLE_H

#include <limits.h>

#include "trainer/study/trial.h"

/* Writes FOLDER/ensemble.json of FOLDER/N/policy.safetensors for each number N, and tests it on the holdout,
 * in the environment of `config`, the first one's, as study_trial_final() tests each. 0; -EINVAL: they cannot
 * act together (rules that differ, execution reference), and nothing is left; errors of writing; -ENOMEM;
 * with a sentence. */
int study_ensemble_make(const struct study_market *market, const struct train_config *config,
                        const struct search_settings *settings, const int *numbers, int n, const char *folder,
                        struct trial_split *ret, char ret_path[static PATH_MAX],
                        char err[static TRIAL_ERROR_MAX]);

#endif
