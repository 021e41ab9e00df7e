/* Studies as the model has them: workers grouped, counts, the best so far, trials an hour, what is left; a
 * page with holes in it; rows sorted and filtered; what happens when the storage cannot be read. */
#include <errno.h>
#include <locale.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "db/list_filter.h"
#include "fixtures/dashboard.h"
#include "fixtures/studies.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tui/model.h"
#include "tui/panel/study_words.h"
#include "tui/print.h"
#include "tui/status_reader.h"
#include "tui/study_rows.h"
#include "tui/study_source.h"

static const int64_t now_us = 1723161255342000;
static const struct moment now = {1723161255342000000, 1000000};
static const enum study_direction maximize[] = {STUDY_MAXIMIZE}, minimize[] = {STUDY_MINIMIZE};

static void check_groups(void)
{
    struct study *studies[8];
    size_t n = 0;

    fixture_studies_begin();
    studies[n++] = fixture_study("ppo_2", 1, 1, maximize);
    studies[n++] = fixture_study("other", 2, 1, minimize);
    studies[n++] = fixture_study("ppo_1", 3, 1, maximize);
    studies[n++] = fixture_study("ppo_3", 4, 1, minimize); /* not of the others' study */
    studies[n++] = fixture_study("ppo_5", 5, 1, maximize);
    studies[n++] = fixture_study("ppo", 6, 1, maximize);
    studies[n++] = fixture_study("auto@2026-11-22T14:00:00Z", 7, 1, maximize);
    struct tui_studies *list = tui_studies_make(studies, n, now_us);
    CHECK_INT(list->n, 5);
    CHECK_STR(list->study[0].label, "auto@2026-11-22T14:00:00Z");
    CHECK_STR(list->study[0].job, "auto");
    CHECK_STR(list->study[1].label, "ppo");
    CHECK_STR(list->study[2].label, "ppo_1..5 (3)");
    CHECK_STR(list->study[2].name, "ppo_5");
    CHECK_STR(list->study[2].job, "ppo");
    CHECK_STR(list->study[3].label, "ppo_3");
    CHECK_STR(list->study[4].label, "other");
    CHECK(tui_studies_find(list, "ppo_1..5 (3)") == &list->study[2]);
    CHECK(tui_studies_find(list, "ppo") == &list->study[1]);
    CHECK(tui_studies_find(list, "other") == &list->study[4]);
    CHECK(tui_studies_find(list, "oth") == NULL);
    CHECK(tui_studies_find_other(list, "ppo", tui_studies_find(list, "ppo")) == NULL);
    CHECK(tui_studies_find(list, "ppo_1") == &list->study[2]); /* between its workers */
    CHECK(tui_studies_find(list, "ppo_3") == &list->study[3]); /* itself, though between others' */
    CHECK(tui_studies_find_other(list, "ppo_1", tui_studies_find(list, "ppo_1")) == NULL);
    CHECK(tui_studies_find_other(list, "ppo_7", tui_studies_find(list, "ppo_7")) == &list->study[3]);
    CHECK_INT(list->study[4].counts[TRIAL_COMPLETE] + list->study[4].n_trials, 0);
    CHECK(!list->study[4].have_best && list->study[4].wanted == -1);
    CHECK(isnan(list->study[4].trials_h) && isnan(list->study[4].eta_s));
    CHECK_INT(list->study[4].newest_us == STUDY_NO_TIME, 1);
    tui_studies_destroy(list);

    studies[4] = fixture_study("ppo_3", 5, 1, maximize);
    studies[3] = studies[6];
    list = tui_studies_make(studies, 6, now_us);
    CHECK_STR(tui_studies_find(list, "ppo_2")->label, "ppo_1..3");
    tui_studies_destroy(list);
    list = tui_studies_make(NULL, 0, now_us);
    CHECK_INT(list->n, 0);
    tui_studies_destroy(list);
}

