/* Hashes of trials, to see whether a proposal's trials are unchanged; made_of is the same for settings
 * (definition.h). */
#ifndef TRAINER_STUDY_TRIAL_HASHES_H
#define TRAINER_STUDY_TRIAL_HASHES_H

#include <jansson.h>

#include "trainer/study/members.h"

/* Of all that a study has finished, in `own` and `others` (NULL: none): the studies' names, and each trial's
 * number, state, value and time of completion; and how many trials own has at all. 16 digits; NULL without
 * memory. */
json_t *study_trial_hashes(const struct study *own, const struct study_members *others);

/* Of `n` trials of the study, with the parameters of each, in any order. */
json_t *study_chosen_hashes(const struct study *study, const struct study_trial *const *trials, int n);

#endif
