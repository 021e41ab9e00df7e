/* What processes use of the devices of the kernel's own drivers, as /proc/PID/fdinfo/N of each descriptor of
 * a device says (the kernel's Documentation/gpu/drm-usage-stats.rst): memory, and the time in which its
 * engines worked, whose difference between two calls is use. */
#ifndef DAEMON_GPU_FDINFO_H
#define DAEMON_GPU_FDINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "record/device.h"

struct gpu_fdinfo;

struct gpu_fdinfo *daemon_gpu_fdinfo_create(void); /* NULL without memory */
void daemon_gpu_fdinfo_destroy(struct gpu_fdinfo *fdinfo);

/* Adds the processes of device i, whose PCI address is slots[i], to devices[i]. Several descriptors of one
 * client count once, for the first process that has it. ret_use[i]: the percentage of the time since the last
 * call in which the busiest kind of its engines worked, as far as processes are seen; NaN in the first call,
 * and where no driver says. Returns whether all processes were seen: not so in a container, with a /proc that
 * hides others, or where the descriptors of another user's may not be read. */
bool daemon_gpu_fdinfo_sample(struct gpu_fdinfo *fdinfo, int64_t now_ns, const char *const slots[],
                              struct device_sample devices[], int n, double ret_use[]);

#endif
