/* How far a study is, by its trials. Pure. */
#ifndef TRAINER_STUDY_TALLY_H
#define TRAINER_STUDY_TALLY_H

#include "db/studies/study.h"

struct study_tally {
    int states[TRIAL_STATES];
    int retried; /* of FAIL: those that another trial tries again */
    int failed;  /* FAIL except those */
    int done;    /* COMPLETE, PRUNED and failed */
    int mute;    /* of RUNNING: without a heartbeat, as by Optuna's default, so that their state is unknown */
};
struct study_tally study_tally_of(const struct study *study);

/* How many more trials may start, where `wanted` are wanted in all (< 0: there are more already)? Running
 * trials count as done, except mute ones, which may never be. */
int study_tally_room(const struct study_tally *tally, int wanted);

/* Trials an hour and seconds to the end, from `finished` trials in `seconds`; NaN: unknown yet. */
double study_tally_rate(int finished, double seconds);
double study_tally_left_s(int left, double per_hour);

#endif
