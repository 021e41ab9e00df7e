/* Trials whose worker is silent: which are stale, what their successors have, how often; and trials that
 * wait, taken by many processes at once, each by one. */
#include <sqlite3.h>
#include <sys/wait.h>

#include "tests/db/studies/fixture.h"

enum { TAKERS = 6, WAITING = 48 };

/* A server is to have run for as long, or nothing is stale. */
static double grace_s(void)
{
    if (!server_url())
        return 60;
    server_run("SELECT pg_sleep(6 - extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()))");
    return 6;
}

/* Its last heartbeat was an hour ago. */
static void age(const char *path, int64_t trial)
{
    sqlite3 *db;
    char sql[200];
    if (server_url()) {
        const char *schema = strrchr(path, '=') + 1;
        schema = strstr(schema, "s_");
        snprintf(
            sql, sizeof sql,
            "UPDATE %s.trial_heartbeats SET heartbeat = heartbeat - interval '1 hour' WHERE trial_id = %lld",
            schema, (long long)trial);
        server_run(sql);
        return;
    }
    snprintf(sql, sizeof sql,
             "UPDATE trial_heartbeats SET heartbeat = datetime('now', '-1 hour') WHERE trial_id = %lld",
             (long long)trial);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_changes(db), 1);
    sqlite3_close(db);
}

static const char *system_of(const struct study_trial *trial, const char *key)
{
    const struct study_attribute *attribute = study_attribute_find(trial->system, trial->n_system, key);
    return attribute ? attribute->json : NULL;
}

static void test_stale(void)
{
    const char *path = storage_of("stale.db");
    struct study_store *store = open_store(path);
    int64_t id = make_study(store, "s"), stale = ask(store, id, true), fresh = ask(store, id, true);
    int64_t silent = ask(store, id, false), got;
    struct distribution rate = number_of(DISTRIBUTION_FLOAT, 0, 1, 0, false);
    int failed = -1, retried = -1, number;
    const double grace = grace_s();
    OK(set_param(store, stale, "rate", &rate, 0.25));
    OK(study_store_set_user(store, stale, "a", "\"b\"", err));
    OK(study_store_set_system(store, stale, "tpe:relative_params:0", "\"{}\"", err));
    OK(study_store_report(store, stale, 1, 7, err));
    OK(study_store_fail_stale(store, id, grace, 2, &failed, &retried, err));
    CHECK_INT(failed, 0);
    age(path, stale);
    if (server_url()) { /* it runs for less than that */
        OK(study_store_fail_stale(store, id, 1800, 2, &failed, &retried, err));
        CHECK_INT(failed, 0);
    }
    OK(study_store_fail_stale(store, id, 7200, 2, &failed, &retried, err));
    CHECK_INT(failed, 0);
    OK(study_store_fail_stale(store, id, grace, 2, &failed, &retried, err));
    CHECK_INT(failed, 1);
    CHECK_INT(retried, 1);
    struct study *study = load(store, id);
    CHECK_INT(study->n_trials, 4);
    CHECK_INT(study->trials[0]->state, TRIAL_FAIL);
    CHECK(study->trials[0]->completed_us != STUDY_NO_TIME);
    CHECK_INT(study->trials[1]->state, TRIAL_RUNNING);
    CHECK_INT(study->trials[2]->state, TRIAL_RUNNING);
    const struct study_trial *again = study->trials[3];
    CHECK_INT(again->state, TRIAL_WAITING);
    CHECK_INT(again->started_us, STUDY_NO_TIME);
    CHECK_INT(again->n_params, 1);
    CHECK(again->n_params == 1 && again->params[0].value == 0.25);
    CHECK_INT(again->n_reports, 0); /* intermediate values are not taken over */
    CHECK_INT(again->n_user, 1);
    CHECK_STR(system_of(again, "failed_trial"), "0");
    CHECK_STR(system_of(again, "retry_history"), "[0]");
    CHECK_STR(system_of(again, "tpe:relative_params:0"), "\"{}\"");
    /* Once more, and then no more. */
    OK(study_store_ask(store, id, true, &got, &number, err));
    CHECK_INT(number, 3);
    age(path, got);
    OK(study_store_fail_stale(store, id, grace, 2, &failed, &retried, err));
    CHECK_INT(retried, 1);
    OK(study_store_ask(store, id, true, &got, &number, err));
    CHECK_INT(number, 4);
    OK(study_store_sync(store, study, err));
    CHECK_STR(system_of(study->trials[4], "failed_trial"), "0");
    CHECK_STR(system_of(study->trials[4], "retry_history"), "[0, 3]");
    age(path, got);
    OK(study_store_fail_stale(store, id, grace, 2, &failed, &retried, err));
    CHECK_INT(failed, 1);
    CHECK_INT(retried, 0);
    /* By its own worker, whatever its heartbeat. */
    bool did = false;
    OK(study_store_retry(store, silent, 0, &did, err));
    CHECK(!did);
    OK(study_store_retry(store, fresh, -1, &did, err));
    CHECK(did);
    REFUSED(study_store_retry(store, fresh, -1, &did, err), -EINVAL, "is FAIL");
    OK(study_store_sync(store, study, err));
    CHECK_INT(study->n_trials, 6);
    CHECK_STR(system_of(study->trials[5], "retry_history"), "[1]");
    study_destroy(study);
    study_store_close(store);
}

/* Takes trials until none waits; each trial records which worker took it. */
static int take(const char *path, int64_t id)
{
    struct study_store *store = open_store(path);
    int64_t trial;
    int number;
    char worker[32];
    snprintf(worker, sizeof worker, "%d", (int)getpid());
    for (;;) {
        OK(study_store_ask(store, id, true, &trial, &number, err));
        if (number >= WAITING)
            break;
        OK(study_store_set_user(store, trial, worker, "1", err));
    }
    double value = 1;
    OK(study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err));
    study_store_close(store);
    return check_failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void test_takers(void)
{
    const char *path = storage_of("takers.db");
    struct study_store *store = open_store(path);
    int64_t id = make_study(store, "t"), trial;
    json_t *fixed = json_object();
    for (int i = 0; i < WAITING; i++)
        OK(study_store_enqueue(store, id, fixed, NULL, &trial, err));
    json_decref(fixed);
    study_store_close(store);
    fflush(NULL);
    for (int i = 0; i < TAKERS; i++)
        if (fork() == 0)
            _exit(take(path, id));
    int status, ended = 0;
    while (wait(&status) > 0) {
        CHECK_INT(status, 0);
        ended++;
    }
    CHECK_INT(ended, TAKERS);
    store = open_store(path);
    struct study *study = load(store, id);
    CHECK_INT(study->n_trials, WAITING + TAKERS);
    for (int i = 0; i < study->n_trials; i++) {
        CHECK_INT(study->trials[i]->state, i < WAITING ? TRIAL_RUNNING : TRIAL_COMPLETE);
        CHECK_INT(study->trials[i]->n_user, i < WAITING ? 1 : 0);
    }
    study_destroy(study);
    study_store_close(store);
}

int main(void)
{
    scratch_in_memory();
    test_stale();
    test_takers();
    return check_done("db/studies/retry");
}
