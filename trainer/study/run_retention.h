/* A scheduled study leaves a folder for each of its runs, NAME@TIME, whose trials' returns are large: of old
 * runs only what was proposed stays. */
#ifndef TRAINER_STUDY_RUN_RETENTION_H
#define TRAINER_STUDY_RUN_RETENTION_H

enum { RUNS_KEPT = 3 };

/* Of the runs of `run` (of NAME, where it is NAME@TIME; of another name there are none) in the folder
 * `studies`, but for the newest `keep`: removes returns.csv and holdout.csv of their trials, what killed
 * writers left of them (stale_files.h), and folders that are empty then. Policies, proposals, reports and
 * configurations stay. What cannot be removed stays. */
void study_runs_retain(const char *studies, const char *run, int keep);

#endif
