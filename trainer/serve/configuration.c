#include "trainer/serve/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/settings.h"
#include "trainer/training/source.h"

#define FILE_NAME "training.ini"

static void add(void *ctx, int line, const char *section, const char *key, const char *message)
{
    json_array_append_new(ctx, json_pack("{s:i, s:s, s:s, s:s}", "line", line, "section", section, "key", key,
                                         "message", message));
}

/* `ret` is set where the text has no error; NULL: it is not wanted. */
static json_t *errors_of(const char *text, struct train_config *ret)
{
    json_t *errors = json_array();
    if (errors && train_config_errors(FILE_NAME, text, ret, add, errors) == -ENOMEM) {
        json_decref(errors);
        return NULL;
    }
    return errors;
}

json_t *serve_configuration_errors(const char *text)
{
    return errors_of(text, NULL);
}

json_t *serve_configuration_refused(const char *text, bool bars)
{
    char err[SOURCE_ERROR_MAX];
    struct train_config *config = malloc(sizeof *config);
    json_t *errors = config ? errors_of(text, config) : NULL;
    if (errors && json_array_size(errors) == 0 && training_source_check_symbols(config, bars, err) < 0)
        add(errors, 0, "data", "symbols", err);
    free(config);
    return errors;
}

bool serve_configuration_warns(const char *text, char ret[static CONFIG_ERROR_MAX])
{
    struct train_config *config = malloc(sizeof *config);
    struct study_settings settings;
    bool warns = false, is_study;
    if (config && study_settings_parse(FILE_NAME, text, config, &settings, &is_study, ret) == 0) {
        warns = train_config_untradable(config, ret) ||
                study_rules_long_only(&settings.rules, &settings.space, ret);
        study_settings_finish(&settings);
    }
    free(config);
    return warns;
}

/* ---- Name and output. ---- */

static bool heads(const char *line, size_t n, const char *section)
{
    size_t length = strlen(section);
    while (n > 0 && isblank((unsigned char)*line))
        line++, n--;
    return n >= length + 2 && line[0] == '[' && strncmp(line + 1, section, length) == 0 &&
           line[length + 1] == ']';
}

static bool is_heading(const char *line, size_t n)
{
    size_t blanks = 0;
    while (blanks < n && isblank((unsigned char)line[blanks]))
        blanks++;
    return blanks < n && line[blanks] == '[';
}

static bool sets(const char *line, size_t n, const char *key)
{
    size_t length = strlen(key), i = 0;
    while (i < n && isblank((unsigned char)line[i]))
        i++;
    if (n - i < length || strncmp(line + i, key, length) != 0)
        return false;
    i += length;
    while (i < n && isblank((unsigned char)line[i]))
        i++;
    return i < n && (line[i] == '=' || line[i] == ':');
}

static char *edit(const char *text, const char *name, const char *output)
{
    char *edited = NULL;
    size_t bytes;
    FILE *out = open_memstream(&edited, &bytes);
    bool inside = false, done = false;
    if (!out)
        return NULL;
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        if (is_heading(line, n))
            inside = heads(line, n, "training");
        if (!inside || (!sets(line, n, "name") && !sets(line, n, "output")))
            fprintf(out, "%.*s\n", (int)n, line);
        if (inside && !done) {
            fprintf(out, "name = %s\noutput = %s\n", name, output);
            done = true;
        }
        line += n + (line[n] == '\n');
    }
    if (!done)
        fprintf(out, "[training]\nname = %s\noutput = %s\n", name, output);
    bool failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        free(edited);
        return NULL;
    }
    return edited;
}

/* NULL: it cannot be read, with the reason in `err`. For free(). */
static struct train_config *parse(const char *text, bool *ret_is_study, char *err)
{
    struct train_config *config = malloc(sizeof *config);
    struct study_settings settings = {0};
    if (!config || study_settings_parse(FILE_NAME, text, config, &settings, ret_is_study, err) < 0) {
        free(config);
        return NULL;
    }
    study_settings_finish(&settings);
    return config;
}

/* Does the edited text have the requested values? */
static bool says(const char *text, const char *name, const char *output)
{
    char err[CONFIG_ERROR_MAX];
    bool study;
    struct train_config *config = parse(text, &study, err);
    bool good = config && strcmp(config->name, name) == 0 && strcmp(config->output, output) == 0;
    free(config);
    return good;
}

/* The whole configuration, without the author's comments. */
static char *rewrite(const char *text, const char *name, const char *output, char *err)
{
    char *whole = NULL;
    bool is_study;
    struct train_config *config = parse(text, &is_study, err);
    if (config && is_study)
        snprintf(err, CONFIG_ERROR_MAX,
                 FILE_NAME ": [training]: name and output cannot be set in it: a plain heading [training] at "
                           "the beginning of a line would be right");
    else if (config && train_config_set(config, "training", "name", name, err) == 0 &&
             train_config_set(config, "training", "output", output, err) == 0)
        whole = train_config_text(config);
    free(config);
    return whole;
}

char *serve_configuration_complete(const char *text, const char *name, const char *output,
                                   char err[static CONFIG_ERROR_MAX])
{
    snprintf(err, CONFIG_ERROR_MAX, "out of memory: " FILE_NAME);
    char *edited = edit(text, name, output);
    if (edited && says(edited, name, output))
        return edited;
    free(edited);
    return rewrite(text, name, output, err);
}
