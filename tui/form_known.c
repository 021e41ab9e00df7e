#include "tui/form_known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/config.h"
#include "trainer/config_table.h"
#include "trainer/study/settings.h"

enum { KEYS_MAX = 256 };

static struct form_known table[KEYS_MAX];
static size_t n_table;

static void describe(struct form_known *known, const struct config_key *key)
{
    size_t size = sizeof(known->about);

    if (key->words && *key->words)
        snprintf(known->about, size, "%s (%s)", key->summary, key->words);
    else if (!key->words && key->whole)
        snprintf(known->about, size, "%s (%.0f to %.0f)", key->summary, key->min, key->max);
    else if (!key->words && key->max > key->min)
        snprintf(known->about, size, "%s (%g to %g%s)", key->summary, key->min, key->max,
                 key->range ? ", or low..high" : "");
    else
        snprintf(known->about, size, "%s", key->summary);
}

static void fill(const struct config_key *keys, size_t n, const struct config *defaults, char *value,
                 size_t size)
{
    for (size_t i = 0; i < n; i++) {
        struct form_known *known = &table[i];
        *known = (struct form_known){.may_change = keys[i].may_change || keys[i].tunable,
                                     .group = (int)keys[i].section[0]};
        if (config_is_ppo_section(keys[i].section))
            known->group = 0;
        snprintf(known->section, sizeof(known->section), "%s", keys[i].section);
        snprintf(known->key, sizeof(known->key), "%s", keys[i].name);
        if (config_get(defaults, keys[i].section, keys[i].name, value, size) == 0)
            snprintf(known->value, sizeof(known->value), "%s", value);
        describe(known, &keys[i]);
    }
}

/* What makes a search of it; no key of these has a place in another section. */
static size_t fill_study(struct config_key *keys, size_t cap, char *value, size_t size)
{
    struct search_settings defaults = settings_defaults();
    size_t n = settings_keys(keys, cap), n_space;
    const struct search_default *space = settings_default_space(&n_space);

    n = n < cap ? n : cap;
    for (size_t i = 0; i < n; i++) {
        struct form_known *known = &table[n_table + i];
        *known = (struct form_known){.group = (int)'S'};
        snprintf(known->section, sizeof(known->section), "study");
        snprintf(known->key, sizeof(known->key), "%s", keys[i].name);
        if (settings_get(&defaults, keys[i].name, value, size) == 0)
            snprintf(known->value, sizeof(known->value), "%s", value);
        describe(known, &keys[i]);
    }
    for (size_t i = 0; i < n_space && n < cap; i++, n++) {
        struct form_known *known = &table[n_table + n];
        *known = (struct form_known){.group = (int)'R'};
        snprintf(known->section, sizeof(known->section), "search");
        snprintf(known->key, sizeof(known->key), "%s", space[i].key);
        snprintf(known->value, sizeof(known->value), "%s", space[i].range);
        snprintf(known->about, sizeof(known->about), "%s", space[i].summary);
    }
    settings_finish(&defaults);
    return n;
}

const struct form_known *form_known_keys(size_t *ret_n)
{
    struct config_key *keys = malloc(KEYS_MAX * sizeof(*keys));
    struct config *defaults = malloc(sizeof(*defaults));
    char *value = malloc(CONFIG_LIST_MAX);

    if (n_table == 0 && keys && defaults && value) {
        size_t n = config_keys(keys, KEYS_MAX);
        config_defaults(defaults);
        n = n < KEYS_MAX ? n : KEYS_MAX;
        fill(keys, n, defaults, value, CONFIG_LIST_MAX);
        n_table = n;
        n_table += fill_study(keys, KEYS_MAX - n, value, CONFIG_LIST_MAX);
    }
    free(keys);
    free(defaults);
    free(value);
    *ret_n = n_table;
    return n_table ? table : NULL;
}
