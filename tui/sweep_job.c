#include "tui/sweep_job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "exchange/folder.h"

extern char **environ;

enum { LOCK_FD = 3 /* of the child, as long as it lives */ };

void tui_sweep_job_init(struct sweep_job *job)
{
    *job = (struct sweep_job){0};
    tui_child_init(&job->child);
    tui_backtest_job_init(&job->run);
}

void tui_sweep_job_finish(struct sweep_job *job)
{
    tui_child_finish(&job->child);
    tui_backtest_job_finish(&job->run);
    tui_sweep_job_reap(job);
}

void tui_sweep_job_reap(struct sweep_job *job)
{
    for (int i = 0; i < job->n_own; i++)
        if (waitpid(job->own[i], NULL, WNOHANG) != 0) {
            job->own[i--] = job->own[--job->n_own];
        }
}

/* ---- its folder ---- */

static int new_folder(char id[static SWEEP_ID_MAX], int64_t *ret_started_ms)
{
    char folder[PATH_MAX], path[PATH_MAX], failed[PATH_MAX];
    int64_t ms = clock_wall_ns() / 1000000;

    if (!tui_sweep_folder(folder))
        return -ENOENT;
    int r = folder_make(folder, 0700, failed);
    for (; r == 0; ms++) { /* two in one millisecond */
        snprintf(id, SWEEP_ID_MAX, "%015lld", (long long)ms);
        r = tui_sweep_path(id, "", path) ? 0 : -ENAMETOOLONG;
        if (r < 0 || mkdir(path, 0700) == 0)
            break;
        if (errno != EEXIST)
            r = -errno;
    }
    *ret_started_ms = ms;
    return r;
}

/* "BTCUSDT_5m.csv" seen from anywhere. */
static json_t *absolute(const char *bars)
{
    char text[SWEEP_VALUE_MAX], all[2 * PATH_MAX] = "", path[PATH_MAX], *next = text, *word;
    size_t at = 0;

    snprintf(text, sizeof(text), "%s", bars);
    while ((word = strsep(&next, ",")) && at < sizeof(all))
        at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s", at > 0 ? "," : "",
                               realpath(word, path) ? path : word);
    return json_string(at < sizeof(all) && at < SWEEP_VALUE_MAX ? all : bars);
}

static json_t *settled_fields(const json_t *fields)
{
    json_t *copy = json_deep_copy(fields);
    const char *bars = json_string_value(json_object_get(fields, "bars"));

    if (bars)
        json_object_set_new(copy, "bars", absolute(bars));
    return copy;
}

static int write_fields(const char *id, const json_t *fields, int64_t started_ms)
{
    char path[PATH_MAX];
    json_t *object = json_pack("{s:s, s:I, s:O}", "schema", "papertape.dashboard_sweep/1", "started_ms",
                               (json_int_t)started_ms, "fields", (json_t *)(uintptr_t)fields);
    int r =
        object && tui_sweep_path(id, "fields.json", path) && json_dump_file(object, path, JSON_INDENT(1)) == 0
            ? 0
            : -EIO;

    json_decref(object);
    return r;
}

/* ---- its process ---- */

static void add_outputs(struct sweep_argv *argv, const char *id, const char *state_dir)
{
    char csv[PATH_MAX];

    tui_sweep_path(id, "rows.csv", csv);
    tui_sweep_argv_add(argv, "--csv", csv);
    tui_sweep_argv_add(argv, "--state", state_dir);
    tui_sweep_argv_add(argv, "--json", "--progress");
    tui_sweep_argv_add(argv, "--yes", NULL);
}

static int take_lock(const char *id, int *ret)
{
    char path[PATH_MAX];

    if (!tui_sweep_path(id, "lock", path))
        return -ENAMETOOLONG;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
        int r = errno == EWOULDBLOCK ? -EBUSY : -errno;
        if (fd >= 0)
            close(fd);
        return r;
    }
    *ret = fd;
    return 0;
}