static void check_figures(void)
{
    struct study *studies[2];
    double value;

    fixture_studies_begin();
    studies[0] = fixture_study("s_1", 1, 1, minimize);
    studies[1] = fixture_study("s_2", 2, 1, minimize);
    fixture_study_user(studies[0], "papertape:trials", "10");
    fixture_study_user(studies[1], "papertape:trials", "20");
    for (int i = 0; i < 8; i++) { /* one every half minute, in turn; the best is the sixth */
        struct study_trial *trial =
            fixture_trial(studies[i % 2], TRIAL_COMPLETE, 600 - 30 * i, 600 - 30 * i - 20);
        value = fabs(i - 5.0);
        fixture_value(trial, &value, 1);
    }
    fixture_trial(studies[0], TRIAL_RUNNING, 250, -1)->heartbeat_us = now_us - 3000000;
    struct tui_studies *list = tui_studies_make(studies, 2, now_us);
    const struct tui_study *study = &list->study[0];
    CHECK_INT(list->n, 1);
    CHECK_INT(study->wanted, 30);
    CHECK_INT(tui_study_done(study), 8);
    CHECK_INT(study->counts[TRIAL_RUNNING], 1);
    CHECK_NEAR(study->best, 0, 0);
    CHECK_INT(study->best_member, 1);
    CHECK_INT(study->best_number, 2);
    CHECK_INT(study->n_points, 8);
    CHECK_NEAR(study->points[0], 5, 0);
    CHECK_NEAR(study->points[7], 0, 0);
    CHECK_INT(study->newest_us, now_us - 3000000);
    /* Seven intervals since the first end, 580 s ago: it runs, and the clock continues. */
    CHECK_NEAR(study->trials_h, 7 * 3600 / 580.0, 1e-9);
    CHECK_NEAR(study->eta_s, 22 * 580 / 7.0, 1e-6);
    tui_studies_destroy(list);

    studies[0]->trials[4]->state = TRIAL_FAIL; /* nothing runs: to the last end, 370 s ago */
    studies[0]->trials[4]->completed_us = STUDY_NO_TIME;
    list = tui_studies_make(studies, 2, now_us);
    CHECK_NEAR(list->study[0].trials_h, 7 * 3600 / 210.0, 1e-9);
    CHECK(isnan(list->study[0].eta_s));
    CHECK_INT(tui_study_done(&list->study[0]), 9);
    tui_studies_destroy(list);

    struct study_trial *again = fixture_trial(studies[0], TRIAL_RUNNING, 250, -1);
    fixture_trial_system(again, "retry_history", "[4]"); /* it has not ended, but is missing still */
    again->heartbeat_us = now_us - 1000000;
    list = tui_studies_make(studies, 2, now_us);
    CHECK_INT(list->study[0].counts[TRIAL_FAIL], 1);
    CHECK_INT(list->study[0].retried, 1);
    CHECK_INT(tui_study_done(&list->study[0]), 8);
    CHECK_NEAR(list->study[0].eta_s, 22 * 3600 / list->study[0].trials_h, 1e-6);
    tui_studies_destroy(list);
    again->state = TRIAL_PRUNED;

    fixture_trial_system(studies[1]->trials[2], "constraints", "[1]"); /* infeasible: not the best */
    value = NAN;
    fixture_value(fixture_trial(studies[0], TRIAL_COMPLETE, 100, 90), &value, 1);
    value = -INFINITY;
    fixture_value(fixture_trial(studies[0], TRIAL_COMPLETE, 100, 80), &value, 1);
    list = tui_studies_make(studies, 2, now_us);
    CHECK(isinf(list->study[0].best) && list->study[0].best < 0);
    struct model *model =
        tui_model_create(1000); /* JSON has no number for it, and a number or null is right */
    model->studies = list;
    json_t *printed = tui_print_studies_json(model, (struct moment){.wall_ns = now_us * 1000});
    const json_t *first = json_array_get(printed, 0);
    CHECK(json_is_null(json_object_get(first, "best_value")));
    CHECK(json_is_integer(json_object_get(first, "best_number")));
    CHECK_INT(json_integer_value(json_object_get(first, "failed")), tui_study_failed(&list->study[0]));
    CHECK_INT(list->study[0].counts[TRIAL_FAIL], 1);
    CHECK_INT(tui_study_failed(&list->study[0]), 0);
    enum style style;
    CHECK_STR(json_string_value(json_object_get(first, "state")),
              panel_study_own_state(&list->study[0], (struct moment){.wall_ns = now_us * 1000}, &style));
    json_decref(printed);
    model->studies = NULL;
    tui_model_destroy(model);
    tui_studies_destroy(list);
}

/* Trials that failed at once do not say how many an hour there are. */
static void check_all_failed(void)
{
    fixture_studies_begin();
    struct study *study = fixture_study("lost", 1, 1, minimize);

    fixture_trial(study, TRIAL_FAIL, 10, 9.99);
    fixture_trial(study, TRIAL_FAIL, 9.99, 9.98);
    struct tui_studies *list = tui_studies_make(&study, 1, fixture_now_ns / 1000);
    CHECK(isnan(list->study[0].trials_h));
    CHECK_INT(tui_study_failed(&list->study[0]), 2);
    enum style style;
    struct tui_study *lost = &list->study[0];
    CHECK_STR(panel_study_own_state(lost, now, &style), "idle");
    lost->wanted = 2; /* as its end event says */
    CHECK_STR(panel_study_own_state(lost, now, &style), "failed");
    CHECK_INT(style, STYLE_BAD);
    lost->counts[TRIAL_PRUNED] = 1;
    CHECK_STR(panel_study_own_state(lost, now, &style), "done");
    tui_studies_destroy(list);
}

