#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/bars_file.h"
#include "strategy/policy/json_fault.h"
#include "strategy/policy/limit_keys.h"
#include "strategy/policy/recorded_internal.h"

enum { LOOKBACK_MAX = 4096, FORCED_EXIT_BARS = 48 };

static const int64_t FIVE_MINUTES_NS = 300 * INT64_C(1000000000);
static const double FORCED_EXIT_PCT = 0.05, CAPITAL_MAX = 1e9, MILLIONTH_SLACK = 1e-9;

struct reading {
    const char *path;
    char *err;
    struct policy_recorded *recorded;
    double fee_buy, fee_sell, slippage, lookback, episode_bars;
};

/* A number of `params` that affects orders. */
struct number {
    const char *key;
    double min, max;
    bool whole, needed;
    double *to;
};

/* Keys that affect observations and rewards, but no order. */
static const char *const passed_over[] = {
    "autoreset",
    "borrow_rate",
    "collateral",
    "concentration_penalty",
    "drawdown_penalty",
    "final_return",
    "gamma",
    "levels",
    "action_span",
    "norm_cash",
    "norm_reward",
    "norm_stocks",
    "norm_tech",
    "session",
    "session_close",
    "session_close_s",
    "session_zone",
    "threshold",
    "time_decay_floor",
    "trend_bars",
    "volatility_penalty",
    "weight_absolute",
    "weight_alpha",
    "weight_cash",
    "weight_day",
    "weight_return",
    "weight_step",
    "weight_trend",
};

/* Words that must have these values: with others the same actions make other orders. */
static const struct {
    const char *key, *word, *why;
} fixed[] = {
    {"execution", "market", "a policy made for another execution was not made for a market's orders"},
    {"task", "portfolio", "this program trades recorded actions of portfolios"},
    {"actions", "continuous", "recorded actions are numbers, not levels"},
    {"preset", "market", "the actions were made for another environment"},
};

/* Switches and numbers that must be off, since the environment would trade other rows or orders with them. */
static const struct {
    const char *key, *off, *why;
} off[] = {
    {"shorts", "false", "there is no such order here"},
    {"float32", "false", "there is no such order here"},
    {"random_start", "false", "the episode begins with first_bar"},
    {"start", "0", "the episode begins with first_bar"},
    {"ruin", "0", "an account continues after it"},
};

static int check_number(const struct reading *in, const char *key, const json_t *value,
                        const struct number *number, double *ret)
{
    double x = json_is_integer(value) ? (double)json_integer_value(value) : json_real_value(value);
    if (json_is_number(value) && x >= number->min && x <= number->max && (!number->whole || x == floor(x))) {
        *ret = x;
        return 0;
    }
    return policy_recorded_refuse(in->err, in->path, "params.%s: a %snumber from %g to %g is needed%s", key,
                                  number->whole ? "whole " : "", number->min, number->max,
                                  json_is_string(value) ? "; a range is for training" : "");
}

static bool is_off(const json_t *value)
{
    return json_is_false(value) || (json_is_number(value) && json_number_value(value) == 0);
}

/* A number, or text as the environment takes it. */
static int take_limit(const struct reading *in, const char *key, const json_t *value)
{
    char text[POLICY_LIMIT_TEXT_MAX], why[CONFIG_WHY_MAX];
    if (json_is_string(value))
        snprintf(text, sizeof text, "%s", json_string_value(value));
    else if (json_is_number(value))
        snprintf(text, sizeof text, "%.17g", json_number_value(value));
    else
        return policy_recorded_refuse(in->err, in->path,
                                      "params.%s: a number, or text as \"30%%\", is needed", key);
    if (policy_limits_set(&in->recorded->policy.rules.limits, key, text, why) < 0)
        return policy_recorded_refuse(in->err, in->path, "params.%s: %s", key, why);
    return 0;
}

static int take_param(const struct reading *in, struct number *numbers, size_t n, const char *key,
                      const json_t *value)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(numbers[i].key, key) == 0) {
            numbers[i].needed = false;
            return check_number(in, key, value, &numbers[i], numbers[i].to);
        }
    if (config_key_find(policy_limit_keys, POLICY_LIMITS_N, NULL, key))
        return take_limit(in, key, value);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(fixed[i].key, key) == 0)
            return json_is_string(value) && strcmp(json_string_value(value), fixed[i].word) == 0
                       ? 0
                       : policy_recorded_refuse(in->err, in->path, "params.%s: \"%s\" is needed: %s", key,
                                                fixed[i].word, fixed[i].why);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (strcmp(off[i].key, key) == 0)
            return is_off(value) ? 0
                                 : policy_recorded_refuse(in->err, in->path, "params.%s: %s is needed: %s",
                                                          key, off[i].off, off[i].why);
    for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++)
        if (strcmp(passed_over[i], key) == 0)
            return 0;
    return policy_recorded_refuse(
        in->err, in->path, "params.%.64s: this program does not know it, so orders might be others", key);
}

