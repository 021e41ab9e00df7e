#include "trainer/study/rules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/nearest.h"
#include "strategy/external.h"
#include "strategy/risk_keys.h"
#include "trainer/config_table.h"
#include "trainer/study/axis.h"
#include "trainer/study/settings_table.h"

void study_rules_init(struct study_rules *rules)
{
    *rules = (struct study_rules){.name = ""};
    backtest_terms_init(&rules->terms);
}

int study_rules_open(struct study_rules *rules, const char *name, char why[static CONFIG_WHY_MAX])
{
    char words[CONFIG_WHY_MAX];
    const struct strategy *strategy = NULL;
    if (strlen(name) >= sizeof rules->name)
        return config_key_refuse(why, CONFIG_WHY_MAX, "a name of at most %zu characters is right",
                                 sizeof rules->name - 1);
    int r = name[0] ? strategy_open(name, &strategy, words, sizeof words) : 0;
    if (r < 0) {
        (void)config_key_refuse(why, CONFIG_WHY_MAX, "%s", words);
        return r;
    }
    snprintf(rules->name, sizeof rules->name, "%s", name);
    rules->strategy = strategy;
    memset(rules->given, 0, sizeof rules->given);
    if (strategy)
        strategy_defaults(strategy, rules->params);
    return 0;
}

/* The word, or a number with as many digits as strategy_set() needs to read the same one again: the account
 * of a proposal is the one that was tested. */
static const char *exact_text(const struct strategy_param *param, double value,
                              char ret[static STRATEGY_WORD_MAX])
{
    static const struct config_key number = {.kind = CONFIG_NUMBER, .size = sizeof value};
    if (!strategy_param_word(param, value, ret))
        (void)config_key_text(&number, &value, ret, STRATEGY_WORD_MAX);
    return ret;
}

/* ---- [account] ---- */

static const struct strategy_param *find(const struct strategy *strategy, const char *name)
{
    for (size_t i = 0; i < strategy->n_params; i++)
        if (strcmp(strategy->params[i].name, name) == 0)
            return &strategy->params[i];
    return NULL;
}

static int set_param(struct study_rules *rules, const char *key, const char *text, char *err)
{
    char why[CONFIG_WHY_MAX];
    const char *name = key + strlen(RULES_PARAM);
    const struct strategy_param *param = find(rules->strategy, name);
    int r = strategy_set(rules->strategy, rules->params, name, text, why);
    if (r == 0 && param)
        rules->given[param - rules->strategy->params] = true;
    return r < 0 ? train_config_say(err, r, "[account] %.60s: %s", key, why) : 0;
}

bool study_rules_gives(const struct study_rules *rules, const char *name)
{
    const struct strategy_param *param = find(rules->strategy, name);
    return param && rules->given[param - rules->strategy->params];
}

void study_rules_account_keys(struct config_key ret[static BACKTEST_CLASS_FEES])
{
    for (int i = 0; i < BACKTEST_CLASS_FEES; i++) {
        ret[i] = backtest_terms_keys[i];
        ret[i].section = "account";
    }
}

/* Fees by class are those of a venue's classes, which a study has none of. */
static bool has_no_effect(const char *key)
{
    const struct config_key *row = config_key_find(backtest_terms_keys, BACKTEST_TERMS, NULL, key);
    return row && row >= backtest_terms_keys + BACKTEST_CLASS_FEES;
}

int study_rules_set(struct study_rules *rules, const char *key, const char *text,
                    char err[static CONFIG_ERROR_MAX])
{
    char why[BACKTEST_TERMS_ERROR_MAX];
    if (!rules->strategy)
        return train_config_say(
            err, -EINVAL, "[account] %.60s: it is of a study of a strategy: [study] strategy is needed", key);
    if (strncmp(key, RULES_PARAM, strlen(RULES_PARAM)) == 0)
        return set_param(rules, key, text, err);
    if (has_no_effect(key))
        return train_config_say(
            err, -EINVAL, "[account] %.60s: it has no effect: fee_maker and fee_taker are of every symbol",
            key);
    struct backtest_terms terms = rules->terms;
    int r = backtest_terms_set(&terms, key, text, why);
    if (r == 0 && terms.cash == 0)
        return train_config_say(err, -EINVAL, "[account] cash: \"%.60s\": a number above 0 is needed", text);
    if (r == 0)
        rules->terms = terms;
    return r < 0 ? train_config_say(err, r, "[account] %.500s", why) : 0;
}

/* ---- [search] ---- */

bool study_rules_key(const struct strategy *strategy, const char *name, struct config_key *ret)
{
    const struct strategy_param *param = find(strategy, name);
    if (!param)
        return false;
    *ret = (struct config_key){.section = "search",
                               .name = param->name,
                               .about = param->summary,
                               .kind = param->words     ? CONFIG_WORD
                                       : param->integer ? CONFIG_WHOLE
                                                        : CONFIG_NUMBER,
                               .min = param->min,
                               .max = param->max,
                               .words = param->words,
                               .size = param->words ? sizeof(int) : sizeof(double)};
    return true;
}

int study_rules_unknown(const struct strategy *strategy, const char *name, char err[static CONFIG_ERROR_MAX])
{
    char why[CONFIG_WHY_MAX];
    struct nearest nearest = {0};
    if (strategy->n_params == 0)
        return train_config_say(err, -ENOENT, "[search] %.60s: %.60s has no parameters", name,
                                strategy_title(strategy));
    for (size_t i = 0; i < strategy->n_params; i++)
        nearest_offer(&nearest, name, strategy->params[i].name);
    (void)config_key_unknown_near(&nearest, name, why);
    return train_config_say(err, -ENOENT, "[search] %.60s: no parameter of %.60s: %s", name,
                            strategy_title(strategy), why);
}