/* A training is one study's: that which it says that it is. */
static void check_jobs(void)
{
    static const char *const names[] = {"nightly@2026-11-20T14:00:00Z", "nightly@2026-11-21T14:00:00Z",
                                        "other_1", "other_2", "other"};
    enum { STUDIES = sizeof(names) / sizeof(names[0]) };
    struct model *model = tui_model_create(1000);
    struct study *studies[STUDIES];
    char buf[FORMAT_MAX];
    enum style style;

    fixture_studies_begin();
    for (int i = 0; i < STUDIES; i++)
        studies[i] = fixture_study(names[i], i + 1, 1, maximize);
    fixture_study_user(studies[0], "papertape:trials", "1");
    fixture_value(fixture_trial(studies[0], TRIAL_COMPLETE, 86400, 86000), (const double[]){1}, 1);
    struct tui_study_reading reading = {.studies = tui_studies_make(studies, STUDIES, now_us),
                                        .mono_ms = now.mono_ms};
    tui_model_take_studies(model, &reading);
    json_t *trainings = json_pack("{s:[{s:s, s:s, s:s, s:I}, {s:s, s:s, s:n, s:n}]}", "trainings", "training",
                                  "nightly", "state", "searching", "study", names[1], "due_ns", (json_int_t)0,
                                  "training", "other", "state", "update", "study", "due_ns");
    tui_status_read_trainings(trainings, &model->status);
    json_decref(trainings);
    const struct tui_study *newest = tui_studies_find(model->studies, names[1]),
                           *past = tui_studies_find(model->studies, names[0]);
    CHECK_STR(model->status.trainings[0].study, names[1]);
    CHECK_INT(model->status.trainings[1].due_ns, -1);
    CHECK(tui_model_study_training(model, newest) == &model->status.trainings[0]);
    CHECK(tui_model_study_training(model, past) == NULL);
    CHECK_STR(panel_study_state(model, past, now, buf, &style), "done");
    CHECK(tui_model_study_training(model, tui_studies_find(model->studies, "other_1..2")) == NULL);
    CHECK(tui_model_study_training(model, tui_studies_find(model->studies, "other")) ==
          NULL); /* a training, no study */
    CHECK_INT(panel_study_due_ns(model, newest), -1);

    struct status_training *job = &model->status.trainings[0];
    snprintf(job->state, sizeof(job->state), "queued");
    job->due_ns = now.wall_ns + 3 * (int64_t)3600 * 1000000000;
    model->source = MODEL_DAEMON;
    model->status_mono_ms = now.mono_ms;
    model->status.trainer.age_ms = 0;
    snprintf(model->status.trainer.state, sizeof(model->status.trainer.state), "ok");
    CHECK_STR(panel_study_state(model, newest, now, buf, &style), "due 3h");
    CHECK_INT(panel_study_due_ns(model, newest), job->due_ns);
    CHECK_INT(panel_study_due_ns(model, past), -1);
    model->studies_elsewhere = true;
    CHECK(tui_model_study_training(model, newest) == NULL);
    tui_model_destroy(model);
}

static struct status_training *set_job(struct model *model, int at, const char *study, const char *state)
{
    while (model->status.n_trainings <= at)
        CHECK(tui_status_add(&model->status, STATUS_TRAININGS) != NULL);
    struct status_training *job = &model->status.trainings[at];

    *job = (struct status_training){.age_ms = 100, .expected_ms = 1000, .due_ns = -1};
    snprintf(job->training, sizeof(job->training), "%s", study);
    snprintf(job->study, sizeof(job->study), "%s", study);
    snprintf(job->state, sizeof(job->state), "%s", state);
    return job;
}

/* Of a study whose workers are trainings of their own: one that works is its state, whichever that is. */
static void check_worker_jobs(void)
{
    static const char *const names[] = {"w_2", "w_11", "w", "w_3", "w_5"};
    enum { STUDIES = sizeof(names) / sizeof(names[0]) };
    const struct status_training *jobs[STATUS_STUDY_TRAININGS_MAX];
    struct model *model = tui_model_create(1000);
    struct study *studies[STUDIES];
    char buf[FORMAT_MAX];
    enum style style;

    fixture_studies_begin();
    for (int i = 0; i < STUDIES; i++) /* w_5 goes the other way: it is another study */
        studies[i] = fixture_study(names[i], i + 1, 1, i == 4 ? minimize : maximize);
    struct tui_study_reading reading = {.studies = tui_studies_make(studies, STUDIES, now_us),
                                        .mono_ms = now.mono_ms};
    tui_model_take_studies(model, &reading);
    model->source = MODEL_DAEMON;
    model->status_mono_ms = now.mono_ms;
    snprintf(model->status.trainer.state, sizeof(model->status.trainer.state), "ok");
    const struct tui_study *study = tui_studies_find(model->studies, "w_2..11 (3)");
    CHECK(study && tui_study_has(study, "w_2") && tui_study_has(study, "w_11") &&
          tui_study_has(study, "w_3"));
    CHECK(!tui_study_has(study, "w_5") && !tui_study_has(study, "w") && !tui_study_has(study, "w_1"));
    CHECK(!tui_study_has(study, "v_2") && !tui_study_has(study, "w_3@2026-11-21T14:00:00Z"));
    const struct tui_study *alone = tui_studies_find(model->studies, "w");
    CHECK(tui_study_has(alone, "w") && !tui_study_has(alone, "w_2"));

    set_job(model, 0, "w_3", "done"); /* the newest study */
    set_job(model, 1, "w_2", "stopped");
    set_job(model, 2, "w_11", "stopped");
    set_job(model, 3, "w_5", "searching");
    set_job(model, 4, "w", "failed");
    CHECK_INT(tui_model_study_trainings(model, study, jobs), 3);
    CHECK_STR(jobs[0]->training, "w_3"); /* none works: the newest study's is the state */
    CHECK_STR(jobs[1]->training, "w_11");
    CHECK_STR(jobs[2]->training, "w_2");
    CHECK_STR(panel_study_state(model, study, now, buf, &style), "done");
    set_job(model, 1, "w_2", "queued");
    CHECK(tui_model_study_training(model, study) == &model->status.trainings[1]);
    set_job(model, 2, "w_11", "searching")->stopping = true;
    CHECK(tui_model_study_training(model, study) == &model->status.trainings[2]);
    set_job(model, 1, "w_2", "searching");
    CHECK_STR(tui_model_study_training(model, study)->training, "w_2");
    CHECK_STR(panel_study_state(model, study, now, buf, &style), "searching");
    CHECK_STR(tui_model_study_training(model, alone)->training, "w");
    CHECK_INT(tui_model_study_trainings(model, tui_studies_find(model->studies, "w_5"), jobs), 1);
    CHECK_STR(jobs[0]->training, "w_5");
    model->studies_elsewhere = true;
    CHECK_INT(tui_model_study_trainings(model, study, jobs), 0);
    tui_model_destroy(model);
}

