/* What a proposal reports of its chances: how many trials there were, how likely luck explains it, and the
 * gates. Parts of papertape.proposal/1, each NULL without memory. */
#ifndef TRAINER_STUDY_OUTCOME_H
#define TRAINER_STUDY_OUTCOME_H

#include <jansson.h>

#include "trainer/study/gate.h"
#include "trainer/study/members.h"
#include "trainer/study/trial.h"

enum { OUTCOME_WORDS_MAX = 512 };

/* papertape.validation/1, and FOLDER/report.html, of the study's trial number `proposed` among all of the
 * study's members; *ret NULL where there is nothing to compare, too few trials or rows, which is reported. 0
 * or -errno with a sentence. */
int study_outcome_validate(const struct study *study, const struct study_members *others, int proposed,
                           const char *folder, const struct trial_calls *calls, json_t **ret,
                           char err[static TRIAL_ERROR_MAX]);

/* Of it, or of its object `in`; NaN: not known. */
double study_outcome_figure(const json_t *validation, const char *in, const char *key);

/* trials, complete, tried, of_trials. */
json_t *study_outcome_counts(const struct study *study, const struct study_members *others, int complete);

/* pbo to skill; all null where the validation is NULL. */
json_t *study_outcome_luck(const json_t *validation);

/* gates, and in `words` the sentence. */
json_t *study_outcome_gates(const struct gate_limits *limits, const struct gate_figures *figures,
                            bool *ret_admitted, char *words, size_t cap);

/* expires_s of the settings. */
json_t *study_outcome_expires(const struct study_settings *settings);

/* Puts `more`, which it takes over, into the object. False: without memory, or either is NULL. */
bool study_outcome_add(json_t *object, json_t *more);

#endif
