/* What NVIDIA's management library reports of the GPUs. It is loaded at run time, so nothing of it is
 * needed to build; what is used is declared in nvml.c after https://docs.nvidia.com/deploy/nvml-api/. The
 * library blocks when the driver does, so these functions belong on a worker thread (gpu_sampler.h). One
 * thread at a time may use a struct nvml. */
#ifndef DAEMON_NVML_H
#define DAEMON_NVML_H

#include <stdint.h>

enum {
    GPU_DEVICES_MAX = 16,
    GPU_NAME_MAX = 96,
    GPU_DRIVER_MAX = 80,
    GPU_REASON_MAX = 256,
};

/* A field that a device does not support is not valid, never 0. */
enum gpu_field {
    GPU_NAME = 1 << 0,
    GPU_UTIL = 1 << 1,
    GPU_MEM_USED = 1 << 2,
    GPU_MEM_TOTAL = 1 << 3,
    GPU_POWER = 1 << 4,
    GPU_POWER_LIMIT = 1 << 5,
    GPU_CLOCK = 1 << 6,
    GPU_TEMP = 1 << 7,
};

struct gpu_device {
    uint32_t valid; /* of enum gpu_field; the others are 0 */
    char name[GPU_NAME_MAX];
    uint32_t util_pct;
    uint64_t mem_used_bytes, mem_total_bytes; /* used: what the driver reserves included */
    uint32_t power_mw, power_limit_mw;
    uint32_t clock_mhz; /* of the streaming multiprocessors */
    uint32_t temp_c;
};

struct nvml;

/* Loads and starts the library: libnvidia-ml.so.1, else libnvidia-ml.so, or only $PAPERTAPE_NVML when it is
 * set. 0, or -ENOENT (no library), -ENOSYS (one without what is needed), -EIO (it refuses, as without a
 * driver), -ENOMEM; `reason` then says which in a line. */
int daemon_nvml_open(struct nvml **ret, char reason[static GPU_REASON_MAX]);
void daemon_nvml_close(struct nvml *nvml);

/* "560.35.03", or "" when the library does not say. */
const char *daemon_nvml_driver(const struct nvml *nvml);

/* Asks every device, GPU_DEVICES_MAX at most. 0 and their number in *ret_n (0 is possible); -EIO with a
 * reason when even their number is not known: close then, and open again later. A device that does not answer
 * has no valid field. */
int daemon_nvml_sample(struct nvml *nvml, struct gpu_device devices[static GPU_DEVICES_MAX], int *ret_n,
                       char reason[static GPU_REASON_MAX]);

#endif
