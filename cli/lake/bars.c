#include "cli/lake/bars.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/lake/names.h"
#include "cli/stored.h"
#include "exchange/bar.h"
#include "exchange/exit_status.h"
#include "exchange/folder.h"

static bool has_magic(const char *path)
{
    char magic[4];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool has =
        fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic && memcmp(magic, "PAR1", sizeof magic) == 0;
    if (fd >= 0)
        close(fd);
    return has;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

/* A manifest, a file of Parquet, or a partition as symbol=BTCUSDT, and in no state directory. */
static int look(void *ctx, const char *name)
{
    bool *is = ctx;
    if (strcmp(name, "papertape.db") == 0) {
        *is = false;
        return 1;
    }
    *is |= strcmp(name, "_manifest.jsonl") == 0 || ends_with(name, ".parquet") ||
           (name[0] != '.' && name[0] != '_' && strchr(name, '='));
    return 0;
}

bool cli_lake_is(const char *path)
{
    struct stat st;
    bool is = false;
    if (stat(path, &st) < 0)
        return false;
    if (!S_ISDIR(st.st_mode))
        return S_ISREG(st.st_mode) && has_magic(path);
    return folder_each(path, look, &is) >= 0 && is;
}

int cli_lake_folder(const char *verb, char ret[static PATH_MAX])
{
    char words[160];
    int r = folder_temporary("bars", ret);
    if (r == 0)
        return EXIT_OK;
    snprintf(words, sizeof words,
             "%s: bars of Parquet are CSV there while they are loaded: TMPDIR names another place",
             strerror(-r));
    return cli_stored_fail(EXIT_ERROR, verb, ret, words);
}

static json_t *request_of(const struct lake_asked *asked, const char *out)
{
    json_t *symbols = asked->n_symbols > 0 ? json_array() : json_null();
    for (size_t i = 0; i < asked->n_symbols; i++)
        json_array_append_new(symbols, json_string(asked->symbols[i]));
    return json_pack("{s:s, s:s, s:o, s:s?}", "path", asked->path, "out", out, "symbols", symbols, "interval",
                     asked->interval_ns > 0 ? bar_interval_name(asked->interval_ns) : NULL);
}

int cli_lake_write_bars(struct lake_python *python)
{
    return cli_lake_ask(python, json_pack("{s:b}", "write", true), NULL);
}

/* It asks in between what files' names say. */
static int ask(struct lake_python *python, json_t *request, json_t **ret)
{
    json_t *answer, *names;
    int status = cli_lake_ask(python, request, &answer);
    if (status != EXIT_OK || !(names = json_object_get(answer, "names"))) {
        if (status == EXIT_OK)
            *ret = answer;
        return status;
    }
    json_t *found = json_pack("{s:o}", "names", cli_lake_names(names));
    json_decref(answer);
    return cli_lake_ask(python, found, ret);
}

void cli_lake_where(struct lake_python *python, const char *path, char *words, size_t size)
{
    const size_t n = strlen(path);
    char *at = strstr(words, path), *end = at ? at + n : NULL, rest[1024];
    json_t *answer = NULL;
    if (!at)
        return;
    long line = *end == ':' ? strtol(end + 1, &end, 10) : 0;
    if (line == 0)
        end = at + n;
    if (cli_lake_ask(python, json_pack("{s:s, s:I}", "path", path, "line", (json_int_t)line), &answer) !=
        EXIT_OK)
        return;
    const char *where = json_string_value(json_object_get(answer, "where"));
    snprintf(rest, sizeof rest, "%s", end);
    if (where)
        snprintf(at, size - (size_t)(at - words), "%s%s", where, rest);
    json_decref(answer);
}

int cli_lake_bars(const struct lake_asked *asked, const char *out, struct lake_python **python, json_t **ret)
{
    static const char *const arguments[] = {"read", NULL};
    json_t *answer;
    int status = *python ? EXIT_OK : cli_lake_start(asked->verb, NULL, arguments, python);
    if (status != EXIT_OK)
        return status;
    status = ask(*python, request_of(asked, out), &answer);
    if (status != EXIT_OK)
        return status;
    *ret = json_incref(json_object_get(answer, "files"));
    json_decref(answer);
    return EXIT_OK;
}