/* A share as whole millionths. */
static bool millionths(double share, int32_t *ret)
{
    double e6 = round(share * 1e6);
    *ret = (int32_t)e6;
    return fabs(share - e6 / 1e6) <= MILLIONTH_SLACK;
}

static int take_fees(const struct reading *in)
{
    struct policy *policy = &in->recorded->policy;
    int32_t *fee_e6 = &policy->rules.fee_e6;
    if (in->fee_buy != in->fee_sell)
        return policy_recorded_refuse(
            in->err, in->path,
            "params.sell_cost_pct: it must be as buy_cost_pct, %g: an account has one rate", in->fee_buy);
    if (!millionths(in->fee_buy, fee_e6) || !millionths(in->slippage, &policy->slippage_e6))
        return policy_recorded_refuse(in->err, in->path, "params.%s: whole millionths are needed, as 0.0025",
                                      millionths(in->fee_buy, fee_e6) ? "slippage_pct" : "buy_cost_pct");
    return 0;
}

static int take_params(struct reading *in, json_t *params)
{
    struct policy *policy = &in->recorded->policy;
    struct policy_rules *rules = &policy->rules;
    struct number numbers[] = {
        /* the ranges of the environment: trainer/env/params_table.c */
        {"lookback", 1, LOOKBACK_MAX, true, true, &in->lookback},
        {"norm_action", 1e-12, 1e12, false, true, &rules->norm_action},
        {"initial_capital", 1e-3, CAPITAL_MAX, false, true, &rules->capital},
        {"buy_cost_pct", 0, 0.5, false, true, &in->fee_buy},
        {"sell_cost_pct", 0, 0.5, false, true, &in->fee_sell},
        {"slippage_pct", 0, 0.5, false, false, &in->slippage},
        {"trailing_stop_pct", 0, 0.99, false, false, &rules->trailing_stop},
        {"max_position_pct", 0, 1, false, false, &rules->max_position},
        {"min_cash_reserve", 0, 1, false, false, &rules->min_cash},
        {"forced_exit_bars", 0, 1e6, true, false, &rules->exit_bars},
        {"forced_exit_pct", 0, 1, false, false, &rules->exit_share},
        {"cooldown_bars", 0, 1e6, true, false, &rules->cooldown_bars},
        {"episode_bars", 0, INT32_MAX, true, false, &in->episode_bars},
    };
    size_t n = sizeof numbers / sizeof *numbers;
    const char *key;
    json_t *value;
    int r = 0;
    if (!json_is_object(params))
        return policy_recorded_refuse(in->err, in->path,
                                      "params: an object of the environment's parameters is needed");
    *rules = (struct policy_rules){.exit_bars = FORCED_EXIT_BARS, .exit_share = FORCED_EXIT_PCT};
    json_object_foreach(params, key, value)
    {
        r = take_param(in, numbers, n, key, value);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < n; i++)
        if (numbers[i].needed)
            return policy_recorded_refuse(in->err, in->path, "params.%s: it is missing", numbers[i].key);
    policy->lookback = (int)in->lookback;
    char why[CONFIG_WHY_MAX];
    if (policy_limits_check(&rules->limits, why) < 0)
        return policy_recorded_refuse(in->err, in->path, "params.%s", why);
    return take_fees(in);
}

static int take_assets(const struct reading *in, const json_t *symbols, const json_t *least)
{
    struct policy_recorded *recorded = in->recorded;
    size_t n = json_array_size(symbols);
    if (n < 1 || n > SYMBOLS_MAX)
        return policy_recorded_refuse(in->err, in->path, "symbols: an array of 1 to %d names is needed",
                                      SYMBOLS_MAX);
    if (json_array_size(least) != n)
        return policy_recorded_refuse(in->err, in->path,
                                      "min_order_qty: a number for each of the %zu symbols is needed", n);
    recorded->assets = calloc(n, sizeof *recorded->assets);
    if (!recorded->assets) {
        policy_recorded_refuse(in->err, in->path, "out of memory");
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        struct policy_asset *asset = &recorded->assets[i];
        const char *name = json_string_value(json_array_get(symbols, i));
        const json_t *qty = json_array_get(least, i);
        if (!name || !name[0] || strlen(name) >= sizeof asset->name)
            return policy_recorded_refuse(in->err, in->path, "symbols: a name as \"BTC\" is needed at %zu",
                                          i + 1);
        for (size_t k = 0; k < i; k++)
            if (strcmp(recorded->assets[k].name, name) == 0)
                return policy_recorded_refuse(in->err, in->path, "symbols: %s is there twice", name);
        memcpy(asset->name, name, strlen(name));
        asset->least = json_number_value(qty);
        if (!json_is_number(qty) || !(asset->least >= 0 && asset->least <= CAPITAL_MAX))
            return policy_recorded_refuse(in->err, in->path,
                                          "min_order_qty: a quantity of %s, 0 or more, is needed", name);
    }
    recorded->policy.n_assets = (int)n;
    recorded->policy.assets = recorded->assets;
    return 0;
}

