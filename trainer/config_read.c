/* Reading a configuration: the lines of exchange/ini_lines, presets first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/whole_file.h"
#include "trainer/config_table.h"
#include "trainer/study/settings_table.h"

_Static_assert((int)INI_LINE_MAX >= (int)CONFIG_LINE_MAX && (int)INI_ERROR_MAX <= (int)CONFIG_ERROR_MAX,
               "exchange/ini_lines reads the longest value, and its sentences fit");

static bool same_key(const struct ini_line *a, const struct ini_line *b)
{
    bool ppo = config_is_ppo_section(a->section) && config_is_ppo_section(b->section);
    return b->key && strcmp(a->key, b->key) == 0 && (ppo || strcmp(a->section, b->section) == 0);
}

int config_set_line(struct config *config, struct search_settings *settings, const char *section,
                    const char *key, const char *text, char err[static CONFIG_ERROR_MAX])
{
    return config_is_study_section(section) ? settings_set(settings, config, section, key, text, err)
                                            : config_set(config, section, key, text, err);
}

static int apply(const struct ini_lines *file, const char *name, struct config *config,
                 struct search_settings *settings, char *err)
{
    char why[CONFIG_ERROR_MAX];
    for (int turn = 0; turn < CONFIG_TURNS; turn++)
        for (size_t i = 0; i < file->n; i++) {
            const struct ini_line *entry = &file->lines[i];
            if (!entry->key || config_turn(entry->section, entry->key) != turn)
                continue;
            for (size_t j = 0; j < i; j++)
                if (same_key(entry, &file->lines[j]))
                    return config_say(err, -EINVAL, "%.300s:%d: [%.60s] %.60s: already set in line %d", name,
                                      entry->line, entry->section, entry->key, file->lines[j].line);
            int r = config_set_line(config, settings, entry->section, entry->key, entry->value, why);
            if (r < 0)
                return config_say(err, r, "%.300s:%d: %.700s", name, entry->line, why);
        }
    int known = config_check_world(config, why);
    if (known < 0)
        return config_say(err, known, "%.300s: %.700s", name, why);
    for (size_t i = 0; i < file->n && !config_trades(config); i++) {
        const struct ini_line *entry = &file->lines[i];
        if (entry->key && config_is_market_section(entry->section))
            return config_say(err, -EINVAL,
                              "%.300s:%d: [%.60s] %.60s: the world %.60s is no market: leave the section out",
                              name, entry->line, entry->section, entry->key, config->world);
    }
    return 0;
}

static int read_heading(const char *section, char reason[static INI_ERROR_MAX])
{
    char why[CONFIG_ERROR_MAX];
    if (config_section(section, why) == 0)
        return 0;
    snprintf(reason, INI_ERROR_MAX, "%.300s", why);
    return -EINVAL;
}

const struct ini_rules config_rules = {
    .example = "training", .heading = read_heading, .line_max = CONFIG_LINE_MAX};

int config_complete(const struct config *config, struct search_settings *settings, const char **ret_key,
                    char err[static CONFIG_ERROR_MAX])
{
    *ret_key = NULL;
    int r = settings_check(settings, ret_key, err);
    if (r == 0)
        r = settings_complete(settings, config, err);
    return r == 0 ? settings_check_grid(settings, ret_key, err) : r;
}

static int complete(const char *name, const struct config *config, struct search_settings *settings,
                    char *err)
{
    char why[CONFIG_ERROR_MAX];
    const char *key;
    int r = config_check(config, why);
    if (r == 0)
        r = config_complete(config, settings, &key, why);
    return r < 0 ? config_say(err, r, "%.300s: %.700s", name, why) : 0;
}

static int read_stream(FILE *file, const char *name, int64_t now_ns, struct config *ret,
                       struct search_settings *ret_settings, bool *ret_is_study,
                       char err[static CONFIG_ERROR_MAX])
{
    struct ini_lines lines = {0};
    struct search_settings settings = settings_defaults();
    struct config *config = malloc(sizeof *config);
    bool is_study = false;
    if (!config)
        return config_say(err, -ENOMEM, "out of memory: %.300s", name);
    config_defaults(config);
    config->now_ns = now_ns ? now_ns : config_clock_ns(); /* one for all of its times */
    int r = ini_lines_read(file, name, &config_rules, &lines, err);
    if (r == 0)
        r = apply(&lines, name, config, &settings, err);
    if (r == 0)
        r = complete(name, config, &settings, err);
    for (size_t i = 0; i < lines.n; i++)
        is_study = is_study || config_is_study_section(lines.lines[i].section);
    if (r == 0) {
        *ret = *config;
        if (ret_settings) {
            *ret_settings = settings;
            *ret_is_study = is_study;
        }
    }
    if (r < 0 || !ret_settings)
        settings_finish(&settings);
    ini_lines_finish(&lines);
    free(config);
    return r;
}

int config_read(const char *path, struct config *ret, char err[static CONFIG_ERROR_MAX])
{
    const char *why;
    FILE *file = whole_file_stream(path, &why);
    if (!file) {
        int r = -errno;
        return config_say(err, r, "cannot read the configuration: %.300s: %s: an INI file is needed", path,
                          why);
    }
    int r = read_stream(file, path, 0, ret, NULL, NULL, err);
    fclose(file);
    return r;
}

int config_read_text(const char *name, const char *text, int64_t now_ns, struct config *ret,
                     struct search_settings *ret_settings, bool *ret_is_study,
                     char err[static CONFIG_ERROR_MAX])
{
    size_t n = strlen(text);
    FILE *file = n > 0 ? fmemopen((void *)(uintptr_t)text, n, "r") : fopen("/dev/null", "re");
    if (!file)
        return config_say(err, -errno, "out of memory: %.300s", name);
    int r = read_stream(file, name, now_ns, ret, ret_settings, ret_is_study, err);
    fclose(file);
    return r;
}

int config_parse(const char *name, const char *text, struct config *ret, char err[static CONFIG_ERROR_MAX])
{
    return config_read_text(name, text, 0, ret, NULL, NULL, err);
}
