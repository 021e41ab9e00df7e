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

static void ahead(struct study_sql *store, const enum study_sql_statement *which, int n,
                  const struct record_param *params)
{
    if (store->driver->ahead)
        store->driver->ahead(store, which, n, params);
}

/* Reads trials with ids from..to again, which are [first, last) in memory. */
static int renew(struct study_sql *store, struct study *study, int first, int last, int64_t from, int64_t to,
                 bool *changed, char err[static STUDY_ERROR_MAX])
{
    static const enum study_sql_statement tables[] = {STUDY_SQL_READ_TRIALS, STUDY_SQL_READ_PARAMS,
                                                      STUDY_SQL_READ_VALUES, STUDY_SQL_READ_REPORTS,
                                                      STUDY_SQL_READ_USER,   STUDY_SQL_READ_SYSTEM};
    struct study_trial **fresh;
    int n;
    ahead(store, tables, sizeof tables / sizeof *tables, RECORD_PARAMS(study->id, from, to));
    int r = study_sql_read_trials(store, study, from, to, &fresh, &n, err);
    if (r < 0)
        return r;
    r = study_splice(study, first, last, fresh, n, changed);
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

/* Those that had not ended, a run of neighbours at once; then those after them, with the last run where that
 * is near. */
static int read_changes(struct study_sql *store, struct study *study, bool *changed,
                        char err[static STUDY_ERROR_MAX])
{
    struct study_sync *sync = study->sync;
    int r = study_sql_read_attributes(store, study, changed, err);
    while (sync->settled < study->n_trials && trial_state_finished(study->trials[sync->settled]->state))
        sync->settled++;
    for (int i = sync->settled; r == 0 && i < study->n_trials; i++) {
        if (trial_state_finished(study->trials[i]->state))
            continue;
        int end = end_of_run(store, study, i), before = study->n_trials;
        if (before - end < store->driver->reread)
            return renew(store, study, i, before, study->trials[i]->id, INT64_MAX, changed, err);
        r = renew(store, study, i, end, study->trials[i]->id, study->trials[end - 1]->id, changed, err);
        i = end - 1 + (study->n_trials - before);
    }
    int n = study->n_trials;
    int64_t next = n > 0 ? study->trials[n - 1]->id + 1 : INT64_MIN;
    return r < 0 ? r : renew(store, study, n, n, next, INT64_MAX, changed, err);
}

static int read_all(struct study_sql *store, struct study *study, bool *changed,
                    char err[static STUDY_ERROR_MAX])
{
    study->sync->settled = 0;
    int r = study_sql_read_attributes(store, study, changed, err);
    return r < 0 ? r : renew(store, study, 0, study->n_trials, INT64_MIN, INT64_MAX, changed, err);
}

/* Within a transaction, so that all of it is consistent. */
static int read_study(struct study_sql *store, struct study *study, char err[static STUDY_ERROR_MAX])
{
    struct study_sync *sync = study->sync, now = {
                                               .serial = store->serial,
                                               .rollbacks = store->rollbacks,
                                               .changes = store->driver->changes(store),
                                               .tentative = store->base.within,
                                           };
    static const enum study_sql_statement first[] = {STUDY_SQL_NAME, STUDY_SQL_SCHEMA, STUDY_SQL_USER,
                                                     STUDY_SQL_SYSTEM};
    bool changed = false;
    int r = store->driver->data_version(store, &now.data_version, err);
    if (r == 0)
        ahead(store, first, sizeof first / sizeof *first, RECORD_PARAMS(study->id));
    if (r == 0)
        r = check_name(store, study, err);
    if (r == 0)
        r = store->driver->same_schema(store, now.data_version, err);
    if (r == 0)
        r = same_store(store, sync) ? read_changes(store, study, &changed, err)
                                    : read_all(store, study, &changed, err);
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
        return read_study(sql, study, err);
    int r = sql->driver->begin_read(sql, err);
    if (r < 0)
        return r;
    r = read_study(sql, study, err);
    char ignored[STUDY_ERROR_MAX];
    int end = sql->driver->end_read(sql, r < 0 ? ignored : err);
    return r < 0 ? r : end;
}

int study_sql_sync(struct study_store *store, struct study *study, char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    int r = 0;
    if (!study->sync && !(study->sync = calloc(1, sizeof *study->sync)))
        return study_store_fail(store, -ENOMEM, err, "no memory for study \"%.100s\"", study->name);
    if (store->within) /* what is read stays as it is until the commit, as with SQLite's lock */
        r = study_sql_lock_study(sql, study->id, err);
    return r < 0 ? r : sync_changes(sql, study, err);
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
