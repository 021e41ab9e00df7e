/* Creates, takes, finishes and copies trials; heartbeats. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/sql/sql_store.h"

enum { STATE_MAX = 16 }; /* bytes of a state's name; a longer one is invalid */

static int find(struct study_sql *sql, int64_t trial, struct study_trial_row *ret,
                char err[static STUDY_ERROR_MAX])
{
    struct study_trial_row row = {0};
    char state[STATE_MAX];
    int r =
        study_sql_first(sql, STUDY_SQL_TRIAL_LOCK, RECORD_PARAMS(trial),
                        RECORD_INTO(&row.study, &row.number, record_into_chars(state, sizeof state)), err);
    if (r < 0)
        return r;
    if (!study_sql_state(state, &row.state))
        return study_store_fail(&sql->base, -EBADMSG, err, "trial %d: has a state that Optuna does not have",
                                row.number);
    *ret = row;
    return 0;
}

/* A row that this transaction has locked, or inserted. */
static void hold(struct study_sql *sql, int64_t trial, const struct study_trial_row *row)
{
    if (!sql->driver->locks_rows)
        return;
    sql->held.trial = trial;
    sql->held.fresh = false;
    sql->held.row = *row;
}

/* Its state stays until the transaction ends. */
int study_sql_trial_find(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                         char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    if (sql->held.trial == trial && trial > 0) {
        *ret = sql->held.row;
        return 0;
    }
    int r = find(sql, trial, ret, err);
    if (r == 0)
        hold(sql, trial, ret);
    return r;
}

/* What counting and taking a trial reads. */
static void ahead(struct study_sql *sql, int64_t study, bool all)
{
    static const enum study_sql_statement which[] = {STUDY_SQL_LOCK_STUDY, STUDY_SQL_DIRECTIONS,
                                                     STUDY_SQL_TRIAL_OF, STUDY_SQL_TRIAL_COUNT,
                                                     STUDY_SQL_TRIAL_WAITING};
    int n = sizeof which / sizeof *which;
    int first = all ? sql->held.study == study : n - 2;
    study_sql_ahead(sql, which + first, n - first, RECORD_PARAMS(study, sql->mark.trial));
}

static void drop_mark(struct study_sql *sql, int64_t study)
{
    sql->mark.study = study;
    sql->mark.trial = 0;
    sql->mark.count = 0;
}

/* Drops the mark where it belongs to a deleted study whose id was reused. */
static int check_mark(struct study_sql *sql, int64_t study, char err[static STUDY_ERROR_MAX])
{
    int number;
    if (sql->mark.study != study)
        drop_mark(sql, study);
    if (sql->mark.count == 0)
        return 0;
    int r = study_sql_first(sql, STUDY_SQL_TRIAL_OF, RECORD_PARAMS(study, sql->mark.trial),
                            RECORD_INTO(&number), err);
    if (r == 0 && number == sql->mark.count - 1)
        return 0;
    drop_mark(sql, study);
    if (r == 0 || r == -ENOENT)
        ahead(sql, study, false);
    return r == -ENOENT ? 0 : r;
}

/* The study's lock, which is needed to count its trials; with it comes what is read next. */
int study_sql_trial_ahead(struct study_store *store, int64_t study, char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    if (!sql->driver->locks_rows)
        return 0;
    if (sql->mark.study != study)
        drop_mark(sql, study);
    ahead(sql, study, true);
    return study_sql_lock_study(sql, study, err);
}

/* How many trials the study has, and its newest. */
static int count_trials(struct study_sql *sql, int64_t study, int *ret_count, int64_t *ret_newest,
                        char err[static STUDY_ERROR_MAX])
{
    int more;
    int64_t newest;
    bool held = sql->held.study == study && study > 0;
    if (held && sql->held.counted) {
        *ret_count = sql->held.count;
        *ret_newest = sql->held.newest;
        return 0;
    }
    int r = check_mark(sql, study, err);
    if (r == 0)
        r = study_sql_first(sql, STUDY_SQL_TRIAL_COUNT, RECORD_PARAMS(study, sql->mark.trial),
                            RECORD_INTO(&more, &newest), err);
    if (r < 0)
        return r;
    *ret_count = sql->mark.count + more;
    *ret_newest = more > 0 ? newest : sql->mark.trial;
    sql->held.counted = held;
    sql->held.count = *ret_count;
    sql->held.newest = *ret_newest;
    return 0;
}