static struct tui_study_page *page_of(struct study *study, int trial)
{
    struct tui_study_want want = {.trial = trial};

    snprintf(want.study, sizeof(want.study), "%s", study->name);
    return tui_study_page_make(&study, 1, &want, NULL, now_us);
}

/* More parameters than importance has, two of which differ behind their first 200 bytes: each has one rank.
 */
static void check_ranked(void)
{
    enum { PARAMS = 80, TRIALS = 12, LONG = 200 };
    char names[PARAMS][LONG + 8];
    static char *params[PARAMS]; /* more than the fixture has room for */
    static struct trial_param drawn[TRIALS][PARAMS];
    bool seen[PARAMS] = {false};

    fixture_studies_begin();
    struct study *study = fixture_study("many", 5, 1, maximize);
    study->params = params;
    for (int i = 0; i < PARAMS; i++)
        snprintf(names[i], sizeof(names[i]), "%0*d", i < 2 ? LONG : 1, i < 2 ? 0 : i);
    strcat(names[1], "1");
    for (int t = 0; t < TRIALS; t++) {
        struct study_trial *trial = fixture_trial(study, TRIAL_COMPLETE, 9000 - 100 * t, 8950 - 100 * t);
        const double value = t * 5 % TRIALS;
        trial->params = drawn[t];
        fixture_value(trial, &value, 1);
        for (int i = 0; i < PARAMS; i++)
            fixture_number(study, trial, names[i], DISTRIBUTION_FLOAT, 0, 1, false,
                           (t * (i < 2 ? 5 : i) + i) % TRIALS / (double)TRIALS);
    }
    struct tui_study_page *page = page_of(study, -1);
    CHECK_INT(page->n_params, PARAMS);
    CHECK_INT(page->n_importance, STUDY_IMPORTANCE_MAX);
    for (int i = 0; i < page->n_params; i++) {
        const int param = tui_study_rows_param(page, i);
        CHECK(param >= 0 && param < PARAMS && !seen[param]);
        seen[param] = true;
        if (i == 0)
            CHECK_INT(param, page->importance[0].param);
    }
    CHECK_INT(tui_study_rows_param(page, -1), -1);
    CHECK_INT(tui_study_rows_param(page, PARAMS), -1);
    tui_study_page_destroy(page);
}

static void check_page(void)
{
    char text[64];

    fixture_studies_begin();
    struct tui_study_page *page = page_of(fixture_training_study("ppo", 1, 40, 60, false), 11);
    CHECK_INT(page->n_trials, 40);
    CHECK_INT(page->n_params, 6);
    CHECK_INT(page->n_importance, 6);
    double sum = 0;
    for (int i = 0; i < page->n_importance; i++)
        sum += page->importance[i].share;
    CHECK_NEAR(sum, 1, 1e-9);
    CHECK_INT(page->n_results, page->study.counts[TRIAL_COMPLETE]);
    for (int i = 1; i < page->n_results; i++)
        CHECK(page->best[i] >= page->best[i - 1] && page->best[i] >= page->values[i]);
    CHECK_NEAR(page->best[page->n_results - 1], page->study.best, 0);
    CHECK_INT(page->attributes_trial, 11);
    CHECK_INT(page->n_attributes, 2);
    CHECK_STR(page->attributes[0].key, "papertape:failure");
    CHECK(strstr(page->trials[11].failure, "diverged") != NULL);
    const struct tui_study_trial *runs = &page->trials[39], *silent = &page->trials[38];
    CHECK_INT(runs->state, TRIAL_RUNNING);
    CHECK_NEAR(runs->share, 0.61, 0);
    CHECK_NEAR(runs->steps_s, 1.9e6, 0);
    CHECK_INT(runs->splits, 10);
    CHECK_INT(tui_model_trial_freshness(runs, now), FRESH);
    CHECK_INT(tui_model_trial_freshness(silent, now), STALE); /* 64 s, of 10 */
    CHECK_INT(silent->retries, 1);
    tui_study_page_destroy(page);

    page = page_of(fixture_foreign("theirs", 2), -1);
    CHECK_INT(page->n_params, 3);
    CHECK_INT(page->study.wanted, -1);
    CHECK_INT(page->attributes_trial, -1);
    CHECK_INT(page->n_importance, 1); /* not one that some lack, nor one of other choices */
    CHECK_STR(page->params[page->importance[0].param], "x");
    CHECK(isnan(page->trials[0].cells[2].value) || isnan(page->trials[0].cells[1].value));
    CHECK_STR(tui_study_cell_text(page, &page->trials[1].cells[1], text, sizeof(text)), "null");
    CHECK_STR(tui_study_cell_text(page, &page->trials[4].cells[1], text, sizeof(text)), "b");
    CHECK_STR(tui_study_cell_text(page, &page->trials[5].cells[1], text, sizeof(text)), "1.5");
    CHECK_STR(tui_study_cell_text(page, &page->trials[9].cells[0], text, sizeof(text)), "");
    CHECK_NEAR(tui_study_cell_place(page, &page->trials[0].cells[0]), 0.05, 1e-12);
    CHECK(isnan(tui_study_cell_place(page, &page->trials[9].cells[0])));
    CHECK(page->trials[7].violation == 0.5);
    CHECK_NEAR(page->study.best, 2.75, 0); /* neither the infinite nor the infeasible one */
    CHECK_INT(tui_model_trial_freshness(&page->trials[10], now), GONE); /* no heartbeat, for 3400 s */
    tui_study_page_destroy(page);

    page = page_of(fixture_two("two", 3), -1);
    CHECK_INT(page->study.pareto, 5);
    CHECK_INT(page->n_results, 0);
    tui_study_page_destroy(page);

    page = page_of(fixture_study("empty", 4, 1, maximize), 3);
    CHECK_INT(page->n_trials + page->n_params + page->n_importance + page->n_results, 0);
    CHECK_INT(page->attributes_trial, -1);
    tui_study_page_destroy(page);
    tui_study_page_destroy(NULL);
}

