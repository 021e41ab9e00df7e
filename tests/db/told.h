/* A writer's reports from its own thread: that it fails, and that it works again. */
#ifndef TESTS_DB_TOLD_H
#define TESTS_DB_TOLD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "db/writer.h"

enum { TOLD_PATIENCE_S = 120 };

struct told {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int failures, recoveries;
    char detail[DB_ERROR_MAX]; /* of the last */
};

#define TOLD_INIT ((struct told){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER})

static inline void told_state(struct told *told, bool ok, const char *detail)
{
    pthread_mutex_lock(&told->lock);
    if (ok)
        told->recoveries++;
    else
        told->failures++;
    snprintf(told->detail, sizeof told->detail, "%s", detail);
    pthread_cond_broadcast(&told->changed);
    pthread_mutex_unlock(&told->lock);
}

/* Waits until a counter reaches `wanted`; false when it does not. */
static inline bool told_wait(struct told *told, const int *counter, int wanted)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += TOLD_PATIENCE_S;
    int r = 0;
    pthread_mutex_lock(&told->lock);
    while (r == 0 && *counter < wanted)
        r = pthread_cond_timedwait(&told->changed, &told->lock, &end);
    bool there = *counter >= wanted;
    pthread_mutex_unlock(&told->lock);
    return there;
}

#endif
