#include "bench/driver.h"

#include <math.h>

#include "daemon/gpu/nvml.h"

void bench_driver_open(struct bench_driver *ret)
{
    char reason[GPU_REASON_MAX];
    void *opened;
    *ret = (struct bench_driver){.nvml = NULL};
    if (daemon_gpu_nvml_open(&opened, reason) < 0)
        return;
    ret->nvml = opened;
    if (ret->nvml->handle(0, &ret->device) != NVML_SUCCESS)
        ret->device = NULL;
}

double bench_driver_busy(const struct bench_driver *driver)
{
    struct nvml_utilization share;
    if (!driver->device || !driver->nvml->utilization ||
        driver->nvml->utilization(driver->device, &share) != NVML_SUCCESS)
        return NAN;
    return share.gpu / 100.0;
}

double bench_driver_used(const struct bench_driver *driver)
{
    struct nvml_memory memory;
    if (!driver->device || !driver->nvml->memory ||
        driver->nvml->memory(driver->device, &memory) != NVML_SUCCESS)
        return NAN;
    return (double)memory.used;
}
