/* Where studies are kept: Optuna's RDB schema, version 12, behind one interface. SQLite is
 * db/studies/sqlite/, PostgreSQL db/studies/postgresql/, what they share db/studies/sql/; another database is
 * another struct study_store_ops. No caller depends on which it is.
 *
 * Every call that changes something is a transaction of its own, or part of the one that study_store_begin()
 * opened. Any number of processes, ours and Optuna's, may use one storage at once. A store is one thread's at
 * a time, and never used by two processes: after fork() each opens its own. Strings are UTF-8. All return 0
 * or -errno with a sentence "what: where: what would be right": -ENOENT, -EEXIST, -EINVAL (against Optuna's
 * rules: a finished trial changed, a distribution that is incompatible with the parameter's others, a value
 * outside of it), -EBUSY (locked for longer than the time-out), -EROFS (read-only), -EISDIR, -EMEDIUMTYPE (no
 * study storage: a foreign schema, or one that is newer than 12: both versions in the sentence), -EBADMSG
 * (damaged), -ENOSPC, -EIO, -ENOMEM; of a server also -ENOTCONN (it is not there, or was not again within
 * the time-out), -EUSERS (likewise: all of its connections, or the role's, are in use), -EACCES (refused),
 * -ECONNRESET (lost within study_store_begin(): see study_store_again()), -ERANGE (a number that its columns
 * have no room for). A failed call changes nothing. If a call within study_store_begin() is not refused but
 * fails (-EIO, -ENOSPC, -EBUSY, …), the whole transaction is rolled back, and its commit returns -ECANCELED.
 */
#ifndef DB_STUDIES_STORE_H
#define DB_STUDIES_STORE_H

#include <stdatomic.h>

#include "db/studies/study.h"

enum { STUDY_ERROR_MAX = 512 };

struct study_store;

enum study_store_mode {
    /* Changes nothing, and creates no file; a file that does not exist, or has no tables yet: -ENOENT. Only a
     * killed worker's half-written transaction is rolled back, as any next connection does. */
    STUDY_STORE_READ,
    STUDY_STORE_WRITE, /* file and schema are created where they are missing */
    /* WRITE and READ of a storage that was there before: a server that is not is waited for, but not one
     * whose host has no address, or that refuses the user or the database. */
    STUDY_STORE_AGAIN,
    STUDY_STORE_READ_AGAIN,
};

/* "sqlite:///relative/F", "sqlite:////absolute/F" as Optuna (SQLAlchemy) has them, with "?timeout=SECONDS" or
 * without, or a plain path. `busy_ms` is how long to wait for a lock; 0: the URL's timeout, 60 s without one.
 * -EPROTONOSUPPORT: another scheme, with the known ones. -EINVAL: another key after "?"; ":memory:", which no
 * other process could open; or text that is no file yet, does not begin with "/", "./" or "../", and looks
 * like a mistyped URL (":/", "@", a scheme's name with ":" or "//") or like libpq's KEY=VALUE words.
 *
 * "postgresql://USER@HOST:PORT/DATABASE?KEY=VALUE&…" as libpq and SQLAlchemy have it, with a driver too
 * (postgresql+psycopg2); the keys are libpq's (sslmode, sslrootcert, passfile, service, …), and timeout,
 * which is also how long a connection that was lost is waited for. libpq, of libpq5, is loaded here:
 * -ELIBACC. No password is in a sentence. */
int study_store_open(const char *url, enum study_store_mode mode, int busy_ms, struct study_store **ret,
                     char err[static STUDY_ERROR_MAX]);
/* How a store waits, for as long as it is open; zeroed: to its time-outs, and in silence. */
struct study_store_waits {
    /* While *stop is true, which another thread or a signal may set, opening a server, and each call that
     * reads, ends soon with -EINTR, or, where it waits for a lock, -EBUSY; a server need not answer for that.
     * NULL: never. */
    const atomic_bool *stop;
    int answer_ms; /* so long after that an answer is still waited for: to put a trial back */
    /* A server's connection that is lost is waited for (-ENOTCONN), or is refused as too many are in use
     * (-EUSERS), or it is there again (0): once each time, in the caller's thread. NULL: not wanted. */
    void (*said)(void *ctx, int error, const char *words);
    void *ctx;
};
/* `waits` is copied; NULL: zeroed. */
int study_store_open_waiting(const char *url, enum study_store_mode mode, int busy_ms,
                             const struct study_store_waits *waits, struct study_store **ret,
                             char err[static STUDY_ERROR_MAX]);
