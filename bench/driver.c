#include "bench/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bench/cases.h"
#include "indicators_gpu/module.h"

int bench_module_open(const char *path, struct gpu_module **ret)
{
    char reason[GPU_REASON_MAX];
    const int r = gpu_module_open(path, ret, reason, sizeof reason);
    if (r == 0)
        return 0;
    bench_because("%s", reason);
    return r == -ENODEV || r == -ENOENT ? BENCH_SKIP : -1;
}

/* NULL: there is none. */
static void *open_library(void)
{
    const char *named = getenv("PAPERTAPE_NVML");
    if (named)
        return named[0] ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *ret = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    return ret ? ret : dlopen("libnvidia-ml.so", RTLD_NOW | RTLD_LOCAL);
}

bool bench_driver_open(struct bench_driver *ret)
{
    int (*init)(void);
    int (*handle)(unsigned index, void **ret);
    *ret = (struct bench_driver){.library = open_library()};
    if (!ret->library)
        return false;
    *(void **)&init = dlsym(ret->library, "nvmlInit_v2");
    *(void **)&handle = dlsym(ret->library, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&ret->utilization = dlsym(ret->library, "nvmlDeviceGetUtilizationRates");
    *(void **)&ret->memory = dlsym(ret->library, "nvmlDeviceGetMemoryInfo");
    if (!init || !handle || init() != 0 || handle(0, &ret->device) != 0)
        ret->device = NULL;
    return ret->device != NULL;
}

double bench_driver_busy(const struct bench_driver *driver)
{
    unsigned percent[2]; /* kernels, memory */
    if (!driver->device || !driver->utilization || driver->utilization(driver->device, percent) != 0)
        return NAN;
    return percent[0] / 100.0;
}

double bench_driver_used(const struct bench_driver *driver)
{
    unsigned long long bytes[3]; /* total, free, used */
    if (!driver->device || !driver->memory || driver->memory(driver->device, bytes) != 0)
        return NAN;
    return (double)bytes[2];
}
