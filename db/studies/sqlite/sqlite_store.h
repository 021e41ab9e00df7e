/* Studies in a SQLite file. Rollback journal and what else Optuna leaves as it is: no pragma is set, nothing
 * of the schema is ours. Private to db/studies/sqlite/. */
#ifndef DB_STUDIES_SQLITE_STORE_H
#define DB_STUDIES_SQLITE_STORE_H

#include <sqlite3.h>

#include "db/studies/store_ops.h"

enum study_sql {
    STUDY_SQL_BEGIN_READ,
    STUDY_SQL_BEGIN_WRITE,
    STUDY_SQL_COMMIT,
    STUDY_SQL_ROLLBACK,
    STUDY_SQL_DATA_VERSION,
    STUDY_SQL_SCHEMA,

    STUDY_SQL_FIND,
    STUDY_SQL_NAME,
    STUDY_SQL_INSERT,
    STUDY_SQL_DIRECTIONS,
    STUDY_SQL_DIRECTION_INSERT,
    STUDY_SQL_LIST,
    STUDY_SQL_LIST_DIRECTIONS,
    STUDY_SQL_LIST_TRIALS,
    STUDY_SQL_USER,
    STUDY_SQL_SYSTEM,
    STUDY_SQL_USER_PUT,
    STUDY_SQL_SYSTEM_PUT,
    STUDY_SQL_USER_DROP,
    STUDY_SQL_SYSTEM_DROP,

    STUDY_SQL_TRIAL,
    STUDY_SQL_TRIAL_WAITING,
    STUDY_SQL_TRIAL_TAKE,
    STUDY_SQL_TRIAL_COUNT,
    STUDY_SQL_TRIAL_INSERT,
    STUDY_SQL_TRIAL_FINISH,
    STUDY_SQL_COPY_PARAMS,
    STUDY_SQL_COPY_USER,
    STUDY_SQL_COPY_SYSTEM,
    STUDY_SQL_PARAM_KNOWN,
    STUDY_SQL_PARAM_IS,
    STUDY_SQL_PARAM,
    STUDY_SQL_PARAM_INSERT,
    STUDY_SQL_VALUE_PUT,
    STUDY_SQL_REPORT_PUT,
    STUDY_SQL_REPORT_LAST,
    STUDY_SQL_TRIAL_SYSTEM_GET,
    STUDY_SQL_TRIAL_USER_PUT,
    STUDY_SQL_TRIAL_SYSTEM_PUT,
    STUDY_SQL_TRIAL_USER_DROP,
    STUDY_SQL_TRIAL_SYSTEM_DROP,
    STUDY_SQL_HEARTBEAT,
    STUDY_SQL_STALE,

    /* Of a study's trials with ids from ?2 to ?3, by id: what study_store_sync() reads. */
    STUDY_SQL_READ_TRIALS,
    STUDY_SQL_READ_PARAMS,
    STUDY_SQL_READ_VALUES,
    STUDY_SQL_READ_REPORTS,
    STUDY_SQL_READ_USER,
    STUDY_SQL_READ_SYSTEM,
    STUDY_SQL_STATEMENTS
};
extern const char *const study_sql_texts[STUDY_SQL_STATEMENTS];

