/* Ensembles for tests: members of random networks over the same two symbols, written beside each other. */
#ifndef TESTS_STRATEGY_ENSEMBLE_MADE_H
#define TESTS_STRATEGY_ENSEMBLE_MADE_H

#include "strategy/policy/ensemble.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/strategy/trained_made.h"

enum { ENSEMBLE_ASSETS = 2 };

/* What a member is made of; zeros are the usual. */
struct ensemble_member {
    int lookback, levels, recurrent;
    bool features;
    int n_assets;
    int64_t interval_ns;
    void (*change)(struct env_params *params);
};

static inline void ensemble_params(struct env_params *params, const struct ensemble_member *member)
{
    char err[ENV_ERROR_MAX];
    CHECK_INT(env_params_preset("market", params, err), 0);
    params->lookback = member->lookback > 0 ? member->lookback : 3;
    params->norm_tech = 0.01;
    params->norm_stocks = 0.1;
    params->norm_cash = 0.0005;
    params->norm_action = 8;
    params->initial_capital = (struct env_range){5000, 5000};
    params->buy_cost_pct = params->sell_cost_pct = (struct env_range){0.001, 0.001};
    params->slippage_pct = (struct env_range){0.0002, 0.0002};
    params->trailing_stop_pct = 0.03;
    params->max_position_pct = 0.6;
    params->min_cash_reserve = 0.05;
    params->forced_exit_bars = 11;
    params->forced_exit_pct = 0.2;
    params->cooldown_bars = 2;
    if (member->levels > 0) {
        params->actions = ENV_DISCRETE;
        params->levels = member->levels;
        params->action_span = 2.5;
    }
    if (member->change)
        member->change(params);
}

/* Writes one to the scratch folder, and returns its path. */
static inline const char *ensemble_member(struct random *random, const char *name,
                                          const struct ensemble_member *member)
{
    static const char set[] = "set tiny\nclose\nema:5 /close-1\nrsi:7 /100\n";
    const struct net_shape shape = {
        .n_pi = 2, .pi = {24, 16}, .n_vf = 1, .vf = {8}, .recurrent = member->recurrent};
    struct env_params params;
    struct trained_made made;
    char err[POLICY_ERROR_MAX] = "";
    const char *path = scratch_path(name);
    ensemble_params(&params, member);
    trained_made_open(&made, random, shape, member->n_assets > 0 ? member->n_assets : ENSEMBLE_ASSETS,
                      member->features ? set : NULL, 3, &params);
    if (member->interval_ns > 0)
        made.source.interval_ns = member->interval_ns;
    CHECK_INT(policy_trained_write(path, &made.source, err), 0);
    CHECK_STR(err, "");
    trained_made_close(&made);
    return path;
}

#endif
