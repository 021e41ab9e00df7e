/* One training as the co-process has it: its record, its configuration's requirements, its events and its
 * current figures. Knows files and JSON, no processes. */
#ifndef TRAINER_SERVE_TRAINING_H
#define TRAINER_SERVE_TRAINING_H

#include <jansson.h>

#include "trainer/config.h"
#include "trainer/serve/events.h"
#include "trainer/serve/record.h"
#include "trainer/serve/schedule.h"
#include "trainer/serve/worker.h"

struct serve;

/* A configuration's requirements of the co-process. */
struct training_wants {
    bool study;         /* it is a study: its worker runs `study` */
    int64_t every_ns;   /* of a study: how often it is run again; 0: once */
    bool on_device;     /* where there is one */
    bool insists;       /* refuses to run without a device */
    int64_t memory_mib; /* 0: the co-process' own */
    double cpu_hours;   /* 0: no end */
    int restarts, priority;
    int64_t hung_ms; /* how long it may be stalled; 0: for ever */
    int64_t total_steps;
    char output[CONFIG_PATH_MAX], tensorboard[CONFIG_PATH_MAX];
};

struct serve_training {
    struct serve_training *next; /* by age */
    struct serve *serve;
    struct training_record record;
    struct training_wants wants;
    struct events events;
    char folder[PATH_MAX];

    struct worker *worker; /* NULL: none of this process */
    bool orphaned;         /* a former co-process' worker may live */
    int64_t limit_mib;     /* the worker's memory limit */
    int place;             /* where the worker is: a device's index, or SCHEDULE_CPU */
    int64_t asked_ms;      /* the loop's time when it was asked to end; 0: it was not */
    int64_t grace_ms;
    bool killed;         /* and was killed after that */
    bool dirty;          /* the record should be written before long */
    int64_t retry_at_ms; /* the loop's time; 0: at once */

    /* Of the worker's events and usage; NaN, -1: unknown. */
    int64_t reported_ns, reported_ms;
    double steps_s, utilisation, cpu_utilisation, device_mib;
    double iteration_s, checkpoint_s; /* the longest; < 0: none yet */
    int64_t checkpointing_ms;         /* when it began to write one; 0: it does not */
    int64_t resident_bytes;
    double worker_cpu_s;
    /* Of each state the longest completed one, s, of all processes; < 0: none. Of the last heartbeat: the
     * state, and how long it had lasted; < 0: another line came since. */
    double longest_s[TRAINING_STATES];
    enum training_state beat_state;
    double beat_s;
    int64_t hung_ms; /* how long it has been stalled, as far as this process could notice; 0: it is not */
    bool unsaved;    /* its last checkpoint or policy could not be written: the reason says why */
    bool said_start, said_end;
    char said_result[TRAINING_RECORD_WORD_MAX], said_cause[TRAINING_RECORD_WORD_MAX],
        said[TRAINING_RECORD_REASON_MAX];
};

/* An empty one of that name, its folder made. NULL with a sentence. */
struct serve_training *serve_training_create(const char *trainings, const char *name,
                                             char err[static TRAINING_RECORD_ERROR_MAX]);
void serve_training_destroy(struct serve_training *training); /* has no worker */

/* Forgets the last worker's figures: a new process starts. */
void serve_training_forget(struct serve_training *training);

/* Also forgets how long its states last: that depends on the settings. */
void serve_training_forget_longest(struct serve_training *training);

/* Reads the configuration's requirements. 0; -EINVAL with a sentence. */
int serve_training_wants_read(const char *config, struct training_wants *ret,
                              char err[static CONFIG_ERROR_MAX]);

/* Writes record.json. 0 or -errno with a sentence. */
int serve_training_save(struct serve_training *training, char err[static TRAINING_RECORD_ERROR_MAX]);
/* Writes a new training's first record: its folder's name is synced as well. */
int serve_training_save_first(struct serve_training *training, char err[static TRAINING_RECORD_ERROR_MAX]);

/* Writes training.ini as the record has it. 0 or -errno. */
int serve_training_write_config(const struct serve_training *training);

/* Takes an event of the worker: figures, states; and stores it. Returns whether the record should be written
 * soon: a checkpoint or a policy was written. */
bool serve_training_take_event(struct serve_training *training, json_t *event, int64_t now_ns,
                               int64_t now_ms);

/* A sentence for a training that ended with the cause `disk`: what is lost. */
void serve_training_lost(const struct serve_training *training, char ret[static TRAINING_RECORD_REASON_MAX]);

/* Its checkpoints are gone: writes an event and the reason that it starts again. */
void serve_training_report_restart(struct serve_training *training, int64_t now_ns);

/* Enters a state and stores that as an event, except those that a worker reports itself; reason and cause
 * become the record's. The record is not written. */
void serve_training_enter(struct serve_training *training, enum training_state state, const char *cause,
                          int64_t now_ns, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A study's next run has a name of its own in studies.db: NAME, or NAME@2026-11-22T14:00:00Z of one that is
 * scheduled or restarted. */
void serve_training_name_run(struct serve_training *training, int64_t now_ns);

/* A scheduled study whose run is over waits for the next: `every` after this one began, or now. */
void serve_training_wait_due(struct serve_training *training, int64_t now_ns);

/* How the next worker starts: by the checkpoints of its name in its output folder. Where it replaces an
 * earlier training and has checkpoints of its own, the earlier ones are removed. */
enum worker_begin serve_training_begin(const struct serve_training *training);

/* As docs/serve.md has it. NULL without memory. */
json_t *serve_training_json(const struct serve_training *training, int64_t memory_limit_mib, int64_t now_ms);

#endif
