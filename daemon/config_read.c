/* Reading a configuration's file: its lines by record/config_file, strategies' parameters last. */
#include <errno.h>
#include <string.h>

#include "daemon/config.h"
#include "daemon/config_keys.h"
#include "record/config_file.h"
#include "strategy/external.h"

static int read_heading(const char *section, char why[static CONFIG_WHY_MAX])
{
    const char *name;
    int kind = daemon_config_section(section, &name, why);
    return kind < 0 ? kind : 0;
}

/* Wherever they stand: the venue, since a section of its name is then no other one's; all else; and a
 * strategy's parameters, which can only be understood once the strategy is known. */
enum { FIRST, MIDDLE, LAST, TURNS };

static int turn_of(const struct config_line *line)
{
    if (line->key && strcmp(line->section, "market") == 0 && strcmp(line->key, "venue") == 0)
        return FIRST;
    return line->key && strncmp(line->key, "strategy.", strlen("strategy.")) == 0 ? LAST : MIDDLE;
}

struct config_reading {
    struct daemon_config *config;
    struct config_file *file;
    size_t n_late; /* errors: a strategy's process did not answer in time */
};

/* Are they parameters of a strategy that is wrong itself, so that they are not known? */
static bool is_unknown(const struct config_reading *reading, const struct config_line *line)
{
    return turn_of(line) == LAST && config_file_faulty(reading->file, line->section, "strategy");
}

static int set_line(void *ctx, const struct config_line *line, char why[static CONFIG_WHY_MAX])
{
    struct config_reading *reading = ctx;
    if (is_unknown(reading, line))
        return 0;
    int r = daemon_config_set_line(reading->config, line->section, line->key, line->value, why);
    reading->n_late += r == -ETIMEDOUT;
    return r;
}

static const struct config_form form = {
    .example = "market",
    .heading = read_heading,
    .turns = TURNS,
    .turn = turn_of,
    .headings = true,
    .set = set_line,
};

static void take_misfit(void *ctx, const char *section, const char *keys, const char *words)
{
    struct config_reading *reading = ctx;
    size_t before = reading->file->n_errors;
    config_file_misfit(reading->file, &form, section, keys, words);
    reading->n_late += reading->file->n_errors > before && strcmp(words, strategy_unanswered) == 0;
}

int daemon_config_read(const char *path, struct daemon_config *ret, char errors[static CONFIG_ERRORS_MAX])
{
    struct daemon_config *config = malloc(sizeof *config); /* too large for a stack */
    struct config_file file;
    int e = config_file_read(&file, path, &form);
    if (!config) {
        config_file_finish(&file);
        snprintf(errors, CONFIG_ERRORS_MAX, "%.300s: out of memory", path);
        return -ENOMEM;
    }
    daemon_config_defaults(config);
    for (size_t i = 0; i < file.n; i++)
        if (strncmp(file.lines[i].section, "account", strlen("account")) == 0)
            config->n_accounts = 0; /* the file's accounts replace the default one */
    struct config_reading reading = {.config = config, .file = &file};
    if (e == 0) {
        config_file_apply(&file, &form, &reading);
        if (config->n_accounts > 0 || file.n_errors == 0)
            daemon_config_check_all(config, &(struct daemon_config_check){take_misfit, &reading});
    }
    if (e == 0 && file.n_errors > 0)
        e = reading.n_late == file.n_errors ? -ETIMEDOUT : -EINVAL;
    if (file.no_memory)
        e = -ENOMEM;
    config_file_sort(&file);
    config_file_words(&file, errors, CONFIG_ERRORS_MAX);
    if (e == -ENOMEM)
        snprintf(errors, CONFIG_ERRORS_MAX, "%.300s: out of memory", path);
    if (e == 0)
        *ret = *config;
    free(config);
    config_file_finish(&file);
    return e;
}

int daemon_config_line(const char *path, const char *section, const char *key)
{
    static const struct config_form any = {.example = "market"};
    struct config_file file = {0};
    int line = path && config_file_read(&file, path, &any) == 0
                   ? config_file_line(&file, &any, section, key, true)
                   : 0;
    config_file_finish(&file);
    return line;
}

void daemon_config_place(const char *path, const char *words, char *ret, size_t size)
{
    const char *end = words[0] == '[' ? strchr(words, ']') : NULL, *key = end && end[1] == ' ' ? end + 2 : "";
    char section[64], name[64];
    snprintf(ret, size, "%s", words);
    if (!path || !end)
        return;
    snprintf(section, sizeof section, "%.*s", (int)(end - words) - 1, words + 1);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(key, " :"), key);
    int line = daemon_config_line(path, section, name);
    if (line > 0)
        config_key_refuse(ret, size, "%.150s:%d: %s", path, line, words);
    else
        config_key_refuse(ret, size, "%.150s: %s", path, words);
}
