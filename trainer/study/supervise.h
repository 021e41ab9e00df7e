/* Runs a study's workers from the first trial to the last. Trials that other processes make in the same
 * storage, ours or Optuna's, count too. */
#ifndef TRAINER_STUDY_SUPERVISE_H
#define TRAINER_STUDY_SUPERVISE_H

#include "trainer/study/tally.h"
#include "trainer/study/worker.h"

enum { STUDY_RUN_ERROR_MAX = TRIAL_ERROR_MAX + 256 };

struct study_progress {
    const struct study *study;
    struct study_tally tally;
    int workers;             /* processes that there are */
    double per_hour, left_s; /* trials of this run; NaN: not known yet */
};

struct study_calls {
    void *ctx;
    /* A trial has ended; not called for those that had ended before the run began. */
    void (*ended)(void *ctx, const struct study_trial *trial, const struct study_progress *figures);
    void (*looked)(void *ctx, const struct study_progress *figures); /* at least twice a second */
    void (*warned)(void *ctx, const char *words);
    bool (*stopped)(void *ctx); /* is it to end? */
    const atomic_bool *stop;    /* likewise while the storage is waited for; NULL: no */
};

struct study_plan {
    int workers; /* 1 to POOL_MAX */
    char *const *devices;
    int n_devices; /* 0: no device is chosen */
};

/* Starts workers, and replaces those that die; their trials are tried again. When asked to stop, they end
 * within seconds, though the storage may not answer, and their trials wait. 0: all trials are done, or a grid
 * has no more points; 1: it was stopped; -errno with a sentence, and *ret_cause as docs/serve.md has them
 * (NULL: none). The calling process must have no other thread. */
int study_run(const struct study_order *order, const struct study_plan *plan, const struct study_calls *calls,
              const char **ret_cause, char err[static STUDY_RUN_ERROR_MAX]);

#endif
