/* Every key of a configuration: where it belongs, its default, its range, what it is. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/command/train.h"
#include "trainer/study/settings.h"

enum { KEYS_MAX = 256, VALUE_MAX = 256, RANGE_MAX = 128 };

static bool is_switch(const struct config_key *key)
{
    return key->whole && key->min == 0 && key->max == 1;
}

static void range_text(const struct config_key *key, char ret[static RANGE_MAX])
{
    size_t n = 0;
    if (key->words && strcmp(key->words, "widths") == 0)
        snprintf(ret, RANGE_MAX, "widths with commas, or none");
    else if (key->words && !key->words[0])
        snprintf(ret, RANGE_MAX, "text");
    else if (key->words)
        for (const char *p = key->words; *p && n < RANGE_MAX - 3; p++)
            n += (size_t)snprintf(ret + n, RANGE_MAX - n, *p == ' ' ? ", " : "%c", *p);
    else if (is_switch(key))
        snprintf(ret, RANGE_MAX, "true, false");
    else
        snprintf(ret, RANGE_MAX, "%.9g to %.9g%s", key->min, key->max,
                 key->whole   ? ", whole"
                 : key->range ? ", or low..high"
                              : "");
}

static json_t *key_json(const struct config_key *key, const char *value)
{
    const char *kind = !key->words                         ? is_switch(key) ? "switch"
                                                             : key->whole   ? "whole"
                                                                            : "number"
                       : key->words[0] == '\0'             ? "text"
                       : strcmp(key->words, "widths") == 0 ? "widths"
                                                           : "choice";
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:s}", "section", key->section, "key", key->name,
                             "kind", kind, "default", value, "may_change", key->may_change, "tunable",
                             key->tunable, "summary", key->summary);
    if (json && !key->words && !is_switch(key)) {
        json_object_set_new(json, "min", json_real(key->min));
        json_object_set_new(json, "max", json_real(key->max));
    }
    if (json && strcmp(kind, "choice") == 0)
        json_object_set_new(json, "choices", json_string(key->words));
    return json;
}

static int default_of(const struct config *config, const struct config_key *key, char value[static VALUE_MAX])
{
    if (strcmp(key->section, "study") != 0)
        return config_get(config, key->section, key->name, value, VALUE_MAX);
    const struct search_settings settings = settings_defaults();
    return settings_get(&settings, key->name, value, VALUE_MAX);
}

static int list(const struct config *config, const struct config_key *keys, size_t n, json_t *ret)
{
    char value[VALUE_MAX], range[RANGE_MAX];
    const char *section = "";
    for (size_t i = 0; i < n; i++) {
        if (default_of(config, &keys[i], value) < 0)
            return -ENAMETOOLONG;
        if (ret) {
            if (json_array_append_new(ret, key_json(&keys[i], value)) < 0)
                return -ENOMEM;
            continue;
        }
        if (strcmp(section, keys[i].section) != 0)
            printf("%s### [%s]\n\n| key | default | range | is |\n|---|---|---|---|\n",
                   strcmp(keys[i].section, "training") != 0 ? "\n" : "", keys[i].section);
        section = keys[i].section;
        range_text(&keys[i], range);
        printf("| `%s` | %s | %s | %s |\n", keys[i].name, value, range, keys[i].summary);
    }
    return 0;
}

/* [search]: the default search space. */
static int list_space(json_t *ret)
{
    size_t n;
    const struct search_default *space = settings_default_space(&n);
    if (!ret)
        fputs("\n### [search]\n\n| key | default range | is |\n|---|---|---|\n", stdout);
    for (size_t i = 0; i < n; i++) {
        const struct search_default *param = &space[i];
        if (ret) {
            if (json_array_append_new(ret, json_pack("{s:s, s:s, s:s}", "key", param->key, "range",
                                                     param->range, "summary", param->summary)) < 0)
                return -ENOMEM;
            continue;
        }
        printf("| `%s` | `", param->key);
        for (const char *p = param->range; *p; p++)
            printf(*p == '|' ? "\\%c" : "%c", *p);
        printf("` | %s |\n", param->summary);
    }
    return 0;
}

int train_list_keys(int json)
{
    struct config_key keys[KEYS_MAX], study[KEYS_MAX];
    size_t n = config_keys(keys, KEYS_MAX), n_study = settings_keys(study, KEYS_MAX);
    struct config *config = malloc(sizeof *config);
    json_t *of_training = json ? json_array() : NULL, *of_study = json ? json_array() : NULL,
           *space = json ? json_array() : NULL, *out = NULL;
    int r = config && (!json || (of_training && of_study && space)) && n <= KEYS_MAX && n_study <= KEYS_MAX
                ? 0
                : -ENOMEM;
    if (r == 0) {
        config_defaults(config);
        r = list(config, keys, n, of_training);
    }
    if (r == 0)
        r = list(config, study, n_study, of_study);
    if (r == 0)
        r = list_space(space);
    if (r == 0 && json) {
        out = json_pack("{s:s, s:O, s:O, s:O}", "schema", "papertape.training-keys/1", "keys", of_training,
                        "study", of_study, "search", space);
        r = out && json_dumpf(out, stdout, JSON_INDENT(1)) == 0 && putchar('\n') == '\n' ? 0 : -EIO;
    }
    json_decref(of_training);
    json_decref(of_study);
    json_decref(space);
    json_decref(out);
    free(config);
    if (r < 0)
        fprintf(stderr, "papertape-trainer: cannot list the keys: %s\n", strerror(-r));
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
