/* What TPE keeps of a study between calls. COMPLETE and PRUNED trials never change, so each is read once: its
 * merit, its part in the joint space, and its values, which are kept sorted. For a study that is not a later
 * state of the one it saw, it starts from an empty history. */
#ifndef TRAINER_STUDY_TPE_HISTORY_H
#define TRAINER_STUDY_TPE_HISTORY_H

#include "db/studies/study.h"

struct tpe_entry {
    double place; /* on the parameter's axis */
    int number;   /* of the trial */
};

static inline bool tpe_is_before(struct tpe_entry a, struct tpe_entry b)
{
    return a.place != b.place ? a.place < b.place : a.number < b.number;
}

struct tpe_column {
    int param; /* of the study */
    bool log;
    int n;
    struct tpe_entry *sorted; /* [n]: by place, then by number */
    double *places; /* [n_trials] by number; NaN: an unknown trial, or one that lacks the parameter */
};

/* The merit of a known trial: the lowest is the best, equals by number. */
struct tpe_merit {
    enum trial_state state; /* TRIAL_COMPLETE or TRIAL_PRUNED; TRIAL_WAITING: not known */
    double first, second;   /* objective; of PRUNED the last step, negated, and its value */
    double violation;       /* > 0: infeasible */
};

struct tpe_history {
    const struct study *study;
    int64_t id;
    uint64_t version;
    int n_trials, capacity;     /* of the study when it was seen; allocated by number */
    int n_known;                /* COMPLETE and PRUNED trials */
    struct tpe_merit *merits;   /* [n_trials] */
    struct tpe_entry *complete; /* [n_complete] feasible ones by objective; of one objective */
    int n_complete;
    int *joint; /* [n_params] distributions of the joint space, -1: not in it */
    int n_params;
    struct tpe_column **columns; /* [n_columns] */
    int n_columns;
};

/* 0 or -ENOMEM, after which the history is empty. */
int tpe_history_update(struct tpe_history *history, const struct study *study);
/* Of parameter `param`, which the study has; it stays until the study is another. NULL: no memory. */
const struct tpe_column *tpe_history_column(struct tpe_history *history, int param, bool log);
void tpe_history_finish(struct tpe_history *history); /* fine on a zeroed one */

#endif
