#include "exchange/ini_lines.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    FILE *file;
    const struct ini_rules *rules;
    struct ini_lines lines;
    size_t cap;
    int line;
    int failed_line, failure; /* 0: none */
    char reason[INI_ERROR_MAX];
};

__attribute__((format(printf, 3, 4))) static int say(char *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err, INI_ERROR_MAX, format, args);
    va_end(args);
    return code;
}

/* inih's handlers give 0 for a failure. */
static int fail(struct reading *reading, int failure, const char *reason)
{
    if (reading->failed_line == 0) {
        reading->failed_line = reading->line;
        reading->failure = failure;
        say(reading->reason, 0, "%s", reason);
    }
    return 0;
}

static int add(struct reading *reading, const char *section, const char *key, const char *value)
{
    struct ini_lines *lines = &reading->lines;
    if (lines->n == INI_LINES_MAX)
        return fail(reading, -EINVAL, "too many lines for a configuration");
    if (lines->n == reading->cap) {
        size_t cap = reading->cap ? 2 * reading->cap : 64;
        struct ini_line *moved = reallocarray(lines->lines, cap, sizeof *moved);
        if (!moved)
            return fail(reading, -ENOMEM, "out of memory");
        lines->lines = moved;
        reading->cap = cap;
    }
    size_t s = strlen(section) + 1, k = key ? strlen(key) + 1 : 0, v = key ? strlen(value) + 1 : 0;
    char *text = malloc(s + k + v);
    if (!text)
        return fail(reading, -ENOMEM, "out of memory");
    memcpy(text, section, s);
    if (key) {
        memcpy(text + s, key, k);
        memcpy(text + s + k, value, v);
    }
    lines->lines[lines->n++] =
        (struct ini_line){reading->line, text, key ? text + s : NULL, key ? text + s + k : NULL};
    return 1;
}

static void take_heading(struct reading *reading, const char *text)
{
    char section[INI_LINE_MAX], reason[INI_ERROR_MAX];
    snprintf(section, sizeof section, "%.*s", (int)strcspn(text, "]"), text);
    int r = reading->rules->heading(section, reason);
    if (r < 0)
        fail(reading, r, reason);
    else
        add(reading, section, NULL, NULL);
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
    char reason[INI_ERROR_MAX];
    if (*section)
        return add(reading, section, key, value);
    say(reason, 0, "%.60s%sbefore any section: [%s] or another is needed first", key,
        *key ? ": " : "no key, and ", reading->rules->example);
    return fail(reading, -EINVAL, reason);
}

static int parse(struct reading *reading, const char *name, char *err)
{
    /* Debian's build has these as variables. An indented line is a line, not more of the one above. */
    ini_allow_multiline = false;
    ini_use_stack = false;
    ini_initial_alloc = ini_max_line = reading->rules->line_max ? reading->rules->line_max : INI_LINE_MAX;

    errno = 0;
    int line = ini_parse_stream(read_line, reading, take_pair, reading);
    if (ferror(reading->file)) {
        int r = errno ? -errno : -EIO;
        return say(err, r, "%.300s: %s: an INI file that can be read is needed", name, strerror(-r));
    }
    if (line == -2)
        return say(err, -ENOMEM, "%.300s: out of memory", name);
    if (line > 0 && (!reading->failed_line || line < reading->failed_line))
        return say(err, -EINVAL, "%.300s:%d: KEY = VALUE or [SECTION] is needed", name, line);
    if (reading->failed_line)
        return say(err, reading->failure, "%.180s:%d: %.300s", name, reading->failed_line, reading->reason);
    return 0;
}

int ini_lines_read(FILE *file, const char *name, const struct ini_rules *rules, struct ini_lines *ret,
                   char err[static INI_ERROR_MAX])
{
    struct reading reading = {.file = file, .rules = rules};
    int r = parse(&reading, name, err);
    if (r < 0)
        ini_lines_finish(&reading.lines);
    else
        *ret = reading.lines;
    return r;
}

void ini_lines_finish(struct ini_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        free(lines->lines[i].section);
    free(lines->lines);
    *lines = (struct ini_lines){0};
}
