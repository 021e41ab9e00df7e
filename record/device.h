/* What is sampled of a device and of the processes on it: for a device's row in papertape.db, its JSON and
 * its CSV alike. A figure is a double; NaN: the device or its driver does not say. */
#ifndef RECORD_DEVICE_H
#define RECORD_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/* The throttle figures are 1 while the driver slows the clocks for that reason and 0 else, so that a mean is
 * the share of the time: power: the power cap; thermal: too hot; hardware: a slowdown or a brake by hardware.
 */
/* clang-format off */
#define RECORD_DEVICE_FIGURES(X, ...) \
    X(util_percent, ##__VA_ARGS__) X(memory_used_bytes, ##__VA_ARGS__) \
    X(memory_total_bytes, ##__VA_ARGS__) X(memory_util_percent, ##__VA_ARGS__) X(power_w, ##__VA_ARGS__) \
    X(power_limit_w, ##__VA_ARGS__) X(clock_mhz, ##__VA_ARGS__) X(memory_clock_mhz, ##__VA_ARGS__) \
    X(temperature_c, ##__VA_ARGS__) X(fan_percent, ##__VA_ARGS__) X(throttle_power, ##__VA_ARGS__) \
    X(throttle_thermal, ##__VA_ARGS__) X(throttle_hardware, ##__VA_ARGS__) \
    X(pcie_rx_bytes_s, ##__VA_ARGS__) X(pcie_tx_bytes_s, ##__VA_ARGS__)
/* clang-format on */

struct device_figures {
#define RECORD_DEVICE_FIGURE_(name) double name;
    RECORD_DEVICE_FIGURES(RECORD_DEVICE_FIGURE_)
#undef RECORD_DEVICE_FIGURE_
};

enum {
    DEVICES_MAX = 16,
    DEVICE_PROCESSES_MAX = 64, /* of one device */
    DEVICE_KEY_MAX = 64,
    DEVICE_NAME_MAX = 96,
    DEVICE_DRIVER_MAX = 80,
    DEVICE_PROFILE_MAX = 32,
    DEVICE_PROCESS_NAME_MAX = 32,
};

/* A process that holds memory of a device or computes on it. */
struct device_process {
    int64_t pid;
    double memory_bytes, util_percent;  /* NaN: not known */
    char name[DEVICE_PROCESS_NAME_MAX]; /* of its program; "": not known */
};

struct device_sample {
    char device[DEVICE_KEY_MAX];    /* the same from start to start: "nvidia:GPU-UUID", "amd:0000:03:00.0" */
    char name[DEVICE_NAME_MAX];     /* "NVIDIA H100 80GB HBM3"; "": not known */
    char driver[DEVICE_DRIVER_MAX]; /* "560.35.03", "amdgpu"; "": not known */
    char profile[DEVICE_PROFILE_MAX]; /* AMD's power profile, as "COMPUTE"; "": none */
    int index; /* NVIDIA's own number of it, which may be another at the next start; -1: none */
    struct device_figures figures;
    bool processes_known; /* false: n/a, as in a container */
    int n_processes;
    struct device_process processes[DEVICE_PROCESSES_MAX];
};

/* What a process of ours has used. */
/* clang-format off */
#define RECORD_PROCESS_FIGURES(X, ...) \
    X(cpu_percent, ##__VA_ARGS__) X(resident_bytes, ##__VA_ARGS__) X(read_bytes_s, ##__VA_ARGS__) \
    X(written_bytes_s, ##__VA_ARGS__)
/* clang-format on */

enum { PROCESS_ROLE_MAX = 80 };

struct process_sample {
    char role[PROCESS_ROLE_MAX]; /* "daemon", "trainer", or a training's name */
    int64_t pid;                 /* of a training: its worker's; the figures are of it and its descendants */
    double cpu_percent;          /* of one core: 200 is two cores */
    double resident_bytes, read_bytes_s, written_bytes_s; /* NaN: not known; bytes of the disk */
};

#endif
