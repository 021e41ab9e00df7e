/* A policy for tests: its actions are a table in memory. */
#ifndef TESTS_ENGINE_MADE_POLICY_H
#define TESTS_ENGINE_MADE_POLICY_H

#include "strategy/policy/policy.h"
#include "tests/engine/made_market.h"

struct made_policy {
    struct policy policy; /* first */
    struct policy_asset assets[MADE_SYMBOLS_MAX];
    float *actions; /* [rows][n_assets]: row r is decided at the close of bar lookback - 1 + r */
    size_t rows;
};

static inline bool made_act(const struct policy *policy, int64_t open_ns, float *ret)
{
    const struct made_policy *made = (const struct made_policy *)policy;
    int64_t row = (open_ns - policy->first_ns) / policy->interval_ns + 1 - policy->lookback;
    if (open_ns < policy->first_ns || row < 0 || row >= (int64_t)made->rows)
        return false;
    memcpy(ret, made->actions + (size_t)row * (size_t)policy->n_assets,
           (size_t)policy->n_assets * sizeof *ret);
    return true;
}

/* For symbols C0USDT, C1USDT, … by their base assets, from the market's row `first` on. `busy`: percent of
 * actions that are not small. */
static inline void made_policy_open(struct made_policy *made, struct random *random, int n_assets,
                                    int64_t first_ns, int64_t interval_ns, int lookback, size_t rows,
                                    const struct policy_rules *rules, int busy)
{
    memset(made, 0, sizeof *made);
    made->policy = (struct policy){.kind = "made",
                                   .n_assets = n_assets,
                                   .assets = made->assets,
                                   .interval_ns = interval_ns,
                                   .first_ns = first_ns,
                                   .lookback = lookback,
                                   .rules = *rules,
                                   .act = made_act};
    for (int i = 0; i < POLICY_ID_SIZE; i++)
        made->policy.id[i] = (uint8_t)random_next(random);
    for (int i = 0; i < n_assets; i++) {
        snprintf(made->assets[i].name, sizeof made->assets[i].name, "C%d", i);
        made->assets[i].least = (double)random_between(random, 0, 20) * 1e-5;
    }
    made->rows = rows;
    made->actions = calloc(rows * (size_t)n_assets + 1, sizeof *made->actions);
    for (size_t i = 0; i < rows * (size_t)n_assets; i++) {
        double size = random_chance(random, busy) ? 12 : 0.2;
        made->actions[i] = (float)((double)random_between(random, -1000000, 1000000) / 1e6 * size);
    }
}

static inline void made_policy_close(struct made_policy *made)
{
    free(made->actions);
}

#endif
