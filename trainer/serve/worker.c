#include "trainer/serve/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/lock_file.h"
#include "trainer/serve/process.h"

#define REPORT_MS    "1000"
#define HEARTBEAT_MS "1000" /* WORKER_HEARTBEAT_MS */
enum { READ_MAX = 1 << 16, ARGS_MAX = 16, LOCK_FD = 3 };

extern char **environ;

struct worker {
    uv_process_t process;
    uv_pipe_t out, err;
    struct worker_calls calls;
    void *ctx;
    struct worker_log log;
    char *line; /* of stdout, until its newline */
    size_t n, cap;
    bool dropping; /* a line that was too long, until its newline */
    int open;      /* handles that are not closed yet */
    int64_t status;
    int signal;
    char buffer[READ_MAX];
};

/* ---- Its output. ---- */

static void take_line(struct worker *worker, const char *line, size_t n)
{
    json_t *event = json_loadb(line, n, 0, NULL);
    if (json_is_object(event)) {
        worker->calls.reported(worker->ctx, event);
    } else if (n > 0) {
        serve_worker_log_write(&worker->log, line, n);
        serve_worker_log_write(&worker->log, "\n", 1);
    }
    json_decref(event);
}

static bool keep(struct worker *worker, const char *text, size_t n)
{
    if (worker->n + n > WORKER_LINE_MAX)
        return false;
    if (worker->n + n > worker->cap) {
        size_t cap = 2 * (worker->n + n);
        char *grown = realloc(worker->line, cap);
        if (!grown)
            return false;
        worker->line = grown;
        worker->cap = cap;
    }
    memcpy(worker->line + worker->n, text, n);
    worker->n += n;
    return true;
}

static void take_out(struct worker *worker, const char *text, size_t n)
{
    while (n > 0) {
        const char *end = memchr(text, '\n', n);
        size_t part = end ? (size_t)(end - text) : n;
        if (!worker->dropping && !keep(worker, text, part))
            worker->dropping = true;
        if (end && !worker->dropping)
            take_line(worker, worker->line, worker->n);
        if (end || worker->dropping)
            worker->n = 0;
        if (end)
            worker->dropping = false;
        text += part + (end != NULL);
        n -= part + (end != NULL);
    }
}

static void give_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct worker *worker = handle->data;
    (void)suggested;
    *buf = uv_buf_init(worker->buffer, READ_MAX);
}

static void have_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct worker *worker = stream->data;
    if (n < 0)
        uv_read_stop(stream);
    else if (stream == (uv_stream_t *)&worker->out)
        take_out(worker, buf->base, (size_t)n);
    else
        serve_worker_log_write(&worker->log, buf->base, (size_t)n);
}

/* Reads the rest of a pipe whose writer is gone. */
static void drain(struct worker *worker, uv_pipe_t *pipe)
{
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)pipe, &fd) < 0)
        return;
    for (ssize_t n; (n = read(fd, worker->buffer, READ_MAX)) > 0;)
        if (pipe == &worker->out)
            take_out(worker, worker->buffer, (size_t)n);
        else
            serve_worker_log_write(&worker->log, worker->buffer, (size_t)n);
}

/* ---- Its end. ---- */

static void closed(uv_handle_t *handle)
{
    struct worker *worker = handle->data;
    if (--worker->open > 0)
        return;
    serve_worker_log_close(&worker->log);
    free(worker->line);
    free(worker);
}

static void close_all(struct worker *worker)
{
    uv_close((uv_handle_t *)&worker->out, closed);
    uv_close((uv_handle_t *)&worker->err, closed);
    uv_close((uv_handle_t *)&worker->process, closed);
}

static void exited(uv_process_t *process, int64_t status, int number)
{
    struct worker *worker = process->data;
    drain(worker, &worker->out);
    drain(worker, &worker->err);
    close_all(worker);
    worker->calls.ended(worker->ctx, status, number);
}

/* ---- Its beginning. ---- */

char **serve_worker_environment(const char *device)
{
    static const char *const own[] = {
        "NOTIFY_SOCKET=", "WATCHDOG_PID=", "WATCHDOG_USEC=", "LISTEN_PID=", "CUDA_VISIBLE_DEVICES="};
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **list = calloc(n + 2, sizeof *list);
    char *visible = NULL;
    if (!list || asprintf(&visible, "CUDA_VISIBLE_DEVICES=%s", device) < 0) {
        free(list);
        return NULL;
    }
    list[kept++] = visible;
    for (size_t i = 0; i < n; i++) {
        bool is_own = false;
        for (size_t j = 0; j < sizeof own / sizeof *own; j++)
            is_own |= strncmp(environ[i], own[j], strlen(own[j])) == 0;
        if (!is_own)
            list[kept++] = environ[i];
    }
    return list;
}

