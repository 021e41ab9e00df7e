/* Hashes of trials: are these the ones that something was said of? As made_of is of settings (defined.h). */
#ifndef TRAINER_SEARCH_OF_TRIALS_H
#define TRAINER_SEARCH_OF_TRIALS_H

#include <jansson.h>

#include "trainer/search/members.h"

/* Of all that a search has finished, in `own` and `others` (NULL: none): the studies' names, and each trial's
 * number, state, value and time of completion; and how many trials own has at all. 16 digits; NULL without
 * memory. */
json_t *search_of_trials(const struct study *own, const struct search_members *others);

/* Of `n` trials of the study: what each was given besides. Whatever the order of its parameters. */
json_t *search_of_chosen(const struct study *study, const struct study_trial *const *trials, int n);

#endif
