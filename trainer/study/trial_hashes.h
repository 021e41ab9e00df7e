/* Hashes of trials: are these the ones that something was said of? As made_of is of settings (definition.h).
 */
#ifndef TRAINER_STUDY_TRIAL_HASHES_H
#define TRAINER_STUDY_TRIAL_HASHES_H

#include <jansson.h>

#include "trainer/study/members.h"

/* Of all that a study has finished, in `own` and `others` (NULL: none): the studies' names, and each trial's
 * number, state, value and time of completion; and how many trials own has at all. 16 digits; NULL without
 * memory. */
json_t *study_trial_hashes(const struct study *own, const struct study_members *others);

/* Of `n` trials of the study: what each was given besides. Whatever the order of its parameters. */
json_t *study_chosen_hashes(const struct study *study, const struct study_trial *const *trials, int n);

#endif