const char *study_rules_title(const struct study_rules *rules)
{
    return strategy_title(rules->strategy);
}

const char *study_rules_text(const struct strategy *strategy, const double *params,
                             char ret[static RULES_TEXT_MAX])
{
    char text[STRATEGY_WORD_MAX];
    size_t at = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < strategy->n_params && at < RULES_TEXT_MAX; i++)
        at += (size_t)snprintf(ret + at, RULES_TEXT_MAX - at, "%s%s=%s", i ? " " : "",
                               strategy->params[i].name, exact_text(&strategy->params[i], params[i], text));
    return ret;
}

int study_rules_params(const struct study_rules *rules, const struct space *space, const double *values,
                       double ret[static STRATEGY_PARAMS_MAX], char err[static CONFIG_ERROR_MAX])
{
    char text[SETTINGS_VALUE_MAX], why[CONFIG_WHY_MAX], all[RULES_TEXT_MAX];
    const struct strategy *strategy = rules->strategy;
    memcpy(ret, rules->params, sizeof rules->params);
    for (int i = 0; i < space->n; i++) {
        const struct space_param *param = &space->params[i];
        if (study_settings_value_text(&param->distribution, values[i], text) < 0)
            return train_config_say(err, -EINVAL, "[search] %s: %.17g: a value of its range is right",
                                    param->name, values[i]);
        if (strategy_set(strategy, ret, param->name, text, why) < 0)
            return train_config_say(err, -EINVAL, "[search] %.60s: %s", param->name, why);
    }
    const char *fault = strategy_check(strategy, ret);
    return fault ? train_config_say(err, fault == strategy_unanswered ? -EINVAL : -ERANGE,
                                    "[search] these values do not fit together: %.60s: %.200s (%.600s)",
                                    strategy_title(strategy), fault, study_rules_text(strategy, ret, all))
                 : 0;
}

int study_rules_ends(const struct study_rules *rules, const struct space *space, int which,
                     double ret[static STRATEGY_PARAMS_MAX])
{
    double values[STRATEGY_PARAMS_MAX] = {0};
    char unfit[CONFIG_ERROR_MAX];
    if (which >= 2 + 2 * space->n)
        return -ENODATA;
    for (int i = 0; i < space->n; i++) {
        const struct axis axis = study_axis_of(&space->params[i].distribution);
        bool high = which < 2 ? which == 0 : (which % 2 == 0) == ((which - 2) / 2 == i);
        values[i] = study_axis_value(&axis, high ? axis.high : axis.low);
    }
    return study_rules_params(rules, space, values, ret, unfit) == 0;
}

/* ---- What the trials follow from. ---- */

enum { VALUE_MAX = 256 };

struct rest {
    const struct space *space;
    bool (*put)(void *ctx, const char *section, const char *key, const char *value);
    void *ctx;
};

static bool put_rest(void *ctx, const char *section, const char *key, const char *value)
{
    const struct rest *rest = ctx;
    const bool searched = space_find(rest->space, key + strlen(RULES_PARAM)) >= 0;
    return rest->put(rest->ctx, section, key, searched ? "searched" : value);
}

bool study_rules_each_param(const struct strategy *strategy, const double *params,
                            bool (*put)(void *ctx, const char *section, const char *key, const char *value),
                            void *ctx)
{
    char name[sizeof RULES_PARAM + STRATEGY_PARAM_NAME_MAX], text[STRATEGY_WORD_MAX];
    bool whole = true;
    for (size_t i = 0; i < strategy->n_params && whole; i++) {
        const struct strategy_param *param = &strategy->params[i];
        snprintf(name, sizeof name, RULES_PARAM "%.*s", STRATEGY_PARAM_NAME_MAX - 1, param->name);
        whole = put(ctx, "account", name, exact_text(param, params[i], text));
    }
    return whole;
}

static bool each_key(const struct config_key *keys, size_t n, const char *prefix, const void *base,
                     bool (*put)(void *ctx, const char *section, const char *key, const char *value),
                     void *ctx)
{
    char name[96], value[VALUE_MAX];
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, keys[i].name);
        if (!config_key_text(&keys[i], base, value, sizeof value) || !put(ctx, "account", name, value))
            return false;
    }
    return true;
}

static bool put_hash(const struct strategy_external *external,
                     bool (*put)(void *ctx, const char *section, const char *key, const char *value),
                     void *ctx)
{
    char hex[2 * STRATEGY_HASH_SIZE + 1];
    for (int i = 0; i < STRATEGY_HASH_SIZE; i++)
        snprintf(hex + (size_t)2 * (size_t)i, 3, "%02x", external->hash[i]);
    return put(ctx, "study", "strategy_hash", hex);
}

bool study_rules_each(const struct study_rules *rules, const struct space *space,
                      bool (*put)(void *ctx, const char *section, const char *key, const char *value),
                      void *ctx)
{
    const struct strategy *strategy = rules->strategy;
    struct rest rest = {space, put, ctx};
    if (!put(ctx, "study", "strategy", rules->name) ||
        (strategy->external && !put_hash(strategy->external, put, ctx)))
        return false;
    return study_rules_each_param(strategy, rules->params, put_rest, &rest) &&
           each_key(backtest_terms_keys, BACKTEST_TERMS, "", &rules->terms, put, ctx) &&
           put(ctx, "account", "shorts", rules->terms.rules.shorts ? "on" : "off") &&
           each_key(risk_keys, RISK_KEYS_N, "risk.", &rules->terms.risk, put, ctx);
}
