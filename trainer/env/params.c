#include "trainer/env/params.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/nearest.h"
#include "trainer/env/params_table.h"
#include "trainer/env/refusal.h"

/* The reference environment's. */
static const struct env_params reference = {
    .execution = ENV_REFERENCE,
    .task = ENV_PORTFOLIO,
    .actions = ENV_CONTINUOUS,
    .autoreset = ENV_NEXT_STEP,
    .levels = 21,
    .action_span = 10,
    .lookback = 3,
    .norm_cash = 0x1p-11,
    .norm_stocks = 0x1p-8,
    .norm_tech = 0x1p-14,
    .norm_reward = 0x1p-9,
    .norm_action = 100,
    .initial_capital = {1000, 1000},
    .buy_cost_pct = {0.0025, 0.0025},
    .sell_cost_pct = {0.0025, 0.0025},
    .forced_exit_bars = 48,
    .forced_exit_pct = 0.05,
    .gamma = 0.99,
    .final_return = true,
    .weight_alpha = 0.5,
    .weight_absolute = 0.3,
    .weight_cash = 0.2,
    .threshold = 0.3,
    .collateral = 1.5,
    .session_close_s = 86400,
    .session_zone = "UTC",
    .weight_return = 1,
    .weight_step = 1,
    .weight_trend = 1,
    .weight_day = 1,
    .trend_bars = 20,
};

static const char *const presets[] = {"reference", "market", "day-trade"};

int env_params_preset(const char *name, struct env_params *ret, char err[static ENV_ERROR_MAX])
{
    struct env_params params = reference;
    if (strcmp(name, "market") == 0) {
        params.execution = ENV_MARKET;
        params.final_return = false;
    } else if (strcmp(name, "day-trade") == 0) {
        params.task = ENV_DAY_TRADE;
        params.final_return = false;
        params.action_span = 1; /* a direction */
        params.shorts = true;
    } else if (strcmp(name, "reference") != 0) {
        struct nearest nearest = {0};
        for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
            nearest_offer(&nearest, name, presets[i]);
        return env_refuse(-ENOENT, err, "preset: %.60s: there is none of that name; the nearest is %s", name,
                          nearest.best);
    }
    *ret = params;
    return 0;
}

const struct env_param *env_params_list(size_t *ret_n)
{
    *ret_n = env_params_table_n;
    return env_params_table;
}

static int compare(const void *key, const void *row)
{
    return strcmp(key, ((const struct env_param *)row)->name);
}

static const struct env_param *find(const char *key)
{
    return bsearch(key, env_params_table, env_params_table_n, sizeof *env_params_table, compare);
}

/* The word's place in a list divided by spaces; -1: not in it. */
static int word_place(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (int place = 0;; place++) {
        size_t n = strcspn(words, " ");
        if (n == length && memcmp(words, word, n) == 0)
            return place;
        if (!words[n])
            return -1;
        words += n + 1;
    }
}

/* A number that ends at `end` or at the text's. */
static bool read_number(const char *text, const char *end, double *ret)
{
    char copy[64];
    size_t n = end ? (size_t)(end - text) : strlen(text);
    if (n == 0 || n >= sizeof copy || strspn(text, "+-.0123456789eE") < n)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    char *rest;
    *ret = strtod(copy, &rest);
    return *rest == '\0' && isfinite(*ret);
}

static int set_choice(char *field, const struct env_param *param, const char *text,
                      char err[static ENV_ERROR_MAX])
{
    int place = word_place(param->words, text);
    if (place < 0)
        return env_refuse(-EINVAL, err, "%s: %.60s: one of these is right: %s", param->name, text,
                          param->words);
    memcpy(field, &place, sizeof place);
    return 0;
}

static int set_text(char *field, const struct env_param *param, const char *text,
                    char err[static ENV_ERROR_MAX])
{
    size_t n = strlen(text);
    if (n == 0 || n >= param->size)
        return env_refuse(-ERANGE, err, "%s: %.60s: 1 to %zu characters are right", param->name, text,
                          param->size - 1);
    memset(field, 0, param->size);
    memcpy(field, text, n);
    return 0;
}

