/* Which states are told where rollouts and updates follow one another faster than is to be told. Each of the
 * two has an account of the seconds that it took and that were not told of it; what is told is paid off the
 * account of the state that it is told of, so that no account is ever beyond a few `every_s`, however the two
 * fall together with the times of telling. Other states are told at once, and exactly. Pure: no clock. */
#ifndef TRAINER_TELEMETRY_TIMELINE_H
#define TRAINER_TELEMETRY_TIMELINE_H

enum { TIMELINE_TURNS = 2 };

struct timeline {
    double every_s;              /* 0: all is told */
    const char *state, *told;    /* where it is, and was said to be last; "" */
    double told_s;               /* when that was said */
    double since_s;              /* accounts hold till then */
    double owed[TIMELINE_TURNS]; /* seconds of rollout and update; below 0: told too long */
};

void telemetry_timeline_begin(struct timeline *timeline, double every_s);

/* It goes into `state`, a literal. Returns what is to be told from now on, NULL: nothing. That is `state`
 * itself, unless more than half of every_s is owed to the other. Times never fall. */
const char *telemetry_timeline_enter(struct timeline *timeline, const char *state, double now_s);

/* Time has passed: so that no state that lasts is told as another for long. As telemetry_timeline_enter(). */
const char *telemetry_timeline_tick(struct timeline *timeline, double now_s);

#endif
