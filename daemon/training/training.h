/* A training as it was last told of: by the co-process (docs/serve.md), or by the database until that
 * answers. */
#ifndef DAEMON_TRAINING_TRAINING_H
#define DAEMON_TRAINING_TRAINING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/row.h"

enum {
    TRAINING_NAME_MAX = 32, /* with its NUL: names become accounts' */
    TRAINING_WORD_MAX = 24,
    TRAINING_BACKEND_MAX = 96,
    TRAINING_REASON_MAX = 512,
    TRAINING_FILE_MAX = 1024,
    TRAINING_STUDY_MAX = 64,
};

struct training {
    char name[TRAINING_NAME_MAX], state[TRAINING_WORD_MAX], cause[TRAINING_WORD_MAX],
        device[TRAINING_WORD_MAX];
    char backend[TRAINING_BACKEND_MAX], reason[TRAINING_REASON_MAX];
    char study[TRAINING_STUDY_MAX];                                /* its run in studies.db; "": a training */
    char checkpoint[TRAINING_FILE_MAX], policy[TRAINING_FILE_MAX]; /* paths; "" for none */
    int64_t priority, steps, total_steps, iteration, attempts, restarts;
    int64_t checkpoint_steps, retry_in_ms, expected_ms, heard_age_ms; /* -1: not known */
    int64_t created_ns, started_ns, ended_ns, heard_ns;               /* wall; 0: not yet */
    int64_t due_ns; /* a scheduled study's next run; 0: none */
    int64_t seq;    /* the newest event that there is */
    double steps_s, episode_return, memory_mib, memory_limit_mib, device_mib, cpu_s, cpu_limit_s; /* NaN */
    double utilisation, cpu_utilisation;
    double state_s, state_limit_s; /* by its heartbeat in this state, and how long it may be; NaN */
    int64_t pid;                   /* of its worker; -1: none */
    bool stopping;
};

/* Control characters and bytes that are no UTF-8 become '?'; a character that was cut at the end goes. */
void daemon_training_clean(char *text);

bool daemon_training_state_ended(const char *state); /* done, failed, stopped */
bool daemon_training_state_works(const char *state); /* it has a worker */

/* What `list` tells of one. Numbers that cannot be are taken for not known; control characters in texts
 * become '?'. 0; -EPROTO without a good name, a state of docs/serve.md and times that can be. */
int daemon_training_parse(const json_t *object, struct training *ret);

/* As the database has it, and as it is put there: `seq` is of the events that are stored, and texts are
 * borrowed. */
void daemon_training_of_row(const struct db_training *row, struct training *ret);
void daemon_training_row(const struct training *training, const char *config, int64_t seq,
                         struct db_training *ret);

/* Is anything else to be stored of it? */
bool daemon_training_changed(const struct training *before, const struct training *now);

/* Of the status: docs/control.md. `told_age_ms` is the time since it was told, `live` whether the co-process
 * answers now. */
json_t *daemon_training_object(const struct training *training, int64_t told_age_ms, bool live);

/* Its worker lives, but has been in one state for longer than it may. */
bool daemon_training_hangs(const struct training *training);

/* That, or its worker should have been heard by now: ten times what is expected, a minute at least. */
bool daemon_training_stalled(const struct training *training, int64_t told_age_ms);

#endif
