/* Parameters of a trial that are set together: they come back as they were put, whatever their names; what is
 * refused; distributions that a store remembers, of transactions that were rolled back too. What is sent with
 * the next statement of a transaction is stored, or its error is the commit's. */
#include "tests/db/studies/fixture.h"

enum { N = 5 };
static const char *const names[N] = {"a\"b\\c", "{x,y}", "NULL", "\xc3\xa9t\xc3\xa9 'q'", "kind"};

struct row {
    struct distribution distributions[N];
    struct study_store_param params[N];
};

static void make_row(struct row *row, double first)
{
    for (int i = 0; i < N - 1; i++)
        row->distributions[i] = number_of(DISTRIBUTION_FLOAT, -1, 1, 0, false);
    row->distributions[N - 1] = choices_of("[\"a\\\"b\\\\\", \"{,}\", null, 4]");
    for (int i = 0; i < N; i++)
        row->params[i] = (struct study_store_param){names[i], &row->distributions[i], first + 0.125 * i};
    row->params[N - 1].value = 2;
}

static void finish_row(struct row *row)
{
    distribution_finish(&row->distributions[N - 1]);
}

static void put_row(struct study_store *store, int64_t trial, double first)
{
    struct row row;
    make_row(&row, first);
    OK(study_store_set_params(store, trial, row.params, N, err));
    finish_row(&row);
}

static void check_row(const struct study *study, int number, double first)
{
    struct row row;
    make_row(&row, first);
    CHECK(number < study->n_trials);
    const struct study_trial *trial = study->trials[number];
    CHECK_INT(trial->n_params, N);
    for (int i = 0; i < N; i++) {
        const struct trial_param *param = study_trial_param(trial, study_param_find(study, names[i]));
        CHECK(param && param->value == row.params[i].value);
        CHECK(param &&
              distribution_equal(&study->distributions[param->distribution], row.params[i].distribution));
    }
    finish_row(&row);
}

/* Those of the first trial one by one, those of the others together where the database can. */
static void test_together(void)
{
    const char *path = storage_of("together.db");
    struct study_store *store = open_store(path), *other = open_store(path);
    int64_t id = make_study(store, "t");
    for (int i = 0; i < 3; i++)
        put_row(store, ask(store, id, false), 0.125 * i);
    struct study *study = load(other, id);
    put_row(other, ask(other, id, false), 0.125 * 3); /* it has read their distributions */
    OK(study_store_sync(other, study, err));
    CHECK_INT(study->n_trials, 4);
    CHECK_INT(study->n_distributions, 2);
    for (int i = 0; i < 4; i++)
        check_row(study, i, 0.125 * i);
    study_destroy(study);
    study_store_close(other);
    study_store_close(store);
}

static void test_refused(void)
{
    struct study_store *store = open_store(storage_of("refused.db"));
    int64_t id = make_study(store, "r"), trial;
    struct row row;
    make_row(&row, 0);
    put_row(store, ask(store, id, false), 0);
    trial = ask(store, id, false);
    row.params[3].value = 1.5;
    REFUSED(study_store_set_params(store, trial, row.params, N, err), -EINVAL, "a value of -1 to 1");
    struct study *study = load(store, id);
    CHECK_INT(study->trials[1]->n_params, 0);
    row.params[3].value = 0.375;
    OK(study_store_set_params(store, trial, row.params, 2, err));
    row.params[1].value = 0.2;
    REFUSED(study_store_set_params(store, trial, row.params, N, err), -EEXIST, "another value already");
    OK(study_store_sync(store, study, err));
    CHECK_INT(study->trials[1]->n_params, 2);
    row.params[1].value = 0.125;
    OK(study_store_set_params(store, trial, row.params, N, err)); /* two of which it has */
    OK(study_store_sync(store, study, err));
    check_row(study, 1, 0);
    finish_row(&row);
    study_destroy(study);
    study_store_close(store);
}

/* What a transaction that was rolled back has stored is not the study's distribution. */
static void test_rolled_back(void)
{
    const char *path = storage_of("rolled_back.db");
    struct study_store *store = open_store(path), *other = open_store(path);
    int64_t id = make_study(store, "b"), trial;
    struct distribution whole = number_of(DISTRIBUTION_INT, 0, 9, 1, false);
    OK(study_store_begin(store, err));
    put_row(store, ask(store, id, false), 0);
    study_store_rollback(store);
    OK(set_param(other, ask(other, id, false), names[1], &whole, 3));
    struct row row;
    make_row(&row, 0);
    trial = ask(store, id, false);
    REFUSED(study_store_set_params(store, trial, row.params, N, err), -EINVAL, "keeps its class");
    row.params[1] = (struct study_store_param){names[1], &whole, 4};
    OK(study_store_set_params(store, trial, row.params, N, err));
    struct study *study = load(other, id);
    CHECK_INT(study->n_trials, 2);
    CHECK_INT(study->trials[1]->n_params, N);
    finish_row(&row);
    study_destroy(study);
    study_store_close(other);
    study_store_close(store);
}