static bool within(const struct env_param *param, double value)
{
    return value >= param->min && value <= param->max && (!param->whole || value == floor(value));
}

static int set_number(char *field, const struct env_param *param, const char *text,
                      char err[static ENV_ERROR_MAX])
{
    bool is_switch = param->whole && param->size == sizeof(bool);
    const char *kind = param->range   ? "a number, or low..high,"
                       : param->whole ? "a whole number"
                                      : "a number";
    struct env_range range;
    const char *dots = param->range ? strstr(text, "..") : NULL;
    if (is_switch && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        range.low = text[0] == 't';
    else if (!read_number(text, dots, &range.low))
        return is_switch ? env_refuse(-EINVAL, err, "%s: %.60s: true or false is right", param->name, text)
                         : env_refuse(-EINVAL, err, "%s: %.60s: %s from %.12g to %.12g is right", param->name,
                                      text, kind, param->min, param->max);
    else if (is_switch && !within(param, range.low))
        return env_refuse(-ERANGE, err, "%s: %.60s: true or false is right", param->name, text);
    range.high = range.low;
    if (dots && !read_number(dots + 2, NULL, &range.high))
        return env_refuse(-EINVAL, err, "%s: %.60s: %s from %.12g to %.12g is right", param->name, text, kind,
                          param->min, param->max);
    if (!within(param, range.low) || !within(param, range.high))
        return env_refuse(-ERANGE, err, "%s: %.60s: %s from %.12g to %.12g is right", param->name, text, kind,
                          param->min, param->max);
    if (range.high < range.low)
        return env_refuse(-ERANGE, err, "%s: %.60s: the lower number comes first", param->name, text);

    bool on = range.low != 0;
    int number = param->whole ? (int)range.low : 0;
    int64_t large = param->whole ? (int64_t)range.low : 0;
    const void *from = param->range                     ? (const void *)&range
                       : !param->whole                  ? (const void *)&range.low
                       : is_switch                      ? (const void *)&on
                       : param->size == sizeof(int64_t) ? (const void *)&large
                                                        : (const void *)&number;
    memcpy(field, from, param->size);
    return 0;
}

int env_params_set(struct env_params *params, const char *key, const char *text,
                   char err[static ENV_ERROR_MAX])
{
    const struct env_param *param = find(key);
    if (!param) {
        struct nearest nearest = {0};
        for (size_t i = 0; i < env_params_table_n; i++)
            nearest_offer(&nearest, key, env_params_table[i].name);
        return env_refuse(-ENOENT, err, "%.60s: there is no such parameter; the nearest is %s", key,
                          nearest.best);
    }
    char *field = (char *)params + param->offset;
    if (!param->words)
        return set_number(field, param, text, err);
    return param->words[0] ? set_choice(field, param, text, err) : set_text(field, param, text, err);
}

/* The fewest digits that read back as the same number. */
static int print_number(char *buf, size_t cap, double value)
{
    int n = 0;
    for (int digits = 6; digits <= 17; digits++) {
        n = snprintf(buf, cap, "%.*g", digits, value);
        if (n < 0 || (size_t)n >= cap || strtod(buf, NULL) == value)
            break;
    }
    return n;
}

static int print_value(const struct env_param *param, const char *field, char *buf, size_t cap)
{
    if (param->words && !param->words[0])
        return snprintf(buf, cap, "%s", field);
    if (param->words) {
        int place;
        memcpy(&place, field, sizeof place);
        const char *word = param->words;
        for (; place > 0; place--)
            word += strcspn(word, " ") + 1;
        return snprintf(buf, cap, "%.*s", (int)strcspn(word, " "), word);
    }
    if (param->whole && param->size == sizeof(bool))
        return snprintf(buf, cap, "%s", *field ? "true" : "false");
    if (param->whole && param->size == sizeof(int64_t)) {
        int64_t value;
        memcpy(&value, field, sizeof value);
        return snprintf(buf, cap, "%lld", (long long)value);
    }
    if (param->whole) {
        int value;
        memcpy(&value, field, sizeof value);
        return snprintf(buf, cap, "%d", value);
    }
    struct env_range range;
    memcpy(&range.low, field, sizeof range.low);
    int n = print_number(buf, cap, range.low);
    if (!param->range || n < 0 || (size_t)n >= cap)
        return n;
    memcpy(&range, field, sizeof range);
    if (range.high == range.low)
        return n;
    int dots = snprintf(buf + n, cap - (size_t)n, "..");
    if ((size_t)(n + dots) >= cap)
        return n + dots;
    return n + dots + print_number(buf + n + dots, cap - (size_t)(n + dots), range.high);
}

bool env_params_get(const struct env_params *params, const char *key, char *buf, size_t cap)
{
    const struct env_param *param = find(key);
    if (!param || cap == 0)
        return false;
    int n = print_value(param, (const char *)params + param->offset, buf, cap);
    return n >= 0 && (size_t)n < cap;
}

/* One value, which a program may have put there itself. */
static int check_value(const struct env_params *params, const struct env_param *param,
                       char err[static ENV_ERROR_MAX])
{
    const char *field = (const char *)params + param->offset;
    if (param->words && !param->words[0]) {
        if (field[0] == '\0' || strnlen(field, param->size) == param->size)
            return env_refuse(-EINVAL, err, "%s: 1 to %zu characters are right", param->name,
                              param->size - 1);
        return 0;
    }
    struct env_range range;
    int number;
    int64_t large;
    double max = param->max;
    if (param->words || (param->whole && param->size == sizeof number)) {
        memcpy(&number, field, sizeof number);
        range.low = range.high = number;
        if (param->words) {
            max = 0;
            for (const char *word = param->words; *word; word++)
                max += *word == ' ';
        }
    } else if (param->whole && param->size == sizeof large) {
        memcpy(&large, field, sizeof large);
        range.low = range.high = (double)large;
    } else if (param->whole) {
        return 0;
    } else if (param->range) {
        memcpy(&range, field, sizeof range);
    } else {
        memcpy(&range.low, field, sizeof range.low);
        range.high = range.low;
    }
    if (!(range.low >= param->min && range.high <= max && range.low <= range.high))
        return env_refuse(-EINVAL, err, "%s: %.12g: from %.12g to %.12g is right", param->name,
                          range.low >= param->min && range.low <= max ? range.high : range.low, param->min,
                          max);
    return 0;
}

int env_params_check(const struct env_params *params, int n_assets, char err[static ENV_ERROR_MAX])
{
    for (size_t i = 0; i < env_params_table_n; i++) {
        int rc = check_value(params, &env_params_table[i], err);
        if (rc < 0)
            return rc;
    }
    if (n_assets < 1 || n_assets > ENV_ASSETS_MAX)
        return env_refuse(-EINVAL, err, "assets: %d: from 1 to %d is right", n_assets, ENV_ASSETS_MAX);
    if (params->task == ENV_DAY_TRADE && n_assets != 1)
        return env_refuse(-EINVAL, err, "task: day-trade: it trades one asset, and the market has %d",
                          n_assets);
    if (params->levels % 2 == 0)
        return env_refuse(-EINVAL, err, "levels: %d: an odd number is right, so that one of them is 0",
                          params->levels);
    if (params->float32 && params->execution == ENV_MARKET)
        return env_refuse(-EINVAL, err,
                          "float32: true: execution market reckons in whole units; false is right");
    if (params->shorts && params->task != ENV_DAY_TRADE)
        return env_refuse(-EINVAL, err, "shorts: true: only task day-trade can sell what it does not hold");
    if (params->shorts && params->execution == ENV_MARKET)
        return env_refuse(-EINVAL, err,
                          "shorts: true: execution market has none yet; execution reference has");
    if (params->random_start && params->episode_bars == 0)
        return env_refuse(-EINVAL, err,
                          "random_start: true: episode_bars is needed besides, the episodes' rows");
    int64_t least = 2 * (int64_t)params->lookback + 1;
    if (params->episode_bars != 0 && params->episode_bars < least)
        return env_refuse(-EINVAL, err, "episode_bars: %lld: at least %lld is right with lookback %d",
                          (long long)params->episode_bars, (long long)least, params->lookback);
    return 0;
}
