#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/text.h"
#include "exchange/exit_status.h"
#include "exchange/whole_file.h"

enum {
    LINE_MAX_BYTES = 64 << 10, /* of the daemon: docs/control.md */
    AROUND = 512,              /* the rest of the request */
};

/* As JSON writes it. */
static size_t escaped_length(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += strchr("\n\t\r\"\\", *text) ? 2 : (unsigned char)*text < ' ' ? 6 : 1;
    return n;
}

static json_t *as_json(const char *path, const char *text, size_t size)
{
    char words[120];
    json_t *json;

    if (size == 0) {
        cli_stored_fail(EXIT_ERROR, "train", path, "is empty: an INI file is needed");
        return NULL;
    }
    if (memchr(text, '\0', size)) {
        cli_stored_fail(EXIT_ERROR, "train", path, "holds a NUL byte: an INI file is needed");
        return NULL;
    }
    size_t n = escaped_length(text);
    if (n > LINE_MAX_BYTES - AROUND) {
        snprintf(words, sizeof(words), "%zu bytes for the daemon: a configuration has at most %d", n,
                 LINE_MAX_BYTES - AROUND);
        cli_stored_fail(EXIT_ERROR, "train", path, words);
        return NULL;
    }
    json = json_string(text);
    if (!json)
        cli_stored_fail(EXIT_ERROR, "train", path, "is not UTF-8 text: an INI file is needed");
    return json;
}

json_t *cli_train_config_read(const char *path)
{
    const char *why = NULL;
    FILE *file = whole_file_stream(path, &why);
    char *text = malloc(LINE_MAX_BYTES + 1);
    json_t *json = NULL;

    errno = file ? 0 : errno;
    size_t n = file && text ? fread(text, 1, LINE_MAX_BYTES, file) : 0;
    if (!file || ferror(file))
        cli_stored_fail(EXIT_ERROR, "train", path, file ? strerror(errno) : why);
    else if (!text)
        cli_stored_fail(EXIT_ERROR, "train", path, "out of memory");
    else {
        text[n] = '\0';
        json = as_json(path, text, n);
    }
    free(text);
    if (file)
        fclose(file);
    return json;
}

static void print_error(const char *path, const json_t *error)
{
    char shown[256];
    long long line = json_integer_value(json_object_get(error, "line"));
    const char *section = cli_answer_text(error, "section"), *key = cli_answer_text(error, "key");

    cli_text_clean(shown, sizeof(shown), path);
    fprintf(stderr, "papertape: train: %s:", shown);
    if (line > 0)
        fprintf(stderr, "%lld:", line);
    fputs(*section ? " [" : "", stderr);
    cli_text_print(stderr, section);
    fputs(*section ? "]" : "", stderr);
    fputs(*key ? " " : "", stderr);
    cli_text_print(stderr, key);
    fputs(*key ? ": " : " ", stderr);
    cli_text_print(stderr, cli_answer_text(error, "message"));
    fputc('\n', stderr);
}

void cli_train_config_warn(const char *of, const json_t *answer)
{
    char shown[256], words[1024];

    if (!json_is_string(json_object_get(answer, "warning")))
        return;
    cli_text_clean(shown, sizeof(shown), of);
    cli_text_clean(words, sizeof(words), cli_answer_text(answer, "warning"));
    fprintf(stderr, "papertape: train: %s: warning: %s\n", shown, words);
}

int cli_train_config_check(const char *state, const char *path, json_t *text, bool json)
{
    json_t *result, *error;
    size_t i;
    int status = cli_ask_daemon("train", state, "train_check", json_pack("{s:O}", "config", text), &result);

    if (status != EXIT_OK)
        return status;
    json_t *errors = json_object_get(result, "errors");
    if (!json_is_array(errors)) {
        json_decref(result);
        return cli_stored_fail(EXIT_ERROR, "train", path,
                               "the daemon's answer has no errors: both must be of one version");
    }
    status = json_array_size(errors) > 0 ? EXIT_ERROR : EXIT_OK;
    if (json) {
        int r = cli_answer_print("train", "papertape.training-check/1", "errors", json_incref(errors));
        status = r == EXIT_OK ? status : r;
    } else {
        json_array_foreach(errors, i, error) print_error(path, error);
    }
    cli_train_config_warn(path, result);
    json_decref(result);
    return status;
}
