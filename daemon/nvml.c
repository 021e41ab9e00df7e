#include "daemon/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what is used of the library's interface --- */

typedef int nvml_return; /* 0: success; others have a text by nvmlErrorString() */
typedef struct nvml_device *nvml_handle;

enum { NVML_SM_CLOCK = 1, NVML_GPU_TEMPERATURE = 0 };

struct nvml_utilization {
    unsigned gpu, memory; /* percent */
};

struct nvml_memory {
    unsigned long long total, free, used; /* bytes; used includes what the driver reserves */
};

struct nvml_memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

enum { NVML_MEMORY_V2 = sizeof(struct nvml_memory_v2) | 2 << 24 };

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
    nvml_return (*utilization)(nvml_handle, struct nvml_utilization *);
    nvml_return (*memory_v2)(nvml_handle, struct nvml_memory_v2 *);
    nvml_return (*memory)(nvml_handle, struct nvml_memory *);
    nvml_return (*power)(nvml_handle, unsigned *milliwatts);
    nvml_return (*enforced_limit)(nvml_handle, unsigned *milliwatts);
    nvml_return (*management_limit)(nvml_handle, unsigned *milliwatts);
    nvml_return (*clock)(nvml_handle, int which, unsigned *mhz);
    nvml_return (*temperature)(nvml_handle, int sensor, unsigned *celsius);
    char driver_version[GPU_DRIVER_MAX];
};

