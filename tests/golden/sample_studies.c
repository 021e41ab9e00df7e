#include "tests/golden/sample.h"

#include <math.h>
#include <stdio.h>

#include "db/studies/store.h"

enum { TRIALS = 24 };

static char err[STUDY_ERROR_MAX];
static int failed; /* the first */

static void take(int r)
{
    if (r < 0 && failed == 0) {
        failed = r;
        fprintf(stderr, "golden-state: studies: %s\n", err);
    }
}

static void put_params(struct study_store *store, int64_t trial, int i)
{
    struct distribution rate, width, schedule;
    json_t *choices = json_loads("[\"none\", \"linear\", 2048]", 0, NULL);
    take(distribution_number(DISTRIBUTION_FLOAT, 1e-6, 1e-3, 0, true, &rate, err));
    take(distribution_number(DISTRIBUTION_INT, 512, 1536, 1, false, &width, err));
    take(distribution_categories(choices, &schedule, err));
    const struct study_store_param params[] = {{"learning_rate", &rate, 1e-5 * (1 + i % 11)},
                                               {"net_dimension", &width, 512 + 37 * i % 1024},
                                               {"lr_schedule", &schedule, i % 3}};
    take(study_store_set_params(store, trial, params, 3, err));
    distribution_finish(&schedule);
    json_decref(choices);
}

/* Complete, pruned, failed, running and waiting ones. */
static void put_trial(struct study_store *store, int64_t study, int i)
{
    int64_t trial;
    int number;
    const double value = i == 7 ? INFINITY : 1.5 - 0.03 * (i % 10) + 0.1 * (i % 3);
    take(study_store_ask(store, study, i % 5 == 4, &trial, &number, err));
    put_params(store, trial, i);
    for (int step = 1; step <= 3; step++)
        take(study_store_report(store, trial, step, i == 9 && step == 2 ? NAN : value * step / 3, err));
    take(study_store_set_user(store, trial, "papertape:worker", "\"trade-1:4000\"", err));
    if (i == 11)
        take(study_store_set_system(store, trial, "constraints", "[0.5, -1.0]", err));
    if (i % 8 == 5)
        take(study_store_tell(store, trial, TRIAL_PRUNED, NULL, 0, err));
    else if (i % 8 == 6)
        take(study_store_tell(store, trial, TRIAL_FAIL, NULL, 0, err));
    else if (i < TRIALS - 2)
        take(study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err));
}

static void put_study(struct study_store *store, const char *name, int trials)
{
    static const enum study_direction up[] = {STUDY_MAXIMIZE};
    int64_t study, waits;
    take(study_store_create(store, name, up, 1, &study, NULL, err));
    take(study_store_set_study_user(store, study, "papertape:trials", "40", err));
    for (int i = 0; i < trials && failed == 0; i++)
        put_trial(store, study, i);
    json_t *fixed = json_pack("{s:f}", "learning_rate", 2e-5);
    take(study_store_enqueue(store, study, fixed, NULL, &waits, err));
    json_decref(fixed);
}

int sample_make_studies(const char *path)
{
    struct study_store *store;
    static const char *const names[] = {"search", "wide_1", "wide_2", "empty", "search@2024-08-08T23:00:00Z"};
    static const int trials[] = {TRIALS, 6, 4, 0, 3};
    int r = study_store_open(path, STUDY_STORE_WRITE, 0, &store, err);
    if (r < 0) {
        fprintf(stderr, "golden-state: %s: %s\n", path, err);
        return r;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_study(store, names[i], trials[i]);
    study_store_close(store);
    return failed;
}