int study_sql_trial_take(struct study_store *store, int64_t study, int64_t *ret_trial, int *ret_number,
                         char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    int count, number;
    int64_t newest, trial;
    char now[STUDY_SQL_TIME];
    int r = count_trials(sql, study, &count, &newest, err);
    if (r < 0)
        return r;
    r = study_sql_first(sql, STUDY_SQL_TRIAL_WAITING, RECORD_PARAMS(study, sql->mark.trial),
                        RECORD_INTO(&trial, &number), err);
    if (r == -ENOENT) {
        sql->mark.trial = newest;
        sql->mark.count = count;
    }
    if (r == 0 && sql->driver->locks_rows) /* of those that no other transaction is taking */
        r = study_sql_first(sql, STUDY_SQL_TRIAL_WAITING_LOCK, RECORD_PARAMS(study, sql->mark.trial),
                            RECORD_INTO(&trial, &number), err);
    if (r < 0)
        return r;
    study_sql_now(sql, 0, now);
    r = study_sql_run(sql, STUDY_SQL_TRIAL_TAKE, RECORD_PARAMS(trial, now), err);
    if (r < 0)
        return r;
    if (sql->driver->changed(sql) != 1) /* cannot fail: the row, or the file, is locked */
        return study_store_fail(store, -EBADMSG, err, "trial %d: waits no longer", number);
    hold(sql, trial, &(struct study_trial_row){study, number, TRIAL_RUNNING});
    *ret_trial = trial;
    *ret_number = number;
    return 0;
}

int study_sql_trial_insert(struct study_store *store, int64_t study, enum trial_state state,
                           int64_t *ret_trial, int *ret_number, char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    char now[STUDY_SQL_TIME];
    int number = 0;
    int64_t newest;
    int r = study_sql_lock_study(sql, study, err);
    if (r == 0)
        r = count_trials(sql, study, &number, &newest, err);
    if (r < 0)
        return r;
    study_sql_now(sql, 0, now);
    r = study_sql_first(
        sql, STUDY_SQL_TRIAL_INSERT,
        RECORD_PARAMS(number, study, study_trial_state_name(state), state == TRIAL_RUNNING ? now : NULL),
        RECORD_INTO(ret_trial), err);
    sql->held.counted = false;
    if (r < 0)
        return r;
    hold(sql, *ret_trial, &(struct study_trial_row){study, number, state});
    sql->held.fresh = sql->driver->locks_rows;
    *ret_number = number;
    return 0;
}

int study_sql_trial_finish(struct study_store *store, int64_t trial, enum trial_state state,
                           const double *values, int n, char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    char now[STUDY_SQL_TIME];
    study_sql_now(sql, 0, now);
    const struct record_param *params = RECORD_PARAMS(trial, study_trial_state_name(state), now);
    bool runs = sql->held.trial == trial && sql->held.row.state == TRIAL_RUNNING; /* and is locked */
    sql->held.trial = 0;
    int r = runs ? study_sql_later(sql, STUDY_SQL_TRIAL_FINISH, params, err)
                 : study_sql_run(sql, STUDY_SQL_TRIAL_FINISH, params, err);
    if (r == 0 && !runs && sql->driver->changed(sql) != 1)
        return -ENOENT;
    for (int i = 0; r == 0 && values && i < n; i++)
        r = study_sql_later(
            sql, STUDY_SQL_VALUE_PUT,
            RECORD_PARAMS(trial, i, study_sql_value(values[i]), study_sql_value_type(values[i])), err);
    return r;
}

int study_sql_trial_copy(struct study_store *store, int64_t from, int64_t to,
                         char err[static STUDY_ERROR_MAX])
{
    static const enum study_sql_statement copies[] = {STUDY_SQL_COPY_PARAMS, STUDY_SQL_COPY_USER,
                                                      STUDY_SQL_COPY_SYSTEM};
    struct study_sql *sql = study_sql_of(store);
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof copies / sizeof *copies; i++)
        r = study_sql_run(sql, copies[i], RECORD_PARAMS(from, to), err);
    return r;
}

int study_sql_heartbeat(struct study_store *store, int64_t trial, char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    char now[STUDY_SQL_TIME];
    study_sql_now(sql, 0, now);
    return study_sql_put(sql, sql->held.fresh && sql->held.trial == trial, STUDY_SQL_HEARTBEAT_UPDATE,
                         STUDY_SQL_HEARTBEAT_PUT, RECORD_PARAMS(trial, now), err);
}

int study_sql_stale(struct study_store *store, int64_t study, double grace_s, int64_t **ret_trials,
                    size_t *ret_n, char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    char before[STUDY_SQL_TIME];
    int64_t *trials = NULL, trial;
    size_t n = 0;
    int r;
    if (sql->driver->judges && !sql->driver->judges(sql, grace_s)) {
        *ret_trials = NULL;
        *ret_n = 0;
        return 0;
    }
    study_sql_now(sql, grace_s, before);
    struct study_rows rows = study_sql_query(
        sql, sql->driver->within(sql) ? STUDY_SQL_STALE_LOCK : STUDY_SQL_STALE, RECORD_PARAMS(study, before));
    while ((r = study_sql_next(sql, &rows, RECORD_INTO(&trial), err)) > 0) {
        int64_t *more = realloc(trials, (n + 1) * sizeof *more);
        if (!more) {
            sql->driver->end(&rows);
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
