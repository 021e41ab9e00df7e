/* Reading a configuration file. inih splits its lines; what it leaves out is done around it: line numbers,
 * sections without keys, keys set twice, lines that do not fit its buffer. */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config.h"
#include "daemon/config_keys.h"

enum {
    LINE_MAX_BYTES = 8192, /* 256 symbols fit */
    ENTRIES_MAX = 4096,
};

/* A line of the file: a key with its value, or the heading of a section, whose key is NULL. */
struct entry {
    int line;
    char *section, *key, *value;
};

struct reading {
    FILE *file;
    int line;
    struct entry *entries;
    size_t n, cap;
    int failed_line; /* 0: none */
    int failure;     /* -EINVAL or -ENOMEM */
    char reason[CONFIG_REASON_MAX];
};

static void fail(struct reading *reading, int failure, const char *reason)
{
    if (reading->failed_line)
        return;
    reading->failed_line = reading->line;
    reading->failure = failure;
    snprintf(reading->reason, sizeof reading->reason, "%s", reason);
}

static bool add(struct reading *reading, const char *section, const char *key, const char *value)
{
    if (reading->n == ENTRIES_MAX) {
        fail(reading, -EINVAL, "too many lines for a configuration");
        return false;
    }
    if (reading->n == reading->cap) {
        size_t cap = reading->cap ? 2 * reading->cap : 64;
        struct entry *entries = reallocarray(reading->entries, cap, sizeof *entries);
        if (!entries) {
            fail(reading, -ENOMEM, "out of memory");
            return false;
        }
        reading->entries = entries;
        reading->cap = cap;
    }
    struct entry *entry = &reading->entries[reading->n++];
    *entry = (struct entry){
        .line = reading->line,
        .section = strdup(section),
        .key = key ? strdup(key) : NULL,
        .value = value ? strdup(value) : NULL,
    };
    if (!entry->section || (key && !entry->key) || (value && !entry->value)) {
        fail(reading, -ENOMEM, "out of memory");
        return false;
    }
    return true;
}

static void take_heading(struct reading *reading, const char *text)
{
    char section[LINE_MAX_BYTES], reason[CONFIG_REASON_MAX], shown[CONFIG_REASON_MAX];
    const char *account;
    snprintf(section, sizeof section, "%.*s", (int)strcspn(text, "]"), text);
    if (config_section(section, &account, reason) == 0) {
        add(reading, section, NULL, NULL);
    } else {
        snprintf(shown, sizeof shown, "[%.60s]: %.200s", section, reason);
        fail(reading, -EINVAL, shown);
    }
}

/* inih's reader: one line into `to`, without leading blanks; NULL at the end and after a failure. */
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
    else if (strncmp(to, "\xEF\xBB\xBF[", 4) == 0 && reading->line == 1)
        take_heading(reading, to + 4);
    else if (to[0] == '[' && strchr(to, ']'))
        take_heading(reading, to + 1);
    return reading->failed_line ? NULL : to;
}

static int take_pair(void *ctx, const char *section, const char *key, const char *value)
{
    struct reading *reading = ctx;
    if (*section == '\0') {
        char reason[CONFIG_REASON_MAX];
        snprintf(reason, sizeof reason, "%.60s: before any section: [market] or another is needed first",
                 key);
        fail(reading, -EINVAL, reason);
        return 0;
    }
    return add(reading, section, key, value);
}

/* The earlier line that sets the same, or 0. */
static int set_before(const struct reading *reading, size_t i)
{
    const struct entry *entry = &reading->entries[i];
    for (size_t j = 0; j < i; j++) {
        const struct entry *other = &reading->entries[j];
        if (other->key && strcmp(other->key, entry->key) == 0 && strcmp(other->section, entry->section) == 0)
            return other->line;
    }
    return 0;
}

/* A strategy's parameters can only be understood once the strategy is known, wherever it stands. */
static bool is_param(const struct entry *entry)
{
    return entry->key && strncmp(entry->key, "strategy.", strlen("strategy.")) == 0;
}

static int apply(const struct reading *reading, const char *path, struct config *config, char *error)
{
    for (size_t i = 0; i < reading->n; i++)
        if (strncmp(reading->entries[i].section, "account", strlen("account")) == 0)
            config->n_accounts = 0; /* the file's accounts replace the default one */
    for (int params = 0; params <= 1; params++)
        for (size_t i = 0; i < reading->n; i++) {
            const struct entry *entry = &reading->entries[i];
            if (is_param(entry) != (params == 1))
                continue;
            int before = entry->key ? set_before(reading, i) : 0;
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

static int parse(struct reading *reading, const char *path, char *error)
{
    /* Debian's build has these as variables. An indented line is a line, not more of the one above. */
    ini_allow_multiline = false;
    ini_use_stack = false;
    ini_initial_alloc = ini_max_line = LINE_MAX_BYTES;

    errno = 0;
    int line = ini_parse_stream(read_line, reading, take_pair, reading);
    if (ferror(reading->file)) {
        int e = errno ? errno : EIO;
        config_reason(error, CONFIG_ERROR_MAX, "%.300s: %s", path, strerror(e));
        return -e;
    }
    if (line == -2) {
        config_reason(error, CONFIG_ERROR_MAX, "%.300s: %s", path, strerror(ENOMEM));
        return -ENOMEM;
    }
    if (line > 0 && (!reading->failed_line || line < reading->failed_line))
        return config_reason(error, CONFIG_ERROR_MAX, "%.300s:%d: KEY = VALUE or [SECTION] is needed", path,
                             line);
    if (reading->failed_line) {
        config_reason(error, CONFIG_ERROR_MAX, "%.180s:%d: %s", path, reading->failed_line, reading->reason);
        return reading->failure;
    }
    return 0;
}

int config_read(const char *path, struct config *ret, char error[static CONFIG_ERROR_MAX])
{
    struct reading reading = {.file = fopen(path, "re")};
    if (!reading.file) {
        int e = errno;
        config_reason(error, CONFIG_ERROR_MAX, "%.300s: %s: an INI file that can be read is needed", path,
                      strerror(e));
        return -e;
    }
    struct config config;
    config_defaults(&config);
    int e = parse(&reading, path, error);
    if (e == 0)
        e = apply(&reading, path, &config, error);
    if (e == 0) {
        char reason[CONFIG_ERROR_MAX];
        e = config_check(&config, reason);
        if (e)
            config_reason(error, CONFIG_ERROR_MAX, "%.150s: %.350s", path, reason);
    }
    if (e == 0)
        *ret = config;

    for (size_t i = 0; i < reading.n; i++) {
        free(reading.entries[i].section);
        free(reading.entries[i].key);
        free(reading.entries[i].value);
    }
    free(reading.entries);
    fclose(reading.file);
    return e;
}
