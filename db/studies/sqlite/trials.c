/* Trials begin, are taken, end, and are copied; heartbeats. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/sqlite/sqlite_store.h"

int study_sqlite_trial_find(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                            char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_TRIAL];
    struct study_trial_row row = {0};
    sqlite3_bind_int64(stmt, 1, trial);
    int rc = study_sqlite_step(sqlite, stmt, err);
    if (rc < 0)
        return rc;
    bool known = true;
    if (rc == SQLITE_ROW) {
        row.study = sqlite3_column_int64(stmt, 0);
        row.number = sqlite3_column_int(stmt, 1);
        known = study_sqlite_state((const char *)sqlite3_column_text(stmt, 2), &row.state);
    }
    sqlite3_reset(stmt);
    if (rc != SQLITE_ROW)
        return -ENOENT;
    if (!known)
        return study_store_fail(store, -EBADMSG, err, "trial %d: has a state that Optuna does not have",
                                row.number);
    *ret = row;
    return 0;
}

/* Forgets the mark where it is of another study, or of one that was deleted and whose id is another's now. */
static int check_mark(struct study_sqlite *sqlite, int64_t study, char err[static STUDY_ERROR_MAX])
{
    struct study_trial_row row;
    int r = 0;
    if (sqlite->mark.study == study && sqlite->mark.count > 0) {
        r = study_sqlite_trial_find(&sqlite->base, sqlite->mark.trial, &row, err);
        if (r == 0 && row.study == study && row.number == sqlite->mark.count - 1)
            return 0;
    }
    sqlite->mark.study = study;
    sqlite->mark.trial = 0;
    sqlite->mark.count = 0;
    return r == -ENOENT ? 0 : r;
}

/* How many trials the study has, and its newest. */
static int count_trials(struct study_sqlite *sqlite, int64_t study, int *ret_count, int64_t *ret_newest,
                        char err[static STUDY_ERROR_MAX])
{
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_TRIAL_COUNT];
    int r = check_mark(sqlite, study, err);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, study);
    sqlite3_bind_int64(stmt, 2, sqlite->mark.trial);
    int rc = study_sqlite_step(sqlite, stmt, err);
    if (rc < 0)
        return rc;
    int more = sqlite3_column_int(stmt, 0);
    *ret_count = sqlite->mark.count + more;
    *ret_newest = more > 0 ? sqlite3_column_int64(stmt, 1) : sqlite->mark.trial;
    sqlite3_reset(stmt);
    return 0;
}

int study_sqlite_trial_take(struct study_store *store, int64_t study, int64_t *ret_trial, int *ret_number,
                            char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_TRIAL_WAITING];
    int count;
    int64_t newest;
    int r = count_trials(sqlite, study, &count, &newest, err);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, study);
    sqlite3_bind_int64(stmt, 2, sqlite->mark.trial);
    int rc = study_sqlite_step(sqlite, stmt, err);
    if (rc < 0)
        return rc;
    int64_t trial = sqlite3_column_int64(stmt, 0);
    int number = sqlite3_column_int(stmt, 1);
    sqlite3_reset(stmt);
    if (rc != SQLITE_ROW) {
        sqlite->mark.trial = newest;
        sqlite->mark.count = count;
        return -ENOENT;
    }
    char now[STUDY_SQLITE_TIME];
    study_sqlite_now(0, now);
    stmt = sqlite->statements[STUDY_SQL_TRIAL_TAKE];
    sqlite3_bind_int64(stmt, 1, trial);
    sqlite3_bind_text(stmt, 2, now, -1, SQLITE_STATIC);
    r = study_sqlite_run(sqlite, stmt, err);
    if (r < 0)
        return r;
    if (sqlite3_changes(sqlite->db) != 1) /* the writer's lock is ours: nobody can have been quicker */
        return study_store_fail(store, -EBADMSG, err, "trial %d: waits no longer", number);
    *ret_trial = trial;
    *ret_number = number;
    return 0;
}

