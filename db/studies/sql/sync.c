/* Keeps a study in memory up to date with the database: reads nothing if there was no write since; else its
 * attributes, the trials that had not ended when they were last read, and the new ones. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/sql/sql_store.h"
#include "db/studies/study_build.h"

struct study_sync {
    uint64_t serial, rollbacks; /* of the store that it was read from */
    int64_t data_version;       /* changes with every commit of other connections */
    int64_t changes;            /* this connection's own */
    bool tentative;             /* a part of it was not committed yet */
    int settled;                /* all trials before have ended */
};

static bool same_store(const struct study_sql *store, const struct study_sync *sync)
{
    return sync->serial == store->serial && !(sync->tentative && sync->rollbacks != store->rollbacks);
}

/* Does the study still exist, under its name? An id may be reused after a deletion. */
static int check_name(struct study_sql *store, const struct study *study, char err[static STUDY_ERROR_MAX])
{
    char *name = NULL;
    int r = study_sql_text(store, STUDY_SQL_NAME, RECORD_PARAMS(study->id), &name, err);
    bool same = r == 0 && strcmp(name, study->name) == 0;
    free(name);
    if (r < 0 && r != -ENOENT)
        return r;
    if (!same)
        return study_store_fail(&store->base, -ENOENT, err, "study \"%.100s\": was deleted", study->name);
    return 0;
}

/* Trials that are read again: [first, last) in memory, of those with ids from..to. */
struct study_sql_range {
    int first, last;
    int64_t from, to;
};

static int renew(struct study_sql *store, struct study *study, const struct study_sql_range *range,
                 bool *changed, char err[static STUDY_ERROR_MAX])
{
    struct study_trial **fresh;
    int n;
    int r = study_sql_read_trials(store, study, range->from, range->to, &fresh, &n, err);
    if (r < 0)
        return r;
    r = study_splice(study, range->first, range->last, fresh, n, changed);
    if (r < 0) {
        study_store_fail(&store->base, r, err, "no memory for study \"%.100s\"", study->name);
        for (int i = 0; i < n; i++)
            study_trial_destroy(fresh[i]);
    }
    free(fresh);
    return r;
}

/* The end of the run of trials from `first` that had not ended, with shorter runs of finished ones in it. */
static int end_of_run(const struct study_sql *store, const struct study *study, int first)
{
    int end = first + 1;
    for (int i = end; i < study->n_trials && i - end <= store->driver->reread; i++)
        if (!trial_state_finished(study->trials[i]->state))
            end = i + 1;
    return end;
}

/* From trial `at` on: those that had not ended, a run of neighbours at once; the new ones, with the last run
 * where that is near. */
static struct study_sql_range next_range(const struct study_sql *store, const struct study *study, int at)
{
    int n = study->n_trials;
    while (at < n && trial_state_finished(study->trials[at]->state))
        at++;
    if (at == n)
        return (struct study_sql_range){n, n, n > 0 ? study->trials[n - 1]->id + 1 : INT64_MIN, INT64_MAX};
    int end = end_of_run(store, study, at);
    int64_t from = study->trials[at]->id;
    return n - end < store->driver->reread
               ? (struct study_sql_range){at, n, from, INT64_MAX}
               : (struct study_sql_range){at, end, from, study->trials[end - 1]->id};
}

/* What is read first: all trials of another store's study, else from the first one that had not ended. */
static struct study_sql_range first_range(const struct study_sql *store, struct study *study)
{
    struct study_sync *sync = study->sync;
    if (!same_store(store, sync)) {
        sync->settled = 0;
        return (struct study_sql_range){0, study->n_trials, INT64_MIN, INT64_MAX};
    }
    while (sync->settled < study->n_trials && trial_state_finished(study->trials[sync->settled]->state))
        sync->settled++;
    return next_range(store, study, sync->settled);
}

#define READ_TABLES \
    STUDY_SQL_READ_TRIALS, STUDY_SQL_READ_PARAMS, STUDY_SQL_READ_VALUES, STUDY_SQL_READ_REPORTS, \
        STUDY_SQL_READ_USER, STUDY_SQL_READ_SYSTEM

static void ahead(struct study_sql *store, const struct study *study, const struct study_sql_range *range)
{
    static const enum study_sql_statement tables[] = {READ_TABLES};
    study_sql_ahead(store, tables, sizeof tables / sizeof *tables,
                    RECORD_PARAMS(study->id, range->from, range->to));
}

