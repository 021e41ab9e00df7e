/* A storage by itself: studies and trials come back as they were put, by another store too; states follow
 * Optuna's rules; transactions; sync. */
#include "tests/db/studies/fixture.h"

static void put_trial(struct study_store *store, int64_t study, double value)
{
    struct distribution rate = number_of(DISTRIBUTION_FLOAT, 1e-6, 1e-3, 0, true);
    struct distribution width = number_of(DISTRIBUTION_INT, 512, 1536, 1, false);
    struct distribution batch = choices_of("[2048, 4096, \"all\"]");
    int64_t trial = ask(store, study, false);
    OK(set_param(store, trial, "rate", &rate, 1e-4));
    OK(set_param(store, trial, "width", &width, 768));
    OK(set_param(store, trial, "batch", &batch, 2));
    OK(study_store_report(store, trial, 1, 0.5, err));
    OK(study_store_report(store, trial, 10, NAN, err));
    OK(study_store_report(store, trial, 2, INFINITY, err));
    OK(study_store_set_user(store, trial, "worker", "\"host:1\"", err));
    OK(study_store_set_system(store, trial, "constraints:a", "-1.5", err));
    OK(study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err));
    distribution_finish(&batch);
}

static void test_round_trip(void)
{
    const char *path = storage_of("round.db");
    struct study_store *store = open_store(path);
    int64_t id = make_study(store, "first");
    OK(study_store_set_study_user(store, id, "papertape:trials", "100", err));
    put_trial(store, id, 1.5);
    put_trial(store, id, -INFINITY);
    struct study_store *other = open_store(path);
    struct study *study = load(other, id);
    CHECK_STR(study->name, "first");
    CHECK_INT(study->n_objectives, 1);
    CHECK_INT(study->directions[0], STUDY_MAXIMIZE);
    CHECK_INT(study->n_user, 1);
    CHECK_STR(study->user[0].json, "100");
    CHECK_INT(study->n_trials, 2);
    CHECK_INT(study->n_params, 3);
    CHECK_INT(study->n_distributions, 3);
    const struct study_trial *trial = study->trials[0];
    CHECK_INT(trial->number, 0);
    CHECK_INT(trial->state, TRIAL_COMPLETE);
    CHECK(trial->values && trial->values[0] == 1.5);
    CHECK(trial->started_us != STUDY_NO_TIME && trial->completed_us >= trial->started_us);
    CHECK_INT(trial->heartbeat_us, STUDY_NO_TIME);
    CHECK_INT(trial->n_reports, 3);
    CHECK(trial->reports[0].value == 0.5 && trial->reports[1].value == INFINITY &&
          isnan(trial->reports[2].value));
    CHECK_INT(trial->reports[2].step, 10);
    const struct trial_param *rate = study_trial_param(trial, study_param_find(study, "rate"));
    CHECK(rate && rate->value == 1e-4 && study->distributions[rate->distribution].log);
    json_t *batch = json_string("all");
    const struct trial_param *param = study_trial_param(trial, study_param_find(study, "batch"));
    json_t *shown =
        param ? distribution_external(&study->distributions[param->distribution], param->value) : NULL;
    CHECK(json_equal(shown, batch));
    json_decref(batch);
    json_decref(shown);
    CHECK(study_trial_violation(trial) == 0);
    CHECK(study->trials[1]->values[0] == -INFINITY);
    CHECK(study_best(study) == trial);
    study_destroy(study);
    study_store_close(other);
    study_store_close(store);
}

static void test_waiting(void)
{
    struct study_store *store = open_store(storage_of("waiting.db"));
    int64_t id = make_study(store, "w"), trial = ask(store, id, true), waits[2], got;
    int number;
    json_t *fixed = json_pack("{s:f,s:s}", "rate", 0.25, "kind", "a"), *user = json_pack("{s:b}", "u", 1);
    OK(study_store_enqueue(store, id, fixed, user, &waits[0], err));
    OK(study_store_enqueue(store, id, fixed, NULL, &waits[1], err));
    json_decref(user);
    REFUSED(study_store_enqueue(store, id, NULL, NULL, &got, err), -EINVAL, "object");
    json_decref(fixed);
    REFUSED(study_store_tell(store, waits[0], TRIAL_FAIL, NULL, 0, err), -EINVAL, "WAITING");
    struct study *study = load(store, id);
    CHECK_INT(study->n_trials, 3);
    CHECK_INT(study->trials[1]->started_us, STUDY_NO_TIME);
    CHECK_STR(study->trials[1]->system[0].json, "{\"rate\": 0.25, \"kind\": \"a\"}");
    CHECK(study->trials[0]->heartbeat_us != STUDY_NO_TIME);
    for (int i = 0; i < 2; i++) {
        OK(study_store_ask(store, id, false, &got, &number, err));
        CHECK_INT(got, waits[i]);
        CHECK_INT(number, i + 1);
    }
    OK(study_store_ask(store, id, false, &got, &number, err));
    CHECK_INT(number, 3);
    OK(study_store_sync(store, study, err));
    CHECK_INT(study->n_trials, 4);
    CHECK_INT(study->trials[1]->state, TRIAL_RUNNING);
    CHECK(study->trials[1]->started_us != STUDY_NO_TIME);
    double value = 1;
    OK(study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err));
    REFUSED(study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err), -EINVAL, "never changes");
    REFUSED(study_store_ask(store, 77, false, &got, &number, err), -ENOENT, "study id 77");
    study_destroy(study);
    study_store_close(store);
}

