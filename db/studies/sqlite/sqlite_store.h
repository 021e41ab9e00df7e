/* Studies in a SQLite file. The journal mode and all else are as Optuna leaves them: no pragma is set, and
 * the schema has nothing of ours. Private to db/studies/sqlite/. */
#ifndef DB_STUDIES_SQLITE_STORE_H
#define DB_STUDIES_SQLITE_STORE_H

#include <sqlite3.h>

#include "db/studies/sqlite/statements.h"
#include "db/studies/store_ops.h"
#include "record/sqlite.h"

#define STUDY_SQL_ID_(name, text) STUDY_SQL_##name,
enum study_sql { STUDY_STATEMENTS(STUDY_SQL_ID_) STUDY_SQL_STATEMENTS };

struct study_sqlite {
    struct study_store base;
    sqlite3 *db;
    sqlite3_stmt *statements[STUDY_SQL_STATEMENTS];
    int busy_ms;
    const atomic_bool *stop; /* study_store_stop(); NULL: it was not called */
    double busy_since_s, ended_s;
    double usual_s; /* how long begin() waits, a running mean */
    int polite;     /* transactions that let other processes go first */
    bool committing;
    uint64_t serial;    /* of this process's stores */
    uint64_t rollbacks; /* how many there were */
    int64_t schema_at;  /* the data_version at which the schema was checked */
    /* `study` has no waiting trial up to `trial`, and so many trials: older ones are not searched again. */
    struct {
        int64_t study, trial;
        int count;
    } mark;
};

static inline struct study_sqlite *study_sqlite_of(struct study_store *store)
{
    return (struct study_sqlite *)store;
}

enum { STUDY_SQLITE_TIME = sizeof "2026-11-22 14:00:00.000000" };
void study_sqlite_now(double ago_s, char ret[static STUDY_SQLITE_TIME]); /* UTC, as Optuna stores it */
int64_t study_sqlite_time(const char *text);                             /* µs; STUDY_NO_TIME: invalid */

/* -errno of a result code, and a sentence from SQLite's message. */
int study_sqlite_fail(struct study_sqlite *store, int rc, char err[static STUDY_ERROR_MAX]);
/* A statement with its parameters, which may be NULL. */
sqlite3_stmt *study_sqlite_query(struct study_sqlite *store, enum study_sql which,
                                 const struct record_param *params);
/* Its next row: 1; at the end it is reset: 0, or -errno. */
int study_sqlite_next(struct study_sqlite *store, sqlite3_stmt *stmt, const struct record_into *into,
                      char err[static STUDY_ERROR_MAX]);
/* Runs one that has no rows: 0 or -errno. */
int study_sqlite_run(struct study_sqlite *store, enum study_sql which, const struct record_param *params,
                     char err[static STUDY_ERROR_MAX]);
/* One row, whose texts need record_into_chars(); -ENOENT: there is none. */
int study_sqlite_first(struct study_sqlite *store, enum study_sql which, const struct record_param *params,
                       const struct record_into *into, char err[static STUDY_ERROR_MAX]);
/* The first column of the first row, for free(); -ENOENT: there is no row, or it is NULL. */
int study_sqlite_text(struct study_sqlite *store, enum study_sql which, const struct record_param *params,
                      char **ret, char err[static STUDY_ERROR_MAX]);

/* A value as it is stored, beside its type, FINITE, INF_POS, INF_NEG or NAN; and the value of both. */
struct record_param study_sqlite_value(double value);
const char *study_sqlite_value_type(double value);
double study_sqlite_double(double value, const char *type);
bool study_sqlite_state(const char *name, enum trial_state *ret);

/* db/studies/sqlite/schema.c: 0, or the errors of study_store_open(). Creates it where there is none. */
int study_sqlite_schema(struct study_sqlite *store, char err[static STUDY_ERROR_MAX]);

/* Is it still ours after others' writes? Another program may upgrade an open file. */
int study_sqlite_same_schema(struct study_sqlite *store, int64_t data_version,
                             char err[static STUDY_ERROR_MAX]);

/* The functions of struct study_store_ops: studies.c, sync.c, trials.c, values.c. */
#define STUDY_SQLITE_OP_(name, ...) \
    int study_sqlite_##name(struct study_store *store, __VA_ARGS__, char err[static STUDY_ERROR_MAX]);
STUDY_STORE_OPS(STUDY_SQLITE_OP_)
#undef STUDY_SQLITE_OP_

/* rows.c: trials of a study with ids from..to, by id, into ret [n]; for free(), each for
 * study_trial_destroy(). */
int study_sqlite_read_trials(struct study_sqlite *store, struct study *study, int64_t from, int64_t to,
                             struct study_trial ***ret, int *ret_n, char err[static STUDY_ERROR_MAX]);
int study_sqlite_read_attributes(struct study_sqlite *store, struct study *study, bool *ret_changed,
                                 char err[static STUDY_ERROR_MAX]);

#endif
