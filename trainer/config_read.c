/* Reading a configuration: the lines of exchange/ini_lines, presets first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/config_table.h"

_Static_assert((int)INI_LINE_MAX >= (int)CONFIG_LINE_MAX && (int)INI_ERROR_MAX <= (int)CONFIG_ERROR_MAX,
               "exchange/ini_lines reads the longest value, and its sentences fit");

static bool same_key(const struct ini_line *a, const struct ini_line *b)
{
    bool ppo = config_is_ppo_section(a->section) && config_is_ppo_section(b->section);
    return b->key && strcmp(a->key, b->key) == 0 && (ppo || strcmp(a->section, b->section) == 0);
}

static bool is_first(const struct ini_line *entry)
{
    return strcmp(entry->key, "preset") == 0 || strcmp(entry->key, "world") == 0;
}

/* Presets first, wherever they stand. */
static int apply(const struct ini_lines *file, const char *name, struct config *config, char *err)
{
    char why[CONFIG_ERROR_MAX];
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < file->n; i++) {
            const struct ini_line *entry = &file->lines[i];
            if (!entry->key || is_first(entry) != (turn == 0))
                continue;
            for (size_t j = 0; j < i; j++)
                if (same_key(entry, &file->lines[j]))
                    return config_say(err, -EINVAL, "%.300s:%d: [%.60s] %.60s: already set in line %d", name,
                                      entry->line, entry->section, entry->key, file->lines[j].line);
            int r = config_set(config, entry->section, entry->key, entry->value, why);
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

static int read_stream(FILE *file, const char *name, struct config *ret, char *err)
{
    char why[CONFIG_ERROR_MAX];
    struct ini_lines lines = {0};
    struct config *config = malloc(sizeof *config);
    if (!config)
        return config_say(err, -ENOMEM, "out of memory: %.300s", name);
    config_defaults(config);
    int r = ini_lines_read(file, name, &config_rules, &lines, err);
    if (r == 0)
        r = apply(&lines, name, config, err);
    if (r == 0 && (r = config_check(config, why)) < 0)
        config_say(err, r, "%.300s: %.700s", name, why);
    if (r == 0)
        *ret = *config;
    ini_lines_finish(&lines);
    free(config);
    return r;
}

int config_read(const char *path, struct config *ret, char err[static CONFIG_ERROR_MAX])
{
    FILE *file = fopen(path, "re");
    if (!file) {
        int r = -errno;
        return config_say(err, r, "cannot read the configuration: %.300s: %s: an INI file is needed", path,
                          strerror(-r));
    }
    int r = read_stream(file, path, ret, err);
    fclose(file);
    return r;
}

int config_parse(const char *name, const char *text, struct config *ret, char err[static CONFIG_ERROR_MAX])
{
    size_t n = strlen(text);
    FILE *file = n > 0 ? fmemopen((void *)(uintptr_t)text, n, "r") : fopen("/dev/null", "re");
    if (!file)
        return config_say(err, -errno, "out of memory: %.300s", name);
    int r = read_stream(file, name, ret, err);
    fclose(file);
    return r;
}
