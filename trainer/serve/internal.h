/* Inside the co-process: what its files share. */
#ifndef TRAINER_SERVE_INTERNAL_H
#define TRAINER_SERVE_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

#include "exchange/net/control.h"
#include "trainer/config.h"
#include "trainer/serve/probe.h"
#include "trainer/serve/serve.h"
#include "trainer/serve/training.h"

struct serve {
    const struct serve_options *options;
    uv_loop_t loop;
    uv_timer_t tick, watchdog;
    uv_signal_t sigterm, sigint;
    struct control *control;
    struct serve_training *trainings; /* by age */
    struct serve_probe *probes;       /* what is looked at before it starts */
    char folder[PATH_MAX];            /* trainings/ of the state */
    char checkpoints[PATH_MAX];       /* their default folder */
    char boot[TRAINING_RECORD_BOOT_MAX];
    int lock, lock_error, socket_error; /* why they could not be restored; 0 */
    int64_t started_ns, idle_since_ms, looked_ms;
    bool ending;
    bool unwritable; /* the last record could not be written */
};

int64_t serve_now_ms(const struct serve *serve); /* the loop's */

static inline bool has_worker(const struct serve_training *training)
{
    return training->worker || training->orphaned;
}

/* ---- queue.c: the list, and the schedule. ---- */

struct serve_training *serve_queue_find(struct serve *serve, const char *name);
void serve_queue_add(struct serve *serve, struct serve_training *training); /* by age */
void serve_queue_take_out(struct serve *serve, struct serve_training *training);

/* Starts and pauses workers by the schedule. */
void serve_queue_schedule(struct serve *serve);

/* Every fifth of a second: budgets, graces, orphaned workers. */
void serve_queue_tick(struct serve *serve);

bool serve_queue_is_busy(const struct serve *serve);     /* is there a worker, or one that waits? */
bool serve_queue_has_workers(const struct serve *serve); /* of its own */

/* Opens its events.jsonl, if it is not open. */
bool serve_queue_open_events(struct serve_training *training);

/* Writes the record; a failure is logged. */
int serve_queue_save(struct serve_training *training);

int64_t serve_queue_wanted_mib(const struct serve_training *training); /* the limit of its next worker */
int64_t serve_queue_memory_mib(const struct serve_training *training); /* of its worker, or of the next */
int64_t serve_queue_promised_mib(const struct serve *serve);

/* ---- run.c: a training's worker. ---- */

void serve_run_begin(struct serve_training *training, int place); /* a device's index, or SCHEDULE_CPU */

/* Asks it to end, for that reason; if it was asked already, only the reason changes. */
void serve_run_ask(struct serve_training *training, enum training_ending ending);
void serve_run_kill(struct serve_training *training);

/* Measures its usage and enforces its budgets. */
void serve_run_look(struct serve_training *training);

/* A worker that has stalled for [serve] hung_s is killed, and counts as one that crashed. */
void serve_run_watch(struct serve_training *training, int64_t passed_ms);

/* Enters the state that follows from why it was asked to end. */
void serve_run_end_as_asked(struct serve_training *training);

/* It waits for its turn, as from now. */
void serve_run_again(struct serve_training *training);

/* ---- orphans.c: records and workers of a former co-process. ---- */

/* Reads the records that are there. 0 or -errno with a sentence. */
int serve_orphans_load(struct serve *serve, char err[static SERVE_ERROR_MAX]);

/* For a training whose orphaned worker may live: asks that to end; once it is gone the training continues. */
void serve_orphans_look(struct serve_training *training);

pid_t serve_orphans_pid(const struct serve_training *training); /* of that worker; 0: unknown */

/* ---- command.c ---- */

control_handler serve_command;
extern const char *const serve_reserve[]; /* what a reserve connection answers */

/* Answers with the errors of a configuration. */
void serve_command_refuse(struct control_call *call, json_t *errors);

/* ---- command_plan.c: `start`, `check` and `plan`, answered once a probe has looked at the configuration.
 * ---- */

/* Starts a training, and answers; `warning`: what the client should know of it, NULL: nothing. */
typedef void serve_plan_begin(struct serve *serve, struct control_call *call, json_t *args,
                              const char *warning);

/* Each is false where the configuration in `args` need not be looked at (a training that no device here
 * trains), or cannot beside the loop: nothing was answered. A plan looks at any. */
bool serve_plan_start(struct serve *serve, struct control_call *call, json_t *args, serve_plan_begin *begin);
bool serve_plan_check(struct serve *serve, struct control_call *call, json_t *args);
bool serve_plan_show(struct serve *serve, struct control_call *call, json_t *args);

/* A training's configuration file as text: its errors, and the names that the co-process gives. */

/* All errors, in order, as [{"line","section","key","message"}]; line 0 and "" where an error has none. An
 * empty array: no error. NULL without memory. */
json_t *serve_configuration_errors(const char *text);
/* The same, and what its state's database does not have: symbols, and with `bars` bars of its interval, which
 * may come until it starts. */
json_t *serve_configuration_refused(const char *text, bool bars);
/* train_config_untradable() of the text, else study_rules_long_only(). */
bool serve_configuration_warns(const char *text, char ret[static CONFIG_ERROR_MAX]);

/* The text with `name` and `output` in its [training] replaced. For free(); NULL with a sentence. `text` has
 * no errors. */
char *serve_configuration_complete(const char *text, const char *name, const char *output,
                                   char err[static CONFIG_ERROR_MAX]);

/* Where a configuration from the socket may have its files written. */

/* Is `path`, which need not exist yet, the folder or below it, with every symbolic link followed? Also false
 * where a folder on its way cannot be read, or is named "..". Both are absolute. */
bool serve_output_is_below(const char *folder, const char *path);

/* The same for any of `folders`, names separated by commas; NULL or "": none. */
bool serve_output_is_below_one(const char *folders, const char *path);

#endif