/* A trial that runs without a heartbeat: to the millisecond when it becomes stale. */
static void check_stale(void)
{
    struct study *study;
    char *printed = NULL;
    size_t size;

    fixture_studies_begin();
    study = fixture_study("optuna", 1, 1, maximize);
    struct study_trial *runs = fixture_trial(study, TRIAL_RUNNING, 600, -1);
    struct tui_studies *list = tui_studies_make(&study, 1, now_us);
    CHECK_INT(list->study[0].grace_ms, 600000); /* no trial has finished */
    CHECK_INT(list->study[0].stale, 0);
    CHECK_INT(tui_study_running(&list->study[0]), 1);
    tui_studies_destroy(list);
    list = tui_studies_make(&study, 1, now_us + 1000);
    CHECK_INT(list->study[0].stale, 1);
    CHECK_INT(tui_study_running(&list->study[0]), 0);
    CHECK_INT(list->study[0].counts[TRIAL_RUNNING], 1);
    tui_studies_destroy(list);

    fixture_trial(study, TRIAL_COMPLETE, 400, 390); /* 10 s: a minute is the least */
    list = tui_studies_make(&study, 1, now_us);
    CHECK_INT(list->study[0].grace_ms, 60000);
    CHECK_INT(list->study[0].stale, 1);
    tui_studies_destroy(list);
    fixture_trial(study, TRIAL_FAIL, 590, 370); /* three times its 220 s are not over */
    list = tui_studies_make(&study, 1, now_us);
    CHECK_INT(list->study[0].grace_ms, 660000);
    CHECK_INT(list->study[0].stale, 0);
    tui_studies_destroy(list);
    list = tui_studies_make(&study, 1, now_us + 60001000);
    CHECK_INT(list->study[0].stale, 1);
    CHECK_INT(list->study[0].stale_us, runs->started_us);
    CHECK(!panel_study_silent(&list->study[0], now));
    struct moment later = {.wall_ns = (now_us + 60001000) * 1000};
    struct model *model = tui_model_create(1000);
    model->studies = list;
    FILE *out = open_memstream(&printed, &size);
    tui_print_studies(out, model, later);
    fclose(out);
    CHECK(strstr(printed, " run 0 stale 1 (11m) ok 1 "));
    free(printed);
    json_t *json = tui_print_studies_json(model, later);
    const json_t *first = json_array_get(json, 0);
    CHECK_INT(json_integer_value(json_object_get(first, "running")), 0);
    CHECK_INT(json_integer_value(json_object_get(first, "stale_trials")), 1);
    CHECK_INT(json_integer_value(json_object_get(first, "stale_age_ms")), 660001);
    json_decref(json);
    tui_model_destroy(model);

    runs->heartbeat_us = now_us + 60000000; /* one that beats is judged by that alone */
    list = tui_studies_make(&study, 1, now_us + 60001000);
    CHECK_INT(list->study[0].stale, 0);
    tui_studies_destroy(list);
}

static int count_rows(const struct tui_study_page *page, const char *filter)
{
    int n;

    tui_study_rows(page, SORT_NEWEST, false, filter, &n);
    return n;
}

