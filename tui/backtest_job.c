#include "tui/backtest_job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/text.h"
#include "exchange/folder.h"
#include "record/json.h"
#include "tui/status_reader.h"

extern char **environ;

enum {
    REPORT_MAX = 8 << 20,
    LINE_SIZE = 512,
    PATH_SIZE = sizeof(((struct backtest_job *)NULL)->folder) + 16
};

void tui_backtest_job_init(struct backtest_job *job)
{
    *job = (struct backtest_job){.out = -1, .err = -1};
}

static void equity_path(const struct backtest_job *job, char path[static PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/equity.csv", job->folder);
}

static void close_pipe(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void clear(struct backtest_job *job)
{
    char path[PATH_SIZE];

    close_pipe(&job->out);
    close_pipe(&job->err);
    if (job->folder[0]) {
        equity_path(job, path);
        unlink(path);
        rmdir(job->folder);
    }
    free(job->text);
    tui_backtest_job_init(job);
}

static void reap(struct backtest_job *job, int *ret_status)
{
    while (waitpid(job->pid, ret_status, 0) < 0 && errno == EINTR)
        ;
    job->pid = 0;
}

void tui_backtest_job_finish(struct backtest_job *job)
{
    int status;

    if (job->pid) {
        kill(job->pid, SIGKILL);
        reap(job, &status);
    }
    clear(job);
}

static void fail(struct backtest_view *view, const char *words, int64_t mono_ms)
{
    view->state = BACKTEST_FAILED;
    view->ended_ms = mono_ms;
    cli_text_clean(view->words, sizeof(view->words), words);
}

/* The child must get the signals that the dashboard blocks for itself. */
static int spawn(struct backtest_job *job, const char *state_dir, const char *account, int out, int err)
{
    char path[PATH_SIZE];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;

    equity_path(job, path);
    char *const argv[] = {(char[]){"papertape"}, (char[]){"backtest"},
                          (char[]){"--account"}, (char *)(uintptr_t)account,
                          (char[]){"--state"},   (char *)(uintptr_t)state_dir,
                          (char[]){"--equity"},  path,
                          (char[]){"--json"},    NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    if (r == 0)
        r = posix_spawn(&job->pid, "/proc/self/exe", &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (r != 0)
        job->pid = 0;
    return -r;
}

static int make_folder(struct backtest_job *job)
{
    int r = folder_temporary("backtest", job->folder);
    if (r < 0)
        job->folder[0] = '\0';
    return r;
}

int tui_backtest_job_start(struct backtest_job *job, const char *state_dir, const char *account,
                           int64_t mono_ms, struct backtest_view *view)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1}, r = 0;

    if (job->pid)
        return -EBUSY;
    clear(job);
    *view = (struct backtest_view){.state = BACKTEST_RUNNING, .started_ms = mono_ms};
    cli_text_clean(view->account, sizeof(view->account), account);
    r = make_folder(job);
    if (r == 0 && (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0))
        r = -errno;
    if (r == 0)
        r = spawn(job, state_dir, account, out[1], err[1]);
    close_pipe(&out[1]);
    close_pipe(&err[1]);
    job->out = out[0];
    job->err = err[0];
    if (r < 0) {
        fail(view, strerror(-r), mono_ms);
        clear(job);
        return r;
    }
    fcntl(job->out, F_SETFL, O_NONBLOCK);
    fcntl(job->err, F_SETFL, O_NONBLOCK);
    return 0;
}

void tui_backtest_job_stop(struct backtest_job *job, int64_t mono_ms, struct backtest_view *view)
{
    if (!job->pid)
        return;
    tui_backtest_job_finish(job);
    view->state = BACKTEST_STOPPED;
    view->ended_ms = mono_ms;
}

/* Reads a report's bytes. 0 at its end, 1 while more may come, -errno. */
static int read_report(struct backtest_job *job)
{
    for (;;) {
        if (job->cap - job->len < 4096) {
            size_t cap = job->cap ? 2 * job->cap : 1 << 16;
            char *moved = cap > REPORT_MAX ? NULL : realloc(job->text, cap);
            if (!moved)
                return -ENOMEM;
            job->text = moved;
            job->cap = cap;
        }
        ssize_t n = read(job->out, job->text + job->len, job->cap - job->len - 1);
        if (n > 0)
            job->len += (size_t)n;
        else if (n == 0 || errno != EINTR)
            return n == 0 ? 0 : errno == EAGAIN ? 1 : -errno;
        job->text[job->len] = '\0';
    }
}

static void read_complaint(struct backtest_job *job)
{
    char bytes[512];
    ssize_t n;

    while (job->err >= 0 && (n = read(job->err, bytes, sizeof(bytes))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        size_t room = sizeof(job->complaint) - 1 - job->n_complaint;
        size_t kept = (size_t)n < room ? (size_t)n : room;
        memcpy(job->complaint + job->n_complaint, bytes, kept);
        job->n_complaint += kept;
    }
    close_pipe(&job->err);
}

/* Drops every second point whenever there is no room; the last one stays. */
static void read_curve(struct backtest_view *view, const char *path)
{
    char line[LINE_SIZE];
    FILE *file = fopen(path, "re");
    struct history_equity last = {0};
    int64_t step = 1, at = 0;

    view->n_curve = 0;
    if (!file)
        return;
    while (fgets(line, sizeof(line), file)) {
        int64_t ts_ns;
        char account[ACCOUNT_NAME_MAX];
        double equity;
        if (sscanf(line, "%" SCNd64 ",%31[^,],%lf", &ts_ns, account, &equity) != 3 || !isfinite(equity))
            continue;
        last = (struct history_equity){ts_ns, equity};
        if (at++ % step != 0)
            continue;
        if (view->n_curve == HISTORY_EQUITY_MAX) {
            for (int i = 0; i < HISTORY_EQUITY_MAX / 2; i++)
                view->curve[i] = view->curve[2 * i];
            view->n_curve = HISTORY_EQUITY_MAX / 2;
            step *= 2;
        }
        view->curve[view->n_curve++] = last;
    }
    fclose(file);
    if (view->n_curve > 0 && view->curve[view->n_curve - 1].ts_ns != last.ts_ns)
        view->curve[view->n_curve == HISTORY_EQUITY_MAX ? view->n_curve - 1 : view->n_curve++] = last;
}

bool tui_backtest_view_take(struct backtest_view *view, const char *report, const char *path)
{
    json_t *object = json_loads(report, 0, NULL);
    const json_t *account = json_array_get(json_object_get(object, "accounts"), 0);
    const char *schema = json_string_value(json_object_get(object, "schema"));
    bool fits = schema && strcmp(schema, "papertape.backtest/1") == 0 && account;

    if (fits) {
        view->equity = record_json_number(account, "equity");
        view->return_pct = record_json_number(account, "return_pct");
        view->drawdown_pct = record_json_number(account, "max_drawdown_pct");
        view->sharpe = record_json_number(account, "sharpe");
        view->win_rate_pct = record_json_number(account, "win_rate_pct");
        view->trades = tui_status_count(account, "trades");
        view->fills = tui_status_count(account, "fills");
        read_curve(view, path);
    }
    json_decref(object);
    return fits;
}

bool tui_backtest_job_io(struct backtest_job *job, int64_t mono_ms, struct backtest_view *view)
{
    int status = 0;
    char path[PATH_SIZE];

    if (!job->pid)
        return false;
    read_complaint(job);
    int r = read_report(job);
    if (r > 0)
        return false;
    if (r < 0)
        kill(job->pid, SIGKILL);
    reap(job, &status);
    read_complaint(job);
    equity_path(job, path);
    job->complaint[strcspn(job->complaint, "\n")] = '\0';
    if (r < 0)
        fail(view, strerror(-r), mono_ms);
    else if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0)
        fail(view, job->complaint[0] ? job->complaint : "it ended without a word", mono_ms);
    else if (!job->text || !tui_backtest_view_take(view, job->text, path))
        fail(view, "its report is not understood", mono_ms);
    else {
        view->state = BACKTEST_DONE;
        view->ended_ms = mono_ms;
    }
    clear(job);
    return true;
}
