/* Studies in a database of SQL: what SQLite and PostgreSQL have in common. A driver runs the statements of
 * statements.h; studies.c, trials.c, values.c, rows.c and sync.c are Optuna's tables for both. Private to
 * db/studies/. */
#ifndef DB_STUDIES_SQL_STORE_H
#define DB_STUDIES_SQL_STORE_H

#include "db/studies/sql/statements.h"
#include "db/studies/store_ops.h"
#include "record/sqlite.h"

#define STUDY_SQL_ID_(name, text) STUDY_SQL_##name,
enum study_sql_statement { STUDY_STATEMENTS(STUDY_SQL_ID_, , , ) STUDY_SQL_STATEMENTS };

enum { STUDY_SQL_TIME = sizeof "2026-11-22 14:00:00.000000" };

struct study_sql;

/* The rows of a statement that runs. Of one statement at most one is open at a time. */
struct study_rows {
    enum study_sql_statement which;
    void *of; /* the driver's */
    int at;   /* likewise */
};

/* What is -errno has a sentence in `err`. */
struct study_sql_driver {
    /* Do transactions of several writers run at once? Then rows are locked, the study's before its trials are
     * counted. SQLite's writers have a lock of the whole file. */
    bool locks_rows;
    /* How many finished trials to read again rather than to ask once more for those behind them. */
    int reread;
    /* Starts a statement with its parameters, which may be NULL; an error is next()'s. */
    struct study_rows (*query)(struct study_sql *store, enum study_sql_statement which,
                               const struct record_param *params);
    /* Sends the first of `params` that each of `which` [n] takes to all of them at once; then they are
     * queried one after the other, and nothing else between them. NULL: nothing would be gained. */
    void (*ahead)(struct study_sql *store, const enum study_sql_statement *which, int n,
                  const struct record_param *params);
    /* Sends it with the next one that is queried, or the transaction's end: an error is that one's. NULL: it
     * is run now. */
    int (*later)(struct study_sql *store, enum study_sql_statement which, const struct record_param *params,
                 char err[static STUDY_ERROR_MAX]);
    /* struct study_store_ops's params_insert(); NULL: nothing would be gained. */
    int (*params_insert)(struct study_sql *store, int64_t study, int64_t trial,
                         struct study_param_row *params, int n, char err[static STUDY_ERROR_MAX]);
    /* The next row: 1; at the end, where nothing is left to be ended, 0; -errno likewise. */
    int (*next)(struct study_sql *store, struct study_rows *rows, const struct record_into *into,
                char err[static STUDY_ERROR_MAX]);
    void (*take)(const struct study_rows *rows, const struct record_into *into); /* this row again */
    void (*end)(struct study_rows *rows);                                        /* before its last row */
    int64_t (*changed)(const struct study_sql *store); /* how many rows the last statement changed */
    int64_t (*changes)(const struct study_sql *store); /* this store's in all, of any unit: grows with each */
    bool (*within)(const struct study_sql *store);     /* is a transaction open? */
    int (*begin_read)(struct study_sql *store, char err[static STUDY_ERROR_MAX]); /* of one moment */
    /* Ends it; of a transaction that failed too. */
    int (*end_read)(struct study_sql *store, char err[static STUDY_ERROR_MAX]);
    /* A number that differs after any commit of others. */
    int (*data_version)(struct study_sql *store, int64_t *ret, char err[static STUDY_ERROR_MAX]);
    /* Is the schema still ours after others' writes? Another program may upgrade an open database. */
    int (*same_schema)(struct study_sql *store, int64_t data_version, char err[static STUDY_ERROR_MAX]);
    int64_t (*now_us)(const struct study_sql *store); /* by the clock that all of its workers have */
    /* Could every worker that lives have given a sign of life within the last `grace_s`? NULL: always. */
    bool (*judges)(const struct study_sql *store, double grace_s);
};

/* What a transaction knows because it has the locks. */
struct study_sql_held {
    int64_t study; /* its lock is held; 0: of no study */
    bool counted;  /* how many trials that has, and its newest */
    int count;
    int64_t newest;
    int64_t trial; /* its row is locked; 0: of no trial */
    bool fresh;    /* it was inserted by this transaction */
    struct study_trial_row row;
};

struct study_sql {
    struct study_store base;
    const struct study_sql_driver *driver;
    uint64_t serial;    /* of this process's stores, from 1 */
    uint64_t rollbacks; /* how many there were */
    /* `study` has no waiting trial up to `trial`, and so many trials: older ones are not searched again. */
    struct {
        int64_t study, trial;
        int count;
    } mark;
    struct study_sql_held held; /* where rows are locked */
};

