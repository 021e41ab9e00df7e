/* A training's worker.log: what its processes wrote to stderr, in at most two files of WORKER_LOG_MAX. */
#ifndef TRAINER_SERVE_WORKER_LOG_H
#define TRAINER_SERVE_WORKER_LOG_H

#include <limits.h>
#include <stddef.h>

struct worker_log {
    char path[PATH_MAX];
    int fd; /* < 0: not to be written to */
    size_t size;
};

int serve_worker_log_open(struct worker_log *log, const char *folder); /* 0 or -errno */
void serve_worker_log_close(struct worker_log *log);

/* A disk that is full loses it. */
void serve_worker_log_write(struct worker_log *log, const char *text, size_t n);

#endif
