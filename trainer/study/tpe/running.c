#include "trainer/study/tpe/running.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/python_json.h"

/* A new reference; NULL: there are none, or (another worker is writing them) not all of them. */
static json_t *promised_of(const struct study_trial *trial)
{
    char key[40], *text = NULL;
    size_t length = 0;
    for (int i = 0;; i++) {
        snprintf(key, sizeof key, "tpe:relative_params:%d", i);
        json_t *piece = study_attribute_json(trial->system, trial->n_system, key);
        size_t more = json_string_length(piece); /* 0 of what is no string */
        char *longer = more > 0 ? realloc(text, length + more + 1) : NULL;
        if (!longer) {
            json_decref(piece);
            break;
        }
        text = longer;
        memcpy(text + length, json_string_value(piece), more + 1);
        length += more;
        json_decref(piece);
    }
    size_t at;
    json_t *promised = text ? study_python_json_parse(text, &at) : NULL;
    free(text);
    if (!json_is_object(promised)) {
        json_decref(promised);
        return NULL;
    }
    return promised;
}

int tpe_running_read(const struct study *study, int number, bool promises, struct tpe_running *ret)
{
    struct tpe_running running = {0};
    int n = 0;
    for (int i = 0; i < study->n_trials; i++)
        n += study->trials[i]->state == TRIAL_RUNNING && i != number;
    running.trials = calloc((size_t)n + 1, sizeof *running.trials);
    if (!running.trials)
        return -ENOMEM;
    for (int i = 0; i < study->n_trials; i++) {
        const struct study_trial *trial = study->trials[i];
        if (trial->state == TRIAL_RUNNING && i != number)
            running.trials[running.n++] = (struct tpe_running_trial){.trial = trial, .is_read = !promises};
    }
    *ret = running;
    return 0;
}

void tpe_running_finish(struct tpe_running *running)
{
    for (int i = 0; i < running->n; i++)
        json_decref(running->trials[i].promised);
    free(running->trials);
    *running = (struct tpe_running){0};
}

bool tpe_running_value(struct tpe_running_trial *trial, int param, const struct space_param *wanted,
                       double *ret)
{
    const struct trial_param *own = param >= 0 ? study_trial_param(trial->trial, param) : NULL;
    if (own) {
        *ret = own->value;
        return true;
    }
    if (!trial->is_read) {
        trial->promised = promised_of(trial->trial);
        trial->is_read = true;
    }
    const json_t *promised = trial->promised ? json_object_get(trial->promised, wanted->name) : NULL;
    return promised && distribution_internal(&wanted->distribution, promised, ret) == 0;
}

json_t *tpe_running_promise(const json_t *promise)
{
    json_t *pieces = json_array();
    char *text = study_python_json_text(promise);
    size_t length = text ? strlen(text) : 0;
    bool fine = text && pieces;
    for (size_t at = 0; fine && at < length; at += TPE_PIECE_MAX) {
        size_t rest = length - at;
        json_t *piece = json_stringn(text + at, rest < TPE_PIECE_MAX ? rest : TPE_PIECE_MAX);
        fine = json_array_append_new(pieces, piece) == 0;
    }
    free(text);
    if (!fine) {
        json_decref(pieces);
        return NULL;
    }
    return pieces;
}
