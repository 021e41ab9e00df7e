/* Turns rows into trials: one pass of each table over a range of ids, merged by id. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/sql/sql_store.h"
#include "db/studies/study_build.h"

struct reading {
    struct study_sql *store;
    struct study *study;
    struct study_trial **trials;
    int n, at;
    int hint; /* parameters come in the same order in every trial */
};

static int no_memory(struct reading *reading, char err[static STUDY_ERROR_MAX])
{
    return study_store_fail(&reading->store->base, -ENOMEM, err, "no memory for study \"%.100s\"",
                            reading->study->name);
}

static int take_trial(struct reading *reading, const struct study_rows *rows,
                      char err[static STUDY_ERROR_MAX])
{
    enum trial_state state;
    const char *name, *started, *completed, *heartbeat;
    int64_t id;
    reading->store->driver->take(rows, RECORD_INTO(&id, &name, &started, &completed, &heartbeat));
    if (!study_sql_state(name, &state))
        return study_store_fail(&reading->store->base, -EBADMSG, err,
                                "trial id %lld: has a state that Optuna does not have", (long long)id);
    if (reading->n == 0 || (reading->n >= 4 && (reading->n & (reading->n - 1)) == 0)) {
        size_t room = reading->n ? (size_t)reading->n * 2 : 4;
        struct study_trial **more = realloc(reading->trials, room * sizeof *more);
        if (!more)
            return no_memory(reading, err);
        reading->trials = more;
    }
    struct study_trial *trial = study_trial_create(id, state);
    if (!trial)
        return no_memory(reading, err);
    trial->started_us = study_sql_time(started);
    trial->completed_us = study_sql_time(completed);
    trial->heartbeat_us = study_sql_time(heartbeat);
    reading->trials[reading->n++] = trial;
    return 0;
}

static int take_param(struct reading *reading, struct study_trial *trial, const struct study_rows *rows,
                      char err[static STUDY_ERROR_MAX])
{
    struct study *study = reading->study;
    const char *name, *text;
    int64_t id;
    double value;
    reading->store->driver->take(rows, RECORD_INTO(&id, &name, &value, &text));
    char why[DISTRIBUTION_ERROR_MAX] = "";
    if (!name || !text)
        return 0;
    int param = reading->hint;
    if (param >= study->n_params || strcmp(study->params[param], name) != 0)
        param = study_param(study, name);
    reading->hint = param + 1 < study->n_params ? param + 1 : 0;
    int distribution = param < 0 ? -ENOMEM : study_distribution(study, text, why);
    if (distribution == -ENOMEM || (distribution >= 0 && study_trial_put_param(trial, param, distribution,
                                                                               isnan(value) ? 0 : value) < 0))
        return no_memory(reading, err);
    if (distribution < 0)
        return study_store_fail(&reading->store->base, -EBADMSG, err,
                                "trial id %lld: parameter \"%.100s\": %s", (long long)trial->id, name, why);
    return 0;
}

static int take_value(struct reading *reading, struct study_trial *trial, const struct study_rows *rows,
                      char err[static STUDY_ERROR_MAX])
{
    const char *type;
    int64_t id;
    int objective;
    double value;
    reading->store->driver->take(rows, RECORD_INTO(&id, &objective, &value, &type));
    int r =
        study_trial_put_value(trial, reading->study->n_objectives, objective, study_sql_double(value, type));
    return r < 0 ? no_memory(reading, err) : 0;
}

static int take_report(struct reading *reading, struct study_trial *trial, const struct study_rows *rows,
                       char err[static STUDY_ERROR_MAX])
{
    const char *type;
    int64_t id, step;
    double value;
    reading->store->driver->take(rows, RECORD_INTO(&id, &step, &value, &type));
    int r = study_trial_put_report(trial, step, study_sql_double(value, type));
    return r < 0 ? no_memory(reading, err) : 0;
}

static int take_attribute(struct reading *reading, const struct study_rows *rows,
                          struct study_attribute **attributes, int *n, char err[static STUDY_ERROR_MAX])
{
    const char *key, *json;
    int64_t id;
    reading->store->driver->take(rows, RECORD_INTO(&id, &key, &json));
    int r = key && json ? study_attribute_put(attributes, n, key, json) : 0;
    return r < 0 ? no_memory(reading, err) : 0;
}

static int take_user(struct reading *reading, struct study_trial *trial, const struct study_rows *rows,
                     char err[static STUDY_ERROR_MAX])
{
    return take_attribute(reading, rows, &trial->user, &trial->n_user, err);
}

