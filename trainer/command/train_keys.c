/* Lists every key of a configuration: its section, default, range and meaning. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/command/train.h"
#include "trainer/study/settings.h"

enum { VALUE_MAX = 256, RANGE_MAX = 128 };

static bool is_widths(const struct config_key *key)
{
    return key->words && strcmp(key->words, "widths") == 0;
}

static const char *kind_name(const struct config_key *key)
{
    static const char *const names[] = {
        [CONFIG_WHOLE] = "whole",   [CONFIG_NUMBER] = "number", [CONFIG_SPAN] = "number",
        [CONFIG_SWITCH] = "switch", [CONFIG_WORD] = "choice",   [CONFIG_TEXT] = "text",
        [CONFIG_NAME] = "text",     [CONFIG_OWN] = "text"};
    if (key->kind == CONFIG_WHOLE && key->scale > 0)
        return names[CONFIG_NUMBER];
    return is_widths(key) ? "widths" : key->kind == CONFIG_OWN && key->words ? "choice" : names[key->kind];
}

static json_t *key_json(const struct config_key *key, const char *value)
{
    const char *kind = kind_name(key);
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:s}", "section", key->section, "key", key->name,
                             "kind", kind, "default", value, "may_change",
                             key->marks & CONFIG_KEY_FREE || strcmp(key->section, "study") == 0, "tunable",
                             !!(key->marks & CONFIG_KEY_TUNABLE), "summary", key->about);
    if (json && key->kind <= CONFIG_SPAN) {
        json_object_set_new(json, "min", json_real(key->min));
        json_object_set_new(json, "max", json_real(key->max));
    }
    if (json && strcmp(kind, "choice") == 0)
        json_object_set_new(json, "choices", json_string(key->words));
    return json;
}

static int default_of(const struct train_config *config, const struct config_key *key,
                      char value[static VALUE_MAX])
{
    const struct study_settings settings = study_settings_defaults();
    if (strcmp(key->section, "account") == 0)
        return config_key_text(key, &settings.rules.terms, value, VALUE_MAX) ? 0 : -ENAMETOOLONG;
    if (strcmp(key->section, "study") != 0)
        return train_config_get(config, key->section, key->name, value, VALUE_MAX);
    return study_settings_get(&settings, key->name, value, VALUE_MAX);
}

static int list(const struct train_config *config, const struct config_key *keys, size_t n, json_t *ret)
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
        config_key_range(&keys[i], range, sizeof range);
        printf("| `%s` | %s | %s | %s |\n", keys[i].name, value,
               is_widths(&keys[i]) ? "widths with commas, or none" : range, keys[i].about);
    }
    return 0;
}

/* [search]: the default search space. */
static int list_space(json_t *ret)
{
    size_t n;
    const struct study_default *space = study_settings_default_space(&n);
    if (!ret)
        fputs("\n### [search]\n\n| key | default range | is |\n|---|---|---|\n", stdout);
    for (size_t i = 0; i < n; i++) {
        const struct study_default *param = &space[i];
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
    size_t n, n_study;
    const struct config_key *keys = train_config_keys(&n), *study = study_settings_keys(&n_study);
    struct train_config *config = malloc(sizeof *config);
    struct config_key terms[BACKTEST_CLASS_FEES];
    json_t *of_training = json ? json_array() : NULL, *of_study = json ? json_array() : NULL,
           *account = json ? json_array() : NULL, *space = json ? json_array() : NULL, *out = NULL;
    int r = config && (!json || (of_training && of_study && account && space)) ? 0 : -ENOMEM;
    study_rules_account_keys(terms);
    if (r == 0) {
        train_config_defaults(config);
        r = list(config, keys, n, of_training);
    }
    if (r == 0)
        r = list(config, study, n_study, of_study);
    if (r == 0)
        r = list(config, terms, BACKTEST_CLASS_FEES, account);
    if (r == 0)
        r = list_space(space);
    if (r == 0 && json) {
        out = json_pack("{s:s, s:O, s:O, s:O, s:O}", "schema", "papertape.training-keys/1", "keys",
                        of_training, "study", of_study, "account", account, "search", space);
        r = out && json_dumpf(out, stdout, JSON_INDENT(1)) == 0 && putchar('\n') == '\n' ? 0 : -EIO;
    }
    json_decref(of_training);
    json_decref(of_study);
    json_decref(account);
    json_decref(space);
    json_decref(out);
    free(config);
    if (r < 0)
        fprintf(stderr, "papertape-trainer: cannot list the keys: %s\n", strerror(-r));
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
