#include "strategy/strategy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/nearest.h"

enum { SHOWN = 60 }; /* characters of a wrong word that a message repeats */

const struct strategy *strategy_find(const char *name)
{
    size_t n;
    const struct strategy *const *all = strategy_list(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

void strategy_unknown(const char *name, const char *also, char *err, size_t err_size)
{
    size_t n;
    const struct strategy *const *all = strategy_list(&n);
    struct nearest nearest = {0};
    for (size_t i = 0; i < n; i++)
        nearest_offer(&nearest, name, all[i]->name);
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
