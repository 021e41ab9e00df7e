#include "trainer/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "exchange/early_stop.h"
#include "exchange/fail.h"
#include "exchange/lock_file.h"
#include "exchange/net/notify.h"
#include "trainer/serve/internal.h"

enum { TICK_MS = 200 };

int64_t serve_now_ms(const struct serve *serve)
{
    return (int64_t)uv_now(&serve->loop);
}

/* ---- Its folders and its lock. ---- */

static int make_folders(struct serve *serve, char *err)
{
    const char *const folders[] = {serve->folder, serve->checkpoints};
    const char *state = serve->options->state;
    json_t *text = json_string(state);
    json_decref(text);
    if (!text)
        return fail_with(-EILSEQ, err, SERVE_ERROR_MAX, "%.300s: a path in UTF-8 is needed: --state DIR",
                         state);
    if (snprintf(serve->folder, sizeof serve->folder, "%s/trainings", state) >= (int)sizeof serve->folder ||
        snprintf(serve->checkpoints, sizeof serve->checkpoints, "%s/checkpoints", state) >= CONFIG_PATH_MAX)
        return fail_with(-ENAMETOOLONG, err, SERVE_ERROR_MAX, "%.300s: the path is too long", state);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if ((mkdir(folders[i], 0750) < 0 && errno != EEXIST) || access(folders[i], W_OK | X_OK) < 0) {
            int r = -errno;
            snprintf(err, SERVE_ERROR_MAX, "%.300s: cannot be written: %s: a directory of ours is needed",
                     folders[i], strerror(-r));
            return r;
        }
    return 0;
}