static inline struct study_sql *study_sql_of(struct study_store *store)
{
    return (struct study_sql *)store;
}

uint64_t study_sql_serial(void);
/* When a transaction begins or ends. */
void study_sql_release(struct study_sql *store);
/* After a rollback: what was seen in it is forgotten. */
void study_sql_rolled_back(struct study_sql *store);

void study_sql_now(const struct study_sql *store, double ago_s,
                   char ret[static STUDY_SQL_TIME]); /* UTC, as Optuna stores it */
int64_t study_sql_time(const char *text);            /* µs; STUDY_NO_TIME: invalid */

/* The driver's functions. */
struct study_rows study_sql_query(struct study_sql *store, enum study_sql_statement which,
                                  const struct record_param *params);
int study_sql_next(struct study_sql *store, struct study_rows *rows, const struct record_into *into,
                   char err[static STUDY_ERROR_MAX]);
/* Runs one whose rows do not matter: 0 or -errno. */
int study_sql_run(struct study_sql *store, enum study_sql_statement which, const struct record_param *params,
                  char err[static STUDY_ERROR_MAX]);
/* That, if the driver can, together with the next one. */
int study_sql_later(struct study_sql *store, enum study_sql_statement which,
                    const struct record_param *params, char err[static STUDY_ERROR_MAX]);
void study_sql_ahead(struct study_sql *store, const enum study_sql_statement *which, int n,
                     const struct record_param *params);
/* One row, whose texts need record_into_chars(); -ENOENT: there is none. */
int study_sql_first(struct study_sql *store, enum study_sql_statement which,
                    const struct record_param *params, const struct record_into *into,
                    char err[static STUDY_ERROR_MAX]);
/* The first column of the first row, for free(); -ENOENT: there is no row, or it is NULL. */
int study_sql_text(struct study_sql *store, enum study_sql_statement which, const struct record_param *params,
                   char **ret, char err[static STUDY_ERROR_MAX]);
/* Changes a row, or inserts it where it is missing: an INSERT with ON CONFLICT alone would use up a number of
 * its sequence each time, of which PostgreSQL has 2^31. `fresh`: it is likely to be missing. */
int study_sql_put(struct study_sql *store, bool fresh, enum study_sql_statement update,
                  enum study_sql_statement insert, const struct record_param *params,
                  char err[static STUDY_ERROR_MAX]);
/* Where rows are locked: no other process, ours or Optuna's, creates a trial of the study until the
 * transaction ends. */
int study_sql_lock_study(struct study_sql *store, int64_t study, char err[static STUDY_ERROR_MAX]);

/* A value as it is stored, beside its type, FINITE, INF_POS, INF_NEG or NAN; and the value of both. */
struct record_param study_sql_value(double value);
const char *study_sql_value_type(double value);
double study_sql_double(double value, const char *type);
bool study_sql_state(const char *name, enum trial_state *ret);

/* -EBUSY: the lock was waited for so long. */
int study_sql_fail_busy(const struct study_store *store, int busy_ms, char err[static STUDY_ERROR_MAX]);

/* Is that version, with its revision, ours? 0 or -EMEDIUMTYPE with both in the sentence. */
int study_sql_check_version(const struct study_store *store, int64_t version, const char *revision,
                            const char *library, char err[static STUDY_ERROR_MAX]);

/* The functions of struct study_store_ops: studies.c, sync.c, trials.c, values.c. */
#define STUDY_SQL_OP_(name, ...) \
    int study_sql_##name(struct study_store *store, __VA_ARGS__, char err[static STUDY_ERROR_MAX]);
STUDY_STORE_OPS(STUDY_SQL_OP_)
#undef STUDY_SQL_OP_
#define STUDY_SQL_OP(name, ...) .name = study_sql_##name,

/* rows.c: trials of a study with ids from..to, by id, into ret [n]; for free(), each for
 * study_trial_destroy(). */
int study_sql_read_trials(struct study_sql *store, struct study *study, int64_t from, int64_t to,
                          struct study_trial ***ret, int *ret_n, char err[static STUDY_ERROR_MAX]);
int study_sql_read_attributes(struct study_sql *store, struct study *study, bool *ret_changed,
                              char err[static STUDY_ERROR_MAX]);

#endif
