/* The best trials of a search as one policy: an ensemble (strategy/policy/ensemble.h). Used by proposed.c
 * alone. */
#ifndef TRAINER_SEARCH_TOGETHER_H
#define TRAINER_SEARCH_TOGETHER_H

#include <limits.h>

#include "trainer/search/trial.h"

/* Writes FOLDER/ensemble.json of FOLDER/N/policy.safetensors for each number N, and tests it on the holdout,
 * in the environment of `config`, the first one's, as trial_final() tests each. 0; -EINVAL: they cannot act
 * together (rules that differ, execution reference), and nothing is left; errors of writing; -ENOMEM; with a
 * sentence. */
int together_make(const struct search_market *market, const struct config *config,
                  const struct search_settings *settings, const int *numbers, int n, const char *folder,
                  struct trial_split *ret, char ret_path[static PATH_MAX], char err[static TRIAL_ERROR_MAX]);

#endif
