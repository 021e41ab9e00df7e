/* What the driver takes for a process when it opens a device: its context, and the code of this module. The
 * runtime counts a device's memory only with a context, so NVML is asked, before and after. */
#include <dlfcn.h>
#include <stdio.h>

#include "indicators_gpu/cuda/device.h"

/* Else what the library says cannot be one context: other processes may free memory meanwhile. */
static const size_t CONTEXT_LEAST = (size_t)128 << 20, CONTEXT_MOST = (size_t)2 << 30;

struct management_memory {
    unsigned long long total, free, used;
};
struct management {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_uuid)(const char *uuid, void **ret);
    int (*memory)(void *device, struct management_memory *ret);
};

template <typename F> static bool symbol(const struct management *from, const char *name, F *ret)
{
    *ret = (F)dlsym(from->library, name);
    return *ret != NULL;
}

static bool management_open(struct management *ret)
{
    ret->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!ret->library)
        return false;
    if (symbol(ret, "nvmlInit_v2", &ret->init) && symbol(ret, "nvmlShutdown", &ret->shutdown) &&
        symbol(ret, "nvmlDeviceGetHandleByUUID", &ret->by_uuid) &&
        symbol(ret, "nvmlDeviceGetMemoryInfo", &ret->memory) && ret->init() == 0)
        return true;
    dlclose(ret->library);
    return false;
}

extern "C" bool gpu_driver_memory_used(const cudaUUID_t *uuid, size_t *ret)
{
    static const char *const kinds[] = {"GPU", "MIG"};
    const unsigned char *b = (const unsigned char *)uuid->bytes;
    struct management nvml;
    struct management_memory memory;
    char name[48];
    void *device;
    bool found = false;
    if (!management_open(&nvml))
        return false;
    for (int i = 0; i < 2 && !found; i++) {
        snprintf(name, sizeof(name),
                 "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", kinds[i], b[0],
                 b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
                 b[15]);
        found = nvml.by_uuid(name, &device) == 0 && nvml.memory(device, &memory) == 0;
    }
    nvml.shutdown();
    dlclose(nvml.library);
    if (found)
        *ret = (size_t)memory.used;
    return found;
}

extern "C" size_t gpu_driver_memory_taken(const cudaUUID_t *uuid, bool known, size_t before)
{
    size_t after;
    if (!known || !gpu_driver_memory_used(uuid, &after) || after < before + CONTEXT_LEAST ||
        after > before + CONTEXT_MOST)
        return GPU_CONTEXT;
    return after - before;
}
