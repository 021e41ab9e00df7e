#include "trainer/study/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trainer/config_table.h"
#include "trainer/study/grid.h"
#include "trainer/study/settings_table.h"

int study_settings_set(struct study_settings *settings, const struct train_config *config,
                       const char *section, const char *key, const char *text,
                       char err[static CONFIG_ERROR_MAX])
{
    if (strcmp(section, "account") == 0)
        return study_rules_set(&settings->rules, key, text, err);
    return strcmp(section, "search") == 0 ? study_settings_set_search(settings, config, key, text, err)
                                          : study_settings_set_study(settings, key, text, err);
}

static int misfit(const char **ret_key, const char *key, char *err, const char *words)
{
    *ret_key = key;
    return train_config_say(err, -EINVAL, "[study] %s: %s", key, words);
}

int study_settings_check(const struct study_settings *settings, const char **ret_key,
                         char err[static CONFIG_ERROR_MAX])
{
    const char *words;
    if (settings->grace_s < 2 * settings->heartbeat_s)
        return misfit(ret_key, "grace_s", err, "twice heartbeat_s or more is right");
    if (settings->ensemble > settings->trials)
        return misfit(ret_key, "ensemble", err, "at most as many as trials is right");
    return pruner_check(&settings->pruner, ret_key, &words) < 0 ? misfit(ret_key, *ret_key, err, words) : 0;
}

int study_settings_check_grid(const struct study_settings *settings, const char **ret_key,
                              char err[static CONFIG_ERROR_MAX])
{
    const struct sampler_options *sampler = &settings->sampler;
    char words[200];
    if (sampler->kind != SAMPLER_GRID ||
        sampler_grid_size(&settings->space, sampler->grid_points) < UINT64_MAX)
        return 0;
    snprintf(words, sizeof words,
             "grid: %.3g points: less than 1.8e19 are right: fewer keys in [search], larger steps, choices",
             sampler_grid_size_about(&settings->space, sampler->grid_points));
    return misfit(ret_key, "sampler", err, words);
}

int study_settings_parse(const char *name, const char *text, struct train_config *ret_config,
                         struct study_settings *ret, bool *ret_is_study, char err[static CONFIG_ERROR_MAX])
{
    return train_config_read_text(name, text, 0, ret_config, ret, ret_is_study, err);
}

int study_settings_parse_at(const char *name, const char *text, int64_t now_ns,
                            struct train_config *ret_config, struct study_settings *ret, bool *ret_is_study,
                            char err[static CONFIG_ERROR_MAX])
{
    return train_config_read_text(name, text, now_ns, ret_config, ret, ret_is_study, err);
}

void study_settings_finish(struct study_settings *settings)
{
    space_finish(&settings->space);
    *settings = (struct study_settings){0};
}
