/* Which states and events of a training raise an alert, and the words of the rules on trainings
 * (daemon/alert_rules.h). Pure. */
#ifndef DAEMON_TRAINING_ALERT_H
#define DAEMON_TRAINING_ALERT_H

#include "daemon/training/training.h"
#include "db/row.h"

enum { TRAINING_ALERT_TEXT_MAX = 400 };

struct training_alert {
    const char *code; /* TRAINING_FAILED, TRAINING_NAN, TRAINING_MEMORY, TRAINING_DEVICE, TRAINING_DISK */
    enum db_severity severity;
    bool lasts;        /* of a condition: it works, with a fault; `about` is what the text begins with */
    const char *about; /* the training's name, which is the giver's */
    char text[TRAINING_ALERT_TEXT_MAX];
};

/* What was reported of a training before: the part of struct training when it was last stored, and the
 * newest event of a state that the co-process put it into. */
struct training_reported {
    char state[TRAINING_WORD_MAX], cause[TRAINING_WORD_MAX];
    int64_t attempts, created_ns;
    char trouble[TRAINING_WORD_MAX]; /* the cause reported while it works; "" */
    char event_state[TRAINING_WORD_MAX], event_cause[TRAINING_WORD_MAX], event_reason[TRAINING_REASON_MAX];
};
/* Of one that is stored as it is; the event stays. */
void daemon_training_reported_of(const struct training *training, struct training_reported *reported);

/* It ended by itself, is restarted after its worker's end, or warns with a cause, by an event: each once,
 * except an event that only repeats the one before it. Every event must be passed in, in order. */
bool daemon_training_alert_event(struct training_reported *reported, const char *name, const json_t *event,
                                 struct training_alert *ret);

/* The same by the state of a training whose events are all known, where no event reported it: a full disk
 * loses events. `stored` false: nothing was reported of it before. */
bool daemon_training_alert_state(const struct training_reported *reported, bool stored,
                                 const struct training *now, struct training_alert *ret);

/* How its worker has stalled: daemon_training_stalled(). */
void daemon_training_stalled_words(const struct training *training, char ret[static TRAINING_ALERT_TEXT_MAX]);

/* When a study's trial finished, by its event; 0: it is no such event. */
int64_t daemon_training_trial_ns(const json_t *event);

/* Is that trial better than all complete ones before it, of which there is one? With its figures. */
bool daemon_training_best_words(const json_t *event, char ret[static TRAINING_ALERT_TEXT_MAX]);

#endif
