/* How far a study is, by its trials. Pure. */
#ifndef TRAINER_STUDY_TALLY_H
#define TRAINER_STUDY_TALLY_H

#include "db/studies/study.h"

struct study_tally {
    int states[TRIAL_STATES];
    int retried; /* of FAIL: those that another trial tries again */
    int failed;  /* FAIL but for those */
    int done;    /* COMPLETE, PRUNED and failed */
    int mute;    /* of RUNNING: without a heartbeat, as Optuna's by default: nobody knows whether they live */
};
struct study_tally study_tally_of(const struct study *study);

/* How many more trials may begin, where `wanted` are wanted in all (< 0: there are more than that)? Those
 * that run count as done, but for mute ones, which may never be. */
int study_tally_room(const struct study_tally *tally, int wanted);

/* Trials an hour and seconds to the end, of `finished` trials in `seconds`; NaN: not known yet. */
double study_tally_rate(int finished, double seconds);
double study_tally_left_s(int left, double per_hour);

#endif
