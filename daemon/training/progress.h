/* Converts a training's events (docs/serve.md, docs/training.md) to rows of the database. Pure: the rows
 * depend on the events and on struct training_progress alone. */
#ifndef DAEMON_TRAINING_PROGRESS_H
#define DAEMON_TRAINING_PROGRESS_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/training/training.h"
#include "db/row.h"

/* Of one training, between two answers; daemon_training_progress_begin(). */
struct training_progress {
    int64_t seq;                   /* of the newest event that was taken */
    int64_t point_ns, point_steps; /* of the newest point; 0, -1: not known */
    char state[TRAINING_WORD_MAX]; /* that it went into last; "" */
    int64_t state_ns;
    double utilisation;      /* since then; NaN */
    double last_utilisation; /* the utilisation of the last update that had one, and when; 0: never */
    int64_t last_utilisation_ns;
    char before[TRAINING_WORD_MAX]; /* the rollout or update before it, until its utilisation is known; "" */
    int64_t before_ns;
};

/* Where rows go, in the order in which they are to be stored. */
struct progress_sink {
    void *ctx;
    void (*rewind)(void *ctx, int64_t steps); /* db_writer_rewind_training() */
    void (*point)(void *ctx, const struct db_training_point *point);
    void (*evaluation)(void *ctx, const struct db_training_evaluation *evaluation);
    void (*state)(void *ctx, const struct db_training_state *state);
};

/* Events up to `seq` are stored already. */
void daemon_training_progress_begin(struct training_progress *progress, int64_t seq);

/* The number up to which these events, an array, follow each other after those that were taken; that of the
 * last taken where no event does. It ends before a number out of order, or an element that is not an event.
 */
int64_t daemon_training_progress_reach(const struct training_progress *progress, const json_t *events);

/* Takes the events up to there. A `start` forgets the points beyond its steps: the training continues from
 * a checkpoint, or starts. An `update` makes a point once a second has passed since the one before, and so
 * does the last one before a checkpoint, an evaluation, an end, or the end of these events. An `evaluation`
 * makes a row, a `state` too. A rollout or update gets the utilisation that an update reported during it;
 * where there was none, that of an update less than two seconds before, or of the next one, which is of its
 * iteration. Steps that do not rise forget what they contradict; an event without its required members
 * leaves no row. */
void daemon_training_progress_take(struct training_progress *progress, const char *training,
                                   const json_t *events, const struct progress_sink *sink);

/* It went into a state that no event reports: queued, paused, or an end. */
void daemon_training_progress_go(struct training_progress *progress, const char *training, const char *state,
                                 int64_t ts_ns, const struct progress_sink *sink);

#endif
