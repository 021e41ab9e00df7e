/* One training from its configuration to its end. */
#ifndef TRAINER_COMMAND_TRAIN_RUN_H
#define TRAINER_COMMAND_TRAIN_RUN_H

#include <limits.h>

#include "trainer/command/train_args.h"
#include "trainer/command/train_events.h"
#include "trainer/telemetry/report.h"
#include "trainer/training/claim.h"
#include "trainer/training/keep.h"
#include "trainer/training/make.h"

struct train_run {
    const struct train_args *args;
    struct config config;
    struct report report;
    struct tensorboard *board; /* NULL: none, or it could not be written any more */
    struct checkpoint *from;   /* what it resumes from; NULL: nothing, or no longer needed */
    char from_path[PATH_MAX];  /* "": it does not resume */
    struct claim claim;
    struct source source;
    struct making making;
    struct plan plan;

    int64_t steps, iteration, iterations; /* done ever; iterations: in this process */
    struct phase_use phases[PHASES];
    int64_t steady_steps; /* of iterations without a rehearsal, and what they took */
    double steady_s[3];   /* rollout, advantages, update */
    int64_t saved_at;     /* steps of the last good checkpoint; -1: none */
    char saved[PATH_MAX]; /* its file; "" */
    bool replaces;        /* checkpoints of an earlier training are there, until the first is written */
    int checkpoint_error, policy_error; /* -errno of the last one of each, 0: it was written */
    bool lost;                          /* the last checkpoint or policy could not be written */
    struct evaluation evaluation;
    bool evaluated;
    int64_t evaluated_at;
};

/* A phase's end: its event, and its sum. */
void train_phase(struct train_run *run, enum phase phase, const struct usage *begun);

/* Writes checkpoint and policy, if they are not there; what fails is a warning and `lost`. */
void train_save(struct train_run *run);
/* Evaluates, where there is something to be tested on. False: it failed, as train_failed() tells. */
bool train_evaluate(struct train_run *run);

/* The events at both ends. */
void train_started(struct train_run *run);
/* A line on stderr, the events of an error and of the end; EXIT_FAILURE. */
__attribute__((format(printf, 2, 3))) int train_failed(struct train_run *run, const char *format, ...);
void train_ended(struct train_run *run, const char *result);

#endif
