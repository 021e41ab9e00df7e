/* A training as it was last reported: by the co-process (docs/serve.md), or by the database until that
 * answers. */
#ifndef DAEMON_TRAINING_TRAINING_H
#define DAEMON_TRAINING_TRAINING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/config.h"
#include "db/row.h"
#include "record/status.h"

enum {
    TRAINING_NAME_MAX = 32, /* with its NUL: names become accounts' */
    TRAINING_WORD_MAX = 24,
    TRAINING_BACKEND_MAX = 96,
    TRAINING_REASON_MAX = 512,
    TRAINING_FILE_MAX = 1024,
    TRAINING_STUDY_MAX = 64,
};

/* Counts are -1 and reals NaN where they are not known; times are the wall's, 0 for not yet. */
#define TRAINING_SHOWN(TEXT, FIELD) RECORD_SHOWN_TRAINING(TEXT, FIELD, name)
struct training {
    RECORD_KEPT(TRAINING_SHOWN)
    RECORD_KEPT(RECORD_TRAINING_LAST_LINE)
};

/* Replaces control characters and bytes that are no UTF-8 by '?'; drops a character that was cut at the
 * end. */
void daemon_training_clean(char *text);

bool daemon_training_state_ended(const char *state); /* done, failed, stopped */
bool daemon_training_state_works(const char *state); /* it has a worker */

/* Parses one training of `list`. Invalid numbers are taken for not known; control characters in texts
 * become '?'. 0; -EPROTO without a valid name, a state of docs/serve.md and valid times. */
int daemon_training_parse(const json_t *object, struct training *ret);

/* As the database has it, and as it is put there: `seq` is of the events that are stored, and texts are
 * borrowed. */
void daemon_training_of_row(const struct db_training *row, struct training *ret);
void daemon_training_row(const struct training *training, const char *config, int64_t seq,
                         struct db_training *ret);

/* Has anything changed that is stored? */
bool daemon_training_changed(const struct training *before, const struct training *now);

/* Of the status: docs/control.md. `reported_age_ms` is the time since it was reported, `live` whether the
 * co-process answers now. */
json_t *daemon_training_object(const struct training *training, int64_t reported_age_ms, bool live);

/* Its worker lives, but has been in one state for longer than it may. */
bool daemon_training_hangs(const struct training *training);

/* That, or its worker should have reported by now: ten times what is expected, a minute at least. */
bool daemon_training_stalled(const struct training *training, int64_t reported_age_ms);

/* The configuration of a training that is given none (defaults.c): the trainer's defaults on the daemon's own
 * bars that open before `before_ns`, which all its processes then see alike (0: all that there are), with the
 * first account's cash and costs. `state_dir` is absolute. For free(); NULL without memory. */
char *daemon_training_defaults(const struct daemon_config *config, const char *state_dir, int64_t before_ns);

#endif