/* Parameters, values and times that a filter compares: as many rows as by the trials' own numbers. */
static void check_compared(const struct tui_study_page *page)
{
    char filter[DB_LIST_WORDS_MAX];

    for (int p = 0; p < page->n_params; p++)
        for (int i = 0; i < page->n_trials; i += 7) {
            const double limit = page->trials[i].cells[p].value;
            int below = 0, not_above = 0;
            if (isnan(limit))
                continue;
            snprintf(filter, sizeof filter, "%.12s<%.17g", page->params[p], limit);
            for (int k = 0; k < page->n_trials; k++) {
                below += page->trials[k].cells[p].value < limit;
                not_above += page->trials[k].cells[p].value <= limit;
            }
            CHECK_INT(count_rows(page, filter), below);
            int equal = 0;
            for (int k = 0; k < page->n_trials; k++)
                equal += page->trials[k].cells[p].value == limit;
            snprintf(filter, sizeof filter, "%.12s=%.17g", page->params[p], limit);
            if (page->distributions[page->trials[i].cells[p].distribution].kind != DISTRIBUTION_CATEGORICAL)
                CHECK_INT(count_rows(page, filter), equal);
            snprintf(filter, sizeof filter, "!%.10s <=%.17g", page->params[p], limit);
            CHECK_INT(count_rows(page, filter), page->n_trials - not_above);
        }
    for (int i = 0; i < page->n_trials; i += 5) {
        const time_t started = page->trials[i].started_us / 1000000;
        int from = 0;
        for (int k = 0; k < page->n_trials; k++)
            from += page->trials[k].started_us / 1000000 > started; /* after that second */
        strftime(filter, sizeof filter, "started>%Y-%m-%d %H:%M:%S", gmtime(&started));
        CHECK_INT(count_rows(page, filter), from);
        strftime(filter, sizeof filter, "%m-%d %H:%M", gmtime(&started)); /* as the column has it */
        CHECK(count_rows(page, filter) > 0);
    }
    int failed = 0;
    for (int k = 0; k < page->n_trials; k++)
        failed += page->trials[k].state == TRIAL_FAIL;
    CHECK(failed > 0 && failed < page->n_trials);
    CHECK_INT(count_rows(page, "state!=fail"), page->n_trials - failed);
    CHECK_INT(count_rows(page, "!state != fail"), failed);
    for (int p = 0; p < page->n_params; p++) {
        snprintf(filter, sizeof filter, "%.20s=1", page->params[p]);
        const int with = count_rows(page, filter);
        snprintf(filter, sizeof filter, "%.20s!=1", page->params[p]);
        CHECK_INT(count_rows(page, filter), page->n_trials - with);
    }
    CHECK_INT(count_rows(page, "nosuch=1"), 0);
    CHECK_INT(count_rows(page, "nosuch!=1"), 0);
    CHECK_INT(count_rows(page, "nosuch<1"), 0);
}

/* A number finds itself, and neither what begins with it nor what is shown so. */
static void check_equal(const struct tui_study_page *page)
{
    static const double rates[] = {0.0002, 0.00021, 0.000199, 0.0002, 0.002};
    int p = 0, n = 0;

    while (page->distributions[page->trials[0].cells[p].distribution].kind != DISTRIBUTION_FLOAT)
        p++;
    for (int i = 0; i < page->n_trials; i++)
        if (!isnan(page->trials[i].cells[p].value))
            ((struct tui_study_cell *)page->trials[i].cells)[p].value = rates[n++ % 5];
    char filter[DB_LIST_WORDS_MAX];
    snprintf(filter, sizeof filter, "%.20s=0.0002", page->params[p]);
    CHECK_INT(count_rows(page, filter), n / 5 * 2 + (n % 5 > 0) + (n % 5 > 3));
    snprintf(filter, sizeof filter, "%.20s=2e-4", page->params[p]);
    CHECK_INT(count_rows(page, filter), n / 5 * 2 + (n % 5 > 0) + (n % 5 > 3));
    CHECK(n > 10);
}

/* Each name that is said to be one is, each parameter among them. */
static void check_filter_names(const struct tui_study_page *page)
{
    char text[DB_LIST_WORDS_MAX];
    const char *name;
    int params = 0;

    for (int i = 0; (name = tui_study_rows_filter(page, i)); i++) {
        enum db_list_value value = DB_LIST_TEXT;
        snprintf(text, sizeof text, "%s<1", name);
        const struct db_list_filter filter = db_list_filter_parse(text);
        CHECK(tui_study_rows_names(page, &filter, &value));
        CHECK_INT(value == DB_LIST_TIME, strcmp(name, "started") == 0 || strcmp(name, "ended") == 0);
        for (int p = 0; p < page->n_params; p++)
            params += name == page->params[p];
    }
    CHECK_INT(params, page->n_params);
}

