/* What is used of NVIDIA's management library, loaded at run time: nothing of it is needed to build. Declared
 * after https://docs.nvidia.com/deploy/nvml-api/ . Functions return 0, or an error with a text. */
#ifndef DAEMON_GPU_NVML_H
#define DAEMON_GPU_NVML_H

#include "daemon/gpu/source.h"

typedef int nvml_return;
typedef struct nvml_device *nvml_handle;

enum { NVML_SUCCESS = 0, NVML_NOT_FOUND = 6 };
enum { NVML_SM_CLOCK = 1, NVML_MEMORY_CLOCK = 2 };
enum { NVML_GPU_TEMPERATURE = 0 };
enum { NVML_PCIE_TX = 0, NVML_PCIE_RX = 1 };
enum { NVML_UUID_MAX = 96 };

/* Why the clocks are lower than they could be, bits: nvmlClocksEventReasons, earlier …ThrottleReasons. */
enum {
    NVML_SLOWED_BY_POWER_CAP = 0x4,
    NVML_SLOWED_BY_HARDWARE = 0x8,
    NVML_SLOWED_THERMAL = 0x20,
    NVML_SLOWED_THERMAL_HARDWARE = 0x40,
    NVML_SLOWED_POWER_BRAKE = 0x80,
};

struct nvml_utilization {
    unsigned gpu, memory; /* percent */
};

struct nvml_memory {
    unsigned long long total, free, used; /* bytes; used includes what the driver reserves */
};

struct nvml_memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used; /* used is without what the driver reserves */
};

enum { NVML_MEMORY_V2 = sizeof(struct nvml_memory_v2) | 2 << 24 };

#define NVML_NOT_AVAILABLE (~0ULL) /* of a process's memory */

struct nvml_process_v1 {
    unsigned pid;
    unsigned long long used;
};

struct nvml_process_v2 {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

struct nvml_process_sample {
    unsigned pid;
    unsigned long long time_us;
    unsigned sm, memory, encoder, decoder; /* percent since the time that was asked from */
};

struct nvml {
    void *library;
    nvml_return (*init)(void);
    nvml_return (*shutdown)(void);
    const char *(*error_string)(nvml_return);
    nvml_return (*count)(unsigned *);
    nvml_return (*handle)(unsigned index, nvml_handle *);
    /* From here on any may be NULL. */
    nvml_return (*driver)(char *, unsigned size);
    nvml_return (*name)(nvml_handle, char *, unsigned size);
    nvml_return (*uuid)(nvml_handle, char *, unsigned size);
    nvml_return (*utilization)(nvml_handle, struct nvml_utilization *);
    nvml_return (*memory_v2)(nvml_handle, struct nvml_memory_v2 *);
    nvml_return (*memory)(nvml_handle, struct nvml_memory *);
    nvml_return (*power)(nvml_handle, unsigned *milliwatts);
    nvml_return (*enforced_limit)(nvml_handle, unsigned *milliwatts);
    nvml_return (*management_limit)(nvml_handle, unsigned *milliwatts);
    nvml_return (*clock)(nvml_handle, int which, unsigned *mhz);
    nvml_return (*temperature)(nvml_handle, int sensor, unsigned *celsius);
    nvml_return (*fan)(nvml_handle, unsigned *percent);
    nvml_return (*slowed)(nvml_handle, unsigned long long *reasons);
    nvml_return (*pcie)(nvml_handle, int which, unsigned *kb_s); /* measures for 20 ms, and waits for it */
    nvml_return (*compute_v2)(nvml_handle, unsigned *n, struct nvml_process_v2 *);
    nvml_return (*compute_v1)(nvml_handle, unsigned *n, struct nvml_process_v1 *);
    nvml_return (*graphics_v2)(nvml_handle, unsigned *n, struct nvml_process_v2 *);
    nvml_return (*graphics_v1)(nvml_handle, unsigned *n, struct nvml_process_v1 *);
    nvml_return (*process_use)(nvml_handle, struct nvml_process_sample *, unsigned *n,
                               unsigned long long since_us);
    /* By index: what stays the same, kept from the first answer, so that a device that is lost keeps its key;
     * and the time of the newest use of a process. */
    struct nvml_known {
        char key[DEVICE_KEY_MAX], name[DEVICE_NAME_MAX];
        unsigned long long used_us;
    } known[DEVICES_MAX];
    unsigned n_known; /* with another number of devices the indices are others */
    char driver_version[DEVICE_DRIVER_MAX];
};

/* ---- nvml_library.c ---- */

/* Loads and starts libnvidia-ml.so.1, else libnvidia-ml.so, or only $PAPERTAPE_NVML when it is set. As
 * gpu_source's open, of a struct nvml: -ENOENT: no library; -ELIBACC: one that cannot be loaded; -ENOSYS: one
 * without what is needed; -EIO: it refuses, as without a driver; -ENOMEM. */
int daemon_gpu_nvml_open(void **ret, char reason[static GPU_REASON_MAX]);
void daemon_gpu_nvml_close(void *source);

/* ---- nvml_processes.c ---- */

/* Those that compute on the device or draw, with their memory and use, into a device whose figures are there.
 */
void daemon_gpu_nvml_processes(struct nvml *nvml, nvml_handle handle, struct nvml_known *known,
                               struct device_sample *device);

#endif
