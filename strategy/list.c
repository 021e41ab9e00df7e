/* The list alone, so that a test may link its own instead. */
#include "strategy/strategies.h"
#include "strategy/strategy.h"

#define LISTED(name) &strategy_##name,
static const struct strategy *const strategies[] = {STRATEGIES(LISTED)};

const struct strategy *const *strategy_list(size_t *ret_n)
{
    *ret_n = sizeof strategies / sizeof *strategies;
    return strategies;
}
