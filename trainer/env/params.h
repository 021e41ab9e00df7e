/* The environment's parameters: one table of keys, which env-replay's JSON, the trainer's configuration and
 * the Python module all set by name. docs/environment.md says what each does. */
#ifndef TRAINER_ENV_PARAMS_H
#define TRAINER_ENV_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategy/policy/limits.h"

enum { ENV_ERROR_MAX = 512, ENV_ASSETS_MAX = 256, ENV_LOOKBACK_MAX = 4096, ENV_LEVELS_MAX = 101 };

enum env_execution {
    ENV_REFERENCE, /* floating point, at the close of the bar that is reached */
    ENV_MARKET,    /* the paper exchange's bar model: strategy/policy/rules.h, exchange/bar_rules.h */
};
enum env_task {
    ENV_PORTFOLIO, /* an action an asset: what to buy or sell of it */
    ENV_DAY_TRADE, /* one asset: direction and size, flat at the session's end */
};
enum env_actions {
    ENV_CONTINUOUS, /* floats */
    ENV_DISCRETE,   /* an index 0..levels-1 for each: evenly from -action_span to +action_span */
};
enum env_autoreset {
    ENV_NEXT_STEP, /* the step after an episode's last begins the next one and ignores its action; reward 0 */
    ENV_SAME_STEP, /* the last step itself does; the last observation goes to env_io.final_obs */
    ENV_NO_RESET,  /* a copy that has ended stays as it is; stepping it changes nothing and gives reward 0 */
};

/* What a copy draws at the start of each episode, evenly from low to high; equal: fixed. */
struct env_range {
    double low, high;
};

struct env_params {
    enum env_execution execution;
    enum env_task task;
    enum env_actions actions;
    enum env_autoreset autoreset;
    bool float32; /* cash, and what is computed from it, in float32; ENV_REFERENCE only */
    int levels;   /* of discrete actions; odd, 3.. */
    double action_span;

    int lookback;         /* rows of features in an observation */
    int64_t start;        /* row that episodes begin at, where random_start is off */
    int64_t episode_bars; /* rows of an episode, `bars` of the reference; 0: to the end; with random_start
                           * a quarter of the rows, at most 500 */
    bool random_start;    /* each episode begins at a row drawn evenly among those that fit */

    double norm_cash, norm_stocks, norm_tech, norm_reward, norm_action;
    struct env_range initial_capital, buy_cost_pct, sell_cost_pct, slippage_pct;
    double trailing_stop_pct, max_position_pct, min_cash_reserve, concentration_penalty;
    int forced_exit_bars; /* 0: off */
    double forced_exit_pct;
    int cooldown_bars;
    double time_decay_floor, gamma;
    bool final_return; /* the last step's reward is the discounted sum: gamma_return */
    double weight_alpha, weight_absolute, weight_cash;
    double ruin; /* an episode terminates where equity <= ruin * initial capital */

    /* ENV_DAY_TRADE */
    double threshold;      /* of the direction, beyond which it trades */
    bool shorts;           /* the account may sell what it does not hold */
    double collateral;     /* a short needs this much of its value in cash, proceeds included */
    double borrow_rate;    /* a year's interest on what a short has borrowed */
    int session_close_s;   /* seconds of the day, local time */
    char session_zone[40]; /* "UTC", "America/New_York": of the system's zone files */
    double weight_return, weight_step, weight_trend, weight_day; /* docs/environment.md has the terms */
    int trend_bars;

    int session; /* whose bars a market with a calendar has, enum session_choice; its steps do not read it */

    /* For every task. Behind what older states have: one without them is as before they existed (save.c). */
    double drawdown_penalty, volatility_penalty;

    struct policy_limits limits; /* ENV_MARKET, ENV_PORTFOLIO; all 0: none. Likewise */
};

#ifndef __CUDACC__ /* the host's, in C */
#include "record/config_key.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Every key, sorted by name. */
const struct config_key *env_params_list(size_t *ret_n);

/* Presets. "reference": all defaults of the reference environment, and its execution. "market", the default
 * for training: execution market, no forced exits, the daemon's default fee, drawn starts, rewards without
 * decay, and no reward at the end but the last step's own. "cappuccino": execution market with the
 * reference's numbers. "day-trade". */
#define ENV_PRESETS "reference market cappuccino day-trade"
int env_params_preset(const char *name, struct env_params *ret, char err[static ENV_ERROR_MAX]);

/* Sets one key from text ("0.01", "true", "market", "900..1100"). 0; -ENOENT for an unknown key (err names
 * the nearest); -EINVAL with what would be right. *params is as it was on failure. */
int env_params_set(struct env_params *params, const char *key, const char *text,
                   char err[static ENV_ERROR_MAX]);

/* Writes a key's value as env_params_set() reads it. False: no such key, or no room. */
bool env_params_get(const struct env_params *params, const char *key, char *buf, size_t cap);

/* Are all within their ranges, and consistent with each other and `n_assets`? 0, or -EINVAL with a
 * sentence. */
int env_params_check(const struct env_params *params, int n_assets, char err[static ENV_ERROR_MAX]);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

#endif
