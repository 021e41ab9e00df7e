#include "trainer/study/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of trials in retry_history, as Optuna has it: all that were tried before this one. */
static void take_history(const struct study_trial *trial, const struct study *study, bool *retried)
{
    json_t *list = study_attribute_json(trial->system, trial->n_system, "retry_history"), *entry;
    size_t i;
    json_array_foreach(list, i, entry)
    {
        json_int_t number = json_is_integer(entry) ? json_integer_value(entry) : -1;
        if (number >= 0 && number < study->n_trials)
            retried[number] = true;
    }
    json_decref(list);
}

struct study_tally study_tally_of(const struct study *study)
{
    struct study_tally tally = {0};
    bool *retried = calloc((size_t)study->n_trials + 1, sizeof *retried);
    for (int i = 0; i < study->n_trials; i++) {
        const struct study_trial *trial = study->trials[i];
        tally.states[trial->state]++;
        tally.mute += trial->state == TRIAL_RUNNING && trial->heartbeat_us == STUDY_NO_TIME;
        if (retried) /* without memory all count, and the study ends sooner */
            take_history(study->trials[i], study, retried);
    }
    for (int i = 0; i < study->n_trials && retried; i++)
        tally.retried += retried[i] && study->trials[i]->state == TRIAL_FAIL;
    free(retried);
    tally.failed = tally.states[TRIAL_FAIL] - tally.retried;
    tally.done = tally.states[TRIAL_COMPLETE] + tally.states[TRIAL_PRUNED] + tally.failed;
    return tally;
}

int study_tally_room(const struct study_tally *tally, int wanted)
{
    return wanted - tally->done - (tally->states[TRIAL_RUNNING] - tally->mute);
}

double study_tally_rate(int finished, double seconds)
{
    return finished > 0 && seconds > 0 ? finished * 3600 / seconds : NAN;
}

double study_tally_left_s(int left, double per_hour)
{
    return left <= 0 ? 0 : per_hour > 0 ? left * 3600 / per_hour : NAN;
}
