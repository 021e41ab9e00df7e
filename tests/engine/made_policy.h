/* A policy for tests: its actions are a table in memory. */
#ifndef TESTS_ENGINE_MADE_POLICY_H
#define TESTS_ENGINE_MADE_POLICY_H

#include <errno.h>
#include <math.h>

#include "indicators_gpu/indicators.h"
#include "strategy/policy/policy.h"
#include "tests/engine/synthetic_market.h"

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

/* A runtime whose actions hang on every bar it saw, in their rows, on the rows it was asked of, and on what
 * the account has. */
struct policy_runtime {
    const struct policy *policy;
    int64_t first_ns, asked_ns, since_ns[MADE_SYMBOLS_MAX];
    double sum[MADE_SYMBOLS_MAX], memory;
    uint64_t rows;
};

static inline int made_runtime_create(const struct policy *policy, struct policy_runtime **ret)
{
    struct policy_runtime *runtime = calloc(1, sizeof *runtime);
    if (!runtime)
        return -ENOMEM;
    runtime->policy = policy;
    *ret = runtime;
    return 0;
}

static inline void made_runtime_destroy(struct policy_runtime *runtime)
{
    free(runtime);
}

static inline void made_runtime_see(struct policy_runtime *runtime, int asset, int64_t open_ns,
                                    const struct indicator_bar *bar)
{
    runtime->sum[asset] = runtime->sum[asset] / 2 + bar->open + 3 * bar->high + 5 * bar->low +
                          7 * bar->close + bar->volume * 1e-6 + bar->time * 1e-9;
    if (runtime->since_ns[asset] == 0)
        runtime->since_ns[asset] = open_ns;
    int64_t first_ns = 0;
    for (int i = 0; i < runtime->policy->n_assets; i++) {
        if (runtime->since_ns[i] == 0)
            return;
        first_ns = runtime->since_ns[i] > first_ns ? runtime->since_ns[i] : first_ns;
    }
    runtime->first_ns = first_ns;
}

static inline int64_t made_runtime_first(const struct policy_runtime *runtime)
{
    return runtime->first_ns;
}

static inline bool made_runtime_ready(const struct policy_runtime *runtime, int64_t open_ns)
{
    const struct policy *policy = runtime->policy;
    return runtime->first_ns > 0 &&
           open_ns >= runtime->first_ns + (policy->lookback - 1) * policy->interval_ns;
}

static inline bool made_runtime_act(struct policy_runtime *runtime, int64_t open_ns, double cash,
                                    const double *qty, float *ret)
{
    const struct policy *policy = runtime->policy;
    int64_t from_ns = runtime->first_ns + (policy->lookback - 1) * policy->interval_ns;
    if (runtime->first_ns == 0 || open_ns < from_ns || open_ns <= runtime->asked_ns)
        return false;
    int64_t asked_ns = runtime->asked_ns ? runtime->asked_ns : from_ns - policy->interval_ns;
    for (; asked_ns < open_ns; asked_ns += policy->interval_ns)
        runtime->memory = runtime->memory * 0.75 + cash * 1e-5 + (double)++runtime->rows;
    runtime->asked_ns = asked_ns;
    for (int i = 0; i < policy->n_assets; i++) {
        runtime->memory = runtime->memory + runtime->sum[i] + qty[i] * (i + 1);
        if (ret)
            ret[i] = (float)(12 * sin(runtime->memory * 1000));
    }
    return true;
}

static inline void made_runtime_visit(struct policy_runtime *runtime,
                                      const struct indicator_stream_fields *fields)
{
    uint64_t times[2] = {(uint64_t)runtime->first_ns, (uint64_t)runtime->asked_ns};
    for (int i = 0; i < 2; i++)
        fields->count(fields->ctx, &times[i], INT64_MAX);
    runtime->first_ns = (int64_t)times[0];
    runtime->asked_ns = (int64_t)times[1];
    for (int i = 0; i < runtime->policy->n_assets; i++) {
        uint64_t since = (uint64_t)runtime->since_ns[i];
        fields->count(fields->ctx, &since, INT64_MAX);
        runtime->since_ns[i] = (int64_t)since;
        fields->number(fields->ctx, &runtime->sum[i]);
    }
    fields->number(fields->ctx, &runtime->memory);
    fields->count(fields->ctx, &runtime->rows, UINT64_MAX);
}

static const struct policy_runtime_ops made_runtime = {.create = made_runtime_create,
                                                       .destroy = made_runtime_destroy,
                                                       .see = made_runtime_see,
                                                       .first = made_runtime_first,
                                                       .ready = made_runtime_ready,
                                                       .act = made_runtime_act,
                                                       .visit = made_runtime_visit};

static inline void made_policy_close(struct made_policy *made)
{
    free(made->actions);
}

#endif