static int take_system(struct reading *reading, struct study_trial *trial, const struct study_rows *rows,
                       char err[static STUDY_ERROR_MAX])
{
    return take_attribute(reading, rows, &trial->system, &trial->n_system, err);
}

static const struct {
    enum study_sql_statement statement;
    int (*take)(struct reading *, struct study_trial *, const struct study_rows *,
                char[static STUDY_ERROR_MAX]);
} tables[] = {
    {STUDY_SQL_READ_PARAMS, take_param},   {STUDY_SQL_READ_VALUES, take_value},
    {STUDY_SQL_READ_REPORTS, take_report}, {STUDY_SQL_READ_USER, take_user},
    {STUDY_SQL_READ_SYSTEM, take_system},
};

/* Adds all rows of one table to their trials; READ_TRIALS creates the trials. */
static int read_table(struct reading *reading, enum study_sql_statement statement, int64_t from, int64_t to,
                      int (*take)(struct reading *, struct study_trial *, const struct study_rows *,
                                  char[static STUDY_ERROR_MAX]),
                      char err[static STUDY_ERROR_MAX])
{
    struct study_rows rows =
        study_sql_query(reading->store, statement, RECORD_PARAMS(reading->study->id, from, to));
    int64_t id;
    int more, r = 0;
    reading->at = 0;
    while (r == 0 && (more = study_sql_next(reading->store, &rows, RECORD_INTO(&id), err)) != 0) {
        if (more < 0)
            return more;
        while (take && reading->at < reading->n && reading->trials[reading->at]->id < id)
            reading->at++;
        if (!take)
            r = take_trial(reading, &rows, err);
        else if (reading->at < reading->n && reading->trials[reading->at]->id == id)
            r = take(reading, reading->trials[reading->at], &rows, err);
    }
    if (r < 0)
        reading->store->driver->end(&rows);
    return r;
}

int study_sql_read_trials(struct study_sql *store, struct study *study, int64_t from, int64_t to,
                          struct study_trial ***ret, int *ret_n, char err[static STUDY_ERROR_MAX])
{
    struct reading reading = {.store = store, .study = study};
    int r = read_table(&reading, STUDY_SQL_READ_TRIALS, from, to, NULL, err);
    for (size_t i = 0; r == 0 && reading.n > 0 && i < sizeof tables / sizeof *tables; i++)
        r = read_table(&reading, tables[i].statement, from, to, tables[i].take, err);
    if (r < 0) {
        for (int i = 0; i < reading.n; i++)
            study_trial_destroy(reading.trials[i]);
        free(reading.trials);
        return r;
    }
    *ret = reading.trials;
    *ret_n = reading.n;
    return 0;
}

static int renew_attributes(struct study_sql *store, struct study *study, enum study_sql_statement statement,
                            struct study_attribute **attributes, int *n, bool *ret_changed,
                            char err[static STUDY_ERROR_MAX])
{
    struct study_rows rows = study_sql_query(store, statement, RECORD_PARAMS(study->id));
    struct study_attribute *fresh = NULL;
    const char *key, *json;
    int n_fresh = 0, more, r = 0;
    while (r == 0 && (more = study_sql_next(store, &rows, RECORD_INTO(&key, &json), err)) > 0)
        r = key && json ? study_attribute_put(&fresh, &n_fresh, key, json) : 0;
    if (r < 0) {
        study_store_fail(&store->base, r, err, "no memory for study \"%.100s\"", study->name);
        store->driver->end(&rows);
    } else if (more < 0) {
        r = more;
    }
    if (r == 0 && !study_attributes_equal(*attributes, *n, fresh, n_fresh)) {
        struct study_attribute *old = *attributes;
        int n_old = *n;
        *attributes = fresh;
        *n = n_fresh;
        fresh = old;
        n_fresh = n_old;
        *ret_changed = true;
    }
    study_attributes_finish(&fresh, &n_fresh);
    return r;
}

int study_sql_read_attributes(struct study_sql *store, struct study *study, bool *ret_changed,
                              char err[static STUDY_ERROR_MAX])
{
    int r = renew_attributes(store, study, STUDY_SQL_USER, &study->user, &study->n_user, ret_changed, err);
    if (r == 0)
        r = renew_attributes(store, study, STUDY_SQL_SYSTEM, &study->system, &study->n_system, ret_changed,
                             err);
    return r;
}
