/* The first device: opened by its module, and what NVIDIA's driver says of it, for which nothing is opened
 * there. The library is libnvidia-ml.so.1, else libnvidia-ml.so, or only the one that $PAPERTAPE_NVML names
 * when it is set, empty for none, as in daemon/gpu/nvml.h and bench/gpu_device.py. */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <stdbool.h>

struct bench_driver {
    void *library, *device; /* NULL: it does not say */
    int (*utilization)(void *device, unsigned ret[2]);
    int (*memory)(void *device, unsigned long long ret[3]);
};

struct gpu_module;

/* The device's module, for gpu_module_close(): 0; after bench_because() BENCH_SKIP where there is no module
 * or no device, or -1. */
int bench_module_open(const char *path, struct gpu_module **ret);

/* Stays open until the process ends. False: it says nothing, as there is no library, driver or device; *ret
 * is valid all the same, and each of its figures unknown. */
bool bench_driver_open(struct bench_driver *ret);

/* The share of the last moments in which a kernel ran, of any process; NaN: unknown. */
double bench_driver_busy(const struct bench_driver *driver);

/* Bytes in use on the device, of all processes; NaN: unknown. */
double bench_driver_used(const struct bench_driver *driver);

#endif
