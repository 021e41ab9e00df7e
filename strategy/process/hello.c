/* How a session with a process starts: hello, and its answer. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"
#include "exchange/fail.h"
#include "exchange/symbol.h"
#include "exchange/utf8.h"
#include "strategy/param_json.h"
#include "strategy/process/process.h"

static json_t *decimal_text(int64_t units, int scale)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(units, scale, text);
    return json_string(text);
}

static json_t *symbol_object(const struct symbol *s)
{
    const struct symbol_filters *f = &s->filters;
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:o}", "symbol", s->name, "base", s->base,
                     "quote", s->quote, "price_scale", s->price_scale, "qty_scale", s->qty_scale,
                     "quote_scale", s->quote_scale, "tick", decimal_text(f->tick, s->price_scale), "lot",
                     decimal_text(f->step, s->qty_scale), "notional_min",
                     decimal_text(f->notional_min, s->quote_scale));
}

static json_t *symbols_array(const struct strategy_hello *hello)
{
    json_t *array = json_array();
    for (int i = 0; hello && i < hello->n_symbols; i++)
        (void)json_array_append_new(array, symbol_object(&hello->symbols[i]));
    return array;
}

static json_t *params_object(const struct strategy *strategy, const double *params)
{
    json_t *object = json_object();
    for (size_t i = 0; i < strategy->n_params; i++) {
        const struct strategy_param *param = &strategy->params[i];
        json_t *value = param->integer && !param->words ? json_integer((json_int_t)params[i])
                                                        : strategy_param_json(param, params[i]);
        (void)json_object_set_new(object, param->name, value);
    }
    return object;
}

/* Puts the states behind the other members: each as the process wrote it, to the byte. */
static void put_states(FILE *to, const struct strategy_hello *hello, const struct strategy_kept *states)
{
    fputs(",\"states\":[", to);
    for (int i = 0; hello && i < hello->n_symbols; i++) {
        const struct strategy_kept kept = states ? states[i] : (struct strategy_kept){0};
        bool whole = kept.len > 0 && !memchr(kept.bytes, '\n', kept.len);
        fputs(i > 0 ? "," : "", to);
        fwrite(whole ? kept.bytes : "null", 1, whole ? kept.len : 4, to);
    }
    fputs("]}\n", to);
}

char *strategy_process_hello(const struct strategy *strategy, const double *params,
                             const struct strategy_hello *hello, const struct strategy_kept *states)
{
    json_t *object = json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:I, s:I, s:o, s:o}", "type", "hello", "protocol", PROCESS_PROTOCOL,
        "mode",
        !hello        ? "check"
        : hello->live ? "live"
                      : "backtest",
        "account", hello ? hello->account : "", "currency", hello ? hello->currency : "", "interval",
        (json_int_t)(hello ? hello->interval_ns : 0), "limit", (json_int_t)(hello ? hello->limit_ns : 0),
        "params", params_object(strategy, params), "symbols", symbols_array(hello));
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL, *line = NULL;
    size_t size;
    FILE *to = text ? open_memstream(&line, &size) : NULL;
    json_decref(object);
    if (to) {
        fwrite(text, 1, strlen(text) - 1, to);
        put_states(to, hello, states);
    }
    free(text);
    if (to && fclose(to) == 0)
        return line;
    free(line);
    return NULL;
}

/* ---- ready ---- */

static int take_specs(const json_t *array, char specs[][STRATEGY_SPEC_TEXT], size_t *ret_n, char *err)
{
    const size_t n = json_array_size(array);
    if (!json_is_array(array) || n > STRATEGY_SPECS_MAX)
        return fail_with(-EPROTO, err, PROCESS_REASON_MAX,
                         "\"indicators\" is no array of at most %d indicators", STRATEGY_SPECS_MAX);
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_array_get(array, i));
        if (!text || strlen(text) >= STRATEGY_SPEC_TEXT)
            return fail_with(-EPROTO, err, PROCESS_REASON_MAX,
                             "indicator %zu is no text of at most %d bytes, as \"sma:20\"", i + 1,
                             STRATEGY_SPEC_TEXT - 1);
        snprintf(specs[i], STRATEGY_SPEC_TEXT, "%s", text);
        utf8_clean(specs[i]);
    }
    *ret_n = n;
    return 0;
}

int strategy_process_ready(const char *line, size_t len, char specs[][STRATEGY_SPEC_TEXT], size_t *ret_n,
                           char *err)
{
    json_t *object = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
    const char *type = json_string_value(json_object_get(object, "type"));
    const char *text = json_string_value(json_object_get(object, "text"));
    int r;
    if (type && text && strcmp(type, "error") == 0) {
        snprintf(err, PROCESS_REASON_MAX, "%s", text);
        utf8_clean(err);
        r = -EINVAL;
    } else if (type && strcmp(type, "ready") == 0) {
        r = take_specs(json_object_get(object, "indicators"), specs, ret_n, err);
    } else {
        r = fail_with(-EPROTO, err, PROCESS_REASON_MAX,
                      "its answer to hello is no {\"type\":\"ready\", \"indicators\":[...]}");
    }
    json_decref(object);
    return r;
}
