/* Dead workers' trials: FAIL, and tried again as Optuna's RetryHeartbeatStaleTrialCallback does it. A trial's
 * end and its successor are one transaction, so that a kill cannot separate them. */
#include <errno.h>
#include <stdlib.h>

#include "db/studies/store_ops.h"

/* The list retry_history with the trial's own number at its end; NULL without memory. */
static json_t *history_of(const char *json, int number)
{
    json_t *history = json ? json_loads(json, 0, NULL) : NULL;
    if (!json_is_array(history)) {
        json_decref(history);
        history = json_array();
    }
    if (history && json_array_append_new(history, json_integer(number)) < 0) {
        json_decref(history);
        return NULL;
    }
    return history;
}

static int add_successor(struct study_store *store, int64_t trial, const struct study_trial_row *row,
                         const json_t *history, char err[static STUDY_ERROR_MAX])
{
    int64_t successor;
    int number;
    char *first = NULL;
    int r = store->ops->trial_insert(store, row->study, TRIAL_WAITING, &successor, &number, err);
    if (r == 0)
        r = store->ops->trial_copy(store, trial, successor, err);
    if (r < 0)
        return r;
    /* For a retry of a retry it stays the first trial's. */
    r = store->ops->attribute_get(store, trial, "failed_trial", &first, err);
    if (r == -ENOENT) {
        json_t *own = json_integer(row->number);
        r = study_store_put_json(store, successor, true, "failed_trial", own, err);
        json_decref(own);
    }
    free(first);
    return r < 0 ? r : study_store_put_json(store, successor, true, "retry_history", history, err);
}

/* Within a transaction, of a RUNNING trial. */
static int fail_trial(struct study_store *store, int64_t trial, const struct study_trial_row *row,
                      int retries_max, bool *ret_retried, char err[static STUDY_ERROR_MAX])
{
    char *text = NULL;
    int r = study_store_finish(store, trial, row, TRIAL_FAIL, NULL, 0, err);
    if (r < 0)
        return r;
    r = store->ops->attribute_get(store, trial, "retry_history", &text, err);
    if (r < 0 && r != -ENOENT)
        return r;
    json_t *history = history_of(text, row->number);
    free(text);
    if (!history)
        return study_store_fail(store, -ENOMEM, err, "trial %d: no memory for its retry", row->number);
    *ret_retried = retries_max < 0 || json_array_size(history) <= (size_t)retries_max;
    r = *ret_retried ? add_successor(store, trial, row, history, err) : 0;
    json_decref(history);
    return r;
}

static int once_fail_stale(struct study_store *store, int64_t study_id, double grace_s, int retries_max,
                           int *ret_failed, int *ret_retried, char err[static STUDY_ERROR_MAX])
{
    int64_t *trials = NULL;
    size_t n = 0;
    int failed = 0, retried = 0;
    bool own;
    /* Reads before it locks: usually there is nothing to do. */
    int r = store->ops->stale(store, study_id, grace_s, &trials, &n, err);
    if (r < 0)
        return r;
    free(trials);
    if (n > 0) {
        trials = NULL;
        r = study_store_enter(store, &own, err);
        if (r < 0)
            return r;
        r = store->ops->stale(store, study_id, grace_s, &trials, &n, err);
        for (size_t i = 0; r == 0 && i < n; i++) {
            struct study_trial_row row;
            bool again = false;
            r = study_store_trial(store, trials[i], &row, err);
            if (r == 0)
                r = fail_trial(store, trials[i], &row, retries_max, &again, err);
            failed++;
            retried += again;
        }
        free(trials);
        r = study_store_leave(store, own, r, err);
    }
    if (r == 0) {
        *ret_failed = failed;
        *ret_retried = retried;
    }
    return r;
}

int study_store_fail_stale(struct study_store *store, int64_t study_id, double grace_s, int retries_max,
                           int *ret_failed, int *ret_retried, char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(
        store, err, once_fail_stale(store, study_id, grace_s, retries_max, ret_failed, ret_retried, err));
}

static int once_retry(struct study_store *store, int64_t trial, int retries_max, bool *ret_retried,
                      char err[static STUDY_ERROR_MAX])
{
    struct study_trial_row row;
    bool own, retried = false;
    int r = study_store_enter(store, &own, err);
    if (r < 0)
        return r;
    r = study_store_trial_running(store, trial, &row, err);
    if (r == 0)
        r = fail_trial(store, trial, &row, retries_max, &retried, err);
    r = study_store_leave(store, own, r, err);
    if (r == 0)
        *ret_retried = retried;
    return r;
}

int study_store_retry(struct study_store *store, int64_t trial, int retries_max, bool *ret_retried,
                      char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, once_retry(store, trial, retries_max, ret_retried, err));
}

static int once_heartbeat(struct study_store *store, int64_t trial, char err[static STUDY_ERROR_MAX])
{
    struct study_trial_row row;
    bool own;
    int r = study_store_enter(store, &own, err);
    if (r < 0)
        return r;
    r = study_store_trial_running(store, trial, &row,
                                  err); /* else it was taken for dead: its worker must notice */
    if (r == 0)
        r = store->ops->heartbeat(store, trial, err);
    return study_store_leave(store, own, r, err);
}

int study_store_heartbeat(struct study_store *store, int64_t trial, char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, once_heartbeat(store, trial, err));
}
