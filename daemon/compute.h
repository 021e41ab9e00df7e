/* The device: looks for the GPU module away from the loop, which must not wait for a driver, gives it to
 * whoever computes with it, and looks again after it failed, each time after twice as long, until one has
 * been in use for long. Where there is none, the CPU does the same work and the status says why. */
#ifndef DAEMON_COMPUTE_H
#define DAEMON_COMPUTE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct compute;
struct gpu_module;

enum { COMPUTE_SILENT_MS = 10000 }; /* a device that does not come back from a call for longer is told of */

struct compute_config {
    void *ctx;
    void (*found)(void *ctx, struct gpu_module *module); /* on the loop; the module is the taker's */
    const char *unwanted;                                /* why none is looked for, for ever; NULL: one is */
    int64_t retry_ms;     /* between a failure and the next look; 0: never again */
    int64_t retry_max_ms; /* it doubles up to this, and begins anew once a device was in use for as long */
};

/* Starts to look for a device. NULL without memory. */
struct compute *daemon_compute_create(uv_loop_t *loop, const struct compute_config *config);

/* The device that was found has failed, and its module is closed. Returns in how many milliseconds it is
 * looked for again; 0: not at all. */
int64_t daemon_compute_failed(struct compute *compute, const char *reason);

/* {"backend":"cpu","device":null,"reason":"…"}; `on_device`: the work is done there; `call_ms`: how long the
 * call to the device that is under way has lasted, 0 for none. */
json_t *daemon_compute_object(const struct compute *compute, bool on_device, int64_t call_ms);

/* Frees it; the loop must still run. A search that has not ended, as with a driver that hangs, is left to
 * itself. */
void daemon_compute_stop(struct compute *compute);

/* Was one left behind? Then the process must end without waiting for it. */
bool daemon_compute_abandoned(void);

#endif
