/* A stand-in for NVIDIA's management library with two devices. Built three times: as it is; with
 * FAKE_NO_POWER, whose devices do not support power; and with FAKE_V1, which has only the oldest names. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    SUCCESS,
    UNINITIALIZED,
    INVALID_ARGUMENT,
    NOT_SUPPORTED,
    NOT_FOUND = 6,
    GPU_IS_LOST = 15,
    MISMATCH = 25
};
enum { DEVICES = 2 };

struct device {
    int lost;
};

struct utilization {
    unsigned gpu, memory;
};

struct memory {
    unsigned long long total, free, used;
};

struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

static struct device devices[DEVICES];
static int started;

/* The test's hands: it locks this to make the next sample hang, and reads how many began. */
EXPORT pthread_mutex_t fake_nvml_gate = PTHREAD_MUTEX_INITIALIZER;
EXPORT atomic_int fake_nvml_counts, fake_nvml_shutdowns;
EXPORT int fake_nvml_count_fails;

#ifdef FAKE_V1
#define V(name, suffix) name
#else
#define V(name, suffix) name##suffix
#endif

EXPORT int V(nvmlInit, _v2)(void);
EXPORT int nvmlShutdown(void);
EXPORT const char *nvmlErrorString(int result);
EXPORT int V(nvmlDeviceGetCount, _v2)(unsigned *count);
EXPORT int V(nvmlDeviceGetHandleByIndex, _v2)(unsigned index, struct device **ret);
EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned size);
EXPORT int nvmlDeviceGetName(struct device *device, char *text, unsigned size);
EXPORT int nvmlDeviceGetUtilizationRates(struct device *device, struct utilization *ret);
EXPORT int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *ret);
EXPORT int nvmlDeviceGetMemoryInfo_v2(struct device *device, struct memory_v2 *ret);
EXPORT int nvmlDeviceGetPowerUsage(struct device *device, unsigned *ret);
EXPORT int nvmlDeviceGetEnforcedPowerLimit(struct device *device, unsigned *ret);
EXPORT int nvmlDeviceGetPowerManagementLimit(struct device *device, unsigned *ret);
EXPORT int nvmlDeviceGetClockInfo(struct device *device, int which, unsigned *ret);
EXPORT int nvmlDeviceGetTemperature(struct device *device, int sensor, unsigned *ret);

int V(nvmlInit, _v2)(void)
{
    if (getenv("FAKE_NVML_NO_DRIVER"))
        return 9;
    started++;
    return SUCCESS;
}

int nvmlShutdown(void)
{
    atomic_fetch_add(&fake_nvml_shutdowns, 1);
    return started-- > 0 ? SUCCESS : UNINITIALIZED;
}

const char *nvmlErrorString(int result)
{
    return result == 9 ? "Driver Not Loaded" : result == GPU_IS_LOST ? "GPU is lost" : "Unknown Error";
}

int V(nvmlDeviceGetCount, _v2)(unsigned *count)
{
    if (started <= 0)
        return UNINITIALIZED;
    atomic_fetch_add(&fake_nvml_counts, 1);
    pthread_mutex_lock(&fake_nvml_gate);
    int fails = fake_nvml_count_fails;
    pthread_mutex_unlock(&fake_nvml_gate);
    *count = DEVICES;
    return fails ? GPU_IS_LOST : SUCCESS;
}

int V(nvmlDeviceGetHandleByIndex, _v2)(unsigned index, struct device **ret)
{
    if (index >= DEVICES)
        return INVALID_ARGUMENT;
    devices[1].lost = getenv("FAKE_NVML_LOST") != NULL;
    *ret = &devices[index];
    return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    snprintf(text, size, "999.42.01");
    return SUCCESS;
}

int nvmlDeviceGetName(struct device *device, char *text, unsigned size)
{
    if (device->lost)
        return GPU_IS_LOST;
    snprintf(text, size, "Fake %d", device == &devices[1]);
    return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(struct device *device, struct utilization *ret)
{
    if (device->lost)
        return GPU_IS_LOST;
    *ret = (struct utilization){97, 40};
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *ret)
{
    if (device->lost)
        return GPU_IS_LOST;
    *ret = (struct memory){.total = 150ull << 30, .free = 100ull << 30, .used = 50ull << 30};
    return SUCCESS;
}

int nvmlDeviceGetPowerUsage(struct device *device, unsigned *ret)
{
#ifdef FAKE_NO_POWER
    *ret = 0; /* as real ones do: a value beside the refusal */
    (void)device;
    return NOT_SUPPORTED;
#else
    *ret = 612345;
    return device->lost ? GPU_IS_LOST : SUCCESS;
#endif
}

int nvmlDeviceGetPowerManagementLimit(struct device *device, unsigned *ret)
{
    *ret = 700000;
#ifdef FAKE_NO_POWER
    (void)device;
    return NOT_SUPPORTED;
#else
    return device->lost ? GPU_IS_LOST : SUCCESS;
#endif
}

int nvmlDeviceGetClockInfo(struct device *device, int which, unsigned *ret)
{
    *ret = which == 1 ? 1980 : 1;
    return device->lost ? GPU_IS_LOST : SUCCESS;
}

int nvmlDeviceGetTemperature(struct device *device, int sensor, unsigned *ret)
{
    *ret = sensor == 0 ? 71 : 1;
    return device->lost ? GPU_IS_LOST : SUCCESS;
}

#ifndef FAKE_V1

int nvmlDeviceGetMemoryInfo_v2(struct device *device, struct memory_v2 *ret)
{
    if (ret->version != (sizeof *ret | 2 << 24))
        return MISMATCH;
    if (device->lost)
        return GPU_IS_LOST;
    *ret = (struct memory_v2){
        .version = ret->version, .total = 151ull << 30, .reserved = 1, .used = 61ull << 30};
    return SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(struct device *device, unsigned *ret)
{
    *ret = 650000;
#ifdef FAKE_NO_POWER
    (void)device;
    return NOT_SUPPORTED;
#else
    return device->lost ? GPU_IS_LOST : SUCCESS;
#endif
}

#endif
