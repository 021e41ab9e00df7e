/* A study in memory: the content of Optuna's tables, all trials by number. A study_store reads it and keeps
 * it up to date; samplers, pruners and the dashboard read only this. */
#ifndef DB_STUDIES_STUDY_H
#define DB_STUDIES_STUDY_H

#include <stddef.h>
#include <stdint.h>

#include "db/studies/distribution.h"

enum { STUDY_NAME_MAX = 512 /* bytes, without NUL */, STUDY_OBJECTIVES_MAX = 16 };
#define STUDY_NO_TIME INT64_MIN

/* In the order of Optuna's enums; their names are what is stored. */
enum study_direction { STUDY_NOT_SET, STUDY_MINIMIZE, STUDY_MAXIMIZE, STUDY_DIRECTIONS };
enum trial_state { TRIAL_RUNNING, TRIAL_COMPLETE, TRIAL_PRUNED, TRIAL_FAIL, TRIAL_WAITING, TRIAL_STATES };
const char *study_direction_name(enum study_direction direction); /* "MAXIMIZE" */
const char *study_trial_state_name(enum trial_state state);       /* "RUNNING" */

static inline bool trial_state_finished(enum trial_state state)
{
    return state == TRIAL_COMPLETE || state == TRIAL_PRUNED || state == TRIAL_FAIL;
}

struct study_attribute {
    char *key, *json; /* JSON text as stored */
};

struct trial_param {
    int param;        /* index into study->params */
    int distribution; /* index into study->distributions */
    double value;     /* internal */
};

struct trial_report {
    int64_t step;
    double value; /* NaN and infinities too */
};

struct study_trial {
    int64_t id;
    int number; /* 0-based: how many of the study's trials have a lower id, which is its index */
    enum trial_state state;
    int64_t started_us, completed_us;      /* since 1970 UTC; STUDY_NO_TIME: none */
    int64_t heartbeat_us;                  /* of the worker; STUDY_NO_TIME: it has none, and is never stale */
    double *values;                        /* [study->n_objectives], infinities too; NULL: none */
    struct trial_param *params;            /* by index of the parameter */
    struct trial_report *reports;          /* by step */
    struct study_attribute *user, *system; /* by key */
    int n_params, n_reports, n_user, n_system;
};

struct study {
    int64_t id;
    char *name;
    int n_objectives;
    enum study_direction directions[STUDY_OBJECTIVES_MAX];
    struct study_attribute *user, *system; /* by key */
    int n_user, n_system;

    char **params; /* names, in the order in which they first occurred */
    int n_params;
    struct distribution *distributions; /* each distinct one once */
    int n_distributions;
    struct study_trial **trials; /* [n_trials], by number; a trial's address never changes */
    int n_trials;
    uint64_t version; /* counts changes that study_store_sync() brought */

    struct study_texts *texts; /* study_build.h's index of texts; NULL: empty */
    struct study_sync *sync;   /* study_store_sync()'s state; NULL for a study without a store */
};

const struct study_attribute *study_attribute_find(const struct study_attribute *attributes, int n,
                                                   const char *key);
/* Its value, a new reference; its text, for free(). NULL: there is none, or none of that kind; or no memory.
 */
json_t *study_attribute_json(const struct study_attribute *attributes, int n, const char *key);
char *study_attribute_text(const struct study_attribute *attributes, int n, const char *key);
int study_param_find(const struct study *study, const char *name);                            /* -1 */
const struct trial_param *study_trial_param(const struct study_trial *trial, int param);      /* NULL */
const struct trial_report *study_trial_report(const struct study_trial *trial, int64_t step); /* NULL */

/* The sum of a trial's positive constraint violations, by system attributes "constraints:KEY" or the older
 * list "constraints": 0: feasible; NaN: it has none. A NaN constraint adds nothing, as in Optuna. */
double study_trial_violation(const struct study_trial *trial);

/* Of one objective the best COMPLETE feasible trial (one with a NaN among its constraints is not), the
 * earliest of equals; NULL: there is none, or there are several objectives. */
const struct study_trial *study_best(const struct study *study);

/* Workers of one study: "NAME_1", "NAME_2", … Writes NAME of such a name, else the name itself, and returns K
 * or 0. */
int study_base_name(const char *name, char ret[static STUDY_NAME_MAX + 1]);

void study_destroy(struct study *study); /* NULL is fine */

#endif
