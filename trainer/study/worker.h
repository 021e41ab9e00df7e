/* A process of a study: runs one trial after the other until there are enough. It is a fork of the process
 * that runs the study, made while that has one thread, so that the bars are in memory once. */
#ifndef TRAINER_STUDY_WORKER_H
#define TRAINER_STUDY_WORKER_H

#include "db/studies/store.h"
#include "trainer/study/trial.h"

/* What all workers of a run share; borrowed. */
struct study_order {
    const char *url, *folder; /* folder of the study: trial N's is FOLDER/N */
    int64_t study_id;
    int wanted; /* trials, of all workers */
    const struct train_config *config;
    const struct study_settings *settings;
    const struct study_market *market;
    const char *artifacts; /* URL of the store that trials' files go to; NULL: none */
};

/* Works until nothing is left (0), SIGTERM or SIGINT (0, within 4 seconds, whether the storage answers or
 * not: its trial waits to be tried again, or does once it is stale), or it cannot continue (1): the storage,
 * the disk, memory or the device fail, and its trial waits then, too. It writes JSON lines to `out`:
 * {"began":ID}, {"told":ID}, (word-ok: a key) {"warning":"…"}, {"said":"…","number":N} of a trial,
 * {"storage":"…"} of a connection that is refused as too many are in use (ends with 1 after the time-out),
 * {"error":"…","cause":"disk"}, {"exhausted":true} where a grid has no more points. `device`: an id for
 * CUDA_VISIBLE_DEVICES; NULL: as it is. */
int study_worker_run(const struct study_order *order, int out, const char *device);

/* A worker's heartbeat: a thread, so that a trial does not become stale during a long iteration. It shares
 * the worker's store, since a server has few connections. Each heartbeat also stores the trial's
 * papertape:progress. */

struct study_heartbeat;

/* Starts it, without a trial. `store` is used between take and give alone from now on. 0, for
 * study_heartbeat_stop(); -ENOMEM, -EAGAIN. */
int study_heartbeat_start(struct study_store *store, double every_s, struct study_heartbeat **ret,
                          char err[static STUDY_ERROR_MAX]);
void study_heartbeat_stop(struct study_heartbeat *beat); /* NULL is fine */

/* The store is the caller's until it gives it back; a heartbeat waits for it, as the caller does for one. */
void study_heartbeat_take(struct study_heartbeat *beat);
void study_heartbeat_give(struct study_heartbeat *beat);

/* From now on for this one; 0: for none. */
void study_heartbeat_trial(struct study_heartbeat *beat, int64_t trial);
void study_heartbeat_progress(struct study_heartbeat *beat, double share, double steps_s, int split,
                              int splits);

/* Has another process ended the trial? It is not this worker's any more then. */
bool study_heartbeat_lost(struct study_heartbeat *beat);

#endif
