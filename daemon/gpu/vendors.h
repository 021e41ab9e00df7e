/* The devices of all vendors: one sample of them together, with one line that says what failed. Their drivers
 * may block, so they belong on a worker thread (sampler.h), one at a time. */
#ifndef DAEMON_GPU_VENDORS_H
#define DAEMON_GPU_VENDORS_H

#include "daemon/gpu/source.h"

enum { GPU_VENDORS = 3 };

/* One vendor's, open or waiting to be opened again. */
struct gpu_vendor {
    void *opened; /* NULL: not */
    int wait;     /* samples until it is opened; while a device is gone, until it is opened again */
    char reason[GPU_REASON_MAX];            /* "": nothing failed, or there is no device */
    char keys[DEVICES_MAX][DEVICE_KEY_MAX]; /* of the last sample in which all were there */
    int n_keys;
};

struct gpu_vendors { /* zeroed: all are closed */
    struct gpu_vendor all[GPU_VENDORS];
};

struct gpu_result {
    char reason[GPU_REASON_MAX]; /* of each vendor that has one, cut where too long; "": all is well */
    struct device_sample devices[DEVICES_MAX];
    int n_devices;
    int64_t sampled_ns; /* the wall's time at which it began */
};

/* A driver that is absent or fails is opened again after 30 samples. A device that was there and is gone is
 * named, while the others are sampled, until there are as many of its vendor as before; every 30 samples the
 * vendor's driver is opened again to look for it. */
void daemon_gpu_vendors_sample(struct gpu_vendors *vendors, struct gpu_result *result);

void daemon_gpu_vendors_close(struct gpu_vendors *vendors);

#endif
