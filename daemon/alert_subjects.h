/* The figures of the alert rules (alert_rules.h) that watch devices and trainings. Pure. */
#ifndef DAEMON_ALERT_SUBJECTS_H
#define DAEMON_ALERT_SUBJECTS_H

#include "daemon/alert_devices.h"
#include "daemon/alert_rules.h"
#include "daemon/training/training.h"

/* Where changes go, in order. */
struct alert_sink {
    void *ctx;
    void (*change)(void *ctx, const struct alert_decision *decision);
};

/* Reads one figure. now_ns as daemon_alert_rules_read(). */
void daemon_alert_read(struct alert_rules *rules, const struct alert_reading *reading, int64_t now_ns,
                       const struct alert_sink *sink);

/* Takes one sample of the devices, and reads each of them, and those that are lost. now_ns as
 * daemon_alert_rules_read(). */
void daemon_alert_read_devices(struct alert_rules *rules, struct alert_devices *seen,
                               const struct alert_sample *sample, int64_t now_ns,
                               const struct alert_sink *sink);

struct training_seen {
    const struct training *training;
    int64_t reported_age_ms;
    bool current;     /* the co-process answers, and reported it a moment ago */
    int64_t known_ns; /* since when this run knows of it, … */
    int64_t
        trial_ns; /* … and when the last of its trials finished, where that is known: else 0. Wall clock */
};

/* Reads one training, on the devices of the last sample, which was taken; nothing of one that does not work.
 * A device is matched to it where it is the only one of NVIDIA, or lists the training's worker among its
 * processes; one on the CPU has no device. */
void daemon_alert_read_training(struct alert_rules *rules, const struct training_seen *seen,
                                const struct alert_devices *known, const struct alert_sample *sample,
                                int64_t now_ns, int64_t wall_ns, const struct alert_sink *sink);

/* No further subject follows: what is gone is over. */
void daemon_alert_read_end(struct alert_rules *rules, const struct alert_sink *sink);

#endif