static void check_rows(void)
{
    int n, columns[8];

    fixture_studies_begin();
    struct tui_study_page *page = page_of(fixture_training_study("ppo", 1, 40, 60, false), -1);
    const struct tui_study_trial *const *rows = tui_study_rows(page, SORT_NEWEST, false, "", &n);
    CHECK_INT(n, 40);
    CHECK_INT(rows[0]->number, 39);
    CHECK_INT(rows[39]->number, 0);
    rows = tui_study_rows(page, SORT_NEWEST, true, "", &n);
    CHECK_INT(rows[0]->number, 0);
    rows = tui_study_rows(page, SORT_VALUE, false, "", &n);
    CHECK_INT(rows[0]->number, page->study.best_number);
    rows = tui_study_rows(page, SORT_VALUE, true, "", &n);
    CHECK(tui_study_trial_value(rows[0]) < tui_study_trial_value(rows[1]));
    CHECK_INT(rows[33]->state, TRIAL_PRUNED);
    CHECK(rows[32]->state == TRIAL_COMPLETE && rows[36]->state == TRIAL_PRUNED);
    CHECK_INT(rows[39]->number, 11); /* it failed: none, either way */
    rows = tui_study_rows(page, SORT_STATE, false, "", &n);
    CHECK_INT(rows[0]->state, TRIAL_RUNNING);
    CHECK_INT(rows[39]->state, TRIAL_FAIL);
    rows = tui_study_rows(page, SORT_DURATION, false, "", &n);
    for (int i = 1; i < 38; i++)
        CHECK(tui_study_trial_duration_ms(rows[i - 1], 0) >= tui_study_trial_duration_ms(rows[i], 0));
    CHECK_INT(rows[39]->state, TRIAL_RUNNING);
    rows = tui_study_rows(page, SORT_STARTED, false, "", &n);
    for (int i = 1; i < n; i++)
        CHECK(rows[i - 1]->started_us >= rows[i]->started_us);
    rows = tui_study_rows(page, SORT_ENDED, true, "", &n);
    for (int i = 1; i < n; i++)
        CHECK(rows[i - 1]->completed_us <= rows[i]->completed_us || rows[i]->completed_us == STUDY_NO_TIME);
    CHECK(rows[n - 1]->completed_us == STUDY_NO_TIME); /* it runs: last either way */
    check_compared(page);
    check_filter_names(page);
    for (int sort = SORT_PARAMS; sort < tui_study_rows_sorts(page); sort++) {
        CHECK_INT(tui_study_rows_columns(page, sort, columns, 8), 6);
        CHECK_STR(page->params[columns[0]], tui_study_rows_name(page, sort));
        rows = tui_study_rows(page, sort, false, "", &n);
        for (int i = 1; i < n; i++)
            CHECK(rows[i - 1]->cells[columns[0]].value <= rows[i]->cells[columns[0]].value);
    }
    CHECK_INT(tui_study_rows_columns(page, 0, columns, 2), 2);

    tui_study_rows(page, 0, false, "fail", &n);
    CHECK_INT(n, 1);
    tui_study_rows(page, 0, false, "!FAIL", &n);
    CHECK_INT(n, 39);
    int pruned = 0;
    for (int k = 0; k < page->n_trials; k++)
        pruned += page->trials[k].state == TRIAL_PRUNED;
    tui_study_rows(page, 0, false, "pruned", &n);
    CHECK(n > 0);
    CHECK_INT(n, pruned);
    tui_study_rows(page, 0, false, "DIVERGED", &n);
    CHECK_INT(n, 1);
    tui_study_rows(page, 0, false, "lr_schedule=linear", &n);
    CHECK(n > 3 && n < 25);
    tui_study_rows(page, 0, false, "#39", &n);
    CHECK_INT(n, 1);
    tui_study_rows(page, 0, false, "trade-1:4001", &n);
    CHECK_INT(n, 13);
    tui_study_rows(page, 0, false, "!", &n);
    CHECK_INT(n, 40);
    tui_study_rows(page, 0, false, "nothing of that", &n);
    CHECK_INT(n, 0);
    check_equal(page);
    tui_study_page_destroy(page);
}

/* Best first: feasible ones, then the pruned, then those that constraints rule out, then the others. */
static void check_order(void)
{
    static const int right[] = {3, 0, 5, 4, 1, 2, 6, 7};
    static const enum trial_state states[] = {TRIAL_COMPLETE, TRIAL_COMPLETE, TRIAL_PRUNED,  TRIAL_COMPLETE,
                                              TRIAL_PRUNED,   TRIAL_COMPLETE, TRIAL_RUNNING, TRIAL_FAIL};
    static const double values[] = {2, 9, 8, 3, 7, 1.5, 10, NAN};
    struct study *study;
    int n;

    fixture_studies_begin();
    study = fixture_study("constr", 1, 1, maximize);
    for (int i = 0; i < 8; i++) {
        struct study_trial *trial = fixture_trial(study, states[i], 100, i == 6 ? -1 : 50);
        if (i < 6)
            fixture_value(trial, &values[i], 1);
        else if (i == 6)
            fixture_report(trial, 1, values[i]);
    }
    fixture_trial_system(study->trials[1], "constraints", "[0.5]");
    fixture_trial_system(study->trials[2], "constraints", "[0.5]");
    fixture_trial_system(study->trials[5], "constraints", "[-0.5]");
    struct tui_study_page *page = page_of(study, -1);
    const struct tui_study_trial *const *rows = tui_study_rows(page, SORT_VALUE, false, "", &n);
    CHECK_INT(n, 8);
    for (int i = 0; i < n; i++)
        CHECK_INT(rows[i]->number, right[i]);
    tui_study_page_destroy(page);
}