struct study_sqlite {
    struct study_store base;
    sqlite3 *db;
    sqlite3_stmt *statements[STUDY_SQL_STATEMENTS];
    int busy_ms;
    double busy_since_s, ended_s;
    double usual_s; /* how long begin() waits, a running mean */
    int polite;     /* transactions that let others come first */
    bool committing;
    uint64_t serial;    /* of this process's stores */
    uint64_t rollbacks; /* how many there were */
    int64_t schema_at;  /* the data_version at which the schema was ours */
    /* Of `study` no trial up to `trial` waits, and so many there are: what was seen is not looked for again.
     */
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
int64_t study_sqlite_time(const char *text);                             /* µs; STUDY_NO_TIME: it is none */

/* -errno of a result, and its sentence from what SQLite says. */
int study_sqlite_fail(struct study_sqlite *store, int rc, char err[static STUDY_ERROR_MAX]);
/* Runs a bound statement to its first row, if it has one: SQLITE_ROW, SQLITE_DONE, or -errno after its reset.
 * study_sqlite_run() resets it always: 0 or -errno. */
int study_sqlite_step(struct study_sqlite *store, sqlite3_stmt *stmt, char err[static STUDY_ERROR_MAX]);
int study_sqlite_run(struct study_sqlite *store, sqlite3_stmt *stmt, char err[static STUDY_ERROR_MAX]);

/* Of a value and its type, FINITE, INF_POS, INF_NEG or NAN, in the row's columns at and at + 1; and the other
 * way, bound from parameter at on. */
double study_sqlite_double(sqlite3_stmt *stmt, int at);
void study_sqlite_bind_double(sqlite3_stmt *stmt, int at, double value);
bool study_sqlite_state(const char *name, enum trial_state *ret);

/* db/studies/sqlite/schema.c: 0, or what study_store_open() says of it. Makes it where there is none. */
int study_sqlite_schema(struct study_sqlite *store, char err[static STUDY_ERROR_MAX]);

/* Is it still ours, though others have written? Another program may upgrade a file that is open. */
int study_sqlite_same_schema(struct study_sqlite *store, int64_t data_version,
                             char err[static STUDY_ERROR_MAX]);

/* The functions of struct study_store_ops, by file. */
int study_sqlite_study_find(struct study_store *store, const char *name, int64_t *ret_id,
                            char err[static STUDY_ERROR_MAX]);
int study_sqlite_study_insert(struct study_store *store, const char *name,
                              const enum study_direction *directions, int n, int64_t *ret_id,
                              char err[static STUDY_ERROR_MAX]);
int study_sqlite_study_directions(struct study_store *store, int64_t study,
                                  enum study_direction ret[static STUDY_OBJECTIVES_MAX], int *ret_n,
                                  char err[static STUDY_ERROR_MAX]);
int study_sqlite_study_attribute(struct study_store *store, int64_t study, bool system, const char *key,
                                 const char *json, char err[static STUDY_ERROR_MAX]);
int study_sqlite_list(struct study_store *store, struct study_summary **ret, size_t *ret_n,
                      char err[static STUDY_ERROR_MAX]);
/* sync.c */
int study_sqlite_peek(struct study_store *store, int64_t study, struct study **ret,
                      char err[static STUDY_ERROR_MAX]);
int study_sqlite_sync(struct study_store *store, struct study *study, char err[static STUDY_ERROR_MAX]);
/* rows.c: trials of a study with ids from..to, by id, into ret [n]; for free(), each for
 * study_trial_destroy(). */
int study_sqlite_read_trials(struct study_sqlite *store, struct study *study, int64_t from, int64_t to,
                             struct study_trial ***ret, int *ret_n, char err[static STUDY_ERROR_MAX]);
int study_sqlite_read_attributes(struct study_sqlite *store, struct study *study, bool *ret_changed,
                                 char err[static STUDY_ERROR_MAX]);
/* trials.c */
int study_sqlite_trial_find(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                            char err[static STUDY_ERROR_MAX]);
int study_sqlite_trial_take(struct study_store *store, int64_t study, int64_t *ret_trial, int *ret_number,
                            char err[static STUDY_ERROR_MAX]);
int study_sqlite_trial_insert(struct study_store *store, int64_t study, enum trial_state state,
                              int64_t *ret_trial, int *ret_number, char err[static STUDY_ERROR_MAX]);
int study_sqlite_trial_finish(struct study_store *store, int64_t trial, enum trial_state state,
                              const double *values, int n, char err[static STUDY_ERROR_MAX]);
int study_sqlite_trial_copy(struct study_store *store, int64_t from, int64_t to,
                            char err[static STUDY_ERROR_MAX]);
int study_sqlite_heartbeat(struct study_store *store, int64_t trial, char err[static STUDY_ERROR_MAX]);
int study_sqlite_stale(struct study_store *store, int64_t study, double grace_s, int64_t **ret_trials,
                       size_t *ret_n, char err[static STUDY_ERROR_MAX]);
/* values.c */
int study_sqlite_param_known(struct study_store *store, int64_t study, const char *name, char **ret_text,
                             char err[static STUDY_ERROR_MAX]);
int study_sqlite_param_is(struct study_store *store, int64_t study, int64_t trial, const char *name,
                          const char *text, char err[static STUDY_ERROR_MAX]);
int study_sqlite_param_insert(struct study_store *store, int64_t trial, const char *name, double value,
                              const char *text, bool *ret_same, char err[static STUDY_ERROR_MAX]);
int study_sqlite_attribute_get(struct study_store *store, int64_t trial, const char *key, char **ret_json,
                               char err[static STUDY_ERROR_MAX]);
int study_sqlite_attribute(struct study_store *store, int64_t trial, bool system, const char *key,
                           const char *json, char err[static STUDY_ERROR_MAX]);
int study_sqlite_report(struct study_store *store, int64_t trial, int64_t step, double value,
                        char err[static STUDY_ERROR_MAX]);
int study_sqlite_report_last(struct study_store *store, int64_t trial, double *ret_value,
                             char err[static STUDY_ERROR_MAX]);

#endif
