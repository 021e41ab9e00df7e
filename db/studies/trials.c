/* Optuna's rules for trials, for any database. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/store_ops.h"

int study_store_trial(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                      char err[static STUDY_ERROR_MAX])
{
    int r = store->ops->trial_find(store, trial, ret, err);
    if (r == -ENOENT)
        study_store_fail(store, r, err, "trial id %lld: is not there", (long long)trial);
    return r;
}

int study_store_trial_open(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                           char err[static STUDY_ERROR_MAX])
{
    int r = study_store_trial(store, trial, ret, err);
    if (r == 0 && trial_state_finished(ret->state))
        r = study_store_fail(store, -EINVAL, err, "trial %d: is %s: a finished trial never changes",
                             ret->number, study_trial_state_name(ret->state));
    return r;
}

int study_store_trial_running(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                              char err[static STUDY_ERROR_MAX])
{
    int r = study_store_trial_open(store, trial, ret, err);
    if (r == 0 && ret->state != TRIAL_RUNNING)
        r = study_store_fail(store, -EINVAL, err, "trial %d: is %s: a RUNNING one is needed", ret->number,
                             study_trial_state_name(ret->state));
    return r;
}

int study_store_check_name(const struct study_store *store, const char *what, const char *name,
                           char err[static STUDY_ERROR_MAX])
{
    enum { NAME_BYTES = 512 /* of a VARCHAR(512) */ };
    if (*name && strnlen(name, NAME_BYTES + 1) <= NAME_BYTES)
        return 0;
    return study_store_fail(store, -EINVAL, err, "%s \"%.40s\": a name of 1 to %d bytes is needed", what,
                            name, NAME_BYTES);
}

static int check_study(struct study_store *store, int64_t study,
                       enum study_direction directions[STUDY_OBJECTIVES_MAX], int *ret_n,
                       char err[static STUDY_ERROR_MAX])
{
    int r = store->ops->study_directions(store, study, directions, ret_n, err);
    if (r == -ENOENT)
        study_store_fail(store, r, err, "study id %lld: is not there", (long long)study);
    return r;
}

static int once_ask(struct study_store *store, int64_t study_id, bool heartbeat, int64_t *ret_trial,
                    int *ret_number, char err[static STUDY_ERROR_MAX])
{
    enum study_direction directions[STUDY_OBJECTIVES_MAX];
    int64_t trial = 0;
    int number = 0, n;
    bool own;
    int r = study_store_enter(store, &own, err);
    if (r < 0)
        return r;
    r = store->ops->trial_ahead(store, study_id, err);
    if (r == 0)
        r = check_study(store, study_id, directions, &n, err);
    if (r == 0) {
        r = store->ops->trial_take(store, study_id, &trial, &number, err);
        if (r == -ENOENT)
            r = store->ops->trial_insert(store, study_id, TRIAL_RUNNING, &trial, &number, err);
    }
    if (r == 0 && heartbeat)
        r = store->ops->heartbeat(store, trial, err);
    r = study_store_leave(store, own, r, err);
    if (r < 0)
        return r;
    *ret_trial = trial;
    *ret_number = number;
    return 0;
}

int study_store_ask(struct study_store *store, int64_t study_id, bool heartbeat, int64_t *ret_trial,
                    int *ret_number, char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, once_ask(store, study_id, heartbeat, ret_trial, ret_number, err));
}

int study_store_put_json(struct study_store *store, int64_t trial, bool system, const char *key,
                         const json_t *value, char err[static STUDY_ERROR_MAX])
{
    char *json = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    if (!json)
        return study_store_fail(store, -ENOMEM, err, "no memory for \"%.40s\"", key);
    int r = store->ops->attribute(store, trial, system, key, json, err);
    free(json);
    return r;
}

static int once_enqueue(struct study_store *store, int64_t study_id, const json_t *fixed, const json_t *user,
                        int64_t *ret_trial, char err[static STUDY_ERROR_MAX])
{
    enum study_direction directions[STUDY_OBJECTIVES_MAX];
    const char *key;
    json_t *value;
    int64_t trial = 0;
    int number, n;
    bool own;
    if (!json_is_object(fixed) || (user && !json_is_object(user)))
        return study_store_fail(store, -EINVAL, err,
                                "enqueue: an object of parameters and their values is needed");
    json_object_foreach((json_t *)user, key, value)
    {
        int r = study_store_check_name(store, "attribute", key, err);
        if (r < 0)
            return r;
    }
    int r = study_store_enter(store, &own, err);
    if (r < 0)
        return r;
    r = check_study(store, study_id, directions, &n, err);
    if (r == 0)
        r = store->ops->trial_insert(store, study_id, TRIAL_WAITING, &trial, &number, err);
    if (r == 0)
        r = study_store_put_json(store, trial, true, "fixed_params", fixed, err);
    json_object_foreach((json_t *)user, key, value)
    {
        if (r == 0)
            r = study_store_put_json(store, trial, false, key, value, err);
    }
    r = study_store_leave(store, own, r, err);
    if (r == 0)
        *ret_trial = trial;
    return r;
}

int study_store_enqueue(struct study_store *store, int64_t study_id, const json_t *fixed, const json_t *user,
                        int64_t *ret_trial, char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, once_enqueue(store, study_id, fixed, user, ret_trial, err));
}

