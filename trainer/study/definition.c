#include "trainer/study/definition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "exchange/clock.h"
#include "trainer/study/internal.h"

enum { KEYS_MAX = 256, NAME_MAX_BYTES = 2 * CONFIG_WORD_MAX + 8 };

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

/* ---- Which keys. ---- */

static bool of_study(const char *name)
{
    static const char *const names[] = {
        "validation",       "purge_bars",         "embargo_bars", "holdout", "deviation_weight",
        "drawdown_penalty", "volatility_penalty", "objective",    "average", NULL};
    return is_one_of(name, names);
}

/* A training may be continued with a larger total_steps, but a trial's is fixed. Of presets the keys
 * count. */
static bool of_config(const struct config_key *key)
{
    static const char *const others[] = {
        "name",       "preset",          "seed",          "device",    "threads", "memory_cap",
        "keep",       "product_plans",   "fit_from",      "fit_to",    "to",      "test_share",
        "purge_bars", "validation_from", "validation_to", "test_from", "test_to", "validation_share",
        NULL};
    if (strcmp(key->name, "total_steps") == 0)
        return true;
    return !(key->marks & CONFIG_KEY_FREE) && !is_one_of(key->name, others);
}

/* ---- Their values. ---- */

/* False: it is not searched. */
static bool is_searched(const struct space *space, const char *name, char *buf, size_t cap)
{
    for (int i = 0; i < space->n; i++) {
        if (strcmp(space->params[i].name, name) != 0)
            continue;
        if (is_one_of(name, study_row_keys))
            snprintf(buf, cap, "searched, at most %.6g", study_param_most(&space->params[i].distribution));
        else
            snprintf(buf, cap, "searched");
        return true;
    }
    return false;
}

static bool put(json_t *to, const char *section, const char *name, const char *value)
{
    char key[NAME_MAX_BYTES];
    snprintf(key, sizeof key, "[%s] %s", section, name);
    json_t *text = json_string(value);
    if (!text) /* A path that is not UTF-8: another such path still differs by its other bytes. */
        text = json_string("(not UTF-8)");
    return json_object_set_new(to, key, text) == 0;
}

static bool put_study(json_t *to, const struct study_settings *settings)
{
    char value[CONFIG_WORD_MAX];
    size_t n;
    const struct config_key *keys = study_settings_keys(&n);
    for (size_t i = 0; i < n; i++)
        if (of_study(keys[i].name) && (study_settings_get(settings, keys[i].name, value, sizeof value) < 0 ||
                                       !put(to, "study", keys[i].name, value)))
            return false;
    return true;
}

static bool put_rule(void *ctx, const char *section, const char *key, const char *value)
{
    return put(ctx, section, key, value);
}

/* Of a study of a strategy: its bars alone, beside what study_rules_each() has. */
static bool is_of_bars(const struct config_key *key)
{
    static const char *const names[] = {"bars",       "state",    "symbols",  "exchange_info",
                                        "lots",       "interval", "calendar", "zone",
                                        "train_from", "train_to", NULL};
    return strcmp(key->section, "data") == 0 && is_one_of(key->name, names);
}

static bool put_rules(json_t *to, const struct train_config *config, const struct study_settings *settings,
                      char *value)
{
    size_t n;
    const struct config_key *keys = train_config_keys(&n);
    for (size_t i = 0; i < n; i++)
        if (is_of_bars(&keys[i]) &&
            (train_config_get(config, keys[i].section, keys[i].name, value, CONFIG_LIST_MAX) < 0 ||
             !put(to, keys[i].section, keys[i].name, value)))
            return false;
    return study_rules_each(&settings->rules, &settings->space, put_rule, to);
}

static bool put_config(json_t *to, const struct train_config *config, const struct study_settings *settings,
                       char *value)
{
    size_t n;
    const struct config_key *keys = train_config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        const struct config_key *key = &keys[i];
        if (of_config(key) && !is_searched(&settings->space, key->name, value, CONFIG_LIST_MAX) &&
            train_config_get(config, key->section, key->name, value, CONFIG_LIST_MAX) < 0)
            return false;
        if (of_config(key) && !put(to, key->section, key->name, value))
            return false;
    }
    return true;
}

