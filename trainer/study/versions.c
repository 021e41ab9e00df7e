#include "trainer/study/versions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/fail.h"

static bool is_alive(const struct study_trial *trial, double grace_s)
{
    return trial->state == TRIAL_RUNNING && trial->heartbeat_us != STUDY_NO_TIME &&
           clock_wall_ns() / 1000 - trial->heartbeat_us < (int64_t)(grace_s * 1e6);
}

static int refuse(const struct study *study, const struct study_trial *trial, const char *version, char *err)
{
    char *worker = study_attribute_text(trial->user, trial->n_user, "papertape:worker");
    int r = fail_with(
        -EINVAL, err, STUDY_ERROR_MAX,
        "another version: %.100s: trial %d is run by papertape-trainer %.60s on %.100s, this is " PAPERTAPE_VERSION
        ": one version on all machines, or a start once its trials have ended, would be right",
        study->name, trial->number, version, worker ? worker : "an unknown machine");
    free(worker);
    return r;
}

int study_versions_check(const struct study *study, double grace_s,
                         void (*warn)(void *ctx, const char *words), void *ctx,
                         char err[static STUDY_ERROR_MAX])
{
    char words[STUDY_ERROR_MAX], *other = NULL;
    int others = 0, r = 0;
    for (int i = 0; i < study->n_trials && r == 0; i++) {
        const struct study_trial *trial = study->trials[i];
        char *version = study_attribute_text(trial->user, trial->n_user, STUDY_VERSION);
        const bool differs = version && strcmp(version, PAPERTAPE_VERSION) != 0;
        if (differs && is_alive(trial, grace_s)) {
            r = refuse(study, trial, version, err);
        } else if (differs && (trial->state == TRIAL_COMPLETE || trial->state == TRIAL_PRUNED)) {
            free(other);
            other = version;
            version = NULL;
            others++;
        }
        free(version);
    }
    if (r == 0 && others > 0) {
        snprintf(words, sizeof words,
                 "%.100s: %d of its trials are of papertape-trainer %.60s, this is " PAPERTAPE_VERSION
                 ": where NEWS.md names a change of training, another name of the study is right",
                 study->name, others, other);
        warn(ctx, words);
    }
    free(other);
    return r;
}