/* Newest name first. */
static const struct symbol_row {
    size_t offset;
    const char *names[3];
    bool needed;
} symbols[] = {
    {offsetof(struct nvml, init), {"nvmlInit_v2", "nvmlInit"}, true},
    {offsetof(struct nvml, shutdown), {"nvmlShutdown"}, true},
    {offsetof(struct nvml, error_string), {"nvmlErrorString"}, true},
    {offsetof(struct nvml, count), {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, true},
    {offsetof(struct nvml, handle), {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, true},
    {offsetof(struct nvml, driver), {"nvmlSystemGetDriverVersion"}, false},
    {offsetof(struct nvml, name), {"nvmlDeviceGetName"}, false},
    {offsetof(struct nvml, utilization), {"nvmlDeviceGetUtilizationRates"}, false},
    {offsetof(struct nvml, memory_v2), {"nvmlDeviceGetMemoryInfo_v2"}, false},
    {offsetof(struct nvml, memory), {"nvmlDeviceGetMemoryInfo"}, false},
    {offsetof(struct nvml, power), {"nvmlDeviceGetPowerUsage"}, false},
    {offsetof(struct nvml, enforced_limit), {"nvmlDeviceGetEnforcedPowerLimit"}, false},
    {offsetof(struct nvml, management_limit), {"nvmlDeviceGetPowerManagementLimit"}, false},
    {offsetof(struct nvml, clock), {"nvmlDeviceGetClockInfo"}, false},
    {offsetof(struct nvml, temperature), {"nvmlDeviceGetTemperature"}, false},
};

static void say(char *reason, const char *what, const char *why)
{
    snprintf(reason, GPU_REASON_MAX, "%s%s%s", what, *what ? ": " : "", why);
}

static void *load(char *reason)
{
    const char *named = getenv("PAPERTAPE_NVML"), *path = named ? named : "libnvidia-ml.so.1";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library)
        return library;
    const char *error = dlerror();
    if (strstr(error, "cannot open shared object file: No such file"))
        snprintf(reason, GPU_REASON_MAX, "no GPU: no NVIDIA driver (%s)", path);
    else
        say(reason, "", error);
    return named ? NULL : dlopen("libnvidia-ml.so", RTLD_NOW | RTLD_LOCAL);
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

int daemon_nvml_open(struct nvml **ret, char reason[static GPU_REASON_MAX])
{
    struct nvml *nvml = calloc(1, sizeof *nvml);
    if (!nvml) {
        say(reason, "NVML", strerror(ENOMEM));
        return -ENOMEM;
    }
    int e = -ENOENT;
    nvml->library = load(reason);
    if (!nvml->library)
        goto fail;
    e = -ENOSYS;
    const char *absent = resolve(nvml);
    if (absent) {
        say(reason, "the NVML library lacks", absent);
        goto fail;
    }
    e = -EIO;
    nvml_return result = nvml->init();
    if (result != 0) {
        say(reason, "NVML", nvml->error_string(result));
        goto fail;
    }
    if (!nvml->driver || nvml->driver(nvml->driver_version, sizeof nvml->driver_version) != 0)
        nvml->driver_version[0] = '\0';
    *ret = nvml;
    return 0;

fail:
    if (nvml->library)
        dlclose(nvml->library);
    free(nvml);
    return e;
}

void daemon_nvml_close(struct nvml *nvml)
{
    if (!nvml)
        return;
    (void)nvml->shutdown(); /* the library is closed next: a failure changes nothing */
    dlclose(nvml->library);
    free(nvml);
}

const char *daemon_nvml_driver(const struct nvml *nvml)
{
    return nvml->driver_version;
}

static void sample_memory(const struct nvml *nvml, nvml_handle handle, struct gpu_device *device)
{
    struct nvml_memory_v2 v2 = {.version = NVML_MEMORY_V2};
    struct nvml_memory v1;
    if (nvml->memory_v2 && nvml->memory_v2(handle, &v2) == 0) {
        device->mem_total_bytes = v2.total;
        device->mem_used_bytes = v2.used;
    } else if (nvml->memory && nvml->memory(handle, &v1) == 0) {
        device->mem_total_bytes = v1.total;
        device->mem_used_bytes = v1.used;
    } else {
        return;
    }
    device->valid |= GPU_MEM_USED | GPU_MEM_TOTAL;
}

static void sample_device(const struct nvml *nvml, nvml_handle handle, struct gpu_device *device)
{
    unsigned value;
    struct nvml_utilization utilization;
    if (nvml->name && nvml->name(handle, device->name, sizeof device->name) == 0)
        device->valid |= GPU_NAME;
    else
        device->name[0] = '\0';
    device->name[sizeof device->name - 1] = '\0';
    if (nvml->utilization && nvml->utilization(handle, &utilization) == 0) {
        device->util_pct = utilization.gpu;
        device->valid |= GPU_UTIL;
    }
    sample_memory(nvml, handle, device);
    if (nvml->power && nvml->power(handle, &value) == 0) {
        device->power_mw = value;
        device->valid |= GPU_POWER;
    }
    if ((nvml->enforced_limit && nvml->enforced_limit(handle, &value) == 0) ||
        (nvml->management_limit && nvml->management_limit(handle, &value) == 0)) {
        device->power_limit_mw = value;
        device->valid |= GPU_POWER_LIMIT;
    }
    if (nvml->clock && nvml->clock(handle, NVML_SM_CLOCK, &value) == 0) {
        device->clock_mhz = value;
        device->valid |= GPU_CLOCK;
    }
    if (nvml->temperature && nvml->temperature(handle, NVML_GPU_TEMPERATURE, &value) == 0) {
        device->temp_c = value;
        device->valid |= GPU_TEMP;
    }
}

int daemon_nvml_sample(struct nvml *nvml, struct gpu_device devices[static GPU_DEVICES_MAX], int *ret_n,
                       char reason[static GPU_REASON_MAX])
{
    unsigned n;
    nvml_return result = nvml->count(&n);
    if (result != 0) {
        say(reason, "NVML", nvml->error_string(result));
        return -EIO;
    }
    if (n > GPU_DEVICES_MAX)
        n = GPU_DEVICES_MAX;
    for (unsigned i = 0; i < n; i++) {
        nvml_handle handle;
        devices[i] = (struct gpu_device){0};
        if (nvml->handle(i, &handle) == 0)
            sample_device(nvml, handle, &devices[i]);
    }
    *ret_n = (int)n;
    return 0;
}
