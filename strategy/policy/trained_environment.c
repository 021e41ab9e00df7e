#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/nearest.h"
#include "indicators_gpu/features/stream.h"
#include "strategy/policy/limit_keys.h"
#include "strategy/policy/trained_internal.h"

enum { VALUE_MAX = TRAINED_VALUE_MAX, TO_NOTHING = -1 };

static const int64_t SECOND_NS = 1000000000;

enum kind { NUMBER, WHOLE, RANGE, SWITCH, WORD, CHOICE, NAME, LIMIT };

/* The environment's keys (of trainer/env/params_table.c, as a test checks), sorted: `to` is where a number
 * goes, or whether a word is the second (true) or the first (false), of a CHOICE its place, or a NAME;
 * TO_NOTHING: the value is only checked. `later`: older files lack the key, and have its 0. LIMIT: of
 * strategy/policy/limit_keys.h; only files with limits have these. */
#define TO(field) offsetof(struct trained_environment, field)
static const struct key {
    const char *name;
    enum kind kind;
    double min, max;
    const char *words;
    ptrdiff_t to;
    bool later;
} keys[] = {
    {"action_span", NUMBER, 1e-6, 1000, NULL, TO(action_span)},
    {"actions", WORD, 0, 0, "continuous discrete", TO(discrete)},
    {"autoreset", WORD, 0, 0, "next_step same_step off", TO_NOTHING},
    {"borrow_rate", NUMBER, 0, 10, NULL, TO_NOTHING},
    {"buy_cost_pct", RANGE, 0, 0.5, NULL, TO(buy_cost)},
    {"collateral", NUMBER, 1, 100, NULL, TO_NOTHING},
    {"concentration_penalty", NUMBER, 0, 1e6, NULL, TO_NOTHING},
    {"cooldown", LIMIT, .to = TO_NOTHING, .later = true},
    {"cooldown_bars", WHOLE, 0, 1000000, NULL, TO(cooldown_bars)},
    {"daily_loss", LIMIT, .to = TO_NOTHING, .later = true},
    {"drawdown_penalty", NUMBER, 0, 1e6, NULL, TO_NOTHING, .later = true},
    {"episode_bars", WHOLE, 0, 1 << 28, NULL, TO_NOTHING},
    {"execution", WORD, 0, 0, "reference market", TO_NOTHING},
    {"exposure", LIMIT, .to = TO_NOTHING, .later = true},
    {"exposure_symbol", LIMIT, .to = TO_NOTHING, .later = true},
    {"final_return", SWITCH, 0, 1, NULL, TO_NOTHING},
    {"float32", SWITCH, 0, 1, NULL, TO_NOTHING},
    {"forced_exit_bars", WHOLE, 0, 1000000, NULL, TO(exit_bars)},
    {"forced_exit_pct", NUMBER, 0, 1, NULL, TO(exit_share)},
    {"gamma", NUMBER, 0, 1, NULL, TO_NOTHING},
    {"initial_capital", RANGE, 1e-3, 1e12, NULL, TO(initial_capital)},
    {"levels", WHOLE, 3, 101, NULL, TO(levels)},
    {"lookback", WHOLE, 1, 4096, NULL, TO(lookback)},
    {"max_position_pct", NUMBER, 0, 1, NULL, TO(max_position)},
    {"min_cash_reserve", NUMBER, 0, 1, NULL, TO(min_cash)},
    {"norm_action", NUMBER, 1e-12, 1e12, NULL, TO(norm_action)},
    {"norm_cash", NUMBER, 1e-12, 1e12, NULL, TO(norm_cash)},
    {"norm_reward", NUMBER, 1e-12, 1e12, NULL, TO_NOTHING},
    {"norm_stocks", NUMBER, 1e-12, 1e12, NULL, TO(norm_stocks)},
    {"norm_tech", NUMBER, 1e-12, 1e12, NULL, TO(norm_tech)},
    {"portfolio_trailing_stop", LIMIT, .to = TO_NOTHING, .later = true},
    {"random_start", SWITCH, 0, 1, NULL, TO_NOTHING},
    {"ruin", NUMBER, 0, 1, NULL, TO_NOTHING},
    {"sell_cost_pct", RANGE, 0, 0.5, NULL, TO_NOTHING},
    {"session", CHOICE, 0, 0, "all regular extended", TO(session), .later = true},
    {"session_close_s", WHOLE, 0, 86400, NULL, TO(session_close_s)},
    {"session_zone", NAME, .to = TO(session_zone)},
    {"shorts", SWITCH, 0, 1, NULL, TO_NOTHING},
    {"slippage_pct", RANGE, 0, 0.5, NULL, TO(slippage)},
    {"start", WHOLE, 0, 1 << 28, NULL, TO_NOTHING},
    {"stop_loss", LIMIT, .to = TO_NOTHING, .later = true},
    {"take_profit", LIMIT, .to = TO_NOTHING, .later = true},
    {"task", WORD, 0, 0, "portfolio day-trade", TO(day_trade)},
    {"threshold", NUMBER, 0, 1, NULL, TO(threshold)},
    {"time_decay_floor", NUMBER, 0, 1, NULL, TO_NOTHING},
    {"trailing_stop", LIMIT, .to = TO_NOTHING, .later = true},
    {"trailing_stop_pct", NUMBER, 0, 0.99, NULL, TO(trailing_stop)},
    {"trend_bars", WHOLE, 1, 100000, NULL, TO_NOTHING},
    {"volatility_penalty", NUMBER, 0, 1e6, NULL, TO_NOTHING, .later = true},
    {"weight_absolute", NUMBER, -1e6, 1e6, NULL, TO_NOTHING},
    {"weight_alpha", NUMBER, -1e6, 1e6, NULL, TO_NOTHING},
    {"weight_cash", NUMBER, -1e6, 1e6, NULL, TO_NOTHING},
    {"weight_day", NUMBER, -1e6, 1e6, NULL, TO_NOTHING},
    {"weight_return", NUMBER, -1e6, 1e6, NULL, TO_NOTHING},
    {"weight_step", NUMBER, -1e6, 1e6, NULL, TO_NOTHING},
    {"weight_trend", NUMBER, -1e6, 1e6, NULL, TO_NOTHING},
};
enum { KEYS = sizeof keys / sizeof *keys };

