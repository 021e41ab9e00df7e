/* How a trained policy looks at the market for an account: the bars of its symbols become rows of features as
 * trainer/data.h makes them, the last `lookback` rows and the account an observation as trainer/env builds
 * it, and that actions, with the bits of the environment. */
#ifndef STRATEGY_POLICY_RUNTIME_H
#define STRATEGY_POLICY_RUNTIME_H

#include "strategy/policy/trained.h"

/* Gives the policy its runtimes, once an engine can trade by it. 0; -EINVAL with a clause in `why`: it was
 * trained for what no account trades (a world that is no market, execution reference, the task day-trade,
 * fees of purchases and sales that differ), or its observation is not what its market gives, or of other
 * numbers than those that it was trained on; -ENOMEM. */
int policy_trained_runtime_prepare(struct trained_policy *trained, char why[static POLICY_ERROR_MAX]);

/* Is that what it was trained on? 0; -EINVAL with a clause in `why`, the first 12 digits of both hashes in it
 * (a file has the hash only: which element differs, it does not tell). A file of before has none: 0. */
int policy_trained_observation_check(const struct trained_policy *trained, const char *hash,
                                     char why[static POLICY_ERROR_MAX]);

/* An index of a level as the number that the environment makes of it: evenly from -action_span to
 * action_span. */
float policy_trained_level_action(const struct trained_policy *trained, float level);

#endif
