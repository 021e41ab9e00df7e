/* Runs a verb in the test's own process and keeps what it prints. */
#ifndef TESTS_DB_RUN_VERB_H
#define TESTS_DB_RUN_VERB_H

#include <jansson.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "tests/check.h"

static char out[1 << 16], err[4096];

static inline void read_back(FILE *file, char *buf, size_t size)
{
    rewind(file);
    buf[fread(buf, 1, size - 1, file)] = '\0';
    fclose(file);
}

/* Runs a verb with its words; what it prints is in out and err. */
static inline int run(const struct option_verb *verb, const char *first, ...)
{
    char *argv[16] = {(char *)(uintptr_t)first};
    int argc = 1;
    va_list words;
    va_start(words, first);
    while ((argv[argc] = va_arg(words, char *)) != NULL)
        argc++;
    va_end(words);

    fflush(stdout);
    fflush(stderr);
    FILE *files[2] = {tmpfile(), tmpfile()};
    int saved[2] = {dup(1), dup(2)};
    dup2(fileno(files[0]), 1);
    dup2(fileno(files[1]), 2);
    static const struct option_program program = {
        .name = "papertape", .global = cli_globals, .n_global = CLI_GLOBALS, .say = cli_say};
    int status = option_run(&program, verb, argc, argv);
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        dup2(saved[i], i + 1);
        close(saved[i]);
    }
    read_back(files[0], out, sizeof out);
    read_back(files[1], err, sizeof err);
    return status;
}

static inline const char *line(int n)
{
    static char text[512];
    const char *at = out;
    for (; n > 0 && at; n--)
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    snprintf(text, sizeof text, "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
    return text;
}

static inline int lines(void)
{
    int n = 0;
    for (const char *at = out; (at = strchr(at, '\n')) != NULL; at++)
        n++;
    return n;
}

static inline json_t *object(const char *schema)
{
    json_error_t error;
    json_t *json = json_loads(out, 0, &error);
    if (!json)
        fprintf(stderr, "%s: %s\n", out, error.text);
    CHECK(json != NULL);
    CHECK_STR(json_string_value(json_object_get(json, "schema")), schema);
    return json;
}

#endif