json_t *study_definition(const struct train_config *config, const struct study_settings *settings)
{
    struct train_config *own = malloc(sizeof *own);
    char *value = malloc(CONFIG_LIST_MAX);
    json_t *json = own && value ? json_object() : NULL;
    if (json) {
        *own = *config;
        int64_t end = train_config_train_end(&config->data); /* also by test_from */
        own->data.train_to = end == INT64_MAX ? 0 : end;
        bool whole = put_study(json, settings);
        if (settings->rules.strategy)
            whole = whole && put_rules(json, own, settings, value);
        else
            whole = whole && put(json, "study", "strategy", "") && put_config(json, own, settings, value);
        if (!whole) {
            json_decref(json);
            json = NULL;
        }
    }
    free(value);
    free(own);
    return json;
}

json_t *study_made_of(const struct train_config *config, const struct study_settings *settings)
{
    char value[CONFIG_WORD_MAX], hex[20];
    json_t *all = study_definition(config, settings);
    bool whole = all && put(all, "study", "combine", ensemble_combine_name(settings->combine));
    if (whole && (whole = study_settings_get(settings, "ensemble", value, sizeof value) == 0))
        whole = put(all, "study", "ensemble", value);
    if (whole && (whole = train_config_get(config, "training", "seed", value, sizeof value) == 0))
        whole = put(all, "training", "seed", value);
    if (whole && settings->objective == STUDY_EXCESS && settings->average == STUDY_MEAN) {
        /* Proposals of versions without these keys stay those of their trials. */
        json_object_del(all, "[study] objective");
        json_object_del(all, "[study] average");
    }
    if (whole && !settings->rules.strategy)
        json_object_del(all, "[study] strategy");
    char *text = whole ? json_dumps(all, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_t *hash = NULL;
    if (text) {
        snprintf(hex, sizeof hex, "%016llx", (unsigned long long)XXH3_64bits(text, strlen(text)));
        hash = json_string(hex);
    }
    free(text);
    json_decref(all);
    return hash;
}

/* ---- Rows. ---- */

static json_t *time_of(const struct study_market *market, size_t row)
{
    char text[CLOCK_TEXT_MAX];
    size_t last = trainer_data_row(market->grid, row < market->rows ? row : market->rows - 1);
    return clock_utc_text(market_open_ns(market->source.market, last), text)[0] ? json_string(text)
                                                                                : json_null();
}

json_t *study_rows(const struct study_market *market)
{
    const struct split_rows *search = &market->search, *holdout = &market->holdout;
    return json_pack("{s:o, s:o, s:I, s:o, s:I, s:I, s:I}", "from", time_of(market, search->from), "to",
                     time_of(market, search->to), "rows", (json_int_t)(search->to - search->from),
                     "holdout_from", time_of(market, holdout->from), "holdout_rows",
                     (json_int_t)(holdout->to - holdout->from), "purge", (json_int_t)market->purge, "embargo",
                     (json_int_t)market->embargo);
}

/* ---- Are they the same? ---- */

/* Keys that studies of earlier versions lack, and what was so in them. */
static bool is_new(const char *key, const json_t *value)
{
    static const char *const before[][2] = {
        {"[study] strategy", ""}, {"[study] objective", "excess"}, {"[study] average", "mean"}};
    const char *text = json_string_value(value);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (strcmp(key, before[i][0]) == 0)
            return text && strcmp(text, before[i][1]) != 0;
    return false;
}

const char *study_differs(json_t *was, json_t *now)
{
    const char *key;
    json_t *value;
    json_object_foreach(now, key, value)
    {
        const json_t *before = json_object_get(was, key);
        if (before ? !json_equal(before, value) : json_object_size(was) > 0 && is_new(key, value))
            return key;
    }
    return NULL;
}
