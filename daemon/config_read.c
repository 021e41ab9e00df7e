/* Reading a configuration file: the lines of exchange/ini_lines, strategies' parameters last. */
#include <errno.h>
#include <string.h>

#include "daemon/config.h"
#include "daemon/config_keys.h"
#include "exchange/ini_lines.h"
#include "exchange/whole_file.h"

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

/* ---- where an error is ---- */

/* Takes "[SECTION] KEY: …" or "[SECTION]: …" apart: the section's length, the key and its length. False: it
 * is neither. */
static bool names_key(const char *words, size_t *ret_section, const char **ret_key, size_t *ret_len)
{
    const char *end = words[0] == '[' ? strchr(words, ']') : NULL;
    if (!end)
        return false;
    *ret_section = (size_t)(end - words) - 1;
    *ret_key = end[1] == ' ' ? end + 2 : "";
    *ret_len = strcspn(*ret_key, " :");
    return true;
}

/* The line of the key, or else that of the section's heading, or of any key there; 0: none. */
static int line_of(const struct ini_lines *file, const char *words)
{
    size_t section, len;
    const char *key;
    int found = 0;
    if (!names_key(words, &section, &key, &len))
        return 0;
    for (size_t i = 0; i < file->n; i++) {
        const struct ini_line *line = &file->lines[i];
        if (strlen(line->section) != section || strncmp(line->section, words + 1, section) != 0)
            continue;
        if (line->key && strlen(line->key) == len && strncmp(line->key, key, len) == 0)
            return line->line;
        if (!found)
            found = line->line;
    }
    return found;
}

static void place(const struct ini_lines *file, const char *path, const char *words, char *ret, size_t size)
{
    int line = line_of(file, words);
    if (line > 0)
        config_reason(ret, size, "%.150s:%d: %s", path, line, words);
    else
        config_reason(ret, size, "%.150s: %s", path, words);
}

static int any_heading(const char *section, char reason[static INI_ERROR_MAX])
{
    (void)section, (void)reason;
    return 0;
}

void config_place(const char *path, const char *words, char *ret, size_t size)
{
    static const struct ini_rules rules = {.example = "market", .heading = any_heading};
    struct ini_lines lines = {0};
    char why[INI_ERROR_MAX];
    const char *reason;
    FILE *file = path && words[0] == '[' ? whole_file_stream(path, &reason) : NULL;
    if (file && ini_lines_read(file, path, &rules, &lines, why) == 0)
        place(&lines, path, words, ret, size);
    else
        snprintf(ret, size, "%s", words);
    ini_lines_finish(&lines);
    if (file)
        fclose(file);
}

int config_read(const char *path, struct config *ret, char error[static CONFIG_ERROR_MAX])
{
    static const struct ini_rules rules = {.example = "market", .heading = read_heading};
    char why[INI_ERROR_MAX];
    const char *reason;
    FILE *file = whole_file_stream(path, &reason);
    if (!file) {
        int e = errno;
        config_reason(error, CONFIG_ERROR_MAX, "%.300s: %s: an INI file that can be read is needed", path,
                      reason);
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
        char what[CONFIG_ERROR_MAX];
        e = config_check(&config, what);
        if (e)
            place(&lines, path, what, error, CONFIG_ERROR_MAX);
    }
    if (e == 0)
        *ret = config;
    ini_lines_finish(&lines);
    fclose(file);
    return e;
}
