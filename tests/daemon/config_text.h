/* A configuration's text, read as a file, for the tests of configurations. */
#ifndef TESTS_DAEMON_CONFIG_TEXT_H
#define TESTS_DAEMON_CONFIG_TEXT_H

#include <errno.h>

#include "daemon/config.h"
#include "tests/check.h"
#include "tests/scratch.h"

static char error[CONFIG_ERRORS_MAX];

static inline const char *config_path(void)
{
    return scratch_path("papertaped.ini");
}

static inline void write_file(const char *bytes, size_t n)
{
    FILE *file = fopen(config_path(), "we");
    if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0)
        abort();
}

/* Reads text as a file; on failure each line of error starts after the file's name. */
static inline int read_text(const char *text, struct daemon_config *ret)
{
    const char *path = config_path();
    write_file(text, strlen(text));
    error[0] = '\0';
    int e = daemon_config_read(path, ret, error);
    for (char *name; (name = strstr(error, path));)
        memmove(name, name + strlen(path), strlen(name + strlen(path)) + 1);
    return e;
}

static inline void fails(const char *text, const char *expected)
{
    static struct daemon_config config, untouched; /* large */
    memset(&config, 0x5a, sizeof config);
    memset(&untouched, 0x5a, sizeof untouched);
    CHECK_INT(read_text(text, &config), -EINVAL);
    CHECK_STR(error, expected);
    CHECK(memcmp(&config, &untouched, sizeof config) == 0);
}

static inline char *printed(const struct daemon_config *config)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        abort();
    daemon_config_print(config, file);
    fclose(file);
    return text;
}

static inline void round_trip(const struct daemon_config *config)
{
    struct daemon_config again;
    char *text = printed(config);
    CHECK_INT(read_text(text, &again), 0);
    CHECK_STR(error, "");
    char *text2 = printed(&again);
    CHECK_STR(text2, text);
    free(text);
    free(text2);
}

static inline size_t load(const char *from, char *text, size_t size)
{
    FILE *file = fopen(from, "r");
    if (!file)
        abort();
    size_t n = fread(text, 1, size - 1, file);
    fclose(file);
    text[n] = '\0';
    return n;
}

#endif
