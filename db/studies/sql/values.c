/* A trial's parameters, attributes, reports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/sql/sql_store.h"

int study_sql_param_known(struct study_store *store, int64_t study, const char *name, char **ret_text,
                          char err[static STUDY_ERROR_MAX])
{
    return study_sql_text(study_sql_of(store), STUDY_SQL_PARAM_KNOWN, RECORD_PARAMS(study, name), ret_text,
                          err);
}

int study_sql_param_is(struct study_store *store, int64_t study, int64_t trial, const char *name,
                       const char *text, char err[static STUDY_ERROR_MAX])
{
    return study_sql_first(study_sql_of(store), STUDY_SQL_PARAM_IS, RECORD_PARAMS(trial, name, study, text),
                           NULL, err);
}

int study_sql_param_insert(struct study_store *store, int64_t trial, const char *name, double value,
                           const char *text, bool *ret_same, char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    const struct record_param *params = RECORD_PARAMS(trial, name, value, text);
    bool same = false;
    int r = study_sql_run(sql, STUDY_SQL_PARAM_INSERT, params, err);
    if (r < 0 || sql->driver->changed(sql) == 1)
        return r;
    r = study_sql_first(sql, STUDY_SQL_PARAM, params, RECORD_INTO(&same), err);
    if (r < 0 && r != -ENOENT)
        return r;
    *ret_same = same;
    return -EEXIST;
}

int study_sql_params_insert(struct study_store *store, int64_t study, int64_t trial,
                            struct study_param_row *params, int n, char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    return sql->driver->params_insert ? sql->driver->params_insert(sql, study, trial, params, n, err) : 0;
}

int study_sql_attribute_get(struct study_store *store, int64_t trial, const char *key, char **ret_json,
                            char err[static STUDY_ERROR_MAX])
{
    return study_sql_text(study_sql_of(store), STUDY_SQL_TRIAL_SYSTEM_GET, RECORD_PARAMS(trial, key),
                          ret_json, err);
}

int study_sql_attribute(struct study_store *store, int64_t trial, bool system, const char *key,
                        const char *json, char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    if (!json)
        return study_sql_run(sql, system ? STUDY_SQL_TRIAL_SYSTEM_DROP : STUDY_SQL_TRIAL_USER_DROP,
                             RECORD_PARAMS(trial, key), err);
    return study_sql_put(sql, sql->held.fresh && sql->held.trial == trial,
                         system ? STUDY_SQL_TRIAL_SYSTEM_UPDATE : STUDY_SQL_TRIAL_USER_UPDATE,
                         system ? STUDY_SQL_TRIAL_SYSTEM_PUT : STUDY_SQL_TRIAL_USER_PUT,
                         RECORD_PARAMS(trial, key, json), err);
}

int study_sql_report(struct study_store *store, int64_t trial, int64_t step, double value,
                     char err[static STUDY_ERROR_MAX])
{
    return study_sql_later(study_sql_of(store), STUDY_SQL_REPORT_PUT,
                           RECORD_PARAMS(trial, step, study_sql_value(value), study_sql_value_type(value)),
                           err);
}

int study_sql_report_last(struct study_store *store, int64_t trial, double *ret_value,
                          char err[static STUDY_ERROR_MAX])
{
    char type[sizeof "INF_POS"];
    double value;
    int r = study_sql_first(study_sql_of(store), STUDY_SQL_REPORT_LAST, RECORD_PARAMS(trial),
                            RECORD_INTO(&value, record_into_chars(type, sizeof type)), err);
    if (r == 0)
        *ret_value = study_sql_double(value, type);
    return r;
}