static int refuse(const struct key *key, const char *value, char why[static POLICY_ERROR_MAX])
{
    int n = snprintf(why, POLICY_ERROR_MAX, "environment: %s: \"%.40s\": ", key->name, value);
    size_t left = (size_t)(POLICY_ERROR_MAX - n);
    if (key->kind == WORD || key->kind == CHOICE)
        snprintf(why + n, left, "%s is right", key->words);
    else if (key->kind == NAME)
        snprintf(why + n, left, "a name is right");
    else if (key->kind == SWITCH)
        snprintf(why + n, left, "true or false is right");
    else
        snprintf(why + n, left, "a %snumber%s from %g to %g is right", key->kind == WHOLE ? "whole " : "",
                 key->kind == RANGE ? ", or \"low..high\"," : "", key->min, key->max);
    return -EINVAL;
}

/* A number that fills the text up to `end`. */
static bool read_number(const struct key *key, const char *text, const char *end, double *ret)
{
    char copy[VALUE_MAX], *rest;
    size_t n = (size_t)(end - text);
    if (n == 0 || n >= sizeof copy || strspn(text, "+-.0123456789eE") < n)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    *ret = strtod(copy, &rest);
    return *rest == '\0' && *ret >= key->min && *ret <= key->max &&
           (key->kind != WHOLE || *ret == floor(*ret));
}

/* The word's place in the list; -1: not in it. */
static int place_of(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (int place = 0; *words; place++) {
        size_t n = strcspn(words, " ");
        if (n == length && memcmp(words, word, n) == 0)
            return place;
        words += n + (words[n] == ' ');
    }
    return -1;
}

static bool read_value(const struct key *key, const char *value, struct trained_environment *ret)
{
    double low, high;
    bool *flag = key->to >= 0 ? (bool *)((char *)ret + key->to) : NULL;
    if (key->kind == SWITCH)
        return strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
    if (key->kind == NAME) {
        memcpy((char *)ret + key->to, value, strlen(value) + 1); /* below VALUE_MAX */
        return value[0] != '\0';
    }
    if (key->kind == WORD || key->kind == CHOICE) {
        int place = place_of(key->words, value);
        if (key->kind == CHOICE && place >= 0)
            memcpy((char *)ret + key->to, &place, sizeof place);
        else if (flag)
            *flag = place == 1;
        return place >= 0;
    }
    const char *dots = key->kind == RANGE ? strstr(value, "..") : NULL;
    if (!read_number(key, value, dots ? dots : value + strlen(value), &low))
        return false;
    high = low;
    if (dots && (!read_number(key, dots + 2, value + strlen(value), &high) || high < low))
        return false;
    if (key->to >= 0)
        *(double *)((char *)ret + key->to) = low == high ? low : low + (high - low) / 2;
    return true;
}

static int read_limit(const struct key *key, const char *value, struct trained_environment *ret,
                      char why[static POLICY_ERROR_MAX])
{
    char fault[CONFIG_WHY_MAX];
    if (policy_limits_set(&ret->limits, key->name, value, fault) == 0)
        return 0;
    return fail_with(-EINVAL, why, POLICY_ERROR_MAX, "environment: %s: %s", key->name, fault);
}