static int once_report(struct study_store *store, int64_t trial, int64_t step, double value,
                       char err[static STUDY_ERROR_MAX])
{
    struct study_trial_row row;
    bool own;
    int r = study_store_enter(store, &own, err);
    if (r < 0)
        return r;
    r = study_store_trial_open(store, trial, &row, err);
    if (r == 0 && step < 0)
        r = study_store_fail(store, -EINVAL, err, "trial %d: step %lld: a step of 0 or above is needed",
                             row.number, (long long)step);
    if (r == 0)
        r = store->ops->report(store, trial, step, value, err);
    return study_store_leave(store, own, r, err);
}

int study_store_report(struct study_store *store, int64_t trial, int64_t step, double value,
                       char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, once_report(store, trial, step, value, err));
}

static int set_attribute(struct study_store *store, int64_t trial, bool system, const char *key,
                         const char *json, char err[static STUDY_ERROR_MAX])
{
    struct study_trial_row row;
    bool own;
    int r = study_store_check_name(store, "attribute", key, err);
    if (r == 0)
        r = study_store_enter(store, &own, err);
    if (r < 0)
        return r;
    r = study_store_trial_open(store, trial, &row, err);
    if (r == 0)
        r = store->ops->attribute(store, trial, system, key, json, err);
    return study_store_leave(store, own, r, err);
}

int study_store_set_user(struct study_store *store, int64_t trial, const char *key, const char *json,
                         char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, set_attribute(store, trial, false, key, json, err));
}

int study_store_set_system(struct study_store *store, int64_t trial, const char *key, const char *json,
                           char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, set_attribute(store, trial, true, key, json, err));
}

static int set_study_attribute(struct study_store *store, int64_t study, bool system, const char *key,
                               const char *json, char err[static STUDY_ERROR_MAX])
{
    enum study_direction directions[STUDY_OBJECTIVES_MAX];
    int n;
    bool own;
    int r = study_store_check_name(store, "attribute", key, err);
    if (r == 0)
        r = study_store_enter(store, &own, err);
    if (r < 0)
        return r;
    r = check_study(store, study, directions, &n, err);
    if (r == 0)
        r = store->ops->study_attribute(store, study, system, key, json, err);
    return study_store_leave(store, own, r, err);
}

int study_store_set_study_user(struct study_store *store, int64_t study_id, const char *key, const char *json,
                               char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, set_study_attribute(store, study_id, false, key, json, err));
}

int study_store_set_study_system(struct study_store *store, int64_t study_id, const char *key,
                                 const char *json, char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, set_study_attribute(store, study_id, true, key, json, err));
}

/* The values of a trial that ends so: NULL, `values`, or `last`. */
static int choose_values(struct study_store *store, const struct study_trial_row *row, int64_t trial,
                         enum trial_state state, const double *values, int n, int n_objectives, double *last,
                         const double **ret, char err[static STUDY_ERROR_MAX])
{
    *ret = NULL;
    if (!trial_state_finished(state))
        return study_store_fail(store, -EINVAL, err, "trial %d: COMPLETE, PRUNED or FAIL is needed",
                                row->number);
    if (state == TRIAL_FAIL || (state == TRIAL_PRUNED && !values)) {
        if (values)
            return study_store_fail(store, -EINVAL, err, "trial %d: FAIL has no values", row->number);
        if (state == TRIAL_FAIL || n_objectives != 1)
            return 0;
        int r = store->ops->report_last(store, trial, last, err);
        if (r == 0 && !isnan(*last))
            *ret = last;
        return r == -ENOENT ? 0 : r;
    }
    if (!values || n != n_objectives)
        return study_store_fail(store, -EINVAL, err,
                                "trial %d: %d values: %d are needed, one of each objective", row->number,
                                values ? n : 0, n_objectives);
    for (int i = 0; i < n; i++)
        if (isnan(values[i]))
            return study_store_fail(store, -EINVAL, err, "trial %d: value %d is NaN: a number is needed",
                                    row->number, i);
    *ret = values;
    return 0;
}

int study_store_finish(struct study_store *store, int64_t trial, const struct study_trial_row *row,
                       enum trial_state state, const double *values, int n, char err[static STUDY_ERROR_MAX])
{
    int r = store->ops->trial_finish(store, trial, state, values, n, err);
    return r != -ENOENT
               ? r
               : study_store_fail(store, -EINVAL, err, "trial %d: another process has ended it", row->number);
}

static int once_tell(struct study_store *store, int64_t trial, enum trial_state state, const double *values,
                     int n, char err[static STUDY_ERROR_MAX])
{
    enum study_direction directions[STUDY_OBJECTIVES_MAX];
    struct study_trial_row row;
    const double *stored = NULL;
    double last;
    int n_objectives = 0;
    bool own;
    int r = study_store_enter(store, &own, err);
    if (r < 0)
        return r;
    r = study_store_trial_running(store, trial, &row, err);
    if (r == 0)
        r = check_study(store, row.study, directions, &n_objectives, err);
    if (r == 0)
        r = choose_values(store, &row, trial, state, values, n, n_objectives, &last, &stored, err);
    if (r == 0)
        r = study_store_finish(store, trial, &row, state, stored, stored ? n_objectives : 0, err);
    return study_store_leave(store, own, r, err);
}

int study_store_tell(struct study_store *store, int64_t trial, enum trial_state state, const double *values,
                     int n, char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, once_tell(store, trial, state, values, n, err));
}
