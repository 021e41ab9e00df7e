#include "trainer/env/params.h"

#include <errno.h>
#include <string.h>

#include "trainer/env/key.h"
#include "trainer/env/params_table.h"
#include "trainer/env/refusal.h"

/* The reference environment's. */
static const struct env_params reference = {
    .execution = ENV_REFERENCE,
    .task = ENV_PORTFOLIO,
    .actions = ENV_CONTINUOUS,
    .autoreset = ENV_NEXT_STEP,
    .levels = 21,
    .action_span = 10,
    .lookback = 3,
    .norm_cash = 0x1p-11,
    .norm_stocks = 0x1p-8,
    .norm_tech = 0x1p-14,
    .norm_reward = 0x1p-9,
    .norm_action = 100,
    .initial_capital = {1000, 1000},
    .buy_cost_pct = {0.0025, 0.0025},
    .sell_cost_pct = {0.0025, 0.0025},
    .forced_exit_bars = 48,
    .forced_exit_pct = 0.05,
    .gamma = 0.99,
    .final_return = true,
    .weight_alpha = 0.5,
    .weight_absolute = 0.3,
    .weight_cash = 0.2,
    .threshold = 0.3,
    .collateral = 1.5,
    .session_close_s = 86400,
    .session_zone = "UTC",
    .weight_return = 1,
    .weight_step = 1,
    .weight_trend = 1,
    .weight_day = 1,
    .trend_bars = 20,
};

static const char *const presets[] = {"reference", "market", "day-trade"};

int env_params_preset(const char *name, struct env_params *ret, char err[static ENV_ERROR_MAX])
{
    struct env_params params = reference;
    if (strcmp(name, "market") == 0) {
        params.execution = ENV_MARKET;
        params.final_return = false;
    } else if (strcmp(name, "day-trade") == 0) {
        params.task = ENV_DAY_TRADE;
        params.final_return = false;
        params.action_span = 1; /* a direction */
        params.shorts = true;
    } else if (strcmp(name, "reference") != 0) {
        return key_no_preset(presets, sizeof presets / sizeof *presets, name, err);
    }
    *ret = params;
    return 0;
}

const struct env_param *env_params_list(size_t *ret_n)
{
    *ret_n = env_params_table_n;
    return env_params_table;
}

int env_params_set(struct env_params *params, const char *key, const char *text,
                   char err[static ENV_ERROR_MAX])
{
    const struct env_param *param = key_find(env_params_table, env_params_table_n, key);
    if (!param)
        return env_refuse(-ENOENT, err, "%.60s: there is no such parameter; the nearest is %s", key,
                          key_nearest(env_params_table, env_params_table_n, key));
    return key_set(param, params, text, err);
}

bool env_params_get(const struct env_params *params, const char *key, char *buf, size_t cap)
{
    const struct env_param *param = key_find(env_params_table, env_params_table_n, key);
    return param && key_print(param, params, buf, cap);
}

int env_params_check(const struct env_params *params, int n_assets, char err[static ENV_ERROR_MAX])
{
    for (size_t i = 0; i < env_params_table_n; i++) {
        int rc = key_check(&env_params_table[i], params, err);
        if (rc < 0)
            return rc;
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
                          "float32: true: execution market reckons in whole units; false is right");
    if (params->shorts && params->task != ENV_DAY_TRADE)
        return env_refuse(-EINVAL, err, "shorts: true: only task day-trade can sell what it does not hold");
    if (params->shorts && params->execution == ENV_MARKET)
        return env_refuse(-EINVAL, err,
                          "shorts: true: execution market has none yet; execution reference has");
    if (params->random_start && params->episode_bars == 0)
        return env_refuse(-EINVAL, err,
                          "random_start: true: episode_bars is needed besides, the episodes' rows");
    int64_t least = 2 * (int64_t)params->lookback + 1;
    if (params->episode_bars != 0 && params->episode_bars < least)
        return env_refuse(-EINVAL, err, "episode_bars: %lld: at least %lld is right with lookback %d",
                          (long long)params->episode_bars, (long long)least, params->lookback);
    return 0;
}
