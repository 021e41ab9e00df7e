/* The list alone, so that a test may put its own in its place. */
#include "strategy/strategies.h"
#include "strategy/strategy.h"

static const struct strategy *const strategies[] = {
    &strategy_buy_and_hold, &strategy_day_trade,           &strategy_equal_weight,
    &strategy_sma_cross,    &strategy_sma_cross_rsi,       &strategy_sma_cross_rsi_risk,
    &strategy_trend_4h_1h,  &strategy_triple_confirmation,
};

const struct strategy *const *strategy_list(size_t *ret_n)
{
    *ret_n = sizeof strategies / sizeof *strategies;
    return strategies;
}
