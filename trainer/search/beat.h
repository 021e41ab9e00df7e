/* A worker's signs of life: a thread with a store of its own, so that a trial is never taken for dead while
 * an iteration lasts. With each heartbeat goes the trial's papertape:progress. */
#ifndef TRAINER_SEARCH_BEAT_H
#define TRAINER_SEARCH_BEAT_H

#include "db/studies/store.h"

struct beat;

/* Begins it, without a trial. 0, for beat_stop(); -ENOMEM, -EAGAIN, and errors of opening the store. */
int beat_start(const char *url, double every_s, struct beat **ret, char err[static STUDY_ERROR_MAX]);
void beat_stop(struct beat *beat); /* NULL is fine */

void beat_trial(struct beat *beat, int64_t trial); /* from now on of this one; 0: of none */
void beat_progress(struct beat *beat, double share, double steps_s, int split, int splits);

/* Did somebody else end the trial? It is not this worker's any more. */
bool beat_lost(struct beat *beat);

#endif