static int by_name(const void *name, const void *key)
{
    return strcmp(name, ((const struct key *)key)->name);
}

static int read_line(char *line, struct trained_environment *ret, bool seen[static KEYS],
                     char why[static POLICY_ERROR_MAX])
{
    char *value = strchr(line, '=');
    if (!value)
        return fail_with(-EINVAL, why, POLICY_ERROR_MAX, "environment: \"%.64s\": key=value is right", line);
    *value++ = '\0';
    const struct key *key = bsearch(line, keys, KEYS, sizeof *keys, by_name);
    if (!key) {
        struct nearest nearest = {0};
        for (int k = 0; k < KEYS; k++)
            nearest_offer(&nearest, line, keys[k].name);
        return fail_with(-EINVAL, why, POLICY_ERROR_MAX,
                         "environment: %.64s: this program does not know it, so orders might be others%s",
                         line, NEAREST_SUGGEST(nearest_meant(&nearest, line)));
    }
    if (seen[key - keys])
        return fail_with(-EINVAL, why, POLICY_ERROR_MAX, "environment: %s: it is there twice", key->name);
    seen[key - keys] = true;
    if (key->kind == LIMIT)
        return read_limit(key, value, ret, why);
    return strlen(value) < VALUE_MAX && read_value(key, value, ret) ? 0 : refuse(key, value, why);
}

int policy_trained_environment_read(const char *text, struct trained_environment *ret,
                                    char why[static POLICY_ERROR_MAX])
{
    struct trained_environment read = {0};
    bool seen[KEYS] = {false};
    while (*text) {
        char line[2 * VALUE_MAX];
        size_t n = strcspn(text, "\n");
        if (n >= sizeof line)
            return fail_with(-EINVAL, why, POLICY_ERROR_MAX,
                             "environment: a line of %zu characters: less than %zu are right", n,
                             sizeof line);
        memcpy(line, text, n);
        line[n] = '\0';
        text += n + (text[n] == '\n');
        int r = n > 0 ? read_line(line, &read, seen, why) : 0;
        if (r < 0)
            return r;
    }
    for (int k = 0; k < KEYS; k++)
        if (!seen[k] && !keys[k].later)
            return fail_with(-EINVAL, why, POLICY_ERROR_MAX, "environment: %s is missing", keys[k].name);
    char fault[CONFIG_WHY_MAX];
    if (policy_limits_check(&read.limits, fault) < 0)
        return fail_with(-EINVAL, why, POLICY_ERROR_MAX, "environment: %s", fault);
    *ret = read;
    return 0;
}

int policy_trained_environment_fits(const struct trained_environment *environment,
                                    const struct net_shape *shape, int n_assets, size_t width,
                                    char why[static POLICY_ERROR_MAX])
{
    int actions = environment->day_trade ? 2 : n_assets, lookback = (int)environment->lookback;
    int levels = environment->discrete ? (int)environment->levels : 0;
    size_t seen = 1 + (size_t)n_assets + (size_t)lookback * width;
    if (environment->day_trade && n_assets != 1)
        snprintf(why, POLICY_ERROR_MAX, "symbols: %d: task day-trade trades one", n_assets);
    else if (shape->actions != actions)
        snprintf(why, POLICY_ERROR_MAX, "actions: %d: %d is right for %d symbol%s and task %s",
                 shape->actions, actions, n_assets, n_assets == 1 ? "" : "s",
                 environment->day_trade ? "day-trade" : "portfolio");
    else if (shape->levels != levels)
        snprintf(why, POLICY_ERROR_MAX, "levels: %d: the environment has %d", shape->levels, levels);
    else if ((size_t)shape->observation != seen)
        snprintf(why, POLICY_ERROR_MAX, "observation: %d: 1 + %d symbols + lookback %d x %zu features is %zu",
                 shape->observation, n_assets, lookback, width, seen);
    else
        return 0;
    return -EINVAL;
}

int policy_trained_set_width(const char *text, int64_t interval_ns, size_t *width,
                             char why[static POLICY_ERROR_MAX])
{
    struct feature_set *set;
    struct feature_plan *plan;
    int64_t interval_s = interval_ns % SECOND_NS == 0 ? interval_ns / SECOND_NS : 0;
    int r = feature_set_parse(text, &set, why, POLICY_ERROR_MAX);
    if (r < 0)
        return r;
    r = feature_plan_create(set, interval_s, &plan, why, POLICY_ERROR_MAX);
    if (r == 0) {
        *width += set->n;
        feature_plan_destroy(plan);
    }
    feature_set_destroy(set);
    return r;
}
