/* A study in memory, made by hand: what is found in it, violations, the best, names of studies. */
#include "db/studies/study.h"

#include "db/studies/study_build.h"
#include "tests/db/studies/add_trial.h"
#include "tests/db/studies/fixture.h"

#define FLOATS \
    "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": null, \"low\": 0.0, \"high\": 1.0, " \
    "\"log\": false}}"

static void put_value(struct study *study, enum trial_state state, double value, const char *constraint)
{
    struct study_trial *trial = add_next_trial(study, study->n_trials + 1, state);
    if (!isnan(value))
        CHECK_INT(study_trial_put_value(trial, 1, 0, value), 0);
    if (constraint)
        CHECK_INT(study_attribute_put(&trial->system, &trial->n_system, "constraints:c", constraint), 0);
}

static void test_best(void)
{
    struct study *study = study_create(1, "s", maximize, 1);
    CHECK(study_best(study) == NULL);
    put_value(study, TRIAL_PRUNED, 9, NULL);
    put_value(study, TRIAL_COMPLETE, 8, "0.1");
    put_value(study, TRIAL_COMPLETE, 8, "NaN");
    CHECK(study_best(study) == NULL);
    put_value(study, TRIAL_COMPLETE, -INFINITY, NULL);
    CHECK(study_best(study) == study->trials[3]);
    put_value(study, TRIAL_COMPLETE, 3, "-1");
    put_value(study, TRIAL_COMPLETE, 3, NULL);
    put_value(study, TRIAL_RUNNING, NAN, NULL);
    CHECK(study_best(study) == study->trials[4]);
    study->directions[0] = STUDY_MINIMIZE;
    CHECK(study_best(study) == study->trials[3]);
    study->n_objectives = 2;
    CHECK(study_best(study) == NULL);
    study_destroy(study);
}

static double violation_of(const char *list, const char *one)
{
    struct study_trial *trial = study_trial_create(1, TRIAL_COMPLETE);
    if (list)
        study_attribute_put(&trial->system, &trial->n_system, "constraints", list);
    if (one)
        study_attribute_put(&trial->system, &trial->n_system, "constraints:a", one);
    study_attribute_put(&trial->system, &trial->n_system, "constraintsX", "5");
    double violation = study_trial_violation(trial);
    study_trial_destroy(trial);
    return violation;
}

static void test_violation(void)
{
    CHECK(isnan(violation_of(NULL, NULL)));
    CHECK(violation_of("[-1.0, 0]", NULL) == 0);
    CHECK(violation_of("[0.5, -1, 0.25]", NULL) == 0.75);
    CHECK(violation_of("[0.5]", "2") == 2.5);
    CHECK(violation_of(NULL, "Infinity") == INFINITY);
    CHECK(violation_of(NULL, "-Infinity") == 0);
    CHECK(violation_of(NULL, "NaN") == 0);
    CHECK(isnan(violation_of("[]", NULL)));
    CHECK(isnan(violation_of("null", NULL)));
}

