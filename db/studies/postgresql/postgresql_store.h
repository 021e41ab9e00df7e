/* Studies in PostgreSQL, by libpq. A store is one connection, which is made again after it was lost, but
 * never within a transaction: what the transaction did is gone, and its caller's call is repeated. Private to
 * db/studies/postgresql/. */
#ifndef DB_STUDIES_POSTGRESQL_STORE_H
#define DB_STUDIES_POSTGRESQL_STORE_H

#include <libpq-fe.h>

#include "db/studies/sql/sql_store.h"

/* What a connection is made with, in the form of PQconnectStartParams(). */
enum { STUDY_POSTGRESQL_PARAMS = 64 };
struct study_postgresql_params {
    const char *keys[STUDY_POSTGRESQL_PARAMS + 1], *values[STUDY_POSTGRESQL_PARAMS + 1];
    PQconninfoOption *options; /* which own most of the values */
    char *passfile;            /* which libpq reads instead of another; NULL: the URL's, or its own */
    int passfile_fd;           /* where that is a copy in memory; 0: none */
    int connect_s;
};

/* Statements that only PostgreSQL has. INSERT_PARAMS: parameters of trial ?1, arrays ?3 to ?6 of names,
 * values, distributions and trials; those of which that trial, of study ?2, has the same distribution, and
 * which ?1 lacks; a subquery a row, which is always two look-ups. END_OF_WRITE: where something was written:
 * by which transaction, so that its outcome can be asked for when the answer to COMMIT is lost; and others
 * are notified when it is committed. */
/* clang-format off */
#define STUDY_POSTGRESQL_OWN(X) \
    X(INSERT_PARAMS, \
      "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) " \
      "SELECT ?1, p.name, p.value, p.text FROM unnest(?3::text[], ?4::float8[], ?5::text[], ?6::int[]) " \
      "WITH ORDINALITY AS p (name, value, text, known, at) WHERE p.text = (SELECT c.distribution_json " \
      "FROM trial_params AS c JOIN trials AS t ON t.trial_id = c.trial_id WHERE c.trial_id = p.known AND " \
      "c.param_name = p.name AND t.study_id = ?2) ORDER BY p.at " \
      "ON CONFLICT (trial_id, param_name) DO NOTHING RETURNING param_name") \
    X(END_OF_WRITE, "SELECT x, pg_notify('" STUDY_STORE_CHANNEL "', '') " \
                    "FROM txid_current_if_assigned() AS x WHERE x IS NOT NULL")
/* clang-format on */
#define STUDY_POSTGRESQL_ID_(name, text) STUDY_POSTGRESQL_##name,
enum {
    STUDY_POSTGRESQL_OWN_FIRST_ = STUDY_SQL_STATEMENTS - 1,
    STUDY_POSTGRESQL_OWN(STUDY_POSTGRESQL_ID_) STUDY_POSTGRESQL_STATEMENTS
};

/* Parameters as libpq takes them. */
enum { STUDY_POSTGRESQL_TEXTS = 9 /* ?1 to ?9 */, STUDY_POSTGRESQL_NUMBER = 32 };
struct study_postgresql_texts {
    char numbers[STUDY_POSTGRESQL_TEXTS][STUDY_POSTGRESQL_NUMBER];
    const char *values[STUDY_POSTGRESQL_TEXTS]; /* texts are borrowed */
    int n;
};

enum { STUDY_POSTGRESQL_LATER = 32 };
struct study_postgresql_later {
    int which, n;
    char *values[STUDY_POSTGRESQL_TEXTS];
};

struct study_postgresql {
    struct study_sql sql;
    struct study_postgresql_params params;
    PGconn *conn;
    bool prepared[STUDY_POSTGRESQL_STATEMENTS];
    bool readied; /* study_postgresql_prepare() was called */
    /* Of statements that were sent before they are queried; NULL. */
    PGresult *ahead[STUDY_POSTGRESQL_STATEMENTS];
    int n_ahead;
    struct study_postgresql_later later[STUDY_POSTGRESQL_LATER]; /* which the next statement is sent with */
    int n_later;
    bool listens; /* study_store_await() was called */
    int64_t changed, changes;
    char *wrote[2];    /* the keys of the row that the transaction wrote last; NULL: no row is known */
    int wrote_row;     /* of which table: outcome.c's */
    int64_t clock_us;  /* the server's clock less this machine's */
    int64_t judges_us; /* by the server's clock: since when all workers could reach it (connect.c) */
    int busy_ms;
    double lost_s; /* when the connection that is waited for was lost, or first refused; 0: it is there */
    bool reached;  /* there was a connection once */
    bool full;     /* it was said that too many are in use, while it is waited for */
    bool waited;   /* the one that is made now was lost, or refused, before */
};

static inline struct study_postgresql *study_postgresql_of(struct study_sql *store)
{
    return (struct study_postgresql *)store;
}

enum { STUDY_POSTGRESQL_LOOK_MS = 100 }; /* how often a wait looks whether to stop */
static inline bool study_postgresql_stopped(struct study_postgresql *store)
{
    return study_store_stopped(&store->sql.base);
}

/* params.c: the parts of a URL as libpq has it, and its name, which has no password; for free(). `url` begins
 * with postgresql://, and has no key of ours. 0; -EINVAL, -ENOMEM with a sentence. */
