/* Pruners: should a trial end now, judged by its reports and those of others? They decide as Optuna 5.0.0's
 * MedianPruner, SuccessiveHalvingPruner and HyperbandPruner, newly constructed, would for the same study:
 * "auto" is derived each time, where a pruner of Optuna keeps what its process saw first. A worker asks after
 * each split of a trial: study_report() in suggest.h. Pure. */
#ifndef TRAINER_STUDY_PRUNER_H
#define TRAINER_STUDY_PRUNER_H

#include "db/studies/study.h"

enum pruner_kind { PRUNER_NONE, PRUNER_MEDIAN, PRUNER_ASHA, PRUNER_HYPERBAND, PRUNERS };
const char *pruner_name(enum pruner_kind kind); /* "none", "median", "asha", "hyperband" */
bool pruner_parse(const char *name, enum pruner_kind *ret);

enum { PRUNER_MARKS_MAX = 64 };

struct pruner_options { /* Optuna's names and defaults */
    enum pruner_kind kind;
    int n_startup_trials, n_min_trials;     /* median: 5, 1 */
    int64_t n_warmup_steps, interval_steps; /* median: 0, 1 */
    int64_t min_resource;                   /* ASHA: 0 for auto; Hyperband: 1 */
    int64_t max_resource;                   /* Hyperband: 0 for auto */
    int reduction_factor;                   /* ASHA 4, Hyperband 3; 0: that */
    int min_early_stopping_rate;            /* ASHA: 0 */
    int bootstrap_count;                    /* 0 */
};
struct pruner_options pruner_defaults(enum pruner_kind kind);
/* 0, or -EINVAL with the key of [study] that is wrong and what would be right: what Optuna refuses, a highest
 * rung below the lowest, and a factor that no pruner takes. */
int pruner_check(const struct pruner_options *options, const char **ret_key, const char **ret_words);

/* The decision on trial `number` after its last report. ASHA and Hyperband keep system attributes on it
 * (completed_rung_K): the caller stores `marks` before anything else, whatever the decision. */
struct pruner_verdict {
    bool prune;
    struct pruner_mark {
        char key[32], json[48];
    } marks[PRUNER_MARKS_MAX];
    int n_marks;
};
/* Of options that pruner_check() takes. 0, -EINVAL: no such trial, several objectives; -ENOMEM. */
int pruner_judge(const struct pruner_options *options, const struct study *study, int number,
                 struct pruner_verdict *ret);

/* Hyperband's bracket of a trial, by crc32("STUDY_NUMBER"); -1: not known yet (auto, nothing has ended). */
int pruner_bracket(const struct pruner_options *options, const struct study *study, int number);

/* Successive halving, and what all pruners ask of a study. Used by pruner.c alone. */

/* Is a better than b, in the study's direction? With a NaN never. */
bool pruner_better(const struct study *study, double a, double b);
int64_t pruner_last_step(const struct study_trial *trial); /* -1: nothing was reported */
int pruner_ascending(const void *a, const void *b);        /* doubles, for qsort() */

/* 0 or -ENOMEM; *ret zeroed before. */
int pruner_judge_asha(const struct pruner_options *options, const struct study *study,
                      const struct study_trial *trial, struct pruner_verdict *ret);
int pruner_judge_hyperband(const struct pruner_options *options, const struct study *study,
                           const struct study_trial *trial, struct pruner_verdict *ret);

#endif
