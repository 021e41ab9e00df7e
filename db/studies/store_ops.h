/* A database's operations for studies: rows in and out. Optuna's rules about them are in db/studies/store.c
 * and trials.c, once for all databases. Private to db/studies/. */
#ifndef DB_STUDIES_STORE_OPS_H
#define DB_STUDIES_STORE_OPS_H

#include "db/studies/store.h"
#include "exchange/fail.h"

struct study_trial_row {
    int64_t study;
    int number;
    enum trial_state state;
};

struct study_param_row {
    const char *name, *text; /* of the distribution */
    double value;
    int64_t known;
    bool stored;
};

/* All return 0 or -errno, with a sentence where `err` is; -ENOENT for a missing row has none. Those that
 * change something are called within a write transaction. */
/* clang-format off */
#define STUDY_STORE_OPS(OP) \
    OP(study_find, const char *name, int64_t *ret_id) \
    /* -EEXIST, without a sentence: another process has inserted it since study_find(). */ \
    OP(study_insert, const char *name, const enum study_direction *directions, int n, int64_t *ret_id) \
    OP(study_directions, int64_t study, enum study_direction ret[static STUDY_OBJECTIVES_MAX], \
       int *ret_n) \
    OP(study_attribute, int64_t study, bool system, const char *key, const char *json) \
    OP(list, struct study_summary **ret, size_t *ret_n) \
    OP(peek, int64_t study, struct study **ret) \
    OP(sync, struct study *study) \
    OP(trial_find, int64_t trial, struct study_trial_row *ret) \
    /* An ask follows, of directions and then of a trial. */ \
    OP(trial_ahead, int64_t study) \
    /* The oldest WAITING one becomes RUNNING and started now; -ENOENT: there is none. */ \
    OP(trial_take, int64_t study, int64_t *ret_trial, int *ret_number) \
    /* RUNNING ones start now. */ \
    OP(trial_insert, int64_t study, enum trial_state state, int64_t *ret_trial, int *ret_number) \
    /* From RUNNING to finished, now; -ENOENT: it is not RUNNING. `values` may be NULL. */ \
    OP(trial_finish, int64_t trial, enum trial_state state, const double *values, int n) \
    /* Parameters, user and system attributes. */ \
    OP(trial_copy, int64_t from, int64_t to) \
    /* Any distribution that a trial of the study has for the parameter. For free(). */ \
    OP(param_known, int64_t study, const char *name, char **ret_text) \
    /* 0: that trial of that study has it with that text; else -ENOENT. */ \
    OP(param_is, int64_t study, int64_t trial, const char *name, const char *text) \
    /* -EEXIST: the trial has it; *ret_same: is it the same? */ \
    OP(param_insert, int64_t trial, const char *name, double value, const char *text, bool *ret_same) \
    /* Those whose text `known`, another trial of the study, has too, and which this one lacks: `stored`. As \
     * many as the database inserts at once, or none. */ \
    OP(params_insert, int64_t study, int64_t trial, struct study_param_row *params, int n) \
    /* A system attribute. For free(). */ \
    OP(attribute_get, int64_t trial, const char *key, char **ret_json) \
    OP(attribute, int64_t trial, bool system, const char *key, const char *json) \
    OP(report, int64_t trial, int64_t step, double value) \
    OP(report_last, int64_t trial, double *ret_value) \
    /* Now, by the server's clock; of a file by this machine's CLOCK_REALTIME. */ \
    OP(heartbeat, int64_t trial) \
    /* RUNNING trials with a heartbeat older than that by the same clock, by id. For free(). Reads only; \
     * in a transaction of its own each is locked, and those that another one has locked are left out. */ \
    OP(stale, int64_t study, double grace_s, int64_t **ret_trials, size_t *ret_n)
/* clang-format on */
#define STUDY_STORE_OP_(name, ...) \
    int (*name)(struct study_store * store, __VA_ARGS__, char err[static STUDY_ERROR_MAX]);

