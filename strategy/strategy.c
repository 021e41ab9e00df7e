#include "strategy/strategy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/strategies.h"

static const struct strategy *const strategies[] = {
    &strategy_buy_and_hold, &strategy_day_trade,           &strategy_equal_weight,
    &strategy_sma_cross,    &strategy_sma_cross_rsi,       &strategy_sma_cross_rsi_risk,
    &strategy_trend_4h_1h,  &strategy_triple_confirmation,
};

enum { N_STRATEGIES = sizeof strategies / sizeof *strategies };

const struct strategy *const *strategy_list(size_t *ret_n)
{
    *ret_n = N_STRATEGIES;
    return strategies;
}

const struct strategy *strategy_find(const char *name)
{
    for (size_t i = 0; i < N_STRATEGIES; i++)
        if (strcmp(strategies[i]->name, name) == 0)
            return strategies[i];
    return NULL;
}

void strategy_defaults(const struct strategy *strategy, double params[static STRATEGY_PARAMS_MAX])
{
    memset(params, 0, STRATEGY_PARAMS_MAX * sizeof *params);
    for (size_t i = 0; i < strategy->n_params; i++)
        params[i] = strategy->params[i].fallback;
}

int strategy_set(const struct strategy *strategy, double params[static STRATEGY_PARAMS_MAX], const char *name,
                 const char *text)
{
    for (size_t i = 0; i < strategy->n_params; i++) {
        const struct strategy_param *param = &strategy->params[i];
        if (strcmp(param->name, name) != 0)
            continue;
        char *end;
        if (text[strspn(text, "0123456789+-.eE")] != '\0') /* strtod() takes blanks and hexadecimals too */
            return -EINVAL;
        double value = strtod(text, &end);
        if (end == text || *end != '\0' || !isfinite(value) || (param->integer && value != floor(value)))
            return -EINVAL;
        if (value < param->min || value > param->max)
            return -ERANGE;
        params[i] = value;
        return 0;
    }
    return -ENOENT;
}
