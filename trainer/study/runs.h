/* Runs of one study: NAME, and NAME@TIME of one that was restarted (start with overwrite) or is scheduled.
 * Each is a study of its own, but the best of runs on the same bars was selected from the trials of all: none
 * may be judged as if the others had not been run. Pure. */
#ifndef TRAINER_STUDY_RUNS_H
#define TRAINER_STUDY_RUNS_H

#include "trainer/study/trial.h"

/* The hash of the bars that the study searches, a user attribute: 16 digits as a JSON string, of interval,
 * symbols, and times, closes and volumes of all rows of [data] train_from to train_to, or to where the study
 * ends before. Features, splits, the holdout's share and the order of symbols do not change it. NULL without
 * memory. */
#define RUNS_BARS "papertape:bars"
json_t *study_runs_bars(const struct study_market *market);

/* Are these by their names two runs of one study, or of its workers: "a" and "a@T", "a@T" and "a@U", "a_1@T"
 * and "a" or "a_2"? "a" and "a_1" are one run. */
bool study_runs_named(const char *name, const char *other);

/* Do both say that they search the same bars? */
bool study_runs_same_bars(const struct study *a, const struct study *b);

/* A scheduled study leaves a folder for each of its runs, NAME@TIME, whose trials' returns are large: of old
 * runs only what was proposed stays (run_retention.c). */
enum { RUNS_KEPT = 3 };

/* For the runs of `run` (of NAME, where it is NAME@TIME; another name has none) in the folder `studies`,
 * except the newest `keep`: removes returns.csv and holdout.csv of their trials, temporary files of killed
 * writers (stale_files.h), and folders that are empty then. Policies, proposals, reports and configurations
 * stay. What cannot be removed stays. */
void study_runs_retain(const char *studies, const char *run, int keep);

#endif
