/* The configuration as one list of keys: written out, and compared. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/config_table.h"

static bool counts(const struct train_config *config, const struct config_key *key)
{
    return train_config_trades(config) || !train_config_is_market_section(key->section);
}

static bool write_all(FILE *out, const struct train_config *config, const struct config_key *keys, size_t n)
{
    char value[CONFIG_LIST_MAX];
    const char *section = "";
    for (size_t i = 0; i < n; i++) {
        if (!counts(config, &keys[i]))
            continue;
        if (!config_key_text(&keys[i], config, value, sizeof value))
            return false;
        if (strcmp(section, keys[i].section) != 0)
            fprintf(out, "%s[%s]\n", *section ? "\n" : "", keys[i].section);
        section = keys[i].section;
        fprintf(out, "%s =%s%s\n", keys[i].name, *value ? " " : "", value);
    }
    return !ferror(out);
}

char *train_config_text(const struct train_config *config)
{
    char *text = NULL;
    size_t bytes, n;
    const struct config_key *keys = train_config_keys(&n);
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    bool whole = write_all(out, config, keys, n);
    if (fclose(out) != 0 || !whole) {
        free(text);
        return NULL;
    }
    return text;
}

/* Checks a key that differs. 0: it may. */
static int differs(const struct config_key *key, const char *before, const char *now,
                   void (*changed)(void *ctx, const char *words), void *ctx, char *err)
{
    char words[CONFIG_ERROR_MAX];
    const char *hint = "";
    before = *before ? before : "(empty)";
    now = *now ? now : "(empty)";
    if (key->marks & CONFIG_KEY_TUNABLE && changed) {
        snprintf(words, sizeof words, "changed: [%s] %s: %.200s from now on, %.200s until now", key->section,
                 key->name, now, before);
        changed(ctx, words);
        return 0;
    }
    if (strcmp(key->name, "threads") == 0)
        hint = "; threads = 0, or none given, is one a core of this machine; --changed takes another number";
    else if (key->marks & CONFIG_KEY_TUNABLE)
        hint = "; --changed takes the other one";
    return train_config_say(err, -EINVAL, "[%s] %s: %.200s: %.200s is right, as it was trained with%s",
                            key->section, key->name, now, before, hint);
}

int train_config_continues(const struct train_config *before, const struct train_config *now,
                           void (*changed)(void *ctx, const char *words), void *ctx,
                           char err[static CONFIG_ERROR_MAX])
{
    char *a = malloc(CONFIG_LIST_MAX), *b = malloc(CONFIG_LIST_MAX);
    size_t n;
    const struct config_key *keys = train_config_keys(&n);
    int r = a && b ? 0 : train_config_say(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < n && r == 0; i++) {
        const struct config_key *key = &keys[i];
        if (key->marks & CONFIG_KEY_FREE || (!counts(before, key) && !counts(now, key)))
            continue;
        if (train_config_get(before, key->section, key->name, a, CONFIG_LIST_MAX) < 0 ||
            train_config_get(now, key->section, key->name, b, CONFIG_LIST_MAX) < 0)
            r = train_config_say(err, -EINVAL, "[%s] %s: cannot be compared", key->section, key->name);
        else if (strcmp(a, b) != 0)
            r = differs(key, a, b, changed, ctx, err);
    }
    free(a);
    free(b);
    return r;
}
