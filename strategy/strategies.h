/* The strategies, one line each, sorted by name; the declarations, the list and what is built follow. One
 * file each: NAME.c, its rule and its table in docs/strategies.md. All keep their memory in `state`, and use
 * closed bars only. */
#ifndef STRATEGY_STRATEGIES_H
#define STRATEGY_STRATEGIES_H

#include "strategy/strategy.h"

/* clang-format off */
#define STRATEGIES(X) \
    X(binance_day_trade) \
    X(buy_and_hold) \
    X(day_trade) \
    X(equal_weight) \
    X(pairs) \
    X(rank_momentum) \
    X(sma_cross) \
    X(sma_cross_rsi) \
    X(sma_cross_rsi_risk) \
    X(trend_4h_1h) \
    X(triple_confirmation)
/* clang-format on */

#define STRATEGY_LISTED(name) STRATEGY_LISTED_##name,
enum { STRATEGIES(STRATEGY_LISTED) STRATEGY_ROWS };
#define STRATEGY_DECLARED(name) extern const struct strategy strategy_##name;
STRATEGIES(STRATEGY_DECLARED)

/* Begins the row in NAME.c: a strategy that is not in the list does not compile. */
#define STRATEGY_ROW(name) \
    _Static_assert(STRATEGY_LISTED_##name < STRATEGY_ROWS, #name); \
    const struct strategy strategy_##name

#endif
