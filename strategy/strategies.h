/* The rows of the list, one file each: NAME.c, its rule and its table in docs/strategies.md. All are long
 * only, keep what they remember in `state`, and look at closed bars only. */
#ifndef STRATEGY_STRATEGIES_H
#define STRATEGY_STRATEGIES_H

#include "strategy/strategy.h"

extern const struct strategy strategy_buy_and_hold;
extern const struct strategy strategy_day_trade;
extern const struct strategy strategy_equal_weight;
extern const struct strategy strategy_sma_cross;
extern const struct strategy strategy_sma_cross_rsi;
extern const struct strategy strategy_sma_cross_rsi_risk;
extern const struct strategy strategy_trend_4h_1h;
extern const struct strategy strategy_triple_confirmation;

#endif