struct study_store_ops {
    const char *scheme; /* "sqlite" */
    /* study_store_name() of a location; NULL: the database is a file, and its path is its location. */
    int (*name)(const char *location, char **ret, char err[static STUDY_ERROR_MAX]);
    /* `location` is a file's path, or a server's URL without our keys. */
    int (*open)(const char *location, enum study_store_mode mode, int busy_ms,
                const struct study_store_waits *waits, struct study_store **ret,
                char err[static STUDY_ERROR_MAX]);
    void (*close)(struct study_store *store);
    int (*begin)(struct study_store *store, char err[static STUDY_ERROR_MAX]); /* with the writer's lock */
    int (*commit)(struct study_store *store, char err[static STUDY_ERROR_MAX]);
    void (*rollback)(struct study_store *store);
    /* Waits for a connection that was lost; 0: it is there again. NULL: no connection is ever lost. */
    int (*again)(struct study_store *store, char err[static STUDY_ERROR_MAX]);
    /* study_store_await(); NULL: it does not notify. */
    int (*await)(struct study_store *store, int timeout_ms, char err[static STUDY_ERROR_MAX]);

    STUDY_STORE_OPS(STUDY_STORE_OP_)
};

extern const struct study_store_ops study_store_sqlite, study_store_postgresql;

/* What a store is open for, READ or WRITE. */
static inline enum study_store_mode study_store_access(enum study_store_mode mode)
{
    return mode == STUDY_STORE_AGAIN        ? STUDY_STORE_WRITE
           : mode == STUDY_STORE_READ_AGAIN ? STUDY_STORE_READ
                                            : mode;
}

/* Of a URL what sentences show, *ret_n bytes: its end from the last "@", or all of it; of a server without
 * its keys, of which one may be a password. */
const char *study_store_shown(const char *url, int *ret_n);

/* On which writers notify where the database has such channels. */
#define STUDY_STORE_CHANNEL "papertape_studies"

/* A call that is a transaction of its own, repeated where its connection was lost before that was stored. */
#define STUDY_STORE_CALL(store, err, call) \
    ({ \
        int call_r_; \
        do \
            call_r_ = (call); \
        while (call_r_ < 0 && study_store_again(store, &call_r_, err)); \
        call_r_; \
    })

/* Every database's store begins with this. */
struct study_store {
    const struct study_store_ops *ops;
    enum study_store_mode mode;
    char *url;      /* for sentences */
    bool within;    /* study_store_begin() */
    bool cancelled; /* the transaction was rolled back */
    double commit_s;
    struct study_store_waits waits;
    double stopped_s;                /* when it was first seen that it is to stop; 0: not yet */
    struct study_store_known *known; /* distributions seen so far; db/studies/params.c's */
};

/* Is waits.stop set, and has waits.answer_ms passed since? */
bool study_store_stopped(struct study_store *store);

/* err becomes "URL: SENTENCE"; returns r. */
#define study_store_fail(store, code, err, ...) \
    fail_line(code, err, STUDY_ERROR_MAX, (store)->url, __VA_ARGS__)

/* A call's own transaction, or its part of the open one. *ret_own goes into leave(), with the call's result:
 * 0 commits; -EINVAL, -ENOENT and -EEXIST, which have changed nothing, do not affect an open transaction. */
int study_store_enter(struct study_store *store, bool *ret_own, char err[static STUDY_ERROR_MAX]);
int study_store_leave(struct study_store *store, bool own, int r, char err[static STUDY_ERROR_MAX]);

/* Of trials.c. Checks a trial; that it is not finished; that it is RUNNING. -ENOENT and -EINVAL with a
 * sentence. */
int study_store_trial(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                      char err[static STUDY_ERROR_MAX]);
int study_store_trial_open(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                           char err[static STUDY_ERROR_MAX]);
int study_store_trial_running(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                              char err[static STUDY_ERROR_MAX]);
/* A RUNNING trial's end; -EINVAL: it is not RUNNING any more. */
int study_store_finish(struct study_store *store, int64_t trial, const struct study_trial_row *row,
                       enum trial_state state, const double *values, int n, char err[static STUDY_ERROR_MAX]);
/* Does a column have room for the name? `what`: "parameter". */
int study_store_check_name(const struct study_store *store, const char *what, const char *name,
                           char err[static STUDY_ERROR_MAX]);
/* A trial's attribute. */
int study_store_put_json(struct study_store *store, int64_t trial, bool system, const char *key,
                         const json_t *value, char err[static STUDY_ERROR_MAX]);

/* Distributions of a study that was read, so that the first trial of a store has them as later ones do. */
void study_store_learn(struct study_store *store, const struct study *study);
void study_store_known_destroy(struct study_store_known *known); /* NULL is fine */

#endif
