/* What of a training is worth an alert. Pure. */
#ifndef DAEMON_TRAINING_ALERT_H
#define DAEMON_TRAINING_ALERT_H

#include "daemon/training/training.h"
#include "db/row.h"

enum { TRAINING_ALERT_TEXT_MAX = 400 };

struct training_alert {
    const char *code; /* TRAINING_FAILED, TRAINING_NAN, TRAINING_MEMORY, TRAINING_DEVICE, TRAINING_STALLED */
    enum db_severity severity;
    char text[TRAINING_ALERT_TEXT_MAX];
};

/* What was told of a training before: struct training's, of when it was last stored. */
struct training_told {
    char state[TRAINING_WORD_MAX], cause[TRAINING_WORD_MAX];
    int64_t attempts, created_ns;
};
void training_told_of(const struct training *training, struct training_told *ret);

/* It ended by itself, or is begun again after its worker's end: once for each of its processes. `before`
 * NULL: nothing was told of it. */
bool training_alert(const struct training_told *before, const struct training *now,
                    struct training_alert *ret);

/* Its worker is silent. */
void training_alert_stalled(const struct training *training, struct training_alert *ret);

#endif
