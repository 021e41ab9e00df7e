/* A worker's signs of life: a thread with a store of its own, so that a trial is never taken for dead while
 * an iteration lasts. With each heartbeat goes the trial's papertape:progress. */
#ifndef TRAINER_STUDY_HEARTBEAT_H
#define TRAINER_STUDY_HEARTBEAT_H

#include "db/studies/store.h"

struct study_heartbeat;

/* Begins it, without a trial. 0, for study_heartbeat_stop(); -ENOMEM, -EAGAIN, and errors of opening the
 * store. */
int study_heartbeat_start(const char *url, double every_s, struct study_heartbeat **ret,
                          char err[static STUDY_ERROR_MAX]);
void study_heartbeat_stop(struct study_heartbeat *beat); /* NULL is fine */

void study_heartbeat_trial(struct study_heartbeat *beat,
                           int64_t trial); /* from now on of this one; 0: of none */
void study_heartbeat_progress(struct study_heartbeat *beat, double share, double steps_s, int split,
                              int splits);

/* Did somebody else end the trial? It is not this worker's any more. */
bool study_heartbeat_lost(struct study_heartbeat *beat);

#endif
