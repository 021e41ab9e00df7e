#include "trainer/study/versions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/fail.h"

enum { VERSION_MAX = 64, WORKER_MAX = 128 };

/* The text of a trial's attribute; "": it has none, or one that is no text. */
static void text_of(const struct study_trial *trial, const char *key, size_t size, char *buf)
{
    const struct study_attribute *attribute = study_attribute_find(trial->user, trial->n_user, key);
    json_t *value = attribute ? json_loads(attribute->json, JSON_DECODE_ANY, NULL) : NULL;
    const char *text = json_string_value(value);
    snprintf(buf, size, "%s", text ? text : "");
    json_decref(value);
}

static bool is_alive(const struct study_trial *trial, double grace_s)
{
    return trial->state == TRIAL_RUNNING && trial->heartbeat_us != STUDY_NO_TIME &&
           clock_wall_ns() / 1000 - trial->heartbeat_us < (int64_t)(grace_s * 1e6);
}

static int refuse(const struct study *study, const struct study_trial *trial, const char *version, char *err)
{
    char worker[WORKER_MAX];
    text_of(trial, "papertape:worker", sizeof worker, worker);
    return fail_with(
        -EINVAL, err, STUDY_ERROR_MAX,
        "another version: %.100s: trial %d is run by papertape-trainer %s on %s, this is " PAPERTAPE_VERSION
        ": one version on all machines, or a start once its trials have ended, would be right",
        study->name, trial->number, version, worker[0] ? worker : "an unknown machine");
}

int study_versions_check(const struct study *study, double grace_s,
                         void (*warn)(void *ctx, const char *words), void *ctx,
                         char err[static STUDY_ERROR_MAX])
{
    char version[VERSION_MAX], words[STUDY_ERROR_MAX], other[VERSION_MAX] = "";
    int others = 0;
    for (int i = 0; i < study->n_trials; i++) {
        const struct study_trial *trial = study->trials[i];
        text_of(trial, STUDY_VERSION, sizeof version, version);
        if (!version[0] || strcmp(version, PAPERTAPE_VERSION) == 0)
            continue;
        if (is_alive(trial, grace_s))
            return refuse(study, trial, version, err);
        if (trial->state != TRIAL_COMPLETE && trial->state != TRIAL_PRUNED)
            continue;
        others++;
        snprintf(other, sizeof other, "%s", version);
    }
    if (others > 0) {
        snprintf(words, sizeof words,
                 "%.100s: %d of its trials are of papertape-trainer %s, this is " PAPERTAPE_VERSION
                 ": where NEWS.md names a change of training, another name of the study is right",
                 study->name, others, other);
        warn(ctx, words);
    }
    return 0;
}
