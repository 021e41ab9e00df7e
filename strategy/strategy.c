#include "strategy/strategy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/nearest.h"
#include "strategy/strategies.h"

static const struct strategy *const strategies[] = {
    &strategy_buy_and_hold, &strategy_day_trade,           &strategy_equal_weight,
    &strategy_sma_cross,    &strategy_sma_cross_rsi,       &strategy_sma_cross_rsi_risk,
    &strategy_trend_4h_1h,  &strategy_triple_confirmation,
};

enum { SHOWN = 60 }; /* characters of a wrong word that a message repeats */

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

void strategy_unknown(const char *name, const char *also, char *err, size_t err_size)
{
    struct nearest nearest = {0};
    for (size_t i = 0; i < N_STRATEGIES; i++)
        nearest_offer(&nearest, name, strategies[i]->name);
    if (also)
        nearest_offer(&nearest, name, also);
    snprintf(err, err_size, "\"%.*s\": unknown strategy: did you mean %s?", SHOWN, name, nearest.best);
}

static const struct strategy_param *find_param(const struct strategy *strategy, const char *name)
{
    for (size_t i = 0; i < strategy->n_params; i++)
        if (strcmp(strategy->params[i].name, name) == 0)
            return &strategy->params[i];
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
    const struct strategy_param *param = find_param(strategy, name);
    if (!param)
        return -ENOENT;
    char *end;
    if (text[strspn(text, "0123456789+-.eE")] != '\0') /* strtod() takes blanks and hexadecimals too */
        return -EINVAL;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || (param->integer && value != floor(value)))
        return -EINVAL;
    if (value < param->min || value > param->max)
        return -ERANGE;
    params[param - strategy->params] = value;
    return 0;
}

void strategy_refusal(const struct strategy *strategy, const char *name, const char *text, char *err,
                      size_t err_size)
{
    const struct strategy_param *param = find_param(strategy, name);
    struct nearest nearest = {0};
    if (param) {
        snprintf(err, err_size, "\"%.*s\": %s of %s: a %snumber from %.10g to %.10g is needed", SHOWN, text,
                 name, strategy->name, param->integer ? "whole " : "", param->min, param->max);
        return;
    }
    for (size_t i = 0; i < strategy->n_params; i++)
        nearest_offer(&nearest, name, strategy->params[i].name);
    if (nearest.best)
        snprintf(err, err_size, "\"%.*s\": %s has no such parameter: did you mean %s?", SHOWN, name,
                 strategy->name, nearest.best);
    else
        snprintf(err, err_size, "\"%.*s\": %s has no parameters", SHOWN, name, strategy->name);
}
