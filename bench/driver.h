/* What NVIDIA's driver says of the first device, by daemon/gpu/nvml.h: nothing is opened there for it. */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

struct bench_driver {
    struct nvml *nvml;
    struct nvml_device *device; /* NULL: it does not say */
};

/* Stays open until the process ends. Without a library, driver or device *ret is valid all the same, and each
 * of its figures unknown. */
void bench_driver_open(struct bench_driver *ret);

/* The share of the last moments in which a kernel ran, of any process; NaN: unknown. */
double bench_driver_busy(const struct bench_driver *driver);

/* Bytes in use on the device, of all processes; NaN: unknown. */
double bench_driver_used(const struct bench_driver *driver);

#endif
