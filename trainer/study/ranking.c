#include "trainer/study/proposal_policy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "trainer/study/internal.h"

static bool complete(const struct study_trial *trial)
{
    return trial->state == TRIAL_COMPLETE && trial->values && !isnan(trial->values[0]);
}

static bool better(const struct study *study, const struct study_trial *a, const struct study_trial *b)
{
    if (a->values[0] == b->values[0])
        return a->number < b->number;
    return (a->values[0] > b->values[0]) == (study->directions[0] != STUDY_MINIMIZE);
}

int study_rank(const struct study *study, struct study_ranked *ret, char err[static TRIAL_ERROR_MAX])
{
    struct study_ranked ranked = {.trials = calloc((size_t)study->n_trials + 1, sizeof(*ranked.trials))};
    *ret = ranked;
    if (!ranked.trials)
        return study_error(err, -ENOMEM, "out of memory: %d trials", study->n_trials);
    for (int i = 0; i < study->n_trials; i++) {
        const struct study_trial *trial = study->trials[i];
        if (!complete(trial))
            continue;
        int at = ret->n;
        for (; at > 0 && better(study, trial, ret->trials[at - 1]); at--)
            ret->trials[at] = ret->trials[at - 1];
        ret->trials[at] = trial;
        ret->n++;
    }
    return ret->n > 0 ? 0
                      : study_error(err, -ENODATA, "study %.100s: no trial is complete: nothing to propose",
                                    study->name);
}
