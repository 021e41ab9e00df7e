/* The devices that were seen since the start: what they are called in texts, and which of them are lost.
 * Pure.
 */
#ifndef DAEMON_ALERT_DEVICES_H
#define DAEMON_ALERT_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/alert_rules.h"
#include "daemon/gpu/source.h"
#include "record/device.h"

/* The devices as they were sampled last (struct gpu_status). */
struct alert_sample {
    const struct device_sample *devices;
    int n;
    bool stalled;       /* the driver does not answer: no figure is known */
    const char *reason; /* one line; "": nothing failed */
    int64_t sampled_ns; /* when it came back, of the clock of daemon_alert_rules_read() */
};

struct alert_device {
    char key[DEVICE_KEY_MAX], name[DEVICE_NAME_MAX];
    int shown;                   /* so many characters of the key, without its vendor, say which it is */
    bool sampled;                /* since the start: a figure of it was known */
    bool known;                  /* a figure is */
    bool stalled;                /* the reason is that of a driver that did not answer */
    int64_t last_ns;             /* when its last figure came; before that, when it was seen first */
    char reason[GPU_REASON_MAX]; /* why no figure is known; "": one is */
};

/* Beyond it the one that has been gone for longest is forgotten. {0} is empty. */
enum { ALERT_DEVICES_MAX = 4 * DEVICES_MAX };
struct alert_devices {
    struct alert_device list[ALERT_DEVICES_MAX]; /* in the order in which they were seen first */
    int n;
};

/* Takes a sample; the same one may be taken again. */
void daemon_alert_devices_take(struct alert_devices *seen, const struct alert_sample *sample);

/* "NVIDIA H100 80GB HBM3 (GPU-8f6c2a11)": its name, and its key: of an NVIDIA device the first 8 digits, or
 * as many as distinguish it from all others that there were when it was seen first; of others all. It stays
 * the same. */
void daemon_alert_device_name(const struct alert_devices *seen, const struct device_sample *device,
                              char ret[static ALERT_WHERE_MAX]);

/* For how many seconds no figure of it has been known, 0 where one is; NaN: none ever was. `detail` as the
 * rule GPU_LOST says it. */
double daemon_alert_device_lost(const struct alert_device *device, int64_t now_ns,
                                char detail[static DB_ALERT_TEXT_MAX]);

/* What it is called, as daemon_alert_device_name(). */
void daemon_alert_device_where(const struct alert_device *device, char ret[static ALERT_WHERE_MAX]);

#endif
