#include "trainer/env/params.h"

#include <errno.h>
#include <string.h>

#include "strategy/policy/limit_keys.h"
#include "strategy/policy/limit_rules.h"
#include "trainer/env/refusal.h"

/* A preset is the reference environment's defaults, the table's, except these. */
static const struct difference {
    const char *preset, *key, *value;
} differences[] = {
    {"market", "execution", "market"},
    {"market", "final_return", "false"},
    {"market", "forced_exit_bars", "0"},
    {"market", "buy_cost_pct", "0.001"}, /* as fee_taker of an account */
    {"market", "sell_cost_pct", "0.001"},
    {"market", "random_start", "true"},
    {"market", "time_decay_floor", "1"},
    {"market", "norm_action", "1"}, /* an action of 1 is all of the capital */
    {"cappuccino", "execution", "market"},
    {"cappuccino", "final_return", "false"},
    {"day-trade", "task", "day-trade"},
    {"day-trade", "final_return", "false"},
    {"day-trade", "action_span", "1"}, /* a direction */
    {"day-trade", "shorts", "true"},
};

int env_params_preset(const char *name, struct env_params *ret, char err[static ENV_ERROR_MAX])
{
    char why[CONFIG_WHY_MAX];
    struct env_params params = {0};
    size_t n;
    const struct config_key *keys = env_params_list(&n);
    if (config_key_word(name, ENV_PRESETS, why) < 0)
        return env_refuse(-ENOENT, err, "preset: %s", why);
    config_key_defaults(keys, n, "environment", &params);
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        const struct difference *difference = &differences[i];
        int r = strcmp(difference->preset, name) == 0
                    ? env_params_set(&params, difference->key, difference->value, err)
                    : 0;
        if (r < 0)
            return r;
    }
    *ret = params;
    return 0;
}

int env_params_set(struct env_params *params, const char *key, const char *text,
                   char err[static ENV_ERROR_MAX])
{
    char why[CONFIG_WHY_MAX];
    size_t n;
    const struct config_key *keys = env_params_list(&n), *row = config_key_find(keys, n, NULL, key);
    int r = row ? config_key_read(row, text, params, why) : config_key_unknown(keys, n, NULL, key, why);
    return r < 0 ? env_refuse(row ? r : -ENOENT, err, "%.60s: %s", key, why) : 0;
}

bool env_params_get(const struct env_params *params, const char *key, char *buf, size_t cap)
{
    size_t n;
    const struct config_key *keys = env_params_list(&n), *row = config_key_find(keys, n, NULL, key);
    return row && config_key_text(row, params, buf, cap);
}

/* The name of one that is set. */
static const char *first_limit(const struct policy_limits *limits)
{
    int i = 0;
    while (i < POLICY_LIMITS_N - 1 && policy_limit_off(&policy_limit_keys[i], limits))
        i++;
    return policy_limit_keys[i].name;
}

int env_params_check(const struct env_params *params, int n_assets, char err[static ENV_ERROR_MAX])
{
    size_t n;
    const struct config_key *keys = env_params_list(&n);
    for (const struct config_key *key = keys; key < keys + n; key++) {
        char why[CONFIG_WHY_MAX];
        if (config_key_check(key, params, why) < 0)
            return env_refuse(-EINVAL, err, "%s: %s", key->name, why);
    }
    if (n_assets < 1 || n_assets > ENV_ASSETS_MAX)
        return env_refuse(-EINVAL, err, "assets: %d: from 1 to %d is right", n_assets, ENV_ASSETS_MAX);
    if (params->task == ENV_DAY_TRADE && n_assets != 1)
        return env_refuse(-EINVAL, err, "task: day-trade: it trades one asset, and the market has %d",
                          n_assets);
    if (params->levels % 2 == 0)
        return env_refuse(-EINVAL, err, "levels: %d: an odd number is right, so that one of them is 0",
                          params->levels);
    if (params->float32 && params->execution == ENV_MARKET)
        return env_refuse(-EINVAL, err,
                          "float32: true: execution market computes in whole units; false is right");
    if (params->shorts && params->task != ENV_DAY_TRADE)
        return env_refuse(-EINVAL, err, "shorts: true: only task day-trade can sell what it does not hold");
    if (params->shorts && params->execution == ENV_MARKET)
        return env_refuse(-EINVAL, err,
                          "shorts: true: execution market has none yet; execution reference has");
    char why[CONFIG_WHY_MAX];
    if (policy_limits_check(&params->limits, why) < 0)
        return env_refuse(-EINVAL, err, "%s", why);
    if (policy_has_limits(&params->limits) &&
        (params->execution != ENV_MARKET || params->task != ENV_PORTFOLIO))
        return env_refuse(
            -EINVAL, err,
            "%s: limits need execution market and task portfolio, which trade as an account does",
            first_limit(&params->limits));
    int64_t least = 2 * (int64_t)params->lookback + 1;
    if (params->episode_bars != 0 && params->episode_bars < least)
        return env_refuse(-EINVAL, err, "episode_bars: %lld: at least %lld is right with lookback %d",
                          (long long)params->episode_bars, (long long)least, params->lookback);
    return 0;
}
