#include "trainer/command/replay_params.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/bars_file.h"
#include "exchange/fail.h"

enum { BARS_MAX = 1 << 30 };
static const int64_t FIVE_MINUTES_NS = INT64_C(300) * 1000000000;

#define bad(err, ...) fail_with(-EINVAL, err, REPLAY_ERROR_MAX, __VA_ARGS__)

/* A value as env_params_set() reads it: numbers to the last digit, a pair of them as a range. */
static bool value_text(const json_t *value, char *text, size_t cap)
{
    int n = -1;
    if (json_is_boolean(value))
        n = snprintf(text, cap, "%s", json_is_true(value) ? "true" : "false");
    else if (json_is_integer(value))
        n = snprintf(text, cap, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        n = snprintf(text, cap, "%.17g", json_real_value(value));
    else if (json_is_string(value))
        n = snprintf(text, cap, "%s", json_string_value(value));
    else if (json_is_array(value) && json_array_size(value) == 2 &&
             json_is_number(json_array_get(value, 0)) && json_is_number(json_array_get(value, 1)))
        n = snprintf(text, cap, "%.17g..%.17g", json_number_value(json_array_get(value, 0)),
                     json_number_value(json_array_get(value, 1)));
    return n >= 0 && (size_t)n < cap;
}

static const char *string_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* The preset that the keys build on, where the command line names none. */
static const char *choose_preset(const json_t *keys, const char *execution)
{
    const char *named = string_of(keys, "preset"), *task = string_of(keys, "task");
    if (named)
        return named;
    if (task && strcmp(task, "day-trade") == 0)
        return "day-trade";
    execution = execution ? execution : string_of(keys, "execution");
    return execution && strcmp(execution, "market") == 0 ? "market" : "reference";
}

static int read_env(const char *path, json_t *keys, const char *preset, const char *execution,
                    struct env_params *ret, char err[static REPLAY_ERROR_MAX])
{
    char why[ENV_ERROR_MAX], text[128];
    const char *key;
    json_t *value, *named = json_object_get(keys, "preset");
    if (named && !json_is_string(named))
        return bad(err, "params.preset: %s: the name of a preset is needed: " ENV_PRESETS, path);
    preset = preset ? preset : choose_preset(keys, execution);
    if (strcmp(preset, "market") == 0) /* recorded actions keep the numbers that they were recorded with */
        preset = "cappuccino";
    if (env_params_preset(preset, ret, why) < 0)
        return bad(err, "%s: %s", path, why);
    json_object_foreach(keys, key, value)
    {
        if (strcmp(key, "preset") == 0)
            continue;
        if (!value_text(value, text, sizeof text))
            return bad(err, "params.%.64s: %s: a number, true or false, a string, or [low, high]", key, path);
        if (env_params_set(ret, key, text, why) < 0)
            return bad(err, "params: %s: %s", path, why);
    }
    if (execution && env_params_set(ret, "execution", execution, why) < 0)
        return bad(err, "--execution %.32s: %s", execution, why);
    return 0;
}

static int read_symbols(const char *path, const json_t *json, struct replay_params *params,
                        char err[static REPLAY_ERROR_MAX])
{
    const json_t *symbols = json_object_get(json, "symbols");
    size_t n = json_array_size(symbols);
    if (n < 1 || n > ENV_ASSETS_MAX)
        return bad(err, "symbols: %s: a list of 1 to %d names, as [\"BTC\", \"ETH\"]", path, ENV_ASSETS_MAX);
    params->symbols = calloc(n, sizeof(*params->symbols));
    params->min_order_qty = calloc(n, sizeof(*params->min_order_qty));
    if (!params->symbols || !params->min_order_qty)
        return -ENOMEM;
    params->n_symbols = (int)n;
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(symbols, i));
        size_t len = name ? strlen(name) : 0;
        for (const char *p = name; len > 0 && *p; p++)
            if (!isalnum((unsigned char)*p))
                len = 0;
        if (len == 0 || len + strlen("USDT") >= SYMBOL_NAME_MAX)
            return bad(err, "symbols[%zu]: %s: a name of letters and digits, as \"BTC\"", i, path);
        memcpy(params->symbols[i], name, len + 1);
        for (size_t k = 0; k < i; k++)
            if (strcmp(params->symbols[k], name) == 0)
                return bad(err, "symbols[%zu]: %s: %s stands there twice", i, path, name);
    }
    return 0;
}

