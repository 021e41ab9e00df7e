#include "trainer/serve/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trainer/serve/internal.h"
#include "trainer/serve/process.h"
#include "trainer/serve/worker.h"

enum { CONFIG_FD = 3, PIPES = 2, READ_BYTES = 4096 };

struct probe_output {
    uv_pipe_t pipe;
    char text[PROBE_TEXT_MAX + 1];
    size_t n;
};

struct serve_probe {
    struct serve *serve;
    struct serve_probe *next;
    uv_process_t process;
    uv_timer_t timer;
    struct probe_output outputs[PIPES]; /* stdout, stderr */
    serve_probe_done *done;             /* NULL: it was called */
    void *ctx;
    int open; /* handles that are not closed yet */
    char buffer[READ_BYTES];
};

/* ---- Its output. ---- */

static void give_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct serve_probe *probe = handle->data;
    (void)suggested;
    *buf = uv_buf_init(probe->buffer, READ_BYTES);
}

static void keep(struct probe_output *output, const char *bytes, size_t n)
{
    size_t room = PROBE_TEXT_MAX - output->n;
    n = n < room ? n : room;
    memcpy(output->text + output->n, bytes, n);
    output->n += n;
    output->text[output->n] = '\0';
}

static void have_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct serve_probe *probe = stream->data;
    if (n < 0)
        uv_read_stop(stream);
    else
        keep(&probe->outputs[stream == (uv_stream_t *)&probe->outputs[1].pipe], buf->base, (size_t)n);
}

/* What is left in a pipe whose writer is gone. */
static void drain(struct serve_probe *probe, struct probe_output *output)
{
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&output->pipe, &fd) < 0)
        return;
    for (ssize_t n; (n = read(fd, probe->buffer, READ_BYTES)) > 0;)
        keep(output, probe->buffer, (size_t)n);
}

/* ---- Its end. ---- */

static void closed(uv_handle_t *handle)
{
    struct serve_probe *probe = handle->data;
    if (--probe->open == 0)
        free(probe);
}

static void take_out(struct serve_probe *probe)
{
    struct serve_probe **at = &probe->serve->probes;
    while (*at && *at != probe)
        at = &(*at)->next;
    if (*at)
        *at = probe->next;
}

static void finish(struct serve_probe *probe, int status)
{
    serve_probe_done *done = probe->done;
    probe->done = NULL;
    if (done)
        done(probe->ctx, status, probe->outputs[0].text, probe->outputs[1].text);
}

static void close_all(struct serve_probe *probe)
{
    for (int i = 0; i < PIPES; i++)
        uv_close((uv_handle_t *)&probe->outputs[i].pipe, closed);
    uv_close((uv_handle_t *)&probe->timer, closed);
    uv_close((uv_handle_t *)&probe->process, closed);
}

static void exited(uv_process_t *process, int64_t status, int number)
{
    struct serve_probe *probe = process->data;
    for (int i = 0; i < PIPES; i++)
        drain(probe, &probe->outputs[i]);
    take_out(probe);
    close_all(probe);
    finish(probe, number == 0 ? (int)status : -1);
}

static void expired(uv_timer_t *timer)
{
    struct serve_probe *probe = timer->data;
    serve_process_signal(probe->process.pid, SIGKILL); /* its end calls exited() */
}

int serve_probes(const struct serve *serve)
{
    int n = 0;
    for (const struct serve_probe *probe = serve->probes; probe; probe = probe->next)
        n++;
    return n;
}

void serve_probe_end_all(struct serve *serve)
{
    for (struct serve_probe *probe = serve->probes; probe; probe = probe->next) {
        finish(probe, -1);
        serve_process_signal(probe->process.pid, SIGKILL);
    }
}

/* ---- Its beginning. ---- */

/* The text as a file that has no name. */
static int open_text(const char *text)
{
    size_t n = strlen(text);
    int fd = memfd_create("training.ini", MFD_CLOEXEC);
    if (fd < 0 || write(fd, text, n) == (ssize_t)n)
        return fd < 0 ? -errno : fd;
    close(fd);
    return -EIO;
}

static int spawn(struct serve_probe *probe, enum probe_kind kind, int config)
{
    const struct serve_options *options = probe->serve->options;
    const char *const args[] = {options->program,
                                "plan",
                                "--json",
                                "--config",
                                "/proc/self/fd/3",
                                kind == PROBE_ROWS ? "--rows" : NULL,
                                NULL};
    uv_stdio_container_t stdio[] = {
        {.flags = UV_IGNORE},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&probe->outputs[0].pipe},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&probe->outputs[1].pipe},
        [CONFIG_FD] = {.flags = UV_INHERIT_FD, .data.fd = config},
    };
    /* The first device stands for all: which one will be free is not known yet. */
    char **environment = serve_worker_environment(options->n_devices > 0 ? options->devices[0] : "");
    if (!environment)
        return -ENOMEM;
    const uv_process_options_t process = {
        .exit_cb = exited,
        .env = environment,
        .file = options->program,
        .args = (char **)(uintptr_t)args,
        .cwd = options->state, /* as its worker's */
        .flags = UV_PROCESS_DETACHED,
        .stdio_count = sizeof stdio / sizeof *stdio,
        .stdio = stdio,
    };
    int r = uv_spawn(&probe->serve->loop, &probe->process, &process);
    free(environment[0]);
    free(environment);
    return r;
}

int serve_probe_begin(struct serve *serve, enum probe_kind kind, const char *text, serve_probe_done *done,
                      void *ctx)
{
    struct serve_probe *probe = calloc(1, sizeof *probe);
    int config = probe ? open_text(text) : -ENOMEM;
    if (config < 0) {
        free(probe);
        return config;
    }
    probe->serve = serve;
    probe->ctx = ctx;
    probe->open = PIPES + 2;
    for (int i = 0; i < PIPES; i++) {
        uv_pipe_init(&serve->loop, &probe->outputs[i].pipe, 0);
        probe->outputs[i].pipe.data = probe;
    }
    uv_timer_init(&serve->loop, &probe->timer);
    probe->timer.data = probe->process.data = probe;
    int r = spawn(probe, kind, config);
    close(config);
    if (r < 0) {
        close_all(probe);
        return r;
    }
    probe->done = done;
    probe->next = serve->probes;
    serve->probes = probe;
    for (int i = 0; i < PIPES; i++)
        uv_read_start((uv_stream_t *)&probe->outputs[i].pipe, give_buffer, have_read);
    uv_timer_start(&probe->timer, expired, PROBE_MS, 0);
    return 0;
}
