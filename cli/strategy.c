/* papertape strategy new: a folder to start from. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/strategy_templates.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"
#include "exchange/whole_file.h"

enum { NAME_MOST = 40, PATH_MOST = 2 * NAME_MOST + 32 };

struct asked {
    bool python;
};

/* A file of the folder: which template, its name there ("@NAME@" stands for the name), and whether it runs.
 */
struct strategy_part {
    const char *from, *to;
    mode_t mode;
};

static const struct strategy_part parts_of_c[] = {{"strategy.c", "@NAME@.c", 0644},
                                                  {"Makefile", "Makefile", 0644},
                                                  {"test.sh", "test.sh", 0755},
                                                  {"README.md", "README.md", 0644},
                                                  {NULL, NULL, 0}};
static const struct strategy_part parts_of_python[] = {{"strategy.py", "@NAME@.py", 0644},
                                                       {"test.sh", "test.sh", 0755},
                                                       {"README-python.md", "README.md", 0644},
                                                       {NULL, NULL, 0}};

/* Writes text with the name in its places; returns its length without the end. NULL: only measures it. */
static size_t fill(const char *text, const char *name, char *to)
{
    static const char mark[] = "@NAME@";
    size_t at = 0;
    for (const char *next; (next = strstr(text, mark)); text = next + sizeof mark - 1) {
        size_t n = (size_t)(next - text), len = strlen(name);
        if (to) {
            memcpy(to + at, text, n);
            memcpy(to + at + n, name, len);
        }
        at += n + len;
    }
    if (to)
        memcpy(to + at, text, strlen(text) + 1);
    return at + strlen(text);
}

static const char *text_of(const char *file)
{
    const struct strategy_template *row = cli_strategy_templates;
    while (row->file && strcmp(row->file, file) != 0)
        row++;
    return row->text;
}

/* 0 or -errno; `path` says of which file. */
static int write_part(const struct strategy_part *part, const char *name, char path[static PATH_MOST])
{
    char inside[NAME_MOST + 16];
    const char *text = text_of(part->from);
    fill(part->to, name, inside);
    snprintf(path, PATH_MOST, "%s/%s", name, inside);
    size_t n = fill(text, name, NULL);
    char *filled = malloc(n + 1);
    if (!filled)
        return -ENOMEM;
    fill(text, name, filled);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, part->mode);
    int r = fd < 0 ? -errno : whole_file_write(fd, filled, n);
    if (fd >= 0 && close(fd) < 0 && r == 0)
        r = -errno;
    free(filled);
    return r;
}

static bool is_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return n > 0 && n <= NAME_MOST && name[n] == '\0' && name[0] >= 'a' && name[0] <= 'z';
}

static void say_next(FILE *out, const char *name, bool python)
{
    fprintf(out, "%s: a folder to start from. Next:\n  cd %s\n", name, name);
    if (python)
        fprintf(out, "  ./test.sh 'exec:python3 %s.py'\n", name);
    else
        fprintf(out, "  make test\n");
}

static int make_folder(struct option_call *call)
{
    const struct asked *asked = call->into;
    const char *name = call->arguments[0];
    char path[PATH_MOST];
    if (!is_name(name))
        return option_fail(
            call, EXIT_USAGE,
            "%.60s: a name of lower case letters, digits and -, a letter first, at most %d, is "
            "needed",
            name, NAME_MOST);
    if (mkdir(name, 0755) < 0)
        return option_fail(call, EXIT_ERROR, "%s: %s%s", name, strerror(errno),
                           errno == EEXIST ? ": a name that is not there yet is needed" : "");
    for (const struct strategy_part *part = asked->python ? parts_of_python : parts_of_c; part->from;
         part++) {
        int r = write_part(part, name, path);
        if (r < 0)
            return option_fail(call, EXIT_ERROR, "%s: %s", path, strerror(-r));
    }
    if (!call->json) {
        say_next(call->out, name, asked->python);
        return EXIT_OK;
    }
    return cli_answer_print(
        "strategy", "papertape.strategy/1", "strategy",
        json_pack("{s:s, s:s}", "name", name, "language", asked->python ? "python" : "c"));
}

static const struct option_action actions[] = {
    {"new", "NAME",
     "makes the folder NAME: a strategy in C (docs/plugins.md), a Makefile whose test tries it, a README",
     .example = "my-cross", .run = make_folder}};

static const struct option_row options[] = {
    {"python", NULL, "in Python instead, as a process that papertape asks", offsetof(struct asked, python)}};

CLI_VERB(cli_strategy) = {
    .name = "strategy",
    .words = "a folder to write one of your own in: C or Python",
    .about = "Makes a folder with a strategy that builds and passes its test: a place to start from. What is "
             "there is never written over.",
    .page = "backtest",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct asked),
};
