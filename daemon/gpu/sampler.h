/* Samples the GPUs of all vendors periodically on a thread of its own, for the loop to read without waiting.
 * Not on one of libuv's threads: a driver that hangs would occupy it for ever and so keep the loop and the
 * program from ending. */
#ifndef DAEMON_GPU_SAMPLER_H
#define DAEMON_GPU_SAMPLER_H

#include <stdint.h>
#include <uv.h>

#include "daemon/gpu/source.h"

enum gpu_state {
    GPU_NOT_AVAILABLE, /* no device, a driver that fails, or no answer yet: the reason says which */
    GPU_OK,
    GPU_STALLED, /* a driver has not answered for three intervals: of the devices only the names are known */
};

struct gpu_status {
    enum gpu_state state;
    /* One line, the same for as long as what it says lasts. "no GPU": no vendor has a device here. Else what
     * failed, beside the devices that are sampled too: a vendor's driver, devices that are gone or do not
     * answer; "": nothing did. */
    char reason[GPU_REASON_MAX];
    struct device_sample devices[DEVICES_MAX];
    int n_devices;
    uint64_t samples;    /* that came back */
    uint64_t sampled_ms; /* uv_now() when the last one came back; 0: none yet */
    int64_t sampled_ns;  /* the wall's time at which it began; 0: none yet */
};

const char *daemon_gpu_state_name(enum gpu_state state); /* "n/a", "ok", "stalled" */

struct gpu_sampler;

/* Samples at once and then every interval_ms. A vendor's driver that is absent or fails, or one of
 * whose devices is gone, is opened again every 30 samples. While a sample is under way no other starts,
 * however long it takes. Keeps no loop alive. 0 or -errno. */
int daemon_gpu_sampler_create(uv_loop_t *loop, uint64_t interval_ms, struct gpu_sampler **ret);

/* The last results; belongs to the sampler and changes only when the loop turns. */
const struct gpu_status *daemon_gpu_sampler_status(const struct gpu_sampler *sampler);

/* Stops sampling; the sampler's handles close on the loop's next turns. It does not wait for a sample that
 * is under way: its thread frees what is left if the driver ever answers. NULL is fine. */
void daemon_gpu_sampler_destroy(struct gpu_sampler *sampler);

#endif