static int take_lock(struct serve *serve, char *err)
{
    char path[PATH_MAX + 16], text[24] = "";
    snprintf(path, sizeof path, "%s/serve.lock", serve->folder);
    int fd = lock_file_open(AT_FDCWD, path);
    int r = fd < 0 ? fd : 0;
    if (r == 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
        r = errno == EWOULDBLOCK ? -EBUSY : -errno;
    if (r == 0) {
        int n = snprintf(text, sizeof text, "%d\n", (int)getpid());
        if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
            r = -EIO;
    }
    if (r == 0) {
        serve->lock = fd;
        return 0;
    }
    if (r == -EBUSY && pread(fd, text, sizeof text - 1, 0) <= 0)
        text[0] = '\0';
    if (r == -EBUSY)
        snprintf(err, SERVE_ERROR_MAX, "%.300s: " FAIL_LOCKED("papertape-trainer, pid %d", "--state DIR"),
                 serve->options->state, atoi(text));
    else
        snprintf(err, SERVE_ERROR_MAX, "%.300s: cannot be locked: %s", path, strerror(-r));
    if (fd >= 0)
        close(fd);
    return r;
}

/* Another co-process may live although its lock's file was removed by hand. */
static int look_at_socket(const struct serve *serve, char *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool fits = snprintf(address.sun_path, sizeof address.sun_path, "%s", serve->options->socket) <
                (int)sizeof address.sun_path; /* a longer name is control_open()'s error */
    bool taken =
        fd >= 0 && fits && (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 || errno == EAGAIN);
    if (fd >= 0)
        close(fd);
    if (taken)
        snprintf(err, SERVE_ERROR_MAX, "%.300s: " FAIL_LOCKED("another process", "--socket F"),
                 serve->options->socket);
    return taken ? -EADDRINUSE : 0;
}

/* Recreates its file if it was removed, unless another process has done so. */
static bool keep_lock(struct serve *serve)
{
    char path[PATH_MAX + 16], err[SERVE_ERROR_MAX];
    struct stat own, named = {0};
    int before = serve->lock;
    snprintf(path, sizeof path, "%s/serve.lock", serve->folder);
    if (fstat(before, &own) < 0 || (stat(path, &named) < 0 && errno != ENOENT) ||
        (own.st_nlink > 0 && own.st_ino == named.st_ino && own.st_dev == named.st_dev))
        return true;
    int r = take_lock(serve, err);
    if (r == 0)
        close(before);
    if (r == 0 || r != serve->lock_error)
        serve->options->log(r == 0 ? "serve.lock was removed: it is put back" : err);
    serve->lock_error = r;
    return r != -EBUSY;
}

static void keep_socket(struct serve *serve)
{
    char words[SERVE_ERROR_MAX];
    int r = control_keep(serve->control);
    const char *what = r == 1         ? "was removed: it is made again"
                       : r == -EEXIST ? "another file is in its place: no command comes until that is removed"
                                      : strerror(-r);
    if (r == 1 || (r < 0 && r != serve->socket_error)) {
        snprintf(words, sizeof words, "%.300s: %s", serve->options->socket, what);
        serve->options->log(words);
    }
    serve->socket_error = r < 0 ? r : 0;
}

/* ---- The loop. ---- */

static void end_if_done(struct serve *serve)
{
    if (serve->ending && !serve_queue_has_workers(serve))
        uv_stop(&serve->loop);
}

static void begin_end(struct serve *serve)
{
    serve->ending = true;
    net_notify_stopping();
    serve_probe_end_all(serve);
    control_close(serve->control);
    serve->control = NULL;
    for (struct serve_training *t = serve->trainings; t; t = t->next)
        if (t->worker)
            serve_run_ask(t, t->record.ending == ENDING_NONE ? ENDING_SHUTDOWN : t->record.ending);
    end_if_done(serve);
}

static void take_signal(uv_signal_t *signal, int number)
{
    struct serve *serve = signal->data;
    (void)number;
    if (!serve->ending) {
        begin_end(serve);
        return;
    }
    for (struct serve_training *t = serve->trainings; t; t = t->next) /* a second signal */
        if (t->worker && !t->killed)
            serve_run_kill(t);
}

static void notify_status(const struct serve *serve)
{
    int running = 0, waiting = 0;
    char line[96];
    for (const struct serve_training *t = serve->trainings; t; t = t->next) {
        running += serve_training_state_runs(t->record.state);
        waiting += t->record.state == TRAINING_QUEUED || t->record.state == TRAINING_PAUSED;
    }
    snprintf(line, sizeof line, "%d trainings run, %d wait", running, waiting);
    net_notify_status(line);
}

static void have_tick(uv_timer_t *timer)
{
    struct serve *serve = timer->data;
    const struct serve_options *options = serve->options;
    int64_t now_ms = serve_now_ms(serve);
    serve_queue_tick(serve);
    end_if_done(serve);
    if (!serve->ending && !keep_lock(serve))
        begin_end(serve);
    if (serve->ending)
        return;
    keep_socket(serve);
    if (serve_queue_is_busy(serve) || control_clients(serve->control) > 0)
        serve->idle_since_ms = now_ms;
    else if (options->idle_ms > 0 && now_ms - serve->idle_since_ms >= options->idle_ms)
        begin_end(serve);
}

static void watch(uv_timer_t *timer)
{
    net_notify_watchdog();
    notify_status(timer->data);
}

static void start_handles(struct serve *serve)
{
    uint64_t watchdog_ms = net_notify_watchdog_ms();
    uv_timer_init(&serve->loop, &serve->tick);
    uv_timer_init(&serve->loop, &serve->watchdog);
    uv_signal_init(&serve->loop, &serve->sigterm);
    uv_signal_init(&serve->loop, &serve->sigint);
    serve->tick.data = serve->watchdog.data = serve->sigterm.data = serve->sigint.data = serve;
    uv_timer_start(&serve->tick, have_tick, 0, TICK_MS);
    uv_signal_start(&serve->sigterm, take_signal, SIGTERM);
    uv_signal_start(&serve->sigint, take_signal, SIGINT);
    if (watchdog_ms > 0)
        uv_timer_start(&serve->watchdog, watch, watchdog_ms, watchdog_ms);
}

static void close_handles(struct serve *serve)
{
    uv_close((uv_handle_t *)&serve->tick, NULL);
    uv_close((uv_handle_t *)&serve->watchdog, NULL);
    uv_close((uv_handle_t *)&serve->sigterm, NULL);
    uv_close((uv_handle_t *)&serve->sigint, NULL);
}

int serve_run(const struct serve_options *options, char err[static SERVE_ERROR_MAX])
{
    struct serve *serve = calloc(1, sizeof *serve);
    char why[512];
    int r = serve ? 0 : -ENOMEM;
    if (r < 0) {
        snprintf(err, SERVE_ERROR_MAX, "out of memory: serve");
        return r;
    }
    serve->options = options;
    serve->lock = -1;
    serve->started_ns = clock_wall_ns();
    serve_process_boot(serve->boot, sizeof serve->boot);
    early_stop_catch();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if ((r = make_folders(serve, err)) < 0 || (r = take_lock(serve, err)) < 0 ||
        (r = look_at_socket(serve, err)) < 0)
        goto unlock;
    uv_loop_init(&serve->loop);
    serve->idle_since_ms = serve_now_ms(serve);
    if ((r = serve_orphans_load(serve, err)) < 0)
        goto close;
    const struct control_options listening = {
        .path = options->socket, .handler = serve_command, .ctx = serve, .reserve_commands = serve_reserve};
    if ((r = control_open(&serve->loop, &listening, &serve->control, why, sizeof why)) < 0) {
        snprintf(err, SERVE_ERROR_MAX, "%s", why);
        goto close;
    }
    start_handles(serve);
    if (early_stop_asked())
        begin_end(serve);
    net_notify_ready("waiting for trainings");
    uv_run(&serve->loop, UV_RUN_DEFAULT);
    close_handles(serve);
close:
    uv_run(&serve->loop, UV_RUN_DEFAULT); /* until the socket has sent what is queued */
    uv_loop_close(&serve->loop);
    for (struct serve_training *t; (t = serve->trainings);) {
        serve->trainings = t->next;
        serve_training_destroy(t);
    }
unlock:
    if (serve->lock >= 0)
        close(serve->lock);
    free(serve);
    return r;
}