static int read_least(const char *path, const json_t *json, struct replay_params *params,
                      char err[static REPLAY_ERROR_MAX])
{
    const json_t *least = json_object_get(json, "min_order_qty");
    if (!least)
        return 0;
    if (!json_is_array(least) || json_array_size(least) != (size_t)params->n_symbols)
        return bad(err, "min_order_qty: %s: a list of %d quantities, one a symbol", path, params->n_symbols);
    for (int i = 0; i < params->n_symbols; i++) {
        const json_t *value = json_array_get(least, (size_t)i);
        params->min_order_qty[i] = json_number_value(value);
        if (!json_is_number(value) || !(params->min_order_qty[i] >= 0))
            return bad(err, "min_order_qty[%d]: %s: a quantity of %s, 0 or more", i, path,
                       params->symbols[i]);
    }
    return 0;
}

static int read_window(const char *path, const json_t *json, struct replay_params *params,
                       char err[static REPLAY_ERROR_MAX])
{
    const json_t *first = json_object_get(json, "first_bar"), *bars = json_object_get(json, "bars"),
                 *interval = json_object_get(json, "interval");
    char text[64];
    if (!first || !value_text(first, text, sizeof text) ||
        bars_time_parse(text, strlen(text), &params->first_ns) != 0)
        return bad(err, "first_bar: %s: when the first bar opens, as \"2025-04-21 01:50:00+00:00\"", path);
    if (!json_is_integer(bars) || json_integer_value(bars) < 1 || json_integer_value(bars) > BARS_MAX)
        return bad(err, "bars: %s: how many bars the episode has, a whole number above 0", path);
    params->bars = (size_t)json_integer_value(bars);
    params->interval_ns = FIVE_MINUTES_NS;
    if (interval && (!json_is_string(interval) ||
                     bar_interval_parse(json_string_value(interval), &params->interval_ns) < 0))
        return bad(err, "interval: %s: that of the bars, as \"5m\" or \"1h\"", path);
    return 0;
}

static int read_first_close(const char *path, const json_t *json, struct replay_params *params,
                            char err[static REPLAY_ERROR_MAX])
{
    const json_t *closes = json_object_get(json, "first_close");
    if (!closes)
        return 0;
    if (!json_is_array(closes) || json_array_size(closes) != (size_t)params->n_symbols)
        return bad(err, "first_close: %s: a list of %d prices, one a symbol", path, params->n_symbols);
    params->first_close = calloc((size_t)params->n_symbols, sizeof(*params->first_close));
    if (!params->first_close)
        return -ENOMEM;
    for (int i = 0; i < params->n_symbols; i++) {
        const json_t *value = json_array_get(closes, (size_t)i);
        params->first_close[i] = json_number_value(value);
        if (!json_is_number(value) || !(params->first_close[i] > 0))
            return bad(err, "first_close[%d]: %s: what %s closes at in first_bar, above 0", i, path,
                       params->symbols[i]);
    }
    return 0;
}

int trainer_replay_params_read(const char *path, const char *preset, const char *execution,
                               struct replay_params *ret, char err[static REPLAY_ERROR_MAX])
{
    struct replay_params params = {0};
    json_error_t at;
    FILE *file = fopen(path, "re");
    int r = file ? 0 : -errno;
    if (r < 0) {
        bad(err, "cannot read: %s: parameters as JSON (%s)", path, strerror(-r));
        return r;
    }
    params.json = json_loadf(file, JSON_REJECT_DUPLICATES, &at);
    fclose(file);
    if (!params.json)
        return bad(err, "no JSON: %s:%d: %s", path, at.line, at.text);
    json_t *keys = json_object_get(params.json, "params");
    if (!json_is_object(params.json) || (keys && !json_is_object(keys)))
        r = bad(err, "%s: %s: an object with symbols, first_bar, bars, min_order_qty and params",
                keys ? "params is no object" : "no object", path);
    json_t *none = keys ? NULL : json_object();
    if (r == 0)
        r = read_symbols(path, params.json, &params, err);
    if (r == 0)
        r = read_least(path, params.json, &params, err);
    if (r == 0)
        r = read_window(path, params.json, &params, err);
    if (r == 0)
        r = read_first_close(path, params.json, &params, err);
    if (r == 0)
        r = read_env(path, keys ? keys : none, preset, execution, &params.env, err);
    json_decref(none);
    if (r < 0) {
        if (r == -ENOMEM)
            snprintf(err, REPLAY_ERROR_MAX, "out of memory");
        trainer_replay_params_finish(&params);
        return r;
    }
    *ret = params;
    return 0;
}

void trainer_replay_params_finish(struct replay_params *params)
{
    free(params->symbols);
    free(params->min_order_qty);
    free(params->first_close);
    json_decref(params->json);
    *params = (struct replay_params){0};
}
