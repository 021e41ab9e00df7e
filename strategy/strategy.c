#include "strategy/strategy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exchange/nearest.h"
#include "record/config_key.h"
#include "strategy/direction.h"
#include "strategy/external.h"

enum { SHOWN = 60 }; /* characters of a wrong word that a message repeats */

const struct strategy *strategy_find(const char *name)
{
    size_t n;
    const struct strategy *const *all = strategy_list(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return strategy_is_outside(name) ? strategy_find_opened(name) : NULL;
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

const char *strategy_param_word(const struct strategy_param *param, double value,
                                char buf[static STRATEGY_WORD_MAX])
{
    const char *at = param->words;
    if (!at)
        return NULL;
    for (int i = 0; i < (int)value && *at; i++)
        at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' ');
    snprintf(buf, STRATEGY_WORD_MAX, "%.*s", (int)strcspn(at, " "), at);
    return buf;
}

const char *strategy_param_text(const struct strategy_param *param, double value,
                                char buf[static STRATEGY_WORD_MAX])
{
    if (!strategy_param_word(param, value, buf))
        snprintf(buf, STRATEGY_WORD_MAX, "%g", value);
    return buf;
}

const char *strategy_param_words(const struct strategy_param *param, char buf[static STRATEGY_WORDS_MAX])
{
    size_t n = 0;
    char word[STRATEGY_WORD_MAX];
    *buf = '\0';
    for (int i = 0; param->words && i <= (int)param->max && n < STRATEGY_WORDS_MAX; i++)
        n += (size_t)snprintf(buf + n, STRATEGY_WORDS_MAX - n, "%s%s", i > 0 ? " or " : "",
                              strategy_param_word(param, i, word));
    return buf;
}

enum direction strategy_direction(const struct strategy *strategy, const double *params)
{
    for (size_t i = 0; i < strategy->n_params; i++)
        if (strcmp(strategy->params[i].name, DIRECTION_NAME) == 0)
            return (enum direction)params[i];
    return strategy->shorts ? DIRECTION_BOTH : DIRECTION_LONG;
}

const char *strategy_without_shorts(const struct strategy *strategy, const double *params)
{
    switch (strategy_direction(strategy, params)) {
    case DIRECTION_SHORT:
        return "opens nothing";
    case DIRECTION_BOTH:
        return strategy->needs_shorts ? "opens nothing" : "trades long only";
    default:
        return NULL;
    }
}

size_t strategy_params_stored(const struct strategy *strategy, const double *params)
{
    size_t n = strategy->n_params;
    while (n > 0 && strategy->params[n - 1].later && params[n - 1] == strategy->params[n - 1].fallback)
        n--;
    return n;
}

bool strategy_params_complete(const struct strategy *strategy, size_t n,
                              double params[static STRATEGY_PARAMS_MAX])
{
    if (n > strategy->n_params || (n < strategy->n_params && !strategy->params[n].later))
        return false;
    for (; n < strategy->n_params; n++)
        params[n] = strategy->params[n].fallback;
    return true;
}

/* A parameter with words. */
static int set_word(const struct strategy_param *param, const char *text, double *ret, char *why)
{
    const struct config_key row = {KEY_WORDS(param->words), .size = sizeof(int)};
    int place;
    int r = config_key_read(&row, text, &place, why);
    *ret = r == 0 ? place : *ret;
    return r;
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
        if (param->words)
            return set_word(param, text, &params[i], why);
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

const char strategy_unanswered[] = "it does not answer hello within 10 s";

const char *strategy_check(const struct strategy *strategy, const double *params)
{
    if (strategy->external)
        return strategy->external->check ? strategy->external->check(strategy, params) : NULL;
    return strategy->check ? strategy->check(params) : NULL;
}

size_t strategy_specs(const struct strategy *strategy, const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    return strategy->external ? strategy->external->specs(strategy, params, specs)
                              : strategy->specs(params, specs);
}

bool strategy_scans(const struct strategy *strategy)
{
    return strategy->external ? strategy->external->scan != NULL : strategy->scan != NULL;
}

void strategy_scan(const struct strategy *strategy, const double *params,
                   const struct strategy_columns *columns, const struct strategy_marks *marks)
{
    if (strategy->external)
        strategy->external->scan(strategy, params, columns, marks);
    else
        strategy->scan(params, columns, marks);
}
