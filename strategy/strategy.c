#include "strategy/strategy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exchange/nearest.h"
#include "record/config_key.h"

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
    snprintf(err, err_size, "\"%.*s\": unknown strategy%s", SHOWN, name, NEAREST_HINT(&nearest, name));
}

void strategy_defaults(const struct strategy *strategy, double params[static STRATEGY_PARAMS_MAX])
{
    memset(params, 0, STRATEGY_PARAMS_MAX * sizeof *params);
    for (size_t i = 0; i < strategy->n_params; i++)
        params[i] = strategy->params[i].fallback;
}

const struct strategy_param *strategy_misfit(const struct strategy *strategy, const double *params)
{
    for (size_t i = 0; i < strategy->n_params; i++) {
        const struct strategy_param *param = &strategy->params[i];
        if (!(params[i] >= param->min && params[i] <= param->max) ||
            (param->integer && params[i] != floor(params[i])))
            return param;
    }
    return NULL;
}

int strategy_set(const struct strategy *strategy, double params[static STRATEGY_PARAMS_MAX], const char *name,
                 const char *text, char *why)
{
    char unread[CONFIG_WHY_MAX];
    struct nearest nearest = {0};
    why = why ? why : unread;
    for (size_t i = 0; i < strategy->n_params; i++) {
        const struct strategy_param *param = &strategy->params[i];
        struct config_key row = {
            .kind = CONFIG_NUMBER, .min = param->min, .max = param->max, .size = sizeof *params};
        int64_t whole;
        nearest_offer(&nearest, name, param->name);
        if (strcmp(param->name, name) != 0)
            continue;
        if (!param->integer)
            return config_key_read(&row, text, &params[i], why);
        row.kind = CONFIG_WHOLE;
        int r = config_key_read(&row, text, &whole, why);
        params[i] = r == 0 ? (double)whole : params[i];
        return r;
    }
    if (strategy->n_params > 0)
        (void)config_key_unknown_near(&nearest, name, why);
    else
        (void)config_key_refuse(why, CONFIG_WHY_MAX, "%s has no parameters", strategy->name);
    return -ENOENT;
}
