/* The thread that owns the GPU. It loads the module away from the loop, which must not wait for a driver;
 * where there is none, the CPU does the same work and the status says why. */
#ifndef DAEMON_COMPUTE_H
#define DAEMON_COMPUTE_H

#include <jansson.h>
#include <uv.h>

struct compute;

/* Starts to look for a device. NULL without memory. */
struct compute *compute_create(uv_loop_t *loop);

/* {"backend":"cpu","device":null,"reason":"…"}; `device` is what the module found. */
json_t *compute_object(const struct compute *compute);

/* Frees it, at once or when the search has ended; the loop must still run. */
void compute_stop(struct compute *compute);

#endif
