/* Creates, takes, finishes and copies trials; heartbeats. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/sqlite/sqlite_store.h"

enum { STATE_MAX = 16 }; /* bytes of a state's name; a longer one is invalid */

int study_sqlite_trial_find(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                            char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    struct study_trial_row row = {0};
    char state[STATE_MAX];
    int r =
        study_sqlite_first(sqlite, STUDY_SQL_TRIAL, RECORD_PARAMS(trial),
                           RECORD_INTO(&row.study, &row.number, record_into_chars(state, sizeof state)), err);
    if (r < 0)
        return r;
    if (!study_sqlite_state(state, &row.state))
        return study_store_fail(store, -EBADMSG, err, "trial %d: has a state that Optuna does not have",
                                row.number);
    *ret = row;
    return 0;
}

/* Drops the mark where it belongs to another study, or to a deleted one whose id was reused. */
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
    int more;
    int64_t newest;
    int r = check_mark(sqlite, study, err);
    if (r == 0)
        r = study_sqlite_first(sqlite, STUDY_SQL_TRIAL_COUNT, RECORD_PARAMS(study, sqlite->mark.trial),
                               RECORD_INTO(&more, &newest), err);
    if (r < 0)
        return r;
    *ret_count = sqlite->mark.count + more;
    *ret_newest = more > 0 ? newest : sqlite->mark.trial;
    return 0;
}

int study_sqlite_trial_take(struct study_store *store, int64_t study, int64_t *ret_trial, int *ret_number,
                            char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    int count, number;
    int64_t newest, trial;
    char now[STUDY_SQLITE_TIME];
    int r = count_trials(sqlite, study, &count, &newest, err);
    if (r < 0)
        return r;
    r = study_sqlite_first(sqlite, STUDY_SQL_TRIAL_WAITING, RECORD_PARAMS(study, sqlite->mark.trial),
                           RECORD_INTO(&trial, &number), err);
    if (r == -ENOENT) {
        sqlite->mark.trial = newest;
        sqlite->mark.count = count;
    }
    if (r < 0)
        return r;
    study_sqlite_now(0, now);
    r = study_sqlite_run(sqlite, STUDY_SQL_TRIAL_TAKE, RECORD_PARAMS(trial, now), err);
    if (r < 0)
        return r;
    if (sqlite3_changes(sqlite->db) != 1) /* cannot fail: this connection has the writer's lock */
        return study_store_fail(store, -EBADMSG, err, "trial %d: waits no longer", number);
    *ret_trial = trial;
    *ret_number = number;
    return 0;
}

int study_sqlite_trial_insert(struct study_store *store, int64_t study, enum trial_state state,
                              int64_t *ret_trial, int *ret_number, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    char now[STUDY_SQLITE_TIME];
    int number;
    int64_t newest;
    int r = count_trials(sqlite, study, &number, &newest, err);
    if (r < 0)
        return r;
    study_sqlite_now(0, now);
    r = study_sqlite_run(
        sqlite, STUDY_SQL_TRIAL_INSERT,
        RECORD_PARAMS(number, study, study_trial_state_name(state), state == TRIAL_RUNNING ? now : NULL),
        err);
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
    char now[STUDY_SQLITE_TIME];
    study_sqlite_now(0, now);
    int r = study_sqlite_run(sqlite, STUDY_SQL_TRIAL_FINISH,
                             RECORD_PARAMS(trial, study_trial_state_name(state), now), err);
    if (r == 0 && sqlite3_changes(sqlite->db) != 1)
        return -ENOENT;
    for (int i = 0; r == 0 && values && i < n; i++)
        r = study_sqlite_run(
            sqlite, STUDY_SQL_VALUE_PUT,
            RECORD_PARAMS(trial, i, study_sqlite_value(values[i]), study_sqlite_value_type(values[i])), err);
    return r;
}

int study_sqlite_trial_copy(struct study_store *store, int64_t from, int64_t to,
                            char err[static STUDY_ERROR_MAX])
{
    static const enum study_sql copies[] = {STUDY_SQL_COPY_PARAMS, STUDY_SQL_COPY_USER,
                                            STUDY_SQL_COPY_SYSTEM};
    struct study_sqlite *sqlite = study_sqlite_of(store);
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof copies / sizeof *copies; i++)
        r = study_sqlite_run(sqlite, copies[i], RECORD_PARAMS(from, to), err);
    return r;
}

int study_sqlite_heartbeat(struct study_store *store, int64_t trial, char err[static STUDY_ERROR_MAX])
{
    char now[STUDY_SQLITE_TIME];
    study_sqlite_now(0, now);
    return study_sqlite_run(study_sqlite_of(store), STUDY_SQL_HEARTBEAT, RECORD_PARAMS(trial, now), err);
}

int study_sqlite_stale(struct study_store *store, int64_t study, double grace_s, int64_t **ret_trials,
                       size_t *ret_n, char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    char before[STUDY_SQLITE_TIME];
    int64_t *trials = NULL, trial;
    size_t n = 0;
    int r;
    study_sqlite_now(grace_s, before);
    sqlite3_stmt *stmt = study_sqlite_query(sqlite, STUDY_SQL_STALE, RECORD_PARAMS(study, before));
    while ((r = study_sqlite_next(sqlite, stmt, RECORD_INTO(&trial), err)) > 0) {
        int64_t *more = realloc(trials, (n + 1) * sizeof *more);
        if (!more) {
            sqlite3_reset(stmt);
            free(trials);
            return study_store_fail(store, -ENOMEM, err, "no memory for %zu trials", n);
        }
        trials = more;
        trials[n++] = trial;
    }
    if (r < 0) {
        free(trials);
        return r;
    }
    *ret_trials = trials;
    *ret_n = n;
    return 0;
}
