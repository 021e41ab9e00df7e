/* The worker processes of a search, as their parent has them. It has one thread, and no database open, when
 * it starts one. */
#ifndef TRAINER_SEARCH_POOL_H
#define TRAINER_SEARCH_POOL_H

#include <sys/types.h>

#include "trainer/search/worker.h"

enum { POOL_MAX = 1024 };

struct pool_worker {
    pid_t pid; /* 0: nobody is in this place */
    int out;
    const char *device; /* NULL: all that there are */
    int64_t trial;      /* that it is at; 0: none */
    bool killed;        /* by pool_signal(SIGKILL) */
    char *line;         /* what it has said of a line */
    size_t n;
};

struct pool_calls {
    void *ctx;
    void (*heard)(void *ctx, const struct pool_worker *worker, const json_t *line);
    /* It has ended: `status` as waitpid() has it. Its place is free after that. */
    void (*ended)(void *ctx, const struct pool_worker *worker, int status);
};

struct pool {
    struct pool_worker *workers; /* [n] places */
    int n, alive;
    struct pool_calls calls;
};

/* `devices` [n_devices] are given to the places in turn; 0: none is. 0, for pool_finish(); -ENOMEM. */
int pool_init(struct pool *pool, int n, char *const *devices, int n_devices, const struct pool_calls *calls);
void pool_finish(struct pool *pool); /* kills and reaps those that are left */

/* Starts one in a free place; 1: one was, 0: all are taken; -errno. Flush stdio before. */
int pool_start(struct pool *pool, const struct search_order *order);

/* Waits for what they say or for their ends, at most so long. Calls. 0 or -errno. */
int pool_wait(struct pool *pool, int timeout_ms);

void pool_signal(struct pool *pool, int number); /* to all */

#endif
