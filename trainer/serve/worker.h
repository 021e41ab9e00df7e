/* One process that trains, `PROGRAM train …`, or searches, `PROGRAM study …`, with its stdout a pipe of JSON
 * lines, its stderr kept in worker.log, and a lock that it holds while it lives. On the caller's loop. */
#ifndef TRAINER_SERVE_WORKER_H
#define TRAINER_SERVE_WORKER_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

enum {
    WORKER_ERROR_MAX = 512,
    WORKER_LINE_MAX = 1 << 20, /* of stdout; a longer one is dropped */
    WORKER_LOG_MAX = 1 << 18,  /* of worker.log; then it becomes worker.log.1, and the one before that goes */
    WORKER_HEARTBEAT_MS = 1000, /* it writes a line at least so often */
};

enum worker_begin { WORKER_FRESH, WORKER_OVERWRITE, WORKER_RESUME, WORKER_RESUME_CHANGED };

struct worker_order {
    const char *program;
    const char *study;     /* NULL: it trains; else the study that it searches in */
    const char *folder;    /* of the training: has training.ini; worker.log and worker.lock are made */
    const char *directory; /* its working directory */
    const char *device;    /* the one that it may see; "" for none */
    enum worker_begin begin;
    int64_t data_bytes; /* RLIMIT_DATA; 0: none */
    int64_t memory_mib; /* its memory limit: a study's workers fit in it */
};

/* `reported`: a line that was an object, borrowed. `ended`: the process is gone and all of its lines were
 * read; called once, last. `signal` is 0 where it exited by itself. */
struct worker_calls {
    void (*reported)(void *ctx, json_t *event);
    void (*ended)(void *ctx, int64_t status, int signal);
};

/* 0, or -errno with a sentence: -EBUSY: another process holds the lock, so there is a worker. */
struct worker;
int serve_worker_start(uv_loop_t *loop, const struct worker_order *order, const struct worker_calls *calls,
                       void *ctx, struct worker **ret, char err[static WORKER_ERROR_MAX]);
pid_t serve_worker_pid(const struct worker *worker);
void serve_worker_signal(struct worker *worker,
                         int number); /* SIGKILL: to all processes of its session's group */

/* What it inherits: no variable of the co-process' own service, and one device. The list and its first line
 * are the caller's; NULL without memory. */
char **serve_worker_environment(const char *device);

/* Is a worker of this training alive, of this co-process or another? */
bool serve_worker_lives(const char *folder);

/* The newest lines of worker.log, at most `lines` of them and `bytes_max` of text, as a new array of strings;
 * NULL without memory. */
json_t *serve_worker_log_tail(const char *folder, size_t lines, size_t bytes_max);

/* A training's worker.log: what its processes wrote to stderr, in at most two files of WORKER_LOG_MAX. */

struct worker_log {
    char path[PATH_MAX];
    int fd; /* < 0: do not write */
    size_t size;
};

int serve_worker_log_open(struct worker_log *log, const char *folder); /* 0 or -errno */
void serve_worker_log_close(struct worker_log *log);

/* A full disk loses it. */
void serve_worker_log_write(struct worker_log *log, const char *text, size_t n);

#endif
