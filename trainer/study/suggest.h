/* How a worker gets a trial, and how it reports its result: joins db/studies and a sampler. */
#ifndef TRAINER_STUDY_SUGGEST_H
#define TRAINER_STUDY_SUGGEST_H

#include <sys/types.h>

#include "db/studies/store.h"
#include "trainer/study/settings.h"
#include "trainer/study/trial.h"

/* The value of papertape:worker for a process of this machine: "HOST:PID". */
enum { WORKER_NAME_MAX = 96 };
void study_worker_name(pid_t pid, char ret[static WORKER_NAME_MAX]);

struct study_suggestion {
    int64_t trial;
    int number;
    double *values; /* [space->n], internal */
    bool failed;    /* it is FAIL already: its enqueued values are not in the space */
};

/* The next trial: a waiting one, or a new one while there are fewer than `wanted`. One transaction with its
 * parameters, the attributes that other workers draw by, papertape:worker and its first heartbeat. Values of
 * a trial that is tried again are what they were; `fixed_params` of an enqueued one are taken; the rest is
 * drawn. 1: a trial, into *ret with `values` of the caller's; 0: there is no room, or everything was tried
 * (*ret_exhausted); or -errno. */
int study_suggest(struct study_store *store, struct study *study, struct sampler *sampler,
                  const struct study_settings *settings, int wanted, struct study_suggestion *ret,
                  bool *ret_exhausted, char err[static STUDY_ERROR_MAX]);

/* FAIL with papertape:failure and papertape:cause ("config", "nan"). */
int study_tell_failure(struct study_store *store, int64_t trial, const char *words, const char *cause,
                       char err[static STUDY_ERROR_MAX]);
/* COMPLETE or PRUNED with papertape:splits, and papertape:artifacts (artifacts.h) where `files` is not NULL.
 */
int study_tell(struct study_store *store, int64_t trial, enum trial_state state,
               const struct trial_outcome *outcome, const json_t *files, char err[static STUDY_ERROR_MAX]);

/* Reports a value and asks the pruner: 1: prune; 0; -errno, -EINVAL of a trial that is no longer running. The
 * pruner's marks are stored in any case. */
int study_report(struct study_store *store, struct study *study, const struct study_settings *settings,
                 const struct study_suggestion *asked, int step, double value,
                 char err[static STUDY_ERROR_MAX]);

#endif