static void test_find(void)
{
    struct study *study = study_create(1, "s", maximize, 1);
    struct study_trial *trial = add_next_trial(study, 5, TRIAL_RUNNING);
    char name[16];
    int b = study_param(study, "b"), a = study_param(study, "a"), c = study_param(study, "c");
    CHECK_INT(study_param(study, "b"), b);
    CHECK_INT(study_param_find(study, "none"), -1);
    int distribution = study_distribution(study, FLOATS, err);
    CHECK_INT(study_distribution(study, FLOATS, err), distribution);
    CHECK_INT(study_distribution(study, "{\"type\":\"float\",\"low\":0,\"high\":1}", err), distribution);
    CHECK_INT(study->n_distributions, 1);
    CHECK_INT(study_distribution(study, "{}", err), -EINVAL);
    study_trial_put_param(trial, c, distribution, 0.5);
    study_trial_put_param(trial, b, distribution, 0.25);
    CHECK(study_trial_param(trial, b)->value == 0.25 && study_trial_param(trial, c)->value == 0.5);
    CHECK(study_trial_param(trial, a) == NULL && study_trial_param(trial, -1) == NULL);
    for (int step = 40; step >= 0; step -= 2)
        study_trial_put_report(trial, step, step);
    study_trial_put_report(trial, 6, -6);
    CHECK_INT(trial->n_reports, 21);
    CHECK(study_trial_report(trial, 6)->value == -6 && study_trial_report(trial, 7) == NULL);
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "k%02d", (i * 37) % 50);
        study_attribute_put(&trial->user, &trial->n_user, name, "1");
    }
    study_attribute_put(&trial->user, &trial->n_user, "k07", "2");
    CHECK_INT(trial->n_user, 50);
    CHECK_STR(study_attribute_find(trial->user, trial->n_user, "k07")->json, "2");
    CHECK(study_attribute_find(trial->user, trial->n_user, "k50") == NULL);
    /* More distributions than a table's first room. */
    for (int i = 0; i < 300; i++) {
        char text[80];
        snprintf(text, sizeof text, "{\"type\": \"int\", \"low\": 0, \"high\": %d}", i);
        CHECK_INT(study_distribution(study, text, err), i + 1);
    }
    CHECK_INT(study_distribution(study, "{\"type\": \"int\", \"low\": 0, \"high\": 7}", err), 8);
    study_destroy(study);
}

static struct study_trial **some(const int64_t *ids, int n)
{
    struct study_trial **trials = calloc((size_t)n + 1, sizeof *trials);
    for (int i = 0; i < n; i++)
        trials[i] = study_trial_create(ids[i], TRIAL_COMPLETE);
    return trials;
}

/* Trials that come, stay where they are, and go. */
static void test_splice(void)
{
    struct study *study = study_create(1, "s", maximize, 1);
    static const int64_t first[] = {2, 4, 6, 8, 10}, second[] = {4, 5, 8}, none[1];
    static const int64_t expected[] = {2, 4, 5, 8, 10};
    bool changed = false;
    struct study_trial **fresh = some(first, 5);
    CHECK_INT(study_splice(study, 0, 0, fresh, 5, &changed), 0);
    CHECK(changed);
    free(fresh);
    const struct study_trial *four = study->trials[1], *ten = study->trials[4];
    changed = false;
    fresh = some(first, 5);
    CHECK_INT(study_splice(study, 0, 5, fresh, 5, &changed), 0);
    CHECK(!changed);
    free(fresh);
    fresh = some(second, 3);
    CHECK_INT(study_splice(study, 1, 4, fresh, 3, &changed), 0);
    CHECK(changed);
    free(fresh);
    CHECK_INT(study->n_trials, 5);
    for (int i = 0; i < study->n_trials; i++) {
        CHECK_INT(study->trials[i]->id, expected[i]);
        CHECK_INT(study->trials[i]->number, i);
    }
    CHECK(study->trials[1] == four && study->trials[4] == ten);
    fresh = some(none, 0);
    CHECK_INT(study_splice(study, 0, 4, fresh, 0, &changed), 0);
    free(fresh);
    CHECK_INT(study->n_trials, 1);
    CHECK(study->trials[0] == ten && ten->number == 0);
    for (int64_t id = 11; id < 40; id++)
        add_next_trial(study, id, TRIAL_FAIL);
    CHECK_INT(study->n_trials, 30);
    study_destroy(study);
}

static void test_search_name(void)
{
    static const struct {
        const char *name, *search;
        int k;
    } rows[] = {{"ppo_1", "ppo", 1},
                {"ppo_12", "ppo", 12},
                {"ppo", "ppo", 0},
                {"ppo_", "ppo_", 0},
                {"_1", "_1", 0},
                {"ppo1", "ppo1", 0},
                {"a_b_3", "a_b", 3},
                {"ppo_0", "ppo_0", 0},
                {"ppo_01", "ppo_01", 0},
                {"7", "7", 0},
                {"ppo_20261122", "ppo_20261122", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[STUDY_NAME_MAX + 1];
        CHECK_INT(study_base_name(rows[i].name, name), rows[i].k);
        CHECK_STR(name, rows[i].search);
    }
}

int main(void)
{
    test_best();
    test_violation();
    test_find();
    test_splice();
    test_search_name();
    return check_done("db/studies/study");
}
