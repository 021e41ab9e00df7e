/* A policy for tests: its actions are a table in memory. */
#ifndef TESTS_ENGINE_MADE_POLICY_H
#define TESTS_ENGINE_MADE_POLICY_H

#include <errno.h>
#include <math.h>

#include "indicators_gpu/indicators.h"
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

/* A mind whose actions hang on every bar it saw, in their rows, on the rows it was asked of, and on what the
 * account has. */
struct policy_mind {
    const struct policy *policy;
    int64_t first_ns, asked_ns, since_ns[MADE_SYMBOLS_MAX];
    double sum[MADE_SYMBOLS_MAX], memory;
    uint64_t rows;
};

static inline int made_mind_create(const struct policy *policy, struct policy_mind **ret)
{
    struct policy_mind *mind = calloc(1, sizeof *mind);
    if (!mind)
        return -ENOMEM;
    mind->policy = policy;
    *ret = mind;
    return 0;
}

static inline void made_mind_destroy(struct policy_mind *mind)
{
    free(mind);
}

static inline void made_mind_see(struct policy_mind *mind, int asset, int64_t open_ns,
                                 const struct indicator_bar *bar)
{
    mind->sum[asset] = mind->sum[asset] / 2 + bar->open + 3 * bar->high + 5 * bar->low + 7 * bar->close +
                       bar->volume * 1e-6 + bar->time * 1e-9;
    if (mind->since_ns[asset] == 0)
        mind->since_ns[asset] = open_ns;
    int64_t first_ns = 0;
    for (int i = 0; i < mind->policy->n_assets; i++) {
        if (mind->since_ns[i] == 0)
            return;
        first_ns = mind->since_ns[i] > first_ns ? mind->since_ns[i] : first_ns;
    }
    mind->first_ns = first_ns;
}

static inline int64_t made_mind_first(const struct policy_mind *mind)
{
    return mind->first_ns;
}

static inline bool made_mind_act(struct policy_mind *mind, int64_t open_ns, double cash, const double *qty,
                                 float *ret)
{
    const struct policy *policy = mind->policy;
    int64_t from_ns = mind->first_ns + (policy->lookback - 1) * policy->interval_ns;
    if (mind->first_ns == 0 || open_ns < from_ns || open_ns <= mind->asked_ns)
        return false;
    int64_t asked_ns = mind->asked_ns ? mind->asked_ns : from_ns - policy->interval_ns;
    for (; asked_ns < open_ns; asked_ns += policy->interval_ns)
        mind->memory = mind->memory * 0.75 + cash * 1e-5 + (double)++mind->rows;
    mind->asked_ns = asked_ns;
    for (int i = 0; i < policy->n_assets; i++) {
        mind->memory = mind->memory + mind->sum[i] + qty[i] * (i + 1);
        if (ret)
            ret[i] = (float)(12 * sin(mind->memory * 1000));
    }
    return true;
}

static inline void made_mind_visit(struct policy_mind *mind, const struct indicator_stream_fields *fields)
{
    uint64_t times[2] = {(uint64_t)mind->first_ns, (uint64_t)mind->asked_ns};
    for (int i = 0; i < 2; i++)
        fields->count(fields->ctx, &times[i], INT64_MAX);
    mind->first_ns = (int64_t)times[0];
    mind->asked_ns = (int64_t)times[1];
    for (int i = 0; i < mind->policy->n_assets; i++) {
        uint64_t since = (uint64_t)mind->since_ns[i];
        fields->count(fields->ctx, &since, INT64_MAX);
        mind->since_ns[i] = (int64_t)since;
        fields->number(fields->ctx, &mind->sum[i]);
    }
    fields->number(fields->ctx, &mind->memory);
    fields->count(fields->ctx, &mind->rows, UINT64_MAX);
}

static const struct policy_mind_ops made_mind = {.create = made_mind_create,
                                                 .destroy = made_mind_destroy,
                                                 .see = made_mind_see,
                                                 .first = made_mind_first,
                                                 .act = made_mind_act,
                                                 .visit = made_mind_visit};

static inline void made_policy_close(struct made_policy *made)
{
    free(made->actions);
}

#endif
