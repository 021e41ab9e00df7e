/* A trial's parameters, attributes, reports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/sqlite/sqlite_store.h"

int study_sqlite_param_known(struct study_store *store, int64_t study, const char *name, char **ret_text,
                             char err[static STUDY_ERROR_MAX])
{
    return study_sqlite_text(study_sqlite_of(store), STUDY_SQL_PARAM_KNOWN, RECORD_PARAMS(study, name),
                             ret_text, err);
}

int study_sqlite_param_is(struct study_store *store, int64_t study, int64_t trial, const char *name,
                          const char *text, char err[static STUDY_ERROR_MAX])
{
    return study_sqlite_first(study_sqlite_of(store), STUDY_SQL_PARAM_IS,
                              RECORD_PARAMS(trial, name, study, text), NULL, err);
}

int study_sqlite_param_insert(struct study_store *store, int64_t trial, const char *name, double value,
                              const char *text, bool *ret_same, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    const struct record_param *params = RECORD_PARAMS(trial, name, value, text);
    bool same = false;
    int r = study_sqlite_run(sqlite, STUDY_SQL_PARAM_INSERT, params, err);
    if (r < 0 || sqlite3_changes(sqlite->db) == 1)
        return r;
    r = study_sqlite_first(sqlite, STUDY_SQL_PARAM, params, RECORD_INTO(&same), err);
    if (r < 0 && r != -ENOENT)
        return r;
    *ret_same = same;
    return -EEXIST;
}

int study_sqlite_attribute_get(struct study_store *store, int64_t trial, const char *key, char **ret_json,
                               char err[static STUDY_ERROR_MAX])
{
    return study_sqlite_text(study_sqlite_of(store), STUDY_SQL_TRIAL_SYSTEM_GET, RECORD_PARAMS(trial, key),
                             ret_json, err);
}

int study_sqlite_attribute(struct study_store *store, int64_t trial, bool system, const char *key,
                           const char *json, char err[static STUDY_ERROR_MAX])
{
    static const enum study_sql statements[2][2] = {{STUDY_SQL_TRIAL_USER_DROP, STUDY_SQL_TRIAL_SYSTEM_DROP},
                                                    {STUDY_SQL_TRIAL_USER_PUT, STUDY_SQL_TRIAL_SYSTEM_PUT}};
    return study_sqlite_run(study_sqlite_of(store), statements[json != NULL][system],
                            RECORD_PARAMS(trial, key, json), err);
}

int study_sqlite_report(struct study_store *store, int64_t trial, int64_t step, double value,
                        char err[static STUDY_ERROR_MAX])
{
    return study_sqlite_run(
        study_sqlite_of(store), STUDY_SQL_REPORT_PUT,
        RECORD_PARAMS(trial, step, study_sqlite_value(value), study_sqlite_value_type(value)), err);
}

int study_sqlite_report_last(struct study_store *store, int64_t trial, double *ret_value,
                             char err[static STUDY_ERROR_MAX])
{
    char type[sizeof "INF_POS"];
    double value;
    int r = study_sqlite_first(study_sqlite_of(store), STUDY_SQL_REPORT_LAST, RECORD_PARAMS(trial),
                               RECORD_INTO(&value, record_into_chars(type, sizeof type)), err);
    if (r == 0)
        *ret_value = study_sqlite_double(value, type);
    return r;
}
