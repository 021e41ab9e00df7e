/* How a trained policy observes the market for an account: the bars of its symbols become rows of features as
 * trainer/data.h makes them, the account and the last `lookback` rows an observation as trainer/env builds it
 * (cash * norm_cash, quantities * norm_stocks, the rows), and its networks make actions of that, with the
 * bits of the environment. */
#ifndef STRATEGY_POLICY_RUNTIME_H
#define STRATEGY_POLICY_RUNTIME_H

#include "strategy/policy/trained.h"

/* Gives the policy its runtimes, once an engine can trade by it. 0; -EINVAL with a clause in `why`: it was
 * trained for what no account trades (a world that is no market, execution reference, shorts, fees of
 * purchases and sales that differ), or its observation does not fit its market, or differs from what
 * it was trained on; -ENOMEM. */
int policy_trained_runtime_prepare(struct trained_policy *trained, char why[static POLICY_ERROR_MAX]);

/* Was the policy trained on that observation? 0; -EINVAL with a clause in `why`, with the first 12 digits of
 * both hashes (a file has the hash only, not which element differs). An older file has no hash: 0. */
int policy_trained_observation_check(const struct trained_policy *trained, const char *hash,
                                     char why[static POLICY_ERROR_MAX]);

/* The number for a level's index, as in the environment: evenly from -action_span to action_span. */
float policy_trained_level_action(const struct trained_policy *trained, float level);

#endif