int study_postgresql_params(const char *url, struct study_postgresql_params *ret, char **ret_name,
                            char err[static STUDY_ERROR_MAX]);
void study_postgresql_params_finish(struct study_postgresql_params *params);

/* The URL again, without password; for free(). */
int study_postgresql_url(const char *url, char **ret, char err[static STUDY_ERROR_MAX]);

/* connect.c. One attempt. -ENOTCONN, -EUSERS and -EACCES with libpq's words; -EINTR: it is to stop. */
int study_postgresql_connect(struct study_postgresql *store, char err[static STUDY_ERROR_MAX]);
/* Attempts until the store's time-out has passed since the loss, each later than the one before; one where it
 * has passed already. */
int study_postgresql_wait(struct study_postgresql *store, char err[static STUDY_ERROR_MAX]);
bool study_postgresql_connected(const struct study_postgresql *store);
/* Could every worker that lives have given a sign of life within the last `grace_s`? */
bool study_postgresql_judges(const struct study_sql *sql, double grace_s);

/* statement.c. Texts without parameters; of several the last result. For PQclear(); NULL: the connection was
 * lost. */
PGresult *study_postgresql_exec(struct study_postgresql *store, const char *text);
/* That, without its rows. 0 or -errno. */
int study_postgresql_command(struct study_postgresql *store, const char *text,
                             char err[static STUDY_ERROR_MAX]);
/* Its first row: 0; -ENOENT: none. */
int study_postgresql_ask(struct study_postgresql *store, const char *text, const struct record_into *into,
                         char err[static STUDY_ERROR_MAX]);
/* -errno of a result (NULL: the connection was lost), with a sentence. */
int study_postgresql_fail(struct study_postgresql *store, const PGresult *result,
                          char err[static STUDY_ERROR_MAX]);
bool study_postgresql_done(const PGresult *result);
/* Waits until a result is there. False: the connection was lost, or is given up since it is to stop. */
bool study_postgresql_arrived(struct study_postgresql *store);
/* The first error of what was sent, or else its last result; for PQclear(). NULL: the connection was lost. */
PGresult *study_postgresql_result(struct study_postgresql *store, bool sent);
bool study_postgresql_send_prepare(struct study_postgresql *store, int which);
/* Prepares a statement, unless it is: false with its error, for PQclear(). */
bool study_postgresql_prepared(struct study_postgresql *store, int which, PGresult **ret_error);
/* As many of `params` as the statement takes. */
void study_postgresql_texts(int which, const struct record_param *params, struct study_postgresql_texts *ret);
bool study_postgresql_send(struct study_postgresql *store, int which, int n, const char *const *values);
struct study_rows study_postgresql_query(struct study_sql *sql, enum study_sql_statement which,
                                         const struct record_param *params);
int study_postgresql_next(struct study_sql *sql, struct study_rows *rows, const struct record_into *into,
                          char err[static STUDY_ERROR_MAX]);
void study_postgresql_take(const struct study_rows *rows, const struct record_into *into);
void study_postgresql_end(struct study_rows *rows);

/* pipeline.c: several statements in one message. Prepares all of a connection, once, so that this does not
 * happen while a lock is held; what fails is prepared where it is queried. */
void study_postgresql_prepare(struct study_postgresql *store);
void study_postgresql_ahead(struct study_sql *sql, const enum study_sql_statement *which, int n,
                            const struct record_param *params);
void study_postgresql_forget(struct study_postgresql *store); /* what was sent ahead and not queried */
int study_postgresql_later(struct study_sql *sql, enum study_sql_statement which,
                           const struct record_param *params, char err[static STUDY_ERROR_MAX]);
void study_postgresql_drop_later(struct study_postgresql *store); /* of a transaction that is rolled back */
/* Sends what was to be sent later. False: an error, for PQclear(), NULL where the connection was lost. */
bool study_postgresql_flush(struct study_postgresql *store, PGresult **ret_error);
/* What was to be sent later, and then that statement: its result, or the error of one before. */
PGresult *study_postgresql_run(struct study_postgresql *store, int which, int n, const char *const *values);

/* insert_params.c: struct study_sql_driver's. */
int study_postgresql_insert_params(struct study_sql *sql, int64_t study, int64_t trial,
                                   struct study_param_row *params, int n, char err[static STUDY_ERROR_MAX]);

/* listen.c: struct study_store_ops's. */
int study_postgresql_await(struct study_store *base, int timeout_ms, char err[static STUDY_ERROR_MAX]);

/* outcome.c. A statement has written a row, with these as ?1 and ?2. */
void study_postgresql_wrote(struct study_postgresql *store, int which, const char *first, const char *second);
void study_postgresql_forget_row(struct study_postgresql *store);
/* The connection was lost before the answer to a COMMIT: was it committed? 0: yes; -ECONNRESET: no. */
int study_postgresql_outcome(struct study_postgresql *store, int64_t transaction,
                             char err[static STUDY_ERROR_MAX]);

/* schema.c: 0, or the errors of study_store_open(). Creates it where there is none; of several processes that
 * create it at once one does. */
int study_postgresql_schema(struct study_postgresql *store, char err[static STUDY_ERROR_MAX]);
/* struct study_sql_driver's. */
int study_postgresql_same_schema(struct study_sql *sql, int64_t data_version,
                                 char err[static STUDY_ERROR_MAX]);

#endif
