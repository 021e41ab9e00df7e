/* One training from its configuration to its end. */
#ifndef TRAINER_COMMAND_TRAIN_RUN_H
#define TRAINER_COMMAND_TRAIN_RUN_H

#include <limits.h>

#include "trainer/command/train_args.h"
#include "trainer/command/train_events.h"
#include "trainer/command/train_page.h"
#include "trainer/telemetry/report.h"
#include "trainer/training/best.h"
#include "trainer/training/claim.h"
#include "trainer/training/make.h"

struct train_seeds;

struct train_run {
    const struct train_args *args;
    struct train_config config;
    struct report report;
    struct training_source source;
    struct train_seeds *seeds; /* of --seeds, one of which this is; or NULL */
    struct train_page *page;   /* of --report, or NULL */

    /* From here on of one seed's training. */
    struct tensorboard *board; /* NULL: none, or it failed */
    struct checkpoint *from;   /* what it resumes from; NULL: nothing, or no longer needed */
    char from_path[PATH_MAX];  /* "": it does not resume */
    struct claim claim;
    struct making making;
    struct plan plan;

    int64_t steps, iteration, iterations; /* in all; iterations: in this process */
    struct phase_use phases[PHASES];
    int64_t steady_steps; /* of iterations without a rehearsal, and their seconds */
    double steady_s[3];   /* rollout, advantages, update */
    int64_t saved_at;     /* steps of the last good checkpoint; -1: none */
    char saved[PATH_MAX]; /* its file; "" */
    bool replaces;        /* checkpoints of an earlier training are there, until the first is written */
    int checkpoint_error, policy_error; /* -errno of the last attempt of each, 0: it was written */
    bool lost;                          /* the last checkpoint or policy could not be written */
    struct evaluation evaluation;       /* of the policy that is kept, on the rows of testing */
    bool evaluated;
    struct training_best best;
    int64_t judged_at; /* steps of the policy that was evaluated last; -1: no one yet */

    struct update_figures unreported; /* the last update, if no event reported it (--report-every) */
    bool has_unreported;
    double reported_s; /* time of the last update event */
};

/* All that precedes the first iteration; bars and features of an earlier seed stay. A signal ends it between
 * any two parts: nothing was learnt, and nothing is written. GO_ON, or the exit status. */
int train_prepare(struct train_run *run);

/* A phase's end: its event, and its sum. */
void train_phase(struct train_run *run, enum phase phase, const struct usage *started);

/* The update's event, unless the last one was less than --report-every ago: then it waits for
 * train_ended(). */
void train_updated(struct train_run *run, const struct update_figures *figures);

/* Writes checkpoint and policy, unless they are written already; a failure is a warning and `lost`. */
void train_save(struct train_run *run);
/* Each alone. */
void train_checkpoint(struct train_run *run);
void train_policy(struct train_run *run);
/* A file was written, or not: -errno with `words`, of which another error than the last is a warning. */
void train_not_written(struct train_run *run, int *last, int error, const char *words);
/* Is the best one there, and wanted? */
bool train_keeps_best(const struct train_run *run);
/* The policy that is kept, and its steps: the best one where there is one and it is wanted, else the current
 * one, which *own then holds, for training_kept_policy_drop(). NULL with *ret_error and err. */
const struct kept_policy *train_find_kept(struct train_run *run, struct kept_policy *own, int64_t *ret_steps,
                                          int *ret_error, char err[static KEEP_ERROR_MAX]);
/* Evaluates the current policy, where there are rows of validation, or else of testing, and keeps the best of
 * the former. False: it failed, as train_failed() reports. */
bool train_judge(struct train_run *run);
/* Evaluates the policy that is kept, where there are rows of testing, and writes it, with its verdict. False
 * as train_judge(). */
bool train_evaluate(struct train_run *run);
/* The steps of the policy that is kept. */
int64_t train_kept_steps(const struct train_run *run);
/* Writes the page of --report, of a training or of all seeds; a failure is a warning and `lost`. */
void train_report(struct train_run *run, const char *name, const char *result);
/* No validation was better for [training] patience of them. */
bool train_is_patient(const struct train_run *run);

/* The first event and the last. */
void train_started(struct train_run *run);
/* A line on stderr, the events of an error and of the end; EXIT_FAILURE. `cause`: one word of docs/serve.md;
 * NULL: none of these. */
__attribute__((format(printf, 3, 4))) int train_failed(struct train_run *run, const char *cause,
                                                       const char *format, ...);
void train_ended(struct train_run *run, const char *result, const char *cause);
/* The end of one of --seeds: an event of its own, with the fields of `end`, which it takes; and, unless it
 * failed, a part of the whole's. */
void train_seed_ended(struct train_run *run, bool failed, json_t *fields);
/* After the last of --seeds: the best policy as NAME, and the event of the end. */
void train_seeds_ended(struct train_run *run, const char *name, const char *result);

/* The cause of -errno: memory or disk, else `other`. */
const char *train_cause(int error, const char *other);

#endif
