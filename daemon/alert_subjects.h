/* The figures of the alert rules (alert_rules.h) that watch devices and trainings. Pure. */
#ifndef DAEMON_ALERT_SUBJECTS_H
#define DAEMON_ALERT_SUBJECTS_H

#include "daemon/alert_rules.h"
#include "daemon/training/training.h"
#include "record/device.h"

/* Where changes go, in order. */
struct alert_sink {
    void *ctx;
    void (*change)(void *ctx, const struct alert_decision *decision);
};

/* A device in texts: "NVIDIA H100 80GB HBM3 (GPU-8f6c2a11)": its name, and as much of its key as says which.
 */
void daemon_alert_device_name(const struct device_sample *device, char ret[static ALERT_WHERE_MAX]);

/* Reads one sample of each device. now_ns as daemon_alert_rules_read(). */
void daemon_alert_read_devices(struct alert_rules *rules, const struct device_sample *devices, int n,
                               int64_t now_ns, const struct alert_sink *sink);

struct training_seen {
    const struct training *training;
    int64_t reported_age_ms;
    bool current;     /* the co-process answers, and reported it a moment ago */
    int64_t known_ns; /* since when this run knows of it, … */
    int64_t
        trial_ns; /* … and when the last of its trials finished, where that is known: else 0. Wall clock */
};

/* Reads one training, on the devices of the last sample; nothing of one that does not work. A device is
 * matched to it where it is the only one of NVIDIA, or lists the training's worker among its processes. */
void daemon_alert_read_training(struct alert_rules *rules, const struct training_seen *seen,
                                const struct device_sample *devices, int n, int64_t now_ns, int64_t wall_ns,
                                const struct alert_sink *sink);

/* No further subject follows: what is gone is over. */
void daemon_alert_read_end(struct alert_rules *rules, const struct alert_sink *sink);

#endif
