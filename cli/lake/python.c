#include "cli/lake/python.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/stored.h"
#include "exchange/exit_status.h"

extern char **environ;

enum { SCRIPT_FD = 3, ARGUMENTS_MAX = 16 };

struct lake_python {
    const char *verb, *name;
    pid_t pid; /* 0: it has ended */
    int in;    /* a socket, since writing to one that nothing reads raises no signal */
    FILE *out; /* its answers */
    json_t *versions;
    char words[512];
};

static int fail(const struct lake_python *python, const char *what)
{
    return cli_stored_fail(EXIT_ERROR, python->verb, python->name, what);
}

/* A file in memory with the scripts, which the process opens by its number. */
static int script_file(void)
{
    const size_t n = cli_lake_archive_size;
    size_t written = 0;
    int fd = memfd_create("papertape-lake", MFD_CLOEXEC);
    while (fd >= 0 && written < n) {
        ssize_t k = write(fd, cli_lake_archive + written, n - written);
        if (k > 0) {
            written += (size_t)k;
        } else if (errno != EINTR) {
            int r = -errno;
            close(fd);
            return r;
        }
    }
    return fd < 0 ? -errno : fd;
}

static int spawn(const char *name, int in, int out, int script, const char *const *arguments, pid_t *ret)
{
    char path[] = "/proc/self/fd/3"; /* SCRIPT_FD */
    char *words[ARGUMENTS_MAX + 3] = {(char *)name, path};
    posix_spawn_file_actions_t files;
    for (int i = 0; i < ARGUMENTS_MAX && arguments[i]; i++)
        words[i + 2] = (char *)arguments[i];
    int r = posix_spawn_file_actions_init(&files);
    if (r != 0)
        return -r;
    r = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&files, script, SCRIPT_FD);
    if (r == 0)
        r = posix_spawn_file_actions_addclosefrom_np(&files, SCRIPT_FD + 1);
    if (r == 0)
        r = posix_spawnp(ret, name, &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    return -r;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static int start(struct lake_python *python, const char *const *arguments)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, file = script_file();
    int r = file < 0 ? file : 0;
    if (r == 0 && (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) < 0 || pipe2(out, O_CLOEXEC) < 0))
        r = -errno;
    if (r == 0)
        r = spawn(python->name, in[0], out[1], file, arguments, &python->pid);
    close_fd(file);
    close_fd(in[0]);
    close_fd(out[1]);
    if (r == 0 && !(python->out = fdopen(out[0], "r")))
        r = -errno;
    python->in = in[1];
    if (r < 0 && !python->out)
        close_fd(out[0]);
    return r;
}

static int not_started(const struct lake_python *python, int r)
{
    char words[512];
    snprintf(
        words, sizeof words,
        "%s: Parquet is written and read by Python 3 with the package pyarrow: install python3 and, for example in "
        "a virtual environment, pip install pyarrow; PAPERTAPE_PYTHON, or --python of export, names another Python",
        r == -ENOENT ? "there is no such program" : strerror(-r));
    return fail(python, words);
}

/* Its first line says what it is, or what it lacks. */
static int greet(struct lake_python *python)
{
    int status = cli_lake_ask(python, NULL, &python->versions);
    if (status != EXIT_OK)
        return status;
    snprintf(python->words, sizeof python->words, "%.300s (Python %.40s, pyarrow %.40s)",
             cli_answer_text(python->versions, "executable"), cli_answer_text(python->versions, "python"),
             cli_answer_text(python->versions, "pyarrow"));
    return EXIT_OK;
}

int cli_lake_start(const char *verb, const char *name, const char *const *arguments, struct lake_python **ret)
{
    struct lake_python *python = calloc(1, sizeof *python);
    const char *own = getenv("PAPERTAPE_PYTHON");
    if (!python)
        return cli_stored_fail(EXIT_ERROR, verb, "", "out of memory");
    *python = (struct lake_python){.verb = verb,
                                   .name = name          ? name
                                           : own && *own ? own
                                                         : "python3",
                                   .in = -1};
    int r = start(python, arguments);
    int status = r < 0 ? not_started(python, r) : greet(python);
    if (status != EXIT_OK) {
        cli_lake_finish(python);
        return status;
    }
    *ret = python;
    return EXIT_OK;
}

const char *cli_lake_words(const struct lake_python *python)
{
    return python->words;
}

json_t *cli_lake_versions(const struct lake_python *python)
{
    return python->versions;
}

bool cli_lake_send_bytes(struct lake_python *python, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t k = send(python->in, bytes, n, MSG_NOSIGNAL);
        if (k < 0 && errno != EINTR)
            return false;
        bytes += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

bool cli_lake_send(struct lake_python *python, json_t *request)
{
    char *text = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    bool sent =
        text && cli_lake_send_bytes(python, text, strlen(text)) && cli_lake_send_bytes(python, "\n", 1);
    free(text);
    return sent;
}

/* Of a process whose answers have ended. */
static int ended(struct lake_python *python)
{
    char words[192];
    int how = 0;
    pid_t pid = python->pid;
    python->pid = 0;
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        continue;
    if (WIFSIGNALED(how))
        snprintf(words, sizeof words, "it was ended by signal %d", WTERMSIG(how));
    else if (!python->versions)
        snprintf(
            words, sizeof words,
            "it ended with status %d and no answer: Python 3 with pyarrow is needed: PAPERTAPE_PYTHON, or "
            "--python of export, names it",
            WEXITSTATUS(how));
    else
        snprintf(words, sizeof words, "it ended with status %d", WEXITSTATUS(how));
    return fail(python, words);
}

int cli_lake_ask(struct lake_python *python, json_t *request, json_t **ret)
{
    char *line = NULL;
    size_t size = 0;
    if (request)
        (void)cli_lake_send(python, request); /* where it no longer reads, its answer says why */
    ssize_t n = getline(&line, &size, python->out);
    json_t *answer = n > 0 ? json_loadb(line, (size_t)n, 0, NULL) : NULL;
    const char *error = json_string_value(json_object_get(answer, "error"));
    int status = EXIT_OK;
    free(line);
    if (n <= 0)
        status = ended(python);
    else if (!json_is_object(answer))
        status = fail(python,
                      "its answer is no line of JSON: it is no Python 3, or prints something when it starts");
    else if (error)
        status = cli_stored_fail(EXIT_ERROR, python->verb, "", error);
    else if (ret)
        *ret = json_incref(answer);
    json_decref(answer);
    return status;
}

void cli_lake_finish(struct lake_python *python)
{
    if (!python)
        return;
    close_fd(python->in);
    if (python->out)
        fclose(python->out);
    while (python->pid > 0 && waitpid(python->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    json_decref(python->versions);
    free(python);
}