/* All that a study of one run of changes needs; its lock, too, where that is wanted. */
static void ahead_of_all(struct study_sql *store, const struct study *study,
                         const struct study_sql_range *range, bool lock)
{
    static const enum study_sql_statement all[] = {STUDY_SQL_LOCK_STUDY, STUDY_SQL_VERSION, STUDY_SQL_NAME,
                                                   STUDY_SQL_SCHEMA,     STUDY_SQL_USER,    STUDY_SQL_SYSTEM,
                                                   READ_TABLES};
    study_sql_ahead(store, all + !lock, sizeof all / sizeof *all - !lock,
                    RECORD_PARAMS(study->id, range->from, range->to));
}

static int read_changes(struct study_sql *store, struct study *study, struct study_sql_range range,
                        bool *changed, char err[static STUDY_ERROR_MAX])
{
    int r = study_sql_read_attributes(store, study, changed, err);
    while (r == 0) {
        int before = study->n_trials;
        r = renew(store, study, &range, changed, err);
        if (r < 0 || range.to == INT64_MAX)
            return r;
        range = next_range(store, study, range.last + (study->n_trials - before));
        ahead(store, study, &range);
    }
    return r;
}

/* Within a transaction, so that all of it is consistent. `lock`: the study's lock is taken first. */
static int read_study(struct study_sql *store, struct study *study, bool lock,
                      char err[static STUDY_ERROR_MAX])
{
    const struct study_sql_range range = first_range(store, study);
    struct study_sync *sync = study->sync, now = {
                                               .serial = store->serial,
                                               .rollbacks = store->rollbacks,
                                               .changes = store->driver->changes(store),
                                               .tentative = store->base.within,
                                           };
    bool changed = false;
    ahead_of_all(store, study, &range, lock);
    int r = lock ? study_sql_lock_study(store, study->id, err) : 0;
    if (r == 0)
        r = store->driver->data_version(store, &now.data_version, err);
    if (r == 0)
        r = check_name(store, study, err);
    if (r == 0)
        r = store->driver->same_schema(store, now.data_version, err);
    if (r == 0)
        r = read_changes(store, study, range, &changed, err);
    study->version += changed;
    if (r < 0) {
        sync->serial = 0; /* what was read is not consistent */
        return r;
    }
    /* A commit makes the tentative part valid: without a rollback in between it was committed. */
    now.settled = sync->settled;
    *sync = now;
    return 0;
}

static int sync_changes(struct study_sql *sql, struct study *study, char err[static STUDY_ERROR_MAX])
{
    int64_t version;
    if (same_store(sql, study->sync) && study->sync->changes == sql->driver->changes(sql)) {
        int r = sql->driver->data_version(sql, &version, err);
        if (r < 0 || version == study->sync->data_version)
            return r;
    }
    if (sql->driver->within(sql))
        return read_study(sql, study, false, err);
    int r = sql->driver->begin_read(sql, err);
    if (r < 0)
        return r;
    r = read_study(sql, study, false, err);
    char ignored[STUDY_ERROR_MAX];
    int end = sql->driver->end_read(sql, r < 0 ? ignored : err);
    return r < 0 ? r : end;
}

int study_sql_sync(struct study_store *store, struct study *study, char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    if (!study->sync && !(study->sync = calloc(1, sizeof *study->sync)))
        return study_store_fail(store, -ENOMEM, err, "no memory for study \"%.100s\"", study->name);
    /* What is read stays as it is until the commit, as with SQLite's lock. */
    bool lock = store->within && sql->driver->locks_rows && sql->held.study != study->id;
    return lock ? read_study(sql, study, true, err) : sync_changes(sql, study, err);
}

/* The name; for free(). */
static int read_name(struct study_sql *store, int64_t id, char **ret, char err[static STUDY_ERROR_MAX])
{
    int r = study_sql_text(store, STUDY_SQL_NAME, RECORD_PARAMS(id), ret, err);
    return r == -ENOENT ? study_store_fail(&store->base, r, err, "study id %lld: is not there", (long long)id)
                        : r;
}

int study_sql_peek(struct study_store *store, int64_t id, struct study **ret,
                   char err[static STUDY_ERROR_MAX])
{
    bool unused = false;
    enum study_direction directions[STUDY_OBJECTIVES_MAX];
    char *name = NULL;
    int n = 0;
    int r = read_name(study_sql_of(store), id, &name, err);
    if (r < 0)
        return r;
    r = study_sql_study_directions(store, id, directions, &n, err);
    if (r == -ENOENT)
        study_store_fail(store, r = -EBADMSG, err,
                         "study \"%.100s\": has no direction: Optuna gives each one", name);
    struct study *study = r == 0 ? study_create(id, name, directions, n) : NULL;
    free(name);
    if (r == 0 && !study)
        r = study_store_fail(store, -ENOMEM, err, "no memory");
    if (r == 0)
        r = study_sql_read_attributes(study_sql_of(store), study, &unused, err);
    if (r < 0) {
        study_destroy(study);
        return r;
    }
    *ret = study;
    return 0;
}
