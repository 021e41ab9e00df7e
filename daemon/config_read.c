/* Reading a configuration file: the lines of exchange/ini_lines, strategies' parameters last. */
#include <errno.h>
#include <string.h>

#include "daemon/config.h"
#include "daemon/config_keys.h"
#include "exchange/ini_lines.h"

/* The earlier line that sets the same, or 0. */
static int set_before(const struct ini_lines *file, size_t i)
{
    const struct ini_line *entry = &file->lines[i];
    for (size_t j = 0; j < i; j++) {
        const struct ini_line *other = &file->lines[j];
        if (other->key && strcmp(other->key, entry->key) == 0 && strcmp(other->section, entry->section) == 0)
            return other->line;
    }
    return 0;
}

/* Wherever they stand: the venue, since a section of its name is then no other one's; all else; and a
 * strategy's parameters, which can only be understood once the strategy is known. */
enum reading { FIRST, MIDDLE, LAST };

static enum reading order_of(const struct ini_line *entry)
{
    if (entry->key && strcmp(entry->section, "market") == 0 && strcmp(entry->key, "venue") == 0)
        return FIRST;
    return entry->key && strncmp(entry->key, "strategy.", strlen("strategy.")) == 0 ? LAST : MIDDLE;
}

static int apply(const struct ini_lines *file, const char *path, struct config *config, char *error)
{
    for (size_t i = 0; i < file->n; i++)
        if (strncmp(file->lines[i].section, "account", strlen("account")) == 0)
            config->n_accounts = 0; /* the file's accounts replace the default one */
    for (enum reading order = FIRST; order <= LAST; order++)
        for (size_t i = 0; i < file->n; i++) {
            const struct ini_line *entry = &file->lines[i];
            if (order_of(entry) != order)
                continue;
            int before = entry->key ? set_before(file, i) : 0;
            if (before)
                return config_reason(error, CONFIG_ERROR_MAX,
                                     "%.150s:%d: [%.60s] %.60s: already set in line %d", path, entry->line,
                                     entry->section, entry->key, before);
            char reason[CONFIG_ERROR_MAX];
            int e = config_set(config, entry->section, entry->key, entry->value, reason);
            if (e) {
                config_reason(error, CONFIG_ERROR_MAX, "%.150s:%d: %.340s", path, entry->line, reason);
                return e;
            }
        }
    return 0;
}

static int read_heading(const char *section, char reason[static INI_ERROR_MAX])
{
    char why[CONFIG_REASON_MAX];
    const char *name;
    if (config_section(section, &name, why) >= 0)
        return 0;
    return config_reason(reason, INI_ERROR_MAX, "[%.60s]: %.200s", section, why);
}

int config_read(const char *path, struct config *ret, char error[static CONFIG_ERROR_MAX])
{
    static const struct ini_rules rules = {.example = "market", .heading = read_heading};
    char why[INI_ERROR_MAX];
    FILE *file = fopen(path, "re");
    if (!file) {
        int e = errno;
        config_reason(error, CONFIG_ERROR_MAX, "%.300s: %s: an INI file that can be read is needed", path,
                      strerror(e));
        return -e;
    }
    struct ini_lines lines = {0};
    struct config config;
    config_defaults(&config);
    int e = ini_lines_read(file, path, &rules, &lines, why);
    if (e)
        config_reason(error, CONFIG_ERROR_MAX, "%s", why);
    else
        e = apply(&lines, path, &config, error);
    if (e == 0) {
        char reason[CONFIG_ERROR_MAX];
        e = config_check(&config, reason);
        if (e)
            config_reason(error, CONFIG_ERROR_MAX, "%.150s: %.350s", path, reason);
    }
    if (e == 0)
        *ret = config;
    ini_lines_finish(&lines);
    fclose(file);
    return e;
}
