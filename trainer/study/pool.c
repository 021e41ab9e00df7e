#include "trainer/study/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1 << 16 };

int study_pool_init(struct study_pool *pool, int n, char *const *devices, int n_devices,
                    const struct study_pool_calls *calls)
{
    *pool = (struct study_pool){.workers = calloc((size_t)n, sizeof *pool->workers), .n = n, .calls = *calls};
    if (!pool->workers)
        return -ENOMEM;
    for (int i = 0; i < n && n_devices > 0; i++)
        pool->workers[i].device = devices[i % n_devices];
    return 0;
}

/* ---- Beginnings. ---- */

static _Noreturn void be_worker(struct study_pool *pool, const struct study_pool_worker *place, int out,
                                pid_t parent, const struct study_order *order)
{
    for (int i = 0; i < pool->n; i++)
        if (pool->workers[i].pid > 0)
            close(pool->workers[i].out);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    int status = EXIT_FAILURE;
    /* stdout has the study's lines alone. */
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0) {
        signal(SIGTERM, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        status = study_worker_run(order, out, place->device);
    }
    fflush(NULL);
    _exit(status);
}

int study_pool_start(struct study_pool *pool, const struct study_order *order)
{
    int place = 0, ends[2];
    pid_t parent = getpid();
    while (place < pool->n && pool->workers[place].pid > 0)
        place++;
    if (place == pool->n)
        return 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    /* SIGTERM stays blocked until the worker has a handler of its own, so that it cannot be lost. */
    sigset_t ends_it, before;
    sigemptyset(&ends_it);
    sigaddset(&ends_it, SIGINT);
    sigaddset(&ends_it, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends_it, &before);
    pid_t pid = fork();
    int error = errno;
    if (pid != 0)
        sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0) {
        int r = -error;
        close(ends[0]);
        close(ends[1]);
        return r;
    }
    if (pid == 0) {
        close(ends[0]);
        be_worker(pool, &pool->workers[place], ends[1], parent, order);
    }
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct study_pool_worker *worker = &pool->workers[place];
    *worker = (struct study_pool_worker){.pid = pid, .out = ends[0], .device = worker->device};
    pool->alive++;
    return 1;
}

/* ---- What they say. ---- */

static void take_line(struct study_pool *pool, struct study_pool_worker *worker, const char *text, size_t n)
{
    json_t *line = json_loadb(text, n, 0, NULL);
    const json_t *began = json_object_get(line, "began"), *finished = json_object_get(line, "finished");
    if (json_is_integer(began))
        worker->trial = json_integer_value(began);
    else if (json_is_integer(finished))
        worker->trial = 0;
    if (line)
        pool->calls.reported(pool->calls.ctx, worker, line);
    json_decref(line);
}

/* Reads what a worker wrote; false: end of file. */
static bool receive(struct study_pool *pool, struct study_pool_worker *worker)
{
    char chunk[4096];
    ssize_t got = read(worker->out, chunk, sizeof chunk);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    char *grown =
        worker->n + (size_t)got <= LINE_MAX_BYTES ? realloc(worker->line, worker->n + (size_t)got) : NULL;
    if (!grown) { /* not a worker of this pool */
        worker->n = 0;
        return true;
    }
    worker->line = grown;
    memcpy(worker->line + worker->n, chunk, (size_t)got);
    worker->n += (size_t)got;
    size_t done = 0;
    for (char *end; (end = memchr(worker->line + done, '\n', worker->n - done));
         done = (size_t)(end - worker->line) + 1)
        take_line(pool, worker, worker->line + done, (size_t)(end - worker->line) - done);
    memmove(worker->line, worker->line + done, worker->n - done);
    worker->n -= done;
    return true;
}

static void reap(struct study_pool *pool, struct study_pool_worker *worker)
{
    int status = 0;
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(worker->out);
    free(worker->line);
    worker->line = NULL;
    pool->alive--;
    pool->calls.ended(pool->calls.ctx, worker, status);
    *worker = (struct study_pool_worker){.device = worker->device};
}

int study_pool_wait(struct study_pool *pool, int timeout_ms)
{
    struct pollfd polled[POOL_MAX];
    int place[POOL_MAX], n = 0;
    for (int i = 0; i < pool->n; i++)
        if (pool->workers[i].pid > 0) {
            polled[n] = (struct pollfd){.fd = pool->workers[i].out, .events = POLLIN};
            place[n++] = i;
        }
    int ready = poll(polled, (nfds_t)n, timeout_ms);
    if (ready < 0)
        return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < n && ready > 0; i++)
        if (polled[i].revents && !receive(pool, &pool->workers[place[i]]))
            reap(pool, &pool->workers[place[i]]);
    return 0;
}

/* ---- Ends. ---- */

void study_pool_signal(struct study_pool *pool, int number)
{
    for (int i = 0; i < pool->n; i++)
        if (pool->workers[i].pid > 0) {
            pool->workers[i].killed = pool->workers[i].killed || number == SIGKILL;
            kill(pool->workers[i].pid, number);
        }
}

void study_pool_finish(struct study_pool *pool)
{
    study_pool_signal(pool, SIGKILL);
    for (int i = 0; i < pool->n; i++)
        if (pool->workers[i].pid > 0)
            reap(pool, &pool->workers[i]);
    free(pool->workers);
    *pool = (struct study_pool){0};
}
