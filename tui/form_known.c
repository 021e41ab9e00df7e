#include "tui/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/config.h"
#include "trainer/config_table.h"
#include "trainer/study/settings.h"

enum { KEYS_MAX = 256 };

static struct form_known table[KEYS_MAX];
static size_t n_table;

/* Adds a table's keys, with the values of `base`; `group`: 0: the section's. */
static void fill(const struct config_key *keys, size_t n, const void *base, int group, char *value,
                 size_t size)
{
    for (size_t i = 0; i < n && n_table < KEYS_MAX; i++) {
        struct form_known *known = &table[n_table++];
        char range[128];
        bool text = !keys[i].words && keys[i].kind > CONFIG_SPAN;
        *known = (struct form_known){.may_change = keys[i].marks & (CONFIG_KEY_FREE | CONFIG_KEY_TUNABLE),
                                     .group = group ? group
                                              : train_config_is_ppo_section(keys[i].section)
                                                  ? 0
                                                  : (int)keys[i].section[0]};
        snprintf(known->section, sizeof(known->section), "%s", keys[i].section);
        snprintf(known->key, sizeof(known->key), "%s", keys[i].name);
        if (config_key_text(&keys[i], base, value, size))
            snprintf(known->value, sizeof(known->value), "%s", value);
        config_key_range(&keys[i], range, sizeof(range));
        snprintf(known->about, sizeof(known->about), "%s%s%s%s", keys[i].about, text ? "" : " (",
                 text ? "" : range, text ? "" : ")");
    }
}

static void fill_space(void)
{
    size_t n;
    const struct study_default *space = study_settings_default_space(&n);

    for (size_t i = 0; i < n && n_table < KEYS_MAX; i++) {
        struct form_known *known = &table[n_table++];
        *known = (struct form_known){.group = (int)'R'};
        snprintf(known->section, sizeof(known->section), "search");
        snprintf(known->key, sizeof(known->key), "%s", space[i].key);
        snprintf(known->value, sizeof(known->value), "%s", space[i].range);
        snprintf(known->about, sizeof(known->about), "%s", space[i].summary);
    }
}

const struct form_known *tui_form_known_keys(size_t *ret_n)
{
    struct train_config *defaults = malloc(sizeof(*defaults));
    struct study_settings study = study_settings_defaults();
    char *value = malloc(CONFIG_LIST_MAX);
    size_t n;

    if (n_table == 0 && defaults && value) {
        const struct config_key *keys = train_config_keys(&n);
        train_config_defaults(defaults);
        fill(keys, n, defaults, 0, value, CONFIG_LIST_MAX);
        /* The keys that make it a study; none of them exists in another section. */
        keys = study_settings_keys(&n);
        fill(keys, n, &study, 'S', value, CONFIG_LIST_MAX);
        fill_space();
    }
    study_settings_finish(&study);
    free(defaults);
    free(value);
    *ret_n = n_table;
    return n_table ? table : NULL;
}