/* That with `stop` alone. */
int study_store_open_stopped_by(const char *url, enum study_store_mode mode, int busy_ms,
                                const atomic_bool *stop, struct study_store **ret,
                                char err[static STUDY_ERROR_MAX]);
void study_store_close(struct study_store *store); /* rolls back; NULL is fine */

/* The file that such a URL names, for free(); NULL for an invalid one, for one that names no file but a
 * server, or without memory. */
char *study_store_file(const char *url);
/* The URL of the file of a state directory, for free(): a relative one is a path also where its name looks
 * like a URL's. 0 or -ENOMEM. */
int study_store_of_state(const char *folder, char **ret, char err[static STUDY_ERROR_MAX]);
/* What a storage is called where it is written or shown, for free(): a file's path, a server's URL without
 * password and our keys. 0 or the errors of study_store_open(). */
int study_store_name(const char *url, char **ret, char err[static STUDY_ERROR_MAX]);

/* Passwords on a command line (exchange/text_password.h), which everybody on this machine can read, become
 * "*" there; argv has copies, which live as long as the program. Before the arguments are read. */
void study_store_hide_passwords(int argc, char **argv);

/* BEGIN IMMEDIATE … COMMIT. With a server, where other transactions run at the same time, the first
 * study_store_sync() within it takes the study's lock, so that what was counted stays true. A study that was
 * synced in between and then rolled back is right again after its next sync. commit_s: seconds that commits
 * (and waits for locks) have taken in all. */
int study_store_begin(struct study_store *store, char err[static STUDY_ERROR_MAX]);
int study_store_commit(struct study_store *store, char err[static STUDY_ERROR_MAX]);
void study_store_rollback(struct study_store *store);
/* After a transaction that ended with *r: true where that is -ECONNRESET, nothing of it was stored, and the
 * connection is there again, which is waited for: it is to be repeated. Else *r and `err` say why not. Calls
 * outside of study_store_begin() do this themselves. A COMMIT whose answer was lost is looked up, and never
 * repeated. */
bool study_store_again(struct study_store *store, int *r, char err[static STUDY_ERROR_MAX]);
double study_store_commit_s(const struct study_store *store);

/* Waits, outside of a transaction, until a process of ours has stored something: 1, of the first call at
 * once; 0: `timeout_ms` has passed. -EOPNOTSUPP: a file, which does not notify; -ECONNRESET: the connection
 * was lost: the next call waits on another one. Optuna's processes do not notify. */
int study_store_await(struct study_store *store, int timeout_ms, char err[static STUDY_ERROR_MAX]);

/* ---- Studies. ---- */

/* A new study. If one of that name exists with the same directions, it is returned (*ret_existed), or with
 * ret_existed NULL -EEXIST; with other directions -EEXIST always, with both in the sentence. */
int study_store_create(struct study_store *store, const char *name, const enum study_direction *directions,
                       int n, int64_t *ret_id, bool *ret_existed, char err[static STUDY_ERROR_MAX]);
int study_store_find(struct study_store *store, const char *name, int64_t *ret_id,
                     char err[static STUDY_ERROR_MAX]); /* -ENOENT names the nearest */

/* All studies, by id, without their trials. For free() of *ret after study_summaries_finish(). */
struct study_summary {
    int64_t id;
    char *name;
    int n_objectives, trials[TRIAL_STATES];
    enum study_direction directions[STUDY_OBJECTIVES_MAX];
    int64_t started_us; /* of its first trial; STUDY_NO_TIME */
};
int study_store_list(struct study_store *store, struct study_summary **ret, size_t *ret_n,
                     char err[static STUDY_ERROR_MAX]);
void study_summaries_finish(struct study_summary *summaries, size_t n);

/* Reads a study with all of its trials; later sync brings it up to date: finished trials, which never change,
 * are read once, others again. Cheap where nothing changed. -ENOENT: it is gone. For study_destroy(). */
