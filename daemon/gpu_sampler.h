/* Samples the GPUs periodically on a thread of its own, for the loop to read without waiting. Not on one of
 * libuv's threads: a driver that hangs would occupy it for ever and so keep the loop and the program from
 * ending. */
#ifndef DAEMON_GPU_SAMPLER_H
#define DAEMON_GPU_SAMPLER_H

#include <stdint.h>
#include <uv.h>

#include "daemon/nvml.h"

enum gpu_state {
    GPU_NOT_AVAILABLE, /* no library, no driver, no device, or no answer yet: the reason says which */
    GPU_OK,
    GPU_STALLED, /* the driver has not answered for three intervals: of the devices only the names are valid
                  */
};

struct gpu_status {
    enum gpu_state state;
    char reason[GPU_REASON_MAX]; /* "" when ok */
    char driver[GPU_DRIVER_MAX]; /* "" when not known */
    struct gpu_device devices[GPU_DEVICES_MAX];
    int n_devices;
    uint64_t samples;    /* that came back */
    uint64_t sampled_ms; /* uv_now() of the last that came back; 0: none yet */
};

const char *daemon_gpu_state_name(enum gpu_state state); /* "n/a", "ok", "stalled" */

struct gpu_sampler;

/* Samples at once and then every interval_ms. A library that is absent or refuses is tried again every 30
 * intervals. While a sample is under way no other starts, however long it takes. Keeps no loop alive. 0 or
 * -errno. */
int daemon_gpu_sampler_create(uv_loop_t *loop, uint64_t interval_ms, struct gpu_sampler **ret);

/* The last results; belongs to the sampler and changes only when the loop turns. */
const struct gpu_status *daemon_gpu_sampler_status(const struct gpu_sampler *sampler);

/* Stops sampling; the sampler's handles close on the loop's next turns. It does not wait for a sample that
 * is under way: its thread frees what is left if the driver ever answers. NULL is fine. */
void daemon_gpu_sampler_destroy(struct gpu_sampler *sampler);

#endif
