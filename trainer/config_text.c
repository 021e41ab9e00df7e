/* The configuration as one list of keys: written out, and compared. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/config_table.h"

enum { KEYS_MAX = 256 };

struct listing {
    struct config_key *keys;
    size_t n, cap;
};

static void offer(struct listing *listing, const struct config_key *key)
{
    if (listing->n < listing->cap)
        listing->keys[listing->n] = *key;
    listing->n++;
}

static void offer_rows(struct listing *listing, const char *section)
{
    for (size_t i = 0; i < config_table_n; i++) {
        const struct config_row *row = &config_table[i];
        if (strcmp(row->section, section) != 0)
            continue;
        const bool number = row->kind == CONFIG_WHOLE || row->kind == CONFIG_NUMBER;
        const struct config_key key = {.section = section,
                                       .name = row->name,
                                       .summary = row->summary,
                                       .words = number ? NULL : "",
                                       .min = row->min,
                                       .max = row->max,
                                       .whole = row->kind == CONFIG_WHOLE,
                                       .may_change = row->may_change};
        offer(listing, &key);
    }
}

/* Of PPO's keys or the environment's: the section's. */
static void offer_params(struct listing *listing, const char *section)
{
    bool ppo = config_is_ppo_section(section);
    size_t n;
    const struct env_param *list = ppo ? ppo_params_list(&n) : env_params_list(&n);
    for (size_t i = 0; i < n; i++) {
        const char *name = list[i].name;
        if (ppo ? strcmp(config_home(name), section) != 0 : strcmp(name, "autoreset") == 0)
            continue;
        const struct config_key key = {.section = section,
                                       .name = name,
                                       .summary = list[i].summary,
                                       .words = list[i].words,
                                       .min = list[i].min,
                                       .max = list[i].max,
                                       .whole = list[i].whole,
                                       .range = list[i].range,
                                       .may_change = ppo && strcmp(name, "total_steps") == 0,
                                       .tunable = ppo && config_is_tunable(name)};
        offer(listing, &key);
    }
}

size_t config_keys(struct config_key *ret, size_t cap)
{
    struct listing listing = {ret, 0, cap};
    offer_rows(&listing, "training");
    offer_params(&listing, "training");
    offer_params(&listing, "network");
    offer_params(&listing, "ppo");
    offer_rows(&listing, "environment");
    offer_params(&listing, "environment");
    offer_rows(&listing, "data");
    offer_rows(&listing, "serve");
    return listing.n;
}

static bool counts(const struct config *config, const struct config_key *key)
{
    return config_trades(config) || !config_is_market_section(key->section);
}

static bool write_all(FILE *out, const struct config *config, const struct config_key *keys, size_t n)
{
    char value[CONFIG_LIST_MAX];
    const char *section = "";
    for (size_t i = 0; i < n; i++) {
        if (!counts(config, &keys[i]))
            continue;
        if (config_get(config, keys[i].section, keys[i].name, value, sizeof value) < 0)
            return false;
        if (strcmp(section, keys[i].section) != 0)
            fprintf(out, "%s[%s]\n", *section ? "\n" : "", keys[i].section);
        section = keys[i].section;
        fprintf(out, "%s =%s%s\n", keys[i].name, *value ? " " : "", value);
    }
    return !ferror(out);
}

char *config_text(const struct config *config)
{
    struct config_key keys[KEYS_MAX];
    char *text = NULL;
    size_t bytes, n = config_keys(keys, KEYS_MAX);
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    bool whole = n <= KEYS_MAX && write_all(out, config, keys, n);
    if (fclose(out) != 0 || !whole) {
        free(text);
        return NULL;
    }
    return text;
}

/* A key that differs. 0 where that is all right. */
static int differs(const struct config_key *key, const char *before, const char *now,
                   void (*changed)(void *ctx, const char *words), void *ctx, char *err)
{
    char words[CONFIG_ERROR_MAX];
    const char *hint = "";
    before = *before ? before : "(empty)";
    now = *now ? now : "(empty)";
    if (key->tunable && changed) {
        snprintf(words, sizeof words, "changed: [%s] %s: %.200s from now on, %.200s until now", key->section,
                 key->name, now, before);
        changed(ctx, words);
        return 0;
    }
    if (strcmp(key->name, "threads") == 0)
        hint = "; threads = 0, or none given, is one a core of this machine; --changed takes another number";
    else if (key->tunable)
        hint = "; --changed takes the other one";
    return config_say(err, -EINVAL, "[%s] %s: %.200s: %.200s is right, as it was trained with%s",
                      key->section, key->name, now, before, hint);
}

int config_continues(const struct config *before, const struct config *now,
                     void (*changed)(void *ctx, const char *words), void *ctx,
                     char err[static CONFIG_ERROR_MAX])
{
    struct config_key keys[KEYS_MAX];
    char *a = malloc(CONFIG_LIST_MAX), *b = malloc(CONFIG_LIST_MAX);
    size_t n = config_keys(keys, KEYS_MAX);
    int r = a && b ? 0 : config_say(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < n && r == 0; i++) {
        const struct config_key *key = &keys[i];
        if (key->may_change || (!counts(before, key) && !counts(now, key)))
            continue;
        if (config_get(before, key->section, key->name, a, CONFIG_LIST_MAX) < 0 ||
            config_get(now, key->section, key->name, b, CONFIG_LIST_MAX) < 0)
            r = config_say(err, -EINVAL, "[%s] %s: cannot be compared", key->section, key->name);
        else if (strcmp(a, b) != 0)
            r = differs(key, a, b, changed, ctx, err);
    }
    free(a);
    free(b);
    return r;
}
