/* The worker processes of a study, as their parent sees them. The parent has one thread, and no database
 * open, when it starts one. */
#ifndef TRAINER_STUDY_POOL_H
#define TRAINER_STUDY_POOL_H

#include <stdint.h>
#include <sys/types.h>

#include "trainer/study/worker.h"

enum { POOL_MAX = 1024 };

struct study_pool_worker {
    pid_t pid; /* 0: this place is free */
    int out;
    const char *device; /* NULL: all devices */
    int64_t trial;      /* that it runs; 0: none */
    bool killed;        /* by study_pool_signal(SIGKILL) */
    char *line;         /* the part of a line that was read so far */
    size_t n;
};

struct study_pool_calls {
    void *ctx;
    void (*reported)(void *ctx, const struct study_pool_worker *worker, const json_t *line);
    /* It has ended: `status` as waitpid() has it. Its place is free after that. */
    void (*ended)(void *ctx, const struct study_pool_worker *worker, int status);
};

struct study_pool {
    struct study_pool_worker *workers; /* [n] places */
    int n, alive;
    struct study_pool_calls calls;
};

/* `devices` [n_devices] are assigned to the places in turn; 0: no device is assigned. 0, for
 * study_pool_finish(); -ENOMEM. */
int study_pool_init(struct study_pool *pool, int n, char *const *devices, int n_devices,
                    const struct study_pool_calls *calls);
void study_pool_finish(struct study_pool *pool); /* kills and reaps those that are left */

/* Starts one in a free place; 1: started, 0: all places are taken; -errno. Flush stdio before. */
int study_pool_start(struct study_pool *pool, const struct study_order *order);

/* Waits at most so long for output or the end of workers, and calls the callbacks. 0 or -errno. */
int study_pool_wait(struct study_pool *pool, int timeout_ms);

void study_pool_signal(struct study_pool *pool, int number); /* to all */

/* The number of workers that a study has by default (workers.c). Pure. On the CPU one a core, each with one
 * thread, as far as memory allows: `each_bytes` of a worker beside what all share; on devices `a_device` on
 * each. At least 1, at most as many as trials are `left`. */
struct study_workers_room {
    int cores, n_devices, a_device, left;
    int64_t memory_bytes, shared_bytes, each_bytes; /* memory_bytes -1: unknown */
};
int study_workers_fit(const struct study_workers_room *room);

#endif
