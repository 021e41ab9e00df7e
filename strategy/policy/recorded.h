/* A recorded policy: its actions are in a file. It repeats in an engine what an environment was stepped with,
 * on its bars.
 *
 * PARAMS.json, as papertape-trainer env-replay reads it:
 *   symbols        names, as "BTC" or "BTCUSDT"
 *   first_bar      open time of row 0
 *   interval       of the bars, as "5m"; left out: 5m
 *   bars           rows of the episode
 *   min_order_qty  a number a symbol, in units of the asset
 *   first_close    may be left out: the closes at first_bar, a number a symbol, for when bars of that time
 *                  are missing; where they exist, they must be the same
 *   params         the environment's parameters, of which those count here that orders follow from:
 *                  lookback, norm_action, initial_capital, buy_cost_pct and sell_cost_pct (equal, whole
 *                  millionths), slippage_pct, trailing_stop_pct, max_position_pct, min_cash_reserve,
 *                  forced_exit_bars, forced_exit_pct, cooldown_bars; the limits of limit_keys.h, as numbers
 * or as text; `preset`, which must be market. Keys of observations and rewards alone are ignored; keys that
 * would change orders, or let the environment trade other rows than [0, bars), are refused. ACTIONS.csv: a
 * header with an action_SYMBOL column each, in any order, among others, and `t`: rows lookback, lookback + 1,
 * … bars - lookback - 1. Without `t` the rows are counted. Row t is decided at the close of the bar of row t
 * - 1. */
#ifndef STRATEGY_POLICY_RECORDED_H
#define STRATEGY_POLICY_RECORDED_H

#include "strategy/policy/policy.h"

/* Reads both files. 0, for policy_recorded_destroy(); -EINVAL for their content, errors of opening, -ENOMEM;
 * err: "what: where: what would be right". */
int policy_recorded_load(const char *params, const char *actions, struct policy **ret,
                         char err[static POLICY_ERROR_MAX]);
void policy_recorded_destroy(struct policy *policy); /* NULL is fine */

#endif
