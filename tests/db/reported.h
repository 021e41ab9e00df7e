/* A writer's reports from its own thread: that it fails, and that it works again. */
#ifndef TESTS_DB_REPORTED_H
#define TESTS_DB_REPORTED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "db/writer.h"

enum { REPORTS_PATIENCE_S = 120 };

struct reported {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int failures, recoveries;
    char detail[DB_ERROR_MAX]; /* of the last */
};

#define REPORTS_INIT \
    ((struct reported){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER})

static inline void reports_state(struct reported *reported, bool ok, const char *detail)
{
    pthread_mutex_lock(&reported->lock);
    if (ok)
        reported->recoveries++;
    else
        reported->failures++;
    snprintf(reported->detail, sizeof reported->detail, "%s", detail);
    pthread_cond_broadcast(&reported->changed);
    pthread_mutex_unlock(&reported->lock);
}

/* Waits until a counter reaches `wanted`; false when it does not. */
static inline bool reports_wait(struct reported *reported, const int *counter, int wanted)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += REPORTS_PATIENCE_S;
    int r = 0;
    pthread_mutex_lock(&reported->lock);
    while (r == 0 && *counter < wanted)
        r = pthread_cond_timedwait(&reported->changed, &reported->lock, &end);
    bool there = *counter >= wanted;
    pthread_mutex_unlock(&reported->lock);
    return there;
}

#endif
