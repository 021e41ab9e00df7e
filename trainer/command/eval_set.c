#include "trainer/command/eval_set.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/nearest.h"

enum { WORD_MAX = 64 };

#define refuse(err, ...) fail_with(-EINVAL, err, EVAL_ERROR_MAX, __VA_ARGS__)

/* Names of the daemon's configuration, and the environment's keys that they are. */
static const struct {
    const char *name, *keys[2];
} costs[] = {
    {"fee_taker", {"buy_cost_pct", "sell_cost_pct"}},
    {"slippage", {"slippage_pct"}},
};
enum { COSTS = sizeof costs / sizeof *costs };

/* What the policy sees, how it acts, its capital, what it was rewarded for, or which rows are played is not a
 * cost. */
static bool is_fixed(const char *key)
{
    static const char *const fixed[] = {
        "action_span",     "actions",      "autoreset",       "episode_bars", "execution",    "float32",
        "final_return",    "gamma",        "initial_capital", "levels",       "lookback",     "norm_action",
        "norm_cash",       "norm_reward",  "norm_stocks",     "norm_tech",    "random_start", "session",
        "session_close_s", "session_zone", "start",           "task",         "threshold",    "trend_bars"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(fixed[i], key) == 0)
            return true;
    return strncmp(key, "weight_", strlen("weight_")) == 0 || strstr(key, "_penalty") != NULL ||
           strcmp(key, "time_decay_floor") == 0;
}

static int unknown(const char *name, char err[static EVAL_ERROR_MAX])
{
    struct nearest nearest = {0};
    size_t n;
    const struct config_key *keys = env_params_list(&n);
    for (size_t i = 0; i < COSTS; i++)
        nearest_offer(&nearest, name, costs[i].name);
    for (size_t i = 0; i < n; i++)
        if (!is_fixed(keys[i].name))
            nearest_offer(&nearest, name, keys[i].name);
    return refuse(err, "--set: %.64s: unknown key%s", name, NEAREST_HINT(&nearest, name));
}

static int set_one(struct env_params *params, const char *name, const char *key, const char *value,
                   char err[static EVAL_ERROR_MAX])
{
    char why[ENV_ERROR_MAX];
    int r = env_params_set(params, key, value, why);
    if (r == -ENOENT)
        return unknown(name, err);
    const char *bare = strncmp(why, key, strlen(key)) == 0 ? why + strlen(key) : why;
    return r < 0 ? refuse(err, "--set: %.64s%s", name, bare) : 0;
}

int trainer_eval_set(struct env_params *params, const char *text, char err[static EVAL_ERROR_MAX])
{
    char name[WORD_MAX];
    struct env_params changed = *params;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || equals - text >= WORD_MAX)
        return refuse(err, "--set: \"%.64s\": KEY=VALUE is needed, as fee_taker=0.001", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    if (is_fixed(name))
        return refuse(
            err, "--set: %s: the policy was trained with it: a cost or a rule, as fee_taker, is right", name);
    int r = 0;
    bool found = false;
    for (size_t i = 0; i < COSTS; i++)
        for (size_t k = 0; k < 2 && strcmp(costs[i].name, name) == 0 && costs[i].keys[k] && r == 0; k++) {
            found = true;
            r = set_one(&changed, name, costs[i].keys[k], equals + 1, err);
        }
    if (!found)
        r = set_one(&changed, name, name, equals + 1, err);
    if (r == 0)
        *params = changed;
    return r;
}