/* What was known stays, with its age; with the reason for nothing newer. */
static void check_trouble(void)
{
    struct model *model = tui_model_create(1000);
    struct study *study;

    CHECK_INT(tui_model_studies_rows(model), 0);
    struct tui_study_reading reading = {
        .error = -ENOENT, .words = "studies.db: there is none", .mono_ms = 1000};
    tui_model_take_studies(model, &reading);
    CHECK_INT(tui_model_studies_rows(model), 0); /* no study was ever started: no news */
    model->studies_named = true;
    CHECK_INT(tui_model_studies_rows(model), 2);
    model->studies_named = false;
    reading =
        (struct tui_study_reading){.error = -EMEDIUMTYPE, .words = "schema \033[1m13: 12 would be right"};
    tui_model_take_studies(model, &reading);
    CHECK_INT(tui_model_studies_rows(model), 2);
    CHECK_STR(model->studies_words, "schema ?[1m13: 12 would be right");
    CHECK_INT(tui_model_studies_freshness(model, now), GONE);

    fixture_studies_begin();
    study = fixture_training_study("ppo", 1, 12, 60, true);
    reading =
        (struct tui_study_reading){.studies = tui_studies_make(&study, 1, now_us), .mono_ms = now.mono_ms};
    tui_model_take_studies(model, &reading);
    CHECK_INT(tui_model_studies_freshness(model, now), FRESH);
    CHECK_INT(tui_model_studies_rows(model), 1);
    CHECK_STR(model->studies_words, "");
    reading = (struct tui_study_reading){.error = -EBUSY, .words = "locked", .mono_ms = now.mono_ms + 4000};
    tui_model_take_studies(model, &reading);
    struct moment later = now;
    later.mono_ms += 4000;
    CHECK_INT(tui_model_studies_rows(model), 3);
    CHECK_INT(tui_model_studies_freshness(model, later), STALE);
    CHECK_INT(model->studies->n, 1);
    reading = (struct tui_study_reading){.mono_ms = now.mono_ms + 5000}; /* nothing has changed */
    tui_model_take_studies(model, &reading);
    later.mono_ms += 1000;
    CHECK_INT(tui_model_studies_freshness(model, later), FRESH);
    CHECK_INT(model->studies->n, 1);
    CHECK_INT(tui_model_studies_rows(model), 1);
    tui_model_destroy(model);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Of three studies one that has more objectives than are known, and one with a trial that is not understood,
 * which then is mended: the others are shown as ever. */
static void check_unread(void)
{
    static const struct tui_study_want want = {.key = "odd", .trial = -1};
    char path[SCRATCH_PATH_MAX], err[STUDY_ERROR_MAX];
    struct study_store *store;
    struct tui_study_reading reading;
    int64_t id, trial;
    int number;

    snprintf(path, sizeof(path), "%s", scratch_path("unread.db"));
    CHECK_INT(study_store_open(path, STUDY_STORE_WRITE, 0, &store, err), 0);
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"good", "many", "odd"};
        CHECK_INT(study_store_create(store, names[i], maximize, 1, &id, NULL, err), 0);
        CHECK_INT(study_store_ask(store, id, false, &trial, &number, err), 0);
    }
    run_sql(path, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 19) INSERT INTO "
                  "study_directions (direction, study_id, objective) SELECT 'MINIMIZE', 2, i FROM n");
    struct tui_study_source *source = tui_study_source_create(path, "none", 20);
    tui_study_source_read(source, &want, now_us, 0, &reading);
    CHECK_INT(reading.error, 0);
    CHECK_INT(reading.studies->n, 3);
    CHECK_STR(tui_studies_find(reading.studies, "good")->unread, "");
    CHECK_STR(tui_studies_find(reading.studies, "odd")->unread, "");
    CHECK(strstr(tui_studies_find(reading.studies, "many")->unread, "20 objectives"));
    CHECK_INT(tui_studies_find(reading.studies, "many")->counts[TRIAL_RUNNING], 1);
    tui_study_reading_finish(&reading);

    run_sql(path, "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) "
                  "VALUES (3, 'x', 1.0, '{\"name\": \"NewDistribution\", \"attributes\": {}}')");
    tui_study_source_read(source, &want, now_us, 0, &reading);
    CHECK_INT(reading.error, 0);
    CHECK_INT(reading.studies->n, 3);
    CHECK(strstr(tui_studies_find(reading.studies, "odd")->unread, "NewDistribution"));
    CHECK_INT(tui_studies_find(reading.studies, "odd")->n_trials, 1); /* as it was read last */
    CHECK(reading.page && strstr(reading.page->study.unread, "NewDistribution"));
    tui_study_reading_finish(&reading);

    tui_study_source_destroy(source); /* one that has never read it */
    source = tui_study_source_create(path, "none", 20);
    tui_study_source_read(source, &want, now_us, 0, &reading);
    CHECK(reading.page && strstr(reading.page->study.unread, "NewDistribution"));
    CHECK_INT(reading.page->study.n_trials, 1);
    CHECK_INT(reading.page->n_trials, 0);
    tui_study_reading_finish(&reading);
    run_sql(path, "DELETE FROM trial_params");
    tui_study_source_read(source, &want, now_us, 0, &reading);
    CHECK(reading.page && reading.page->study.unread[0] == '\0');
    CHECK_INT(reading.page->n_trials, 1);
    tui_study_reading_finish(&reading);
    tui_study_source_destroy(source);
    study_store_close(store);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    check_groups();
    check_figures();
    check_all_failed();
    check_jobs();
    check_worker_jobs();
    check_page();
    check_ranked();
    check_stale();
    check_rows();
    check_order();
    check_trouble();
    check_unread();
    return check_done("tui/studies");
}
