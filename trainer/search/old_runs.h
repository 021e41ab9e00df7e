/* A scheduled study leaves a folder for each of its runs, NAME@TIME, whose trials' returns are large: of old
 * runs only what was proposed stays. */
#ifndef TRAINER_SEARCH_OLD_RUNS_H
#define TRAINER_SEARCH_OLD_RUNS_H

enum { RUNS_KEPT = 3 };

/* Of the runs of `run` (of NAME, where it is NAME@TIME; of another name there are none) in the folder
 * `studies`, but for the newest `keep`: removes returns.csv and holdout.csv of their trials, what killed
 * writers left of them (rests.h), and folders that are empty then. Policies, proposals, reports and
 * configurations stay. What cannot be removed stays. */
void old_runs_thin(const char *studies, const char *run, int keep);

#endif
