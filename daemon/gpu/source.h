/* One vendor's devices, behind a table of three functions. They may block as long as a driver does, so they
 * belong on a worker thread (sampler.h); one thread at a time may use what was opened. */
#ifndef DAEMON_GPU_SOURCE_H
#define DAEMON_GPU_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "record/device.h"

enum { GPU_REASON_MAX = 256 };

#define GPU_NO_ANSWER "it does not answer" /* of a device no figure is known */

struct gpu_source {
    /* 0; -ENOENT: there is no device of this vendor here, which needs no words; another -errno, with a
     * sentence that says what failed. */
    int (*open)(void **ret, char reason[static GPU_REASON_MAX]);

    /* Asks all devices, `room` of them at most; writes their number, and whole samples. `now_ns` is
     * monotonic: what a driver counts from its start is divided by the time between two calls, and not known
     * in the first. What one device does not say is NaN, "", or !processes_known; one that is gone is left
     * out. -errno with a sentence: close, and open later. */
    int (*sample)(void *source, int64_t now_ns, struct device_sample *devices, int room, int *ret_n,
                  char reason[static GPU_REASON_MAX]);

    void (*close)(void *source); /* NULL is fine */
};

extern const struct gpu_source daemon_gpu_nvidia; /* nvml.c: NVIDIA's management library */
extern const struct gpu_source daemon_gpu_amd;    /* amd.c: sysfs of amdgpu, and fdinfo.h */
extern const struct gpu_source daemon_gpu_intel;  /* intel.c: sysfs of i915 and xe, and fdinfo.h */

/* ---- device.c ---- */

/* A device of which nothing is known. */
void daemon_gpu_device_clear(struct device_sample *device);

/* Its figures and processes are not known any more; its names stay. */
void daemon_gpu_device_forget(struct device_sample *device);

/* Replaces what a screen may not show, control characters and all beyond ASCII, by '?'. */
void daemon_gpu_clean(char *text);

/* Is any of its figures known? One that does not answer has no known figure. */
bool daemon_gpu_device_known(const struct device_sample *device);

/* The name of its program, "" where that is not known. */
void daemon_gpu_process_name(struct device_process *process);

/* Adds a process, or the figures that another entry for it lacks; a full list drops the one of the least
 * memory. */
void daemon_gpu_device_add(struct device_sample *device, const struct device_process *process);

/* Decides whether the list of a device is worth showing, once its figures are there. `listed`: the driver
 * listed its processes, hiding none that it had to hide. An empty list of a device that is busy, or of which
 * more than a GiB is used, hides something all the same, as in a container; one that has entries is at least
 * true of them. */
void daemon_gpu_device_settle(struct device_sample *device, bool listed);

#endif
