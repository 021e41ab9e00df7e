/* What one trial has: parameters, attributes, reports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/sqlite/sqlite_store.h"

/* The first column of the first row of a bound statement, as text; -ENOENT: there is no row, or it is NULL.
 */
static int text_of(struct study_sqlite *sqlite, sqlite3_stmt *stmt, char **ret,
                   char err[static STUDY_ERROR_MAX])
{
    int rc = study_sqlite_step(sqlite, stmt, err);
    if (rc < 0)
        return rc;
    const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    char *copy = text ? strdup(text) : NULL;
    sqlite3_reset(stmt);
    if (!text)
        return -ENOENT;
    if (!copy)
        return study_store_fail(&sqlite->base, -ENOMEM, err, "no memory");
    *ret = copy;
    return 0;
}

int study_sqlite_param_known(struct study_store *store, int64_t study, const char *name, char **ret_text,
                             char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_PARAM_KNOWN];
    sqlite3_bind_int64(stmt, 1, study);
    sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC);
    return text_of(sqlite, stmt, ret_text, err);
}

int study_sqlite_param_is(struct study_store *store, int64_t study, int64_t trial, const char *name,
                          const char *text, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_PARAM_IS];
    sqlite3_bind_int64(stmt, 1, trial);
    sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 3, study);
    sqlite3_bind_text(stmt, 4, text, -1, SQLITE_STATIC);
    int rc = study_sqlite_step(sqlite, stmt, err);
    if (rc < 0)
        return rc;
    sqlite3_reset(stmt);
    return rc == SQLITE_ROW ? 0 : -ENOENT;
}

static void bind_param(sqlite3_stmt *stmt, int64_t trial, const char *name, double value, const char *text)
{
    sqlite3_bind_int64(stmt, 1, trial);
    sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC);
    sqlite3_bind_double(stmt, 3, value);
    sqlite3_bind_text(stmt, 4, text, -1, SQLITE_STATIC);
}

int study_sqlite_param_insert(struct study_store *store, int64_t trial, const char *name, double value,
                              const char *text, bool *ret_same, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_PARAM_INSERT];
    bind_param(stmt, trial, name, value, text);
    int r = study_sqlite_run(sqlite, stmt, err);
    if (r < 0 || sqlite3_changes(sqlite->db) == 1)
        return r;
    stmt = sqlite->statements[STUDY_SQL_PARAM];
    bind_param(stmt, trial, name, value, text);
    r = study_sqlite_step(sqlite, stmt, err);
    if (r < 0)
        return r;
    *ret_same = r == SQLITE_ROW && sqlite3_column_int(stmt, 0);
    sqlite3_reset(stmt);
    return -EEXIST;
}

int study_sqlite_attribute_get(struct study_store *store, int64_t trial, const char *key, char **ret_json,
                               char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_TRIAL_SYSTEM_GET];
    sqlite3_bind_int64(stmt, 1, trial);
    sqlite3_bind_text(stmt, 2, key, -1, SQLITE_STATIC);
    return text_of(sqlite, stmt, ret_json, err);
}

int study_sqlite_attribute(struct study_store *store, int64_t trial, bool system, const char *key,
                           const char *json, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt =
        sqlite->statements[json     ? (system ? STUDY_SQL_TRIAL_SYSTEM_PUT : STUDY_SQL_TRIAL_USER_PUT)
                           : system ? STUDY_SQL_TRIAL_SYSTEM_DROP
                                    : STUDY_SQL_TRIAL_USER_DROP];
    sqlite3_bind_int64(stmt, 1, trial);
    sqlite3_bind_text(stmt, 2, key, -1, SQLITE_STATIC);
    if (json)
        sqlite3_bind_text(stmt, 3, json, -1, SQLITE_STATIC);
    return study_sqlite_run(sqlite, stmt, err);
}

int study_sqlite_report(struct study_store *store, int64_t trial, int64_t step, double value,
                        char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_REPORT_PUT];
    sqlite3_bind_int64(stmt, 1, trial);
    sqlite3_bind_int64(stmt, 2, step);
    study_sqlite_bind_double(stmt, 3, value);
    return study_sqlite_run(sqlite, stmt, err);
}

int study_sqlite_report_last(struct study_store *store, int64_t trial, double *ret_value,
                             char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_REPORT_LAST];
    sqlite3_bind_int64(stmt, 1, trial);
    int rc = study_sqlite_step(sqlite, stmt, err);
    if (rc < 0)
        return rc;
    if (rc == SQLITE_ROW)
        *ret_value = study_sqlite_double(stmt, 0);
    sqlite3_reset(stmt);
    return rc == SQLITE_ROW ? 0 : -ENOENT;
}