static void set_arguments(const struct worker_order *order, const char *config, const char *memory,
                          const char *args[ARGS_MAX])
{
    int n = 0;
    args[n++] = order->program;
    args[n++] = order->study ? "study" : "train";
    if (order->study) {
        args[n++] = order->study;
        args[n++] = "--state";
        args[n++] = order->directory;
        args[n++] = "--memory-mib";
        args[n++] = memory;
    }
    args[n++] = "--config";
    args[n++] = config;
    args[n++] = "--json";
    if (order->begin == WORKER_OVERWRITE)
        args[n++] = "--overwrite";
    if (order->begin >= WORKER_RESUME) {
        args[n++] = "--resume";
        args[n++] = "latest";
    }
    if (order->begin == WORKER_RESUME_CHANGED)
        args[n++] = "--changed";
    if (!order->study) {
        args[n++] = "--report-every";
        args[n++] = REPORT_MS;
    }
    args[n++] = "--heartbeat";
    args[n++] = HEARTBEAT_MS;
    args[n] = NULL;
}

static int open_lock(const char *folder)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/worker.lock", folder) >= (int)sizeof path)
        return -ENAMETOOLONG;
    return lock_file_take(AT_FDCWD, path);
}

bool serve_worker_lives(const char *folder)
{
    int fd = open_lock(folder);
    if (fd >= 0)
        close(fd);
    return fd == -EBUSY;
}

static void write_heading(struct worker *worker)
{
    char line[128], when[CLOCK_TEXT_MAX];
    int n = snprintf(line, sizeof line, "--- %s: started, process %d\n",
                     clock_utc_text(clock_wall_ns(), when), (int)worker->process.pid);
    serve_worker_log_write(&worker->log, line, (size_t)n);
}

static int spawn(uv_loop_t *loop, struct worker *worker, const struct worker_order *order, int lock,
                 char **environment)
{
    char config[PATH_MAX], memory[24];
    const char *args[ARGS_MAX];
    snprintf(memory, sizeof memory, "%lld", (long long)order->memory_mib);
    snprintf(config, sizeof config, "%s/training.ini", order->folder);
    set_arguments(order, config, memory, args);
    uv_stdio_container_t stdio[] = {
        {.flags = UV_IGNORE},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&worker->out},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&worker->err},
        [LOCK_FD] = {.flags = UV_INHERIT_FD, .data.fd = lock},
    };
    const uv_process_options_t options = {
        .exit_cb = exited,
        .file = order->program,
        .args = (char **)(uintptr_t)args,
        .env = environment,
        .cwd = order->directory,
        .flags = UV_PROCESS_DETACHED, /* the co-process handles a terminal's Ctrl-C */
        .stdio_count = sizeof stdio / sizeof *stdio,
        .stdio = stdio,
    };
    return uv_spawn(loop, &worker->process, &options);
}

static void free_environment(char **environment)
{
    if (environment)
        free(environment[0]);
    free(environment);
}

int serve_worker_start(uv_loop_t *loop, const struct worker_order *order, const struct worker_calls *calls,
                       void *ctx, struct worker **ret, char err[static WORKER_ERROR_MAX])
{
    struct worker *worker = calloc(1, sizeof *worker);
    char **environment = serve_worker_environment(order->device);
    int lock = worker && environment ? open_lock(order->folder) : -ENOMEM;
    int r = lock < 0 ? lock : serve_worker_log_open(&worker->log, order->folder);
    if (r < 0) {
        snprintf(err, WORKER_ERROR_MAX, "%.300s: %s", order->folder,
                 r == -EBUSY ? FAIL_IN_USE("a worker of this training") : strerror(-r));
        if (lock >= 0)
            close(lock);
        free_environment(environment);
        free(worker);
        return r;
    }
    worker->calls = *calls;
    worker->ctx = ctx;
    worker->open = 3;
    uv_pipe_init(loop, &worker->out, 0);
    uv_pipe_init(loop, &worker->err, 0);
    worker->process.data = worker->out.data = worker->err.data = worker;
    r = spawn(loop, worker, order, lock, environment);
    close(lock);
    free_environment(environment);
    if (r == 0) {
        const struct rlimit data = {(rlim_t)order->data_bytes, (rlim_t)order->data_bytes};
        if (order->data_bytes > 0)
            (void)prlimit(worker->process.pid, RLIMIT_DATA, &data, NULL); /* it may be gone already */
        write_heading(worker);
        uv_read_start((uv_stream_t *)&worker->out, give_buffer, have_read);
        uv_read_start((uv_stream_t *)&worker->err, give_buffer, have_read);
        *ret = worker;
        return 0;
    }
    snprintf(err, WORKER_ERROR_MAX, "cannot start the worker: %.300s: %s", order->program, uv_strerror(r));
    close_all(worker);
    return r;
}

pid_t serve_worker_pid(const struct worker *worker)
{
    return worker->process.pid;
}

void serve_worker_signal(struct worker *worker, int number)
{
    serve_process_signal(worker->process.pid, number);
}
