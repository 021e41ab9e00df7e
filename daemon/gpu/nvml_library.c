#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/gpu/nvml.h"

/* Newest name first. Of processes the first with a struct of version 2: R535's early drivers fill a longer
 * one behind the name _v3. */
static const struct symbol_row {
    size_t offset;
    const char *names[3];
    bool needed;
} symbols[] = {
#define AT(member) offsetof(struct nvml, member)
    {AT(init), {"nvmlInit_v2", "nvmlInit"}, true},
    {AT(shutdown), {"nvmlShutdown"}, true},
    {AT(error_string), {"nvmlErrorString"}, true},
    {AT(count), {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, true},
    {AT(handle), {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, true},
    {AT(driver), {"nvmlSystemGetDriverVersion"}, false},
    {AT(name), {"nvmlDeviceGetName"}, false},
    {AT(uuid), {"nvmlDeviceGetUUID"}, false},
    {AT(utilization), {"nvmlDeviceGetUtilizationRates"}, false},
    {AT(memory_v2), {"nvmlDeviceGetMemoryInfo_v2"}, false},
    {AT(memory), {"nvmlDeviceGetMemoryInfo"}, false},
    {AT(power), {"nvmlDeviceGetPowerUsage"}, false},
    {AT(enforced_limit), {"nvmlDeviceGetEnforcedPowerLimit"}, false},
    {AT(management_limit), {"nvmlDeviceGetPowerManagementLimit"}, false},
    {AT(clock), {"nvmlDeviceGetClockInfo"}, false},
    {AT(temperature), {"nvmlDeviceGetTemperature"}, false},
    {AT(fan), {"nvmlDeviceGetFanSpeed"}, false},
    {AT(slowed),
     {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"},
     false},
    {AT(pcie), {"nvmlDeviceGetPcieThroughput"}, false},
    {AT(compute_v2),
     {"nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses_v3"},
     false},
    {AT(compute_v1), {"nvmlDeviceGetComputeRunningProcesses"}, false},
    {AT(graphics_v2),
     {"nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses_v3"},
     false},
    {AT(graphics_v1), {"nvmlDeviceGetGraphicsRunningProcesses"}, false},
    {AT(process_use), {"nvmlDeviceGetProcessUtilization"}, false},
#undef AT
};

static void say(char reason[static GPU_REASON_MAX], const char *what, const char *why)
{
    snprintf(reason, GPU_REASON_MAX, "%s: %s", what, why);
}

/* -ENOENT: it is not installed, which is no failure unless it was named. */
static int load(void **ret, char reason[static GPU_REASON_MAX])
{
    static const char *const usual[] = {"libnvidia-ml.so.1", "libnvidia-ml.so"};
    const char *named = getenv("PAPERTAPE_NVML");
    int e = -ENOENT;
    if (named && !named[0])
        return -ENOENT;
    for (size_t i = 0; i < (named ? 1 : sizeof usual / sizeof *usual); i++) {
        *ret = dlopen(named ? named : usual[i], RTLD_NOW | RTLD_LOCAL);
        if (*ret) {
            reason[0] = '\0'; /* the other name's does not matter */
            return 0;
        }
        const char *error = dlerror();
        if (named || !strstr(error, "cannot open shared object file: No such file")) {
            say(reason, named ? "NVML (PAPERTAPE_NVML)" : "NVML", error);
            e = -ELIBACC;
        }
    }
    return e;
}

/* The name of a function that is needed and absent, or NULL. */
static const char *resolve(struct nvml *nvml)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = NULL;
        for (const char *const *name = symbols[i].names; *name && !found; name++)
            found = dlsym(nvml->library, *name);
        if (!found && symbols[i].needed)
            return symbols[i].names[0];
        memcpy((char *)nvml + symbols[i].offset, &found, sizeof found);
    }
    return NULL;
}

static int start(struct nvml *nvml, char reason[static GPU_REASON_MAX])
{
    const char *absent = resolve(nvml);
    if (absent) {
        say(reason, "the NVML library lacks", absent);
        return -ENOSYS;
    }
    nvml_return result = nvml->init();
    if (result != NVML_SUCCESS) {
        say(reason, "NVML", nvml->error_string(result));
        return -EIO;
    }
    if (!nvml->driver || nvml->driver(nvml->driver_version, sizeof nvml->driver_version) != NVML_SUCCESS)
        nvml->driver_version[0] = '\0';
    return 0;
}

int daemon_gpu_nvml_open(void **ret, char reason[static GPU_REASON_MAX])
{
    struct nvml *nvml = calloc(1, sizeof *nvml);
    if (!nvml) {
        say(reason, "NVML", strerror(ENOMEM));
        return -ENOMEM;
    }
    int e = load(&nvml->library, reason);
    if (e == 0)
        e = start(nvml, reason);
    if (e == 0) {
        *ret = nvml;
        return 0;
    }
    if (nvml->library)
        dlclose(nvml->library);
    free(nvml);
    return e;
}

void daemon_gpu_nvml_close(void *source)
{
    struct nvml *nvml = source;
    if (!nvml)
        return;
    (void)nvml->shutdown(); /* the library is closed next: a failure changes nothing */
    dlclose(nvml->library);
    free(nvml);
}
