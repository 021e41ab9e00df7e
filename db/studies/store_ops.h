/* What a database must do to keep studies: rows in and out. What Optuna's rules ask of them is in
 * db/studies/store.c and trials.c, once for all databases. Private to db/studies/. */
#ifndef DB_STUDIES_STORE_OPS_H
#define DB_STUDIES_STORE_OPS_H

#include "db/studies/store.h"
#include "exchange/fail.h"

struct study_trial_row {
    int64_t study;
    int number;
    enum trial_state state;
};

/* All return 0 or -errno, with a sentence where `err` is. -ENOENT of a row that is not there has none. Those
 * that change something are called within a transaction that writes. */
struct study_store_ops {
    const char *scheme; /* "sqlite" */
    /* `location` is the URL without "SCHEME://". `store` has ops, mode and url already. */
    int (*open)(const char *location, enum study_store_mode mode, int busy_ms, struct study_store **ret,
                char err[static STUDY_ERROR_MAX]);
    void (*close)(struct study_store *store);
    int (*begin)(struct study_store *store, char err[static STUDY_ERROR_MAX]); /* the writer's lock at once */
    int (*commit)(struct study_store *store, char err[static STUDY_ERROR_MAX]);
    void (*rollback)(struct study_store *store);

    int (*study_find)(struct study_store *store, const char *name, int64_t *ret_id,
                      char err[static STUDY_ERROR_MAX]);
    int (*study_insert)(struct study_store *store, const char *name, const enum study_direction *directions,
                        int n, int64_t *ret_id, char err[static STUDY_ERROR_MAX]);
    int (*study_directions)(struct study_store *store, int64_t study,
                            enum study_direction ret[static STUDY_OBJECTIVES_MAX], int *ret_n,
                            char err[static STUDY_ERROR_MAX]);
    int (*study_attribute)(struct study_store *store, int64_t study, bool system, const char *key,
                           const char *json, char err[static STUDY_ERROR_MAX]);
    int (*list)(struct study_store *store, struct study_summary **ret, size_t *ret_n,
                char err[static STUDY_ERROR_MAX]);
    int (*peek)(struct study_store *store, int64_t study, struct study **ret,
                char err[static STUDY_ERROR_MAX]);
    int (*sync)(struct study_store *store, struct study *study, char err[static STUDY_ERROR_MAX]);

    int (*trial_find)(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                      char err[static STUDY_ERROR_MAX]);
    /* The oldest WAITING one becomes RUNNING and started now; -ENOENT: none waits. */
    int (*trial_take)(struct study_store *store, int64_t study, int64_t *ret_trial, int *ret_number,
                      char err[static STUDY_ERROR_MAX]);
    /* RUNNING ones start now. */
    int (*trial_insert)(struct study_store *store, int64_t study, enum trial_state state, int64_t *ret_trial,
                        int *ret_number, char err[static STUDY_ERROR_MAX]);
    /* From RUNNING to finished, now; -ENOENT: it is not RUNNING. `values` may be NULL. */
    int (*trial_finish)(struct study_store *store, int64_t trial, enum trial_state state,
                        const double *values, int n, char err[static STUDY_ERROR_MAX]);
    /* Parameters, user and system attributes. */
    int (*trial_copy)(struct study_store *store, int64_t from, int64_t to, char err[static STUDY_ERROR_MAX]);

    /* Any distribution that a trial of the study has for the parameter. For free(). */
    int (*param_known)(struct study_store *store, int64_t study, const char *name, char **ret_text,
                       char err[static STUDY_ERROR_MAX]);
    /* 0: that trial, of that study, has it with that text; else -ENOENT. */
    int (*param_is)(struct study_store *store, int64_t study, int64_t trial, const char *name,
                    const char *text, char err[static STUDY_ERROR_MAX]);
    /* -EEXIST: the trial has it; *ret_same tells whether it is the same. */
    int (*param_insert)(struct study_store *store, int64_t trial, const char *name, double value,
                        const char *text, bool *ret_same, char err[static STUDY_ERROR_MAX]);
    /* A system attribute. For free(). */
    int (*attribute_get)(struct study_store *store, int64_t trial, const char *key, char **ret_json,
                         char err[static STUDY_ERROR_MAX]);
    int (*attribute)(struct study_store *store, int64_t trial, bool system, const char *key, const char *json,
                     char err[static STUDY_ERROR_MAX]);
    int (*report)(struct study_store *store, int64_t trial, int64_t step, double value,
                  char err[static STUDY_ERROR_MAX]);
    int (*report_last)(struct study_store *store, int64_t trial, double *ret_value,
                       char err[static STUDY_ERROR_MAX]);
    /* Now, by this machine's CLOCK_REALTIME: workers on several machines need clocks that agree. */
    int (*heartbeat)(struct study_store *store, int64_t trial, char err[static STUDY_ERROR_MAX]);
    /* RUNNING trials with a heartbeat older than that by this machine's CLOCK_REALTIME, by id. For free().
     * Reads only. */
    int (*stale)(struct study_store *store, int64_t study, double grace_s, int64_t **ret_trials,
                 size_t *ret_n, char err[static STUDY_ERROR_MAX]);
};

extern const struct study_store_ops study_store_sqlite;

/* Every database's store begins with it. */
struct study_store {
    const struct study_store_ops *ops;
    enum study_store_mode mode;
    char *url;      /* for sentences */
    bool within;    /* study_store_begin() */
    bool cancelled; /* what began was taken back */
    double commit_s;
    struct study_store_known *known; /* distributions that were met; db/studies/params.c's */
};

/* err becomes "URL: SENTENCE"; returns r. */
#define study_store_fail(store, code, err, ...) \
    fail_line(code, err, STUDY_ERROR_MAX, (store)->url, __VA_ARGS__)

/* A call's own transaction, or its part of the open one. *ret_own goes into leave(), with the call's result:
 * 0 commits; -EINVAL, -ENOENT and -EEXIST, which have changed nothing, leave an open transaction alone. */
int study_store_enter(struct study_store *store, bool *ret_own, char err[static STUDY_ERROR_MAX]);
int study_store_leave(struct study_store *store, bool own, int r, char err[static STUDY_ERROR_MAX]);

/* Of trials.c. A trial; one that is not finished; one that is RUNNING. -ENOENT and -EINVAL with a sentence.
 */
int study_store_trial(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                      char err[static STUDY_ERROR_MAX]);
int study_store_trial_open(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                           char err[static STUDY_ERROR_MAX]);
int study_store_trial_running(struct study_store *store, int64_t trial, struct study_trial_row *ret,
                              char err[static STUDY_ERROR_MAX]);
/* Is it a name that a column has room for? `what`: "parameter". */
int study_store_check_name(const struct study_store *store, const char *what, const char *name,
                           char err[static STUDY_ERROR_MAX]);
/* A trial's attribute. */
int study_store_put_json(struct study_store *store, int64_t trial, bool system, const char *key,
                         const json_t *value, char err[static STUDY_ERROR_MAX]);

void study_store_known_destroy(struct study_store_known *known); /* NULL is fine */

#endif