int study_sqlite_trial_insert(struct study_store *store, int64_t study, enum trial_state state,
                              int64_t *ret_trial, int *ret_number, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_TRIAL_INSERT];
    char now[STUDY_SQLITE_TIME];
    int number;
    int64_t newest;
    int r = count_trials(sqlite, study, &number, &newest, err);
    if (r < 0)
        return r;
    study_sqlite_now(0, now);
    sqlite3_bind_int(stmt, 1, number);
    sqlite3_bind_int64(stmt, 2, study);
    sqlite3_bind_text(stmt, 3, study_trial_state_name(state), -1, SQLITE_STATIC);
    if (state == TRIAL_RUNNING)
        sqlite3_bind_text(stmt, 4, now, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(stmt, 4);
    r = study_sqlite_run(sqlite, stmt, err);
    if (r < 0)
        return r;
    *ret_trial = sqlite3_last_insert_rowid(sqlite->db);
    *ret_number = number;
    return 0;
}

int study_sqlite_trial_finish(struct study_store *store, int64_t trial, enum trial_state state,
                              const double *values, int n, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_TRIAL_FINISH];
    char now[STUDY_SQLITE_TIME];
    study_sqlite_now(0, now);
    sqlite3_bind_int64(stmt, 1, trial);
    sqlite3_bind_text(stmt, 2, study_trial_state_name(state), -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 3, now, -1, SQLITE_STATIC);
    int r = study_sqlite_run(sqlite, stmt, err);
    if (r == 0 && sqlite3_changes(sqlite->db) != 1)
        return -ENOENT;
    stmt = sqlite->statements[STUDY_SQL_VALUE_PUT];
    for (int i = 0; r == 0 && values && i < n; i++) {
        sqlite3_bind_int64(stmt, 1, trial);
        sqlite3_bind_int(stmt, 2, i);
        study_sqlite_bind_double(stmt, 3, values[i]);
        r = study_sqlite_run(sqlite, stmt, err);
    }
    return r;
}

int study_sqlite_trial_copy(struct study_store *store, int64_t from, int64_t to,
                            char err[static STUDY_ERROR_MAX])
{
    static const enum study_sql copies[] = {STUDY_SQL_COPY_PARAMS, STUDY_SQL_COPY_USER,
                                            STUDY_SQL_COPY_SYSTEM};
    struct study_sqlite *sqlite = study_sqlite_of(store);
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof copies / sizeof *copies; i++) {
        sqlite3_bind_int64(sqlite->statements[copies[i]], 1, from);
        sqlite3_bind_int64(sqlite->statements[copies[i]], 2, to);
        r = study_sqlite_run(sqlite, sqlite->statements[copies[i]], err);
    }
    return r;
}

int study_sqlite_heartbeat(struct study_store *store, int64_t trial, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_HEARTBEAT];
    char now[STUDY_SQLITE_TIME];
    study_sqlite_now(0, now);
    sqlite3_bind_int64(stmt, 1, trial);
    sqlite3_bind_text(stmt, 2, now, -1, SQLITE_STATIC);
    return study_sqlite_run(sqlite, stmt, err);
}

int study_sqlite_stale(struct study_store *store, int64_t study, double grace_s, int64_t **ret_trials,
                       size_t *ret_n, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_STALE];
    char before[STUDY_SQLITE_TIME];
    int64_t *trials = NULL;
    size_t n = 0;
    int rc;
    study_sqlite_now(grace_s, before);
    sqlite3_bind_int64(stmt, 1, study);
    sqlite3_bind_text(stmt, 2, before, -1, SQLITE_STATIC);
    while ((rc = study_sqlite_step(sqlite, stmt, err)) == SQLITE_ROW) {
        int64_t *more = realloc(trials, (n + 1) * sizeof *more);
        if (!more) {
            sqlite3_reset(stmt);
            free(trials);
            return study_store_fail(store, -ENOMEM, err, "no memory for %zu trials", n);
        }
        trials = more;
        trials[n++] = sqlite3_column_int64(stmt, 0);
    }
    if (rc < 0) {
        free(trials);
        return rc;
    }
    sqlite3_reset(stmt);
    *ret_trials = trials;
    *ret_n = n;
    return 0;
}