/* Its lock is the descriptor's, which the child has from us. */
static int spawn(const char *id, char *const argv[], int lock, pid_t *ret)
{
    char out[PATH_MAX], err[PATH_MAX];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;

    if (!tui_sweep_path(id, "result.json", out) || !tui_sweep_path(id, "progress", err))
        return -ENAMETOOLONG;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    int r = posix_spawn_file_actions_adddup2(&actions, lock, LOCK_FD);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out, flags, 0600);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err, flags, 0600);
    if (r == 0)
        r = posix_spawn(ret, "/proc/self/exe", &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return -r;
}

static void write_pid(const char *id, pid_t pid)
{
    char path[PATH_MAX];
    FILE *file = tui_sweep_path(id, "pid", path) ? fopen(path, "we") : NULL;

    if (file) {
        fprintf(file, "%ld\n", (long)pid);
        fclose(file);
    }
}

/* What an earlier run of it left. */
static void forget(const char *id)
{
    static const char *const files[] = {"result.json", "rows.csv", "progress", "pid"};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (tui_sweep_path(id, files[i], path))
            unlink(path);
}

static int begin(struct sweep_job *job, const json_t *fields, const char *state_dir, const char *id)
{
    struct sweep_argv argv = {0};
    pid_t pid = 0;
    int lock = -1, r = job->n_own < SWEEP_OWN_MAX ? take_lock(id, &lock) : -EAGAIN;

    if (r < 0)
        return r;
    forget(id);
    tui_sweep_argv_sweep(&argv, fields);
    add_outputs(&argv, id, state_dir);
    r = argv.over ? -E2BIG : spawn(id, argv.words, lock, &pid);
    tui_sweep_argv_finish(&argv);
    close(lock);
    if (r == 0) {
        job->own[job->n_own++] = pid;
        write_pid(id, pid);
    }
    return r;
}

int tui_sweep_job_start(struct sweep_job *job, const json_t *fields, const char *state_dir,
                        char id[static SWEEP_ID_MAX], char words[static SWEEP_COMPLAINT_MAX])
{
    const bool again = id[0] != '\0';
    int64_t started_ms = 0;
    json_t *settled = settled_fields(fields);
    int r = settled ? 0 : -ENOMEM;

    tui_sweep_job_reap(job);
    if (r == 0 && !again)
        r = new_folder(id, &started_ms);
    if (r == 0 && !again)
        r = write_fields(id, settled, started_ms);
    if (r == 0)
        r = begin(job, settled, state_dir, id);
    if (r < 0)
        snprintf(words, SWEEP_COMPLAINT_MAX, "not started: %s",
                 r == -EBUSY    ? "it runs"
                 : r == -ENOENT ? "neither $XDG_CACHE_HOME nor $HOME is set, or it is not there"
                                : strerror(-r));
    if (r < 0 && !again && id[0]) {
        tui_sweep_job_remove(id);
        id[0] = '\0';
    }
    json_decref(settled);
    return r;
}

bool tui_sweep_job_stop(const struct sweep_entry *entry)
{
    return entry->pid > 0 && tui_sweep_is_running(entry->id) && kill(entry->pid, SIGINT) == 0;
}

int tui_sweep_job_remove(const char *id)
{
    char path[PATH_MAX];

    if (tui_sweep_is_running(id))
        return -EBUSY;
    return id[0] && tui_sweep_path(id, "", path) ? folder_remove(path) : -ENAMETOOLONG;
}

/* ---- questions ---- */

static int ask(struct sweep_job *job, struct sweep_argv *argv, bool describes)
{
    tui_child_finish(&job->child);
    job->describes = describes;
    int r = argv->over ? -E2BIG : tui_child_start(&job->child, argv->words);
    tui_sweep_argv_finish(argv);
    return r;
}

int tui_sweep_job_describe(struct sweep_job *job, const char *strategy)
{
    struct sweep_argv argv = {0};

    tui_sweep_argv_add(&argv, "papertape", "backtest");
    tui_sweep_argv_add(&argv, "--list-strategies", "--json");
    tui_sweep_argv_add(&argv, "--strategy", strategy);
    return ask(job, &argv, true);
}

int tui_sweep_job_plan(struct sweep_job *job, const json_t *fields, const char *state_dir)
{
    struct sweep_argv argv = {0};

    tui_sweep_argv_plan(&argv, fields);
    tui_sweep_argv_add(&argv, "--state", state_dir);
    return ask(job, &argv, false);
}
