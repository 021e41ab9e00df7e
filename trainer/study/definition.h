/* What defines a trial of a study: all settings that its value depends on, except those that are searched. */
#ifndef TRAINER_STUDY_DEFINITION_H
#define TRAINER_STUDY_DEFINITION_H

#include <jansson.h>

#include "trainer/study/trial.h"

/* {"[study] holdout": "0.2", …}: the splits, the objective, [data] and what of [training], [network], [ppo]
 * and [environment] a policy follows from; a key that is searched is "searched", with its most where the rows
 * follow from that. Not among them: what the machine is, seeds, checkpoints, evaluations, how many trials,
 * the sampler, the pruner, the proposal. NULL without memory. */
json_t *study_definition(const struct train_config *config, const struct study_settings *settings);

/* A hash of that and of what else a proposal is made by: ensemble, combine, the seed of training. NULL
 * without memory. */
json_t *study_made_of(const struct train_config *config, const struct study_settings *settings);

/* {"from": "2023-01-01T…Z", …}: the rows that it searches on, and the holdout's. NULL without memory. */
json_t *study_rows(const struct study_market *market);

/* The first key that both have with different values, or that a study of trainings lacks; NULL: there is
 * none. */
const char *study_differs(json_t *was, json_t *now);

#endif
