/* A hash of what the numbers of an observation mean: trainer/env and the runtime each compute the hash of
 * what they build, and a policy that was trained on other observations is refused. The observation itself is
 * built by runtime.c, in training by trainer/env/scalar/observe.h and its twins for SIMD and CUDA. */
#ifndef STRATEGY_POLICY_OBSERVATION_H
#define STRATEGY_POLICY_OBSERVATION_H

#include "indicators_gpu/features/features.h"
#include "strategy/policy/policy.h"

enum { OBSERVATION_HASH_SIZE = 65 /* 64 hex digits and a NUL */ };

struct observation_layout {
    int n_assets;
    const struct policy_asset *assets;     /* in the order of quantities and of a row's parts */
    const struct feature_set *const *sets; /* [n_assets], fitted; NULL: closes, then volumes */
    int64_t interval_ns;
    enum session_choice session; /* of a market with a calendar; else SESSION_ALL */
    unsigned session_columns;    /* strategy/policy/session_columns.h, after a row's features */
    int lookback;
    double norm_cash, norm_stocks, norm_tech;
};

/* SHA-256 of a text of a line a number, in their order: cash, each asset's quantity, and a row's columns,
 * each with its asset, its feature, the figures of its scaling and its factor; those of the row's session;
 * then how many rows there are, how far apart, newest first, and before that the session, if they are of
 * one. 0 or -ENOMEM. */
int policy_observation_hash(const struct observation_layout *layout, char ret[static OBSERVATION_HASH_SIZE]);

#endif
