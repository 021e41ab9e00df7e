/* The programs that a study's trials are run by: a trial's value is comparable with another's where both
 * programs are of one version. */
#ifndef TRAINER_STUDY_VERSIONS_H
#define TRAINER_STUDY_VERSIONS_H

#include "db/studies/store.h"

/* A trial's user attribute, a JSON string: the version of the worker's program. Optuna's trials, and those of
 * older programs, have none. */
#define STUDY_VERSION "papertape:version"

/* May this program run trials of the study? -EINVAL with a sentence: a worker of another version, whose
 * heartbeat is younger than grace_s by this machine's clock, runs one now. Finished trials of another version
 * are reported to `warn`, in one line. 0. */
int study_versions_check(const struct study *study, double grace_s,
                         void (*warn)(void *ctx, const char *words), void *ctx,
                         char err[static STUDY_ERROR_MAX]);

#endif
