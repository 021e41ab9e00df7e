#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/whole_file.h"
#include "trainer/command/args.h"
#include "trainer/command/train.h"
#include "trainer/config.h"
#include "trainer/study/rules.h"
#include "trainer/study/settings.h"
#include "trainer/training/source.h"

enum { TEXT_MAX = 1 << 24, WARNINGS = 4 };

struct error_output {
    const char *path;
    json_t *errors; /* NULL: as lines */
    int skip;       /* so many were printed already */
};

static void take_error(void *ctx, int line, const char *section, const char *key, const char *message)
{
    struct error_output *error_output = ctx;
    if (error_output->skip-- > 0)
        return;
    if (error_output->errors) {
        json_array_append_new(error_output->errors, json_pack("{s:i, s:s, s:s, s:s}", "line", line, "section",
                                                              section, "key", key, "message", message));
        return;
    }
    fprintf(stderr, "papertape-trainer: %s:", error_output->path);
    if (line > 0)
        fprintf(stderr, "%d:", line);
    if (*section)
        fprintf(stderr, " [%s]", section);
    if (*key)
        fprintf(stderr, " %s:", key);
    fprintf(stderr, " %s\n", message);
}

char *train_read_text(const char *path, char err[static TRAIN_TEXT_ERROR_MAX])
{
    const char *unopened = NULL;
    FILE *file = whole_file_stream(path, &unopened);
    char *text = file ? malloc(TEXT_MAX) : NULL;
    size_t n = text ? fread(text, 1, TEXT_MAX - 1, file) : 0;
    bool whole = text && !ferror(file) && feof(file);
    const char *why = !file                  ? unopened
                      : text && ferror(file) ? strerror(errno)
                      : !text                ? "out of memory"
                                             : "it is too large";
    if (whole && memchr(text, '\0', n)) {
        why = "a NUL byte";
        whole = false;
    }
    if (file)
        fclose(file);
    if (whole) {
        text[n] = '\0';
        return text;
    }
    free(text);
    snprintf(err, TRAIN_TEXT_ERROR_MAX, "cannot read the configuration: %.4096s: %s: an INI file is needed",
             path, why);
    return NULL;
}

int train_print_errors(const char *path, const char *text)
{
    struct error_output error_output = {.path = path};
    return train_config_errors(path, text, NULL, take_error, &error_output);
}

void train_print_other_errors(const char *path)
{
    char err[TRAIN_TEXT_ERROR_MAX], *text = train_read_text(path, err);
    struct error_output error_output = {.path = path, .skip = 1};
    if (text)
        (void)train_config_errors(path, text, NULL, take_error, &error_output);
    free(text);
}

/* A symbol, or bars, that its state does not have. How many errors that is. */
static int check_symbols(const char *path, const char *text, struct error_output *output)
{
    struct train_config *config = malloc(sizeof *config);
    char err[SOURCE_ERROR_MAX];
    bool wrong = config && train_config_errors(path, text, config, take_error, output) == 0 &&
                 training_source_check_symbols(config, true, err) < 0;
    if (wrong)
        take_error(output, 0, "data", "symbols", err);
    free(config);
    return wrong;
}

/* As lines on stderr, or into `list`. A study's steps are its trials'. */
static void take_warnings(const char *path, const char *text, json_t *list)
{
    struct train_config *config = malloc(sizeof *config);
    struct study_settings settings;
    char words[WARNINGS][SOURCE_ERROR_MAX];
    bool is_study, is[WARNINGS] = {false};
    if (config && study_settings_parse(path, text, config, &settings, &is_study, words[0]) == 0) {
        is[0] = !is_study && train_config_warns(config, words[0]);
        is[1] = train_config_untradable(config, words[1]);
        is[2] = study_rules_long_only(&settings.rules, &settings.space, words[2]);
        is[3] = training_source_lacks_bars(config, words[3]);
        study_settings_finish(&settings);
    }
    for (int i = 0; i < WARNINGS; i++) {
        if (is[i] && list)
            json_array_append_new(list, json_string(words[i]));
        else if (is[i])
            fprintf(stderr, "papertape-trainer: %s: %s\n", path, words[i]);
    }
    free(config);
}

int train_check(const char *path, bool json)
{
    char err[TRAIN_TEXT_ERROR_MAX], *text = train_read_text(path, err);
    struct error_output error_output = {.path = path, .errors = json ? json_array() : NULL};
    if (!text)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    int n = json && !error_output.errors ? -ENOMEM
                                         : train_config_errors(path, text, NULL, take_error, &error_output);
    json_t *warnings = json ? json_array() : NULL;
    if (n == 0)
        n = check_symbols(path, text, &error_output);
    if (n == 0)
        take_warnings(path, text, warnings);
    free(text);
    json_t *out = json && n >= 0 ? json_pack("{s:s, s:O, s:O}", "schema", "papertape.training-check/1",
                                             "errors", error_output.errors, "warnings", warnings)
                                 : NULL;
    if (n >= 0 && json && (!out || json_array_size(error_output.errors) != (size_t)n))
        n = -ENOMEM;
    else if (out && (json_dumpf(out, stdout, JSON_INDENT(1)) < 0 || putchar('\n') < 0))
        n = -EIO;
    json_decref(out);
    json_decref(warnings);
    json_decref(error_output.errors);
    if (n < 0)
        return trainer_args_say(EXIT_FAILURE, "cannot check: %s: %s", path, strerror(-n));
    return n > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
