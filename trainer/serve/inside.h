/* Inside the co-process: what its files share. */
#ifndef TRAINER_SERVE_INSIDE_H
#define TRAINER_SERVE_INSIDE_H

#include <uv.h>

#include "exchange/net/control.h"
#include "trainer/serve/serve.h"
#include "trainer/serve/training.h"

struct serve {
    const struct serve_options *options;
    uv_loop_t loop;
    uv_timer_t tick, watchdog;
    uv_signal_t sigterm, sigint;
    struct control *control;
    struct training *trainings; /* by age */
    char folder[PATH_MAX];      /* trainings/ of the state */
    char checkpoints[PATH_MAX]; /* where they go unless a configuration says */
    char boot[RECORD_BOOT_MAX];
    int lock;
    int64_t started_ns, idle_since_ms, looked_ms;
    bool ending;
};

int64_t serve_now_ns(void);                      /* the wall's */
int64_t serve_now_ms(const struct serve *serve); /* the loop's */

/* ---- queue.c: what becomes of trainings. ---- */

/* Reads the records that are there. 0 or -errno with a sentence. */
int queue_load(struct serve *serve, char err[static SERVE_ERROR_MAX]);
struct training *queue_find(struct serve *serve, const char *name);
void queue_add(struct serve *serve, struct training *training); /* by age */
void queue_take_out(struct serve *serve, struct training *training);

/* Begins and pauses as the schedule says. */
void queue_schedule(struct serve *serve);

/* Every fifth of a second: budgets, graces, workers that a former co-process left. */
void queue_tick(struct serve *serve);

/* Is there a worker, or one that waits? */
bool queue_is_busy(const struct serve *serve);
bool queue_has_workers(const struct serve *serve);

/* Its worker is asked to end, for that reason; of one that was asked already only the reason changes. */
void queue_ask(struct training *training, enum training_ending ending);
void queue_kill(struct training *training);

/* It waits for its turn, as from now. */
void queue_again(struct training *training);

/* Opens its events.jsonl, where it is not open. */
bool queue_open_events(struct training *training);

/* Writes the record; what fails is told. */
int queue_save(struct training *training);

int64_t queue_memory_mib(const struct training *training); /* its limit */
int64_t queue_promised_mib(const struct serve *serve);

/* ---- command.c ---- */

control_handler serve_command;

#endif
