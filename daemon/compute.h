/* The device: searches for the GPU module on a thread, since the loop must not wait for a driver, gives it
 * to the board, and searches again after it failed, after twice the delay each time, until a device has
 * been in use for long. Without a device the CPU does the same work and the status says why. */
#ifndef DAEMON_COMPUTE_H
#define DAEMON_COMPUTE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct compute;
struct gpu_module;

enum { COMPUTE_SILENT_MS = 10000 }; /* a call to the device that lasts longer raises an alert */

struct compute_config {
    void *ctx;
    void (*found)(void *ctx, struct gpu_module *module); /* on the loop; the module is the taker's */
    const char *unwanted;                                /* why no device is searched for; NULL: one is */
    int64_t retry_ms;     /* between a failure and the next look; 0: never again */
    int64_t retry_max_ms; /* it doubles up to this, and starts from retry_ms again once a device was in use
                             for as long */
};

/* Starts the search for a device. NULL without memory. */
struct compute *daemon_compute_create(uv_loop_t *loop, const struct compute_config *config);

/* The device that was found has failed, and its module is closed. Returns in how many milliseconds the next
 * search starts; 0: never. */
int64_t daemon_compute_failed(struct compute *compute, const char *reason);

/* The device is free again, and its module closed: it is searched for at once; `unwanted` as in the
 * configuration. */
void daemon_compute_again(struct compute *compute, const char *unwanted);

/* {"backend":"cpu","device":null,"reason":"…"}; `on_device`: the work is done there; `call_ms`: how long the
 * call to the device that is under way has lasted, 0 for none. */
json_t *daemon_compute_object(const struct compute *compute, bool on_device, int64_t call_ms);

/* Frees it; the loop must still run. A search that has not ended, as with a driver that hangs, is
 * abandoned. */
void daemon_compute_stop(struct compute *compute);

/* Was a search abandoned? Then the process must end without waiting for it. */
bool daemon_compute_abandoned(void);

#endif