static int take_closes(const struct reading *in, const json_t *closes)
{
    struct policy_recorded *recorded = in->recorded;
    size_t n = (size_t)recorded->policy.n_assets;
    if (!closes)
        return 0;
    if (json_array_size(closes) != n)
        return policy_recorded_refuse(
            in->err, in->path,
            "first_close: a number for each of the %zu symbols is needed: its close at "
            "first_bar",
            n);
    recorded->first_closes = calloc(n, sizeof *recorded->first_closes);
    if (!recorded->first_closes) {
        policy_recorded_refuse(in->err, in->path, "out of memory");
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *close = json_array_get(closes, i);
        recorded->first_closes[i] = json_number_value(close);
        if (!(recorded->first_closes[i] > 0 && recorded->first_closes[i] <= CAPITAL_MAX))
            return policy_recorded_refuse(in->err, in->path, "first_close: a close of %s, above 0, is needed",
                                          recorded->assets[i].name);
    }
    recorded->policy.first_closes = recorded->first_closes;
    return 0;
}

static int take_times(const struct reading *in, const json_t *first, const json_t *interval,
                      const json_t *bars)
{
    struct policy *policy = &in->recorded->policy;
    const char *text = json_string_value(first);
    if (!text || bars_time_parse(text, strlen(text), &policy->first_ns) < 0 || policy->first_ns <= 0)
        return policy_recorded_refuse(in->err, in->path,
                                      "first_bar: a time as \"2025-04-21 01:50:00+00:00\" is needed");
    policy->interval_ns = FIVE_MINUTES_NS;
    if (interval && (!json_is_string(interval) ||
                     bar_interval_parse(json_string_value(interval), &policy->interval_ns) < 0))
        return policy_recorded_refuse(in->err, in->path, "interval: one as \"5m\" or \"1h\" is needed");
    if (policy->first_ns % policy->interval_ns != 0)
        return policy_recorded_refuse(in->err, in->path, "first_bar: no bar of %s opens then",
                                      bar_interval_name(policy->interval_ns));
    in->recorded->bars = json_integer_value(bars);
    if (!json_is_integer(bars) || in->recorded->bars <= 2 * (int64_t)policy->lookback ||
        in->recorded->bars > INT32_MAX)
        return policy_recorded_refuse(in->err, in->path,
                                      "bars: a whole number above %d is needed, twice the lookback",
                                      2 * policy->lookback);
    if (in->episode_bars != 0 && in->episode_bars != (double)in->recorded->bars)
        return policy_recorded_refuse(
            in->err, in->path, "params.episode_bars: 0 or %lld, as bars says, is needed: the episode has all",
            (long long)in->recorded->bars);
    return 0;
}

static int take(struct reading *in, json_t *root)
{
    static const char *const known[] = {"symbols",       "first_bar", "interval",          "bars",
                                        "min_order_qty", "params",    "first_observation", "last_observation",
                                        "first_close"};
    const char *key;
    json_t *value;
    if (!json_is_object(root))
        return policy_recorded_refuse(in->err, in->path,
                                      "an object with symbols, first_bar, bars and params is needed");
    json_object_foreach(root, key, value)
    {
        size_t i = 0, n = sizeof known / sizeof *known;
        while (i < n && strcmp(known[i], key) != 0)
            i++;
        if (i == n)
            return policy_recorded_refuse(
                in->err, in->path, "%.64s: this program does not know it, so orders might be others", key);
    }
    int r = take_params(in, json_object_get(root, "params"));
    if (r == 0)
        r = take_assets(in, json_object_get(root, "symbols"), json_object_get(root, "min_order_qty"));
    if (r == 0)
        r = take_closes(in, json_object_get(root, "first_close"));
    if (r == 0)
        r = take_times(in, json_object_get(root, "first_bar"), json_object_get(root, "interval"),
                       json_object_get(root, "bars"));
    return r;
}

int policy_recorded_read_params(const char *path, struct policy_recorded *recorded,
                                char err[static POLICY_ERROR_MAX])
{
    struct reading in = {.path = path, .err = err, .recorded = recorded};
    json_error_t fault;
    json_t *root =
        json_loadb(recorded->texts[0].bytes, recorded->texts[0].len, JSON_REJECT_DUPLICATES, &fault);
    if (!root)
        return policy_recorded_refuse(err, path, "line %d: it is no JSON: %s", fault.line,
                                      policy_json_fault(&fault));
    int r = take(&in, root);
    json_decref(root);
    return r;
}
