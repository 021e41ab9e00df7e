#include "trainer/study/trial_hashes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

enum { TEXT_MAX = 128 };

static json_t *digits(uint64_t hash)
{
    char hex[20];
    snprintf(hex, sizeof hex, "%016" PRIx64, hash);
    return json_string(hex);
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    return XXH3_64bits_withSeed(text, strlen(text) + 1, hash);
}

static uint64_t add_trial(uint64_t hash, const struct study_trial *trial)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%d %s %" PRId64 " %a", trial->number, study_trial_state_name(trial->state),
             trial->completed_us, trial->values ? trial->values[0] : 0);
    return add_text(hash, text);
}

static uint64_t add_study(uint64_t hash, const struct study *study)
{
    hash = add_text(hash, study->name);
    for (int i = 0; i < study->n_trials; i++)
        if (trial_state_finished(study->trials[i]->state))
            hash = add_trial(hash, study->trials[i]);
    return hash;
}

json_t *study_trial_hashes(const struct study *own, const struct study_members *others)
{
    uint64_t hash = add_study((uint64_t)own->n_trials, own);
    for (int i = 0; others && i < others->n; i++)
        hash = add_study(hash, others->of[i].study);
    return digits(hash);
}

json_t *study_chosen_hashes(const struct study *study, const struct study_trial *const *trials, int n)
{
    uint64_t hash = add_text(0, study->name);
    for (int i = 0; i < n; i++) {
        uint64_t params = 0;
        for (int k = 0; k < trials[i]->n_params; k++) {
            char value[TEXT_MAX];
            snprintf(value, sizeof value, "%a", trials[i]->params[k].value);
            params += add_text(add_text(0, study->params[trials[i]->params[k].param]), value);
        }
        hash = add_trial(hash, trials[i]);
        hash = XXH3_64bits_withSeed(&params, sizeof params, hash);
    }
    return digits(hash);
}