/* More than are sent at once; the last of one key counts, for those that ask before the commit too. */
static void test_later(void)
{
    struct study_store *store = open_store(storage_of("later.db"));
    int64_t id = make_study(store, "l");
    double value = 1;
    char text[16];
    OK(study_store_begin(store, err));
    int64_t trial = ask(store, id, true);
    for (int i = 0; i < 80; i++) {
        snprintf(text, sizeof text, "%d", i);
        OK(study_store_set_user(store, trial, i % 2 ? "odd" : "even", text, err));
        OK(study_store_report(store, trial, i % 40, i, err));
    }
    OK(study_store_heartbeat(store, trial, err));
    struct study *study = load(store, id);
    CHECK_INT(study->trials[0]->n_user, 2);
    CHECK_STR(study->trials[0]->user[1].json, "79");
    CHECK_INT(study->trials[0]->n_reports, 40);
    CHECK(study->trials[0]->reports[39].value == 79);
    OK(study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err));
    REFUSED(study_store_report(store, trial, 1, 1, err), -EINVAL, "never changes");
    OK(study_store_commit(store, err));
    OK(study_store_sync(store, study, err));
    CHECK_INT(study->trials[0]->state, TRIAL_COMPLETE);
    CHECK(study->trials[0]->values && study->trials[0]->values[0] == 1);
    study_destroy(study);
    study_store_close(store);
}

/* What is read at once is not all needed where there are no trials. */
static void test_nothing_read(void)
{
    struct study_store *store = open_store(storage_of("nothing.db"));
    OK(study_store_begin(store, err));
    int64_t id = make_study(store, "n");
    OK(study_store_set_study_user(store, id, "a", "1", err));
    struct study *study = load(store, id);
    OK(study_store_commit(store, err));
    OK(study_store_begin(store, err));
    OK(study_store_sync(store, study, err));
    OK(study_store_commit(store, err));
    CHECK_INT(study->n_trials, 0);
    CHECK_INT(study->n_user, 1);
    study_destroy(study);
    study_store_close(store);
}

/* A server's column has no room for the step: the transaction is not stored, and the next one is. */
static void test_error_later(void)
{
    struct study_store *store = open_store(storage_of("error_later.db"));
    int64_t id = make_study(store, "e"), trial = ask(store, id, false);
    const bool on_server = server_url() != NULL;
    OK(study_store_begin(store, err));
    OK(study_store_set_user(store, trial, "a", "1", err));
    OK(study_store_report(store, trial, INT64_C(1) << 40, 1, err));
    CHECK_SAID(study_store_commit(store, err), on_server ? -ERANGE : 0);
    CHECK_SAID(study_store_report(store, trial, INT64_C(1) << 40, 1, err), on_server ? -ERANGE : 0);
    OK(study_store_report(store, trial, 7, 1, err));
    struct study *study = load(store, id);
    CHECK_INT(study->trials[0]->n_reports, on_server ? 1 : 2);
    CHECK_INT(study->trials[0]->n_user, on_server ? 0 : 1);
    study_destroy(study);
    study_store_close(store);
}

/* A table of the server that is gone while its statement is prepared together with others: it is named. */
static void test_gone(void)
{
    if (!server_url())
        return;
    const char *url = storage_of("gone.db");
    struct study_store *first = open_store(url), *store = open_store(url);
    int64_t id = make_study(first, "g");
    struct study *study = load(first, id);
    server_run("DROP TABLE s_gone.trial_intermediate_values");
    OK(study_store_begin(store, err));
    REFUSED(study_store_sync(store, study, err), -EMEDIUMTYPE, "trial_intermediate_values");
    study_store_rollback(store);
    study_destroy(study);
    study_store_close(store);
    study_store_close(first);
}

int main(void)
{
    scratch_in_memory();
    test_together();
    test_refused();
    test_rolled_back();
    test_later();
    test_nothing_read();
    test_error_later();
    test_gone();
    return check_done("db/studies/params");
}
