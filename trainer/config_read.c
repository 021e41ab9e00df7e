/* Reading a configuration. inih splits the lines; what it leaves out is done around it: line numbers,
 * sections without keys, keys set twice, lines that do not fit its buffer. */
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/config_table.h"

enum { ENTRIES_MAX = 1024 };

struct entry {
    int line;
    char *section, *key, *value; /* one piece of memory, section's */
};

struct reading {
    FILE *file;
    int line, n;
    struct entry entries[ENTRIES_MAX];
    int failed_line, failure; /* 0: none */
    char reason[CONFIG_ERROR_MAX];
};

static int fail(struct reading *reading, int failure, const char *reason)
{
    if (reading->failed_line == 0) {
        reading->failed_line = reading->line;
        reading->failure = failure;
        snprintf(reading->reason, sizeof reading->reason, "%s", reason);
    }
    return 0;
}

static void take_heading(struct reading *reading, const char *text)
{
    char section[CONFIG_LINE_MAX], why[CONFIG_ERROR_MAX];
    snprintf(section, sizeof section, "%.*s", (int)strcspn(text, "]"), text);
    if (config_section(section, why) < 0)
        fail(reading, -EINVAL, why);
}

/* inih's reader: one line without leading blanks; NULL at the end and after a failure. */
static char *read_line(char *to, int size, void *ctx)
{
    struct reading *reading = ctx;
    if (reading->failed_line)
        return NULL;
    int n = 0, c = EOF;
    while (n < size - 1 && (c = getc_unlocked(reading->file)) != EOF) {
        if (n == 0 && (c == ' ' || c == '\t'))
            continue;
        to[n++] = (char)c;
        if (c == '\n' || c == '\0')
            break;
    }
    to[n] = '\0';
    if (n == 0)
        return NULL;
    reading->line++;
    if (c == '\0')
        fail(reading, -EINVAL, "a NUL byte: a text file is needed");
    else if (c != '\n' && c != EOF)
        fail(reading, -EINVAL, "the line is too long");
    else if (to[0] == '[' && strchr(to, ']'))
        take_heading(reading, to + 1);
    return reading->failed_line ? NULL : to;
}

static int take_pair(void *ctx, const char *section, const char *key, const char *value)
{
    struct reading *reading = ctx;
    char why[CONFIG_ERROR_MAX];
    size_t s = strlen(section) + 1, k = strlen(key) + 1, v = strlen(value) + 1;
    if (s == 1) {
        snprintf(why, sizeof why, "%.60s: before any section: [training] or another is needed first", key);
        return fail(reading, -EINVAL, why);
    }
    if (reading->n == ENTRIES_MAX)
        return fail(reading, -EINVAL, "too many lines for a configuration");
    char *text = malloc(s + k + v);
    if (!text)
        return fail(reading, -ENOMEM, "out of memory");
    memcpy(text, section, s);
    memcpy(text + s, key, k);
    memcpy(text + s + k, value, v);
    reading->entries[reading->n++] = (struct entry){reading->line, text, text + s, text + s + k};
    return 1;
}

static bool same_key(const struct entry *a, const struct entry *b)
{
    bool ppo = config_is_ppo_section(a->section) && config_is_ppo_section(b->section);
    return strcmp(a->key, b->key) == 0 && (ppo || strcmp(a->section, b->section) == 0);
}

static bool is_first(const struct entry *entry)
{
    return strcmp(entry->key, "preset") == 0 || strcmp(entry->key, "world") == 0;
}

/* Presets first, wherever they stand. */
static int apply(const struct reading *reading, const char *name, struct config *config, char *err)
{
    char why[CONFIG_ERROR_MAX];
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < reading->n; i++) {
            const struct entry *entry = &reading->entries[i];
            if (is_first(entry) != (turn == 0))
                continue;
            for (int j = 0; j < i; j++)
                if (same_key(entry, &reading->entries[j]))
                    return config_say(err, -EINVAL, "%.300s:%d: [%.60s] %.60s: already set in line %d", name,
                                      entry->line, entry->section, entry->key, reading->entries[j].line);
            int r = config_set(config, entry->section, entry->key, entry->value, why);
            if (r < 0)
                return config_say(err, r, "%.300s:%d: %.700s", name, entry->line, why);
        }
    for (int i = 0; i < reading->n && !config_trades(config); i++) {
        const struct entry *entry = &reading->entries[i];
        if (!config_is_ppo_section(entry->section))
            return config_say(err, -EINVAL,
                              "%.300s:%d: [%.60s] %.60s: the world %.60s is no market: leave the section out",
                              name, entry->line, entry->section, entry->key, config->world);
    }
    return 0;
}

static int parse(struct reading *reading, const char *name, char *err)
{
    /* Debian's build has these as variables. An indented line is a line, not more of the one above. */
    ini_allow_multiline = false;
    ini_use_stack = false;
    ini_initial_alloc = ini_max_line = CONFIG_LINE_MAX;

    errno = 0;
    int line = ini_parse_stream(read_line, reading, take_pair, reading);
    if (ferror(reading->file)) {
        int r = errno ? -errno : -EIO;
        return config_say(err, r, "cannot read the configuration: %.300s: %s: an INI file is needed", name,
                          strerror(-r));
    }
    if (line == -2)
        return config_say(err, -ENOMEM, "out of memory: %.300s", name);
    if (line > 0 && (!reading->failed_line || line < reading->failed_line))
        return config_say(err, -EINVAL, "%.300s:%d: no key: KEY = VALUE or [SECTION] is needed", name, line);
    if (reading->failed_line)
        return config_say(err, reading->failure, "%.300s:%d: %.500s", name, reading->failed_line,
                          reading->reason);
    return 0;
}

static int read_stream(FILE *file, const char *name, struct config *ret, char *err)
{
    char why[CONFIG_ERROR_MAX];
    struct reading *reading = calloc(1, sizeof *reading);
    struct config *config = malloc(sizeof *config);
    int r = reading && config ? 0 : config_say(err, -ENOMEM, "out of memory: %.300s", name);
    if (r == 0) {
        reading->file = file;
        config_defaults(config);
        r = parse(reading, name, err);
    }
    if (r == 0)
        r = apply(reading, name, config, err);
    if (r == 0 && (r = config_check(config, why)) < 0)
        config_say(err, r, "%.300s: %.700s", name, why);
    if (r == 0)
        *ret = *config;
    for (int i = 0; reading && i < reading->n; i++)
        free(reading->entries[i].section);
    free(reading);
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