int study_store_load(struct study_store *store, int64_t study_id, struct study **ret,
                     char err[static STUDY_ERROR_MAX]);
int study_store_sync(struct study_store *store, struct study *study, char err[static STUDY_ERROR_MAX]);
/* Its attributes alone, for callers that may not need its trials: the first sync reads these. As
 * study_store_load(). */
int study_store_peek(struct study_store *store, int64_t study_id, struct study **ret,
                     char err[static STUDY_ERROR_MAX]);

/* `json` is JSON text; NULL removes the attribute (only we do that). */
int study_store_set_study_user(struct study_store *store, int64_t study_id, const char *key, const char *json,
                               char err[static STUDY_ERROR_MAX]);
int study_store_set_study_system(struct study_store *store, int64_t study_id, const char *key,
                                 const char *json, char err[static STUDY_ERROR_MAX]);

/* ---- Trials. ---- */

/* The next trial to work on: the oldest WAITING one, taken with UPDATE … WHERE state = 'WAITING' so that no
 * other worker has it, or else a new one, RUNNING from now on, with its first heartbeat (where `heartbeat`).
 * Its number never changes. */
int study_store_ask(struct study_store *store, int64_t study_id, bool heartbeat, int64_t *ret_trial,
                    int *ret_number, char err[static STUDY_ERROR_MAX]);
/* A waiting trial: `fixed` (an object of external values, borrowed) becomes its `fixed_params`; `user` an
 * object of attributes or NULL. As Optuna's enqueue_trial(). */
int study_store_enqueue(struct study_store *store, int64_t study_id, const json_t *fixed, const json_t *user,
                        int64_t *ret_trial, char err[static STUDY_ERROR_MAX]);

struct study_store_param {
    const char *name; /* all borrowed */
    const struct distribution *distribution;
    double value; /* as Optuna stores it */
};
/* A trial may have the parameter already, as a retried one does: 0 where it is the same, else -EEXIST. Within
 * study_store_begin() the parameters before one that is refused may stay; a value outside of its distribution
 * refuses all. A server takes those of which this store has seen the distribution in one statement. */
int study_store_set_params(struct study_store *store, int64_t trial, const struct study_store_param *params,
                           int n, char err[static STUDY_ERROR_MAX]);
/* Replaces an earlier report of that step. */
int study_store_report(struct study_store *store, int64_t trial, int64_t step, double value,
                       char err[static STUDY_ERROR_MAX]);
/* `json` NULL removes the attribute. */
int study_store_set_user(struct study_store *store, int64_t trial, const char *key, const char *json,
                         char err[static STUDY_ERROR_MAX]);
int study_store_set_system(struct study_store *store, int64_t trial, const char *key, const char *json,
                           char err[static STUDY_ERROR_MAX]);
/* COMPLETE needs `values` [n_objectives], none of them NaN; PRUNED takes its last report as its value unless
 * that is NaN, where `values` is NULL; FAIL has none. */
int study_store_tell(struct study_store *store, int64_t trial, enum trial_state state, const double *values,
                     int n, char err[static STUDY_ERROR_MAX]);

int study_store_heartbeat(struct study_store *store, int64_t trial, char err[static STUDY_ERROR_MAX]);
/* RUNNING trials whose heartbeat is older than the grace become FAIL, and are tried again as Optuna's
 * RetryHeartbeatStaleTrialCallback does: a WAITING one with copies of their parameters and attributes,
 * `failed_trial` and `retry_history`, unless that has `retries_max` entries already (< 0: no end). No
 * trial is stale as long as the server has not run, or this store had to wait for its connection, for the
 * grace: workers that live had no chance to give a sign of life. */
int study_store_fail_stale(struct study_store *store, int64_t study_id, double grace_s, int retries_max,
                           int *ret_failed, int *ret_retried, char err[static STUDY_ERROR_MAX]);
/* The same for one trial, whatever its heartbeat: for the worker that ran it and starts again. */
int study_store_retry(struct study_store *store, int64_t trial, int retries_max, bool *ret_retried,
                      char err[static STUDY_ERROR_MAX]);

#endif