static void test_sync(void)
{
    const char *path = storage_of("sync.db");
    struct study_store *store = open_store(path), *other = open_store(path);
    int64_t id = make_study(store, "s"), elsewhere = make_study(store, "elsewhere");
    for (int i = 0; i < 5; i++)
        put_trial(store, id, i);
    struct study *study = load(other, id);
    const struct study_trial *third = study->trials[2];
    uint64_t version = study->version;
    OK(study_store_sync(other, study, err));
    CHECK_INT(study->version, version);
    put_trial(store, elsewhere, 1);
    OK(study_store_sync(other, study, err));
    CHECK_INT(study->version, version);
    int64_t running = ask(store, id, true);
    OK(study_store_sync(other, study, err));
    CHECK_INT(study->version, ++version);
    CHECK_INT(study->n_trials, 6);
    const struct study_trial *sixth = study->trials[5];
    put_trial(store, id, 9);
    OK(study_store_report(store, running, 0, 0.25, err));
    OK(study_store_sync(other, study, err));
    CHECK_INT(study->version, ++version);
    CHECK(study->trials[5] == sixth && study->trials[2] == third);
    CHECK_INT(sixth->n_reports, 1);
    CHECK_INT(study->n_trials, 7);
    OK(study_store_set_user(store, running, "a", "1", err));
    OK(study_store_set_user(store, running, "b", "2", err));
    OK(study_store_set_user(store, running, "a", NULL, err));
    OK(study_store_tell(store, running, TRIAL_PRUNED, NULL, 0, err));
    OK(study_store_sync(other, study, err));
    CHECK_INT(sixth->state, TRIAL_PRUNED);
    CHECK(sixth->values && sixth->values[0] == 0.25);
    CHECK_INT(sixth->n_user, 1);
    CHECK_STR(sixth->user[0].key, "b");
    /* Another store may follow it, too. */
    put_trial(other, id, 10);
    OK(study_store_sync(store, study, err));
    CHECK_INT(study->n_trials, 8);
    CHECK(study->trials[2] == third);
    study_destroy(study);
    study_store_close(other);
    study_store_close(store);
}

/* What was seen within a transaction goes with it. */
static void test_rollback(void)
{
    struct study_store *store = open_store(storage_of("rollback.db"));
    int64_t id = make_study(store, "r"), trial = ask(store, id, false);
    struct study *study = load(store, id);
    double value = 2;
    OK(study_store_begin(store, err));
    REFUSED(study_store_begin(store, err), -EINVAL, "transaction");
    OK(study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err));
    put_trial(store, id, 1);
    ask(store, id, false);
    OK(study_store_sync(store, study, err));
    CHECK_INT(study->n_trials, 3);
    CHECK_INT(study->trials[0]->state, TRIAL_COMPLETE);
    study_store_rollback(store);
    OK(study_store_sync(store, study, err));
    CHECK_INT(study->n_trials, 1);
    CHECK_INT(study->trials[0]->state, TRIAL_RUNNING);
    CHECK(!study->trials[0]->values);
    OK(study_store_begin(store, err));
    REFUSED(study_store_tell(store, trial, TRIAL_COMPLETE, NULL, 0, err), -EINVAL, "1 are needed");
    OK(study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err));
    put_trial(store, id, 1);
    OK(study_store_commit(store, err));
    REFUSED(study_store_commit(store, err), -EINVAL, "no transaction");
    OK(study_store_sync(store, study, err));
    CHECK_INT(study->n_trials, 2);
    CHECK_INT(study->trials[0]->state, TRIAL_COMPLETE);
    CHECK(study_store_commit_s(store) > 0);
    study_destroy(study);
    study_store_close(store);
}

static void test_list(void)
{
    struct study_store *store = open_store(storage_of("list.db"));
    struct study_summary *list;
    size_t n;
    int64_t id, again;
    bool existed = true;
    OK(study_store_list(store, &list, &n, err));
    CHECK_INT(n, 0);
    free(list);
    OK(study_store_create(store, "three", maximize, 3, &id, &existed, err));
    CHECK(!existed);
    OK(study_store_create(store, "three", maximize, 3, &again, &existed, err));
    CHECK(existed && again == id);
    id = make_study(store, "one");
    put_trial(store, id, 1);
    ask(store, id, false);
    OK(study_store_list(store, &list, &n, err));
    CHECK_INT(n, 2);
    CHECK_STR(list[0].name, "three");
    CHECK_INT(list[0].n_objectives, 3);
    CHECK_INT(list[0].directions[1], STUDY_MINIMIZE);
    CHECK_INT(list[0].started_us, STUDY_NO_TIME);
    CHECK_INT(list[1].trials[TRIAL_COMPLETE], 1);
    CHECK_INT(list[1].trials[TRIAL_RUNNING], 1);
    CHECK(list[1].started_us != STUDY_NO_TIME);
    study_summaries_finish(list, n);
    free(list);
    OK(study_store_find(store, "one", &again, err));
    CHECK_INT(again, id);
    REFUSED(study_store_find(store, "thre", &again, err), -ENOENT, ": did you mean three?");
    study_store_close(store);
}

int main(void)
{
    scratch_in_memory();
    test_round_trip();
    test_waiting();
    test_sync();
    test_rollback();
    test_list();
    return check_done("db/studies/store");
}
