/* A study's next trial, made by hand. */
#ifndef TESTS_DB_STUDIES_ADD_TRIAL_H
#define TESTS_DB_STUDIES_ADD_TRIAL_H

#include "db/studies/study_build.h"
#include "tests/fatal.h"

static inline struct study_trial *add_next_trial(struct study *study, int64_t id, enum trial_state state)
{
    struct study_trial *trial = study_trial_create(id, state);
    bool changed;
    if (!trial || study_splice(study, study->n_trials, study->n_trials, &trial, 1, &changed) < 0)
        fatal("no memory for a trial");
    return trial;
}

#endif
