#include "record/json.h"
#include "trainer/study/worker.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What one stores. */
struct beat {
    int64_t trial;
    double share, steps_s;
    int split, splits;
};

struct study_heartbeat {
    struct study_store *store; /* under `turn` */
    double every_s;
    pthread_t thread;
    pthread_mutex_t turn; /* taken without `lock` */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    struct beat now;
    bool lost, ends;
};

/* `text`: its progress; NULL without memory. */
static int store_heartbeat(struct study_store *store, int64_t trial, const char *text, char *err)
{
    int r = study_store_begin(store, err);
    if (r == 0 && (r = study_store_heartbeat(store, trial, err)) == 0 && text)
        r = study_store_set_user(store, trial, "papertape:progress", text, err);
    if (r == 0)
        return study_store_commit(store, err);
    study_store_rollback(store);
    return r;
}

/* Without the lock: a database may be locked for long. Another trial than now->trial may run when it is the
 * thread's turn. */
static int write_heartbeat(struct study_heartbeat *beat, const struct beat *now)
{
    char err[STUDY_ERROR_MAX];
    json_t *progress = json_pack("{s:f, s:o, s:i, s:i}", "share", now->share, "steps_per_second",
                                 record_json_real(now->steps_s), "split", now->split, "splits", now->splits);
    char *text = progress ? json_dumps(progress, JSON_REAL_PRECISION(6)) : NULL;
    int r;
    pthread_mutex_lock(&beat->turn);
    do
        r = store_heartbeat(beat->store, now->trial, text, err);
    while (r < 0 && study_store_again(beat->store, &r, err));
    pthread_mutex_unlock(&beat->turn);
    free(text);
    json_decref(progress);
    return r;
}

static void wait_until_due(struct study_heartbeat *beat)
{
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    double s = (double)due.tv_nsec * 1e-9 + beat->every_s;
    due.tv_sec += (time_t)s;
    due.tv_nsec = (long)((s - floor(s)) * 1e9);
    while (!beat->ends && pthread_cond_timedwait(&beat->changed, &beat->lock, &due) == 0)
        ;
}

static void *run(void *ctx)
{
    struct study_heartbeat *beat = ctx;
    pthread_mutex_lock(&beat->lock);
    while (!beat->ends) {
        wait_until_due(beat);
        const struct beat now = beat->now;
        if (beat->ends || now.trial == 0)
            continue;
        pthread_mutex_unlock(&beat->lock);
        int r = write_heartbeat(beat, &now);
        pthread_mutex_lock(&beat->lock);
        if (r == -EINVAL && beat->now.trial == now.trial) /* finished; a lock may clear */
            beat->lost = true;
    }
    pthread_mutex_unlock(&beat->lock);
    return NULL;
}

static void destroy(struct study_heartbeat *beat)
{
    pthread_cond_destroy(&beat->changed);
    pthread_mutex_destroy(&beat->lock);
    pthread_mutex_destroy(&beat->turn);
    free(beat);
}

int study_heartbeat_start(struct study_store *store, double every_s, struct study_heartbeat **ret,
                          char err[static STUDY_ERROR_MAX])
{
    pthread_condattr_t clock;
    sigset_t all, before;
    struct study_heartbeat *beat = calloc(1, sizeof *beat);
    snprintf(err, STUDY_ERROR_MAX, "out of memory");
    if (!beat)
        return -ENOMEM;
    beat->every_s = every_s;
    beat->store = store;
    pthread_mutex_init(&beat->turn, NULL);
    pthread_mutex_init(&beat->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&beat->changed, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all); /* signals are for the worker's main thread */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int r = -pthread_create(&beat->thread, NULL, run, beat);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r < 0) {
        snprintf(err, STUDY_ERROR_MAX, "cannot begin a thread: %s", strerror(-r));
        destroy(beat);
        return r;
    }
    *ret = beat;
    return 0;
}

void study_heartbeat_stop(struct study_heartbeat *beat)
{
    if (!beat)
        return;
    pthread_mutex_lock(&beat->lock);
    beat->ends = true;
    pthread_cond_signal(&beat->changed);
    pthread_mutex_unlock(&beat->lock);
    pthread_join(beat->thread, NULL);
    destroy(beat);
}

void study_heartbeat_take(struct study_heartbeat *beat)
{
    pthread_mutex_lock(&beat->turn);
}

void study_heartbeat_give(struct study_heartbeat *beat)
{
    pthread_mutex_unlock(&beat->turn);
}

void study_heartbeat_trial(struct study_heartbeat *beat, int64_t trial)
{
    pthread_mutex_lock(&beat->lock);
    beat->now = (struct beat){.trial = trial, .steps_s = NAN};
    beat->lost = false;
    pthread_mutex_unlock(&beat->lock);
}

void study_heartbeat_progress(struct study_heartbeat *beat, double share, double steps_s, int split,
                              int splits)
{
    pthread_mutex_lock(&beat->lock);
    beat->now = (struct beat){beat->now.trial, share, steps_s, split, splits};
    pthread_mutex_unlock(&beat->lock);
}

bool study_heartbeat_lost(struct study_heartbeat *beat)
{
    pthread_mutex_lock(&beat->lock);
    bool lost = beat->lost;
    pthread_mutex_unlock(&beat->lock);
    return lost;
}
