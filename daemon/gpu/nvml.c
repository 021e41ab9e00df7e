#include "daemon/gpu/nvml.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Drivers write a text without its end where it fills the room. */
static bool got_text(nvml_return result, char *text, size_t size)
{
    text[size - 1] = '\0';
    daemon_gpu_clean(text);
    return result == NVML_SUCCESS && text[0];
}

static void learn(const struct nvml *nvml, nvml_handle handle, struct nvml_known *known)
{
    char uuid[NVML_UUID_MAX] = "", name[DEVICE_NAME_MAX] = "";
    if (!known->key[0] && nvml->uuid && got_text(nvml->uuid(handle, uuid, sizeof uuid), uuid, sizeof uuid))
        snprintf(known->key, sizeof known->key, "nvidia:%.*s", DEVICE_KEY_MAX - 8, uuid);
    if (!known->name[0] && nvml->name && got_text(nvml->name(handle, name, sizeof name), name, sizeof name))
        memcpy(known->name, name, sizeof name);
}

static void sample_memory(const struct nvml *nvml, nvml_handle handle, struct device_figures *figures)
{
    struct nvml_memory_v2 v2 = {.version = NVML_MEMORY_V2};
    struct nvml_memory v1;
    if (nvml->memory_v2 && nvml->memory_v2(handle, &v2) == NVML_SUCCESS) {
        figures->memory_total_bytes = (double)v2.total;
        figures->memory_used_bytes = (double)v2.used;
    } else if (nvml->memory && nvml->memory(handle, &v1) == NVML_SUCCESS) {
        figures->memory_total_bytes = (double)v1.total;
        figures->memory_used_bytes = (double)v1.used;
    }
    if (figures->memory_total_bytes == 0) /* it does not say */
        figures->memory_total_bytes = NAN;
}

static double one(nvml_return (*call)(nvml_handle, unsigned *), nvml_handle handle)
{
    unsigned value;
    return call && call(handle, &value) == NVML_SUCCESS ? value : NAN;
}

static double of_which(nvml_return (*call)(nvml_handle, int, unsigned *), nvml_handle handle, int which)
{
    unsigned value;
    return call && call(handle, which, &value) == NVML_SUCCESS ? value : NAN;
}

static void sample_throttling(const struct nvml *nvml, nvml_handle handle, struct device_figures *figures)
{
    unsigned long long reasons;
    if (!nvml->slowed || nvml->slowed(handle, &reasons) != NVML_SUCCESS)
        return;
    figures->throttle_power = (reasons & NVML_SLOWED_BY_POWER_CAP) != 0;
    figures->throttle_thermal = (reasons & (NVML_SLOWED_THERMAL | NVML_SLOWED_THERMAL_HARDWARE)) != 0;
    figures->throttle_hardware =
        (reasons & (NVML_SLOWED_BY_HARDWARE | NVML_SLOWED_THERMAL_HARDWARE | NVML_SLOWED_POWER_BRAKE)) != 0;
}

static void sample_figures(const struct nvml *nvml, nvml_handle handle, struct device_figures *figures)
{
    struct nvml_utilization utilization;
    if (nvml->utilization && nvml->utilization(handle, &utilization) == NVML_SUCCESS) {
        figures->util_percent = utilization.gpu;
        figures->memory_util_percent = utilization.memory;
    }
    sample_memory(nvml, handle, figures);
    figures->power_w = one(nvml->power, handle) / 1000;
    figures->power_limit_w = one(nvml->enforced_limit, handle) / 1000;
    if (isnan(figures->power_limit_w))
        figures->power_limit_w = one(nvml->management_limit, handle) / 1000;
    figures->clock_mhz = of_which(nvml->clock, handle, NVML_SM_CLOCK);
    figures->memory_clock_mhz = of_which(nvml->clock, handle, NVML_MEMORY_CLOCK);
    figures->temperature_c = of_which(nvml->temperature, handle, NVML_GPU_TEMPERATURE);
    figures->fan_percent = one(nvml->fan, handle);
    sample_throttling(nvml, handle, figures);
    /* Each call takes the 20 ms over which it measures; its KB are taken for 1000 bytes. */
    figures->pcie_rx_bytes_s = of_which(nvml->pcie, handle, NVML_PCIE_RX) * 1000;
    figures->pcie_tx_bytes_s = of_which(nvml->pcie, handle, NVML_PCIE_TX) * 1000;
}

static void sample_device(struct nvml *nvml, unsigned index, struct device_sample *device)
{
    nvml_handle handle;
    struct nvml_known *known = &nvml->known[index];
    daemon_gpu_device_clear(device);
    device->index = (int)index;
    memcpy(device->driver, nvml->driver_version, sizeof device->driver);
    if (nvml->handle(index, &handle) == NVML_SUCCESS) {
        learn(nvml, handle, known);
        sample_figures(nvml, handle, &device->figures);
        daemon_gpu_nvml_processes(nvml, handle, known, device);
    }
    memcpy(device->name, known->name, sizeof device->name);
    if (known->key[0])
        memcpy(device->device, known->key, sizeof device->device);
    else
        snprintf(device->device, sizeof device->device, "nvidia:%u", index);
}

static int sample(void *source, int64_t now_ns, struct device_sample *devices, int room, int *ret_n,
                  char reason[static GPU_REASON_MAX])
{
    (void)now_ns; /* the library counts by itself */
    struct nvml *nvml = source;
    unsigned n;
    nvml_return result = nvml->count(&n);
    if (result != NVML_SUCCESS) {
        snprintf(reason, GPU_REASON_MAX, "NVML: %s", nvml->error_string(result));
        return -EIO;
    }
    if (n > (unsigned)room)
        n = (unsigned)room;
    if (n != nvml->n_known)
        memset(nvml->known, 0, sizeof nvml->known);
    nvml->n_known = n;
    for (unsigned i = 0; i < n; i++)
        sample_device(nvml, i, &devices[i]);
    *ret_n = (int)n;
    return 0;
}

const struct gpu_source daemon_gpu_nvidia = {
    .open = daemon_gpu_nvml_open,
    .sample = sample,
    .close = daemon_gpu_nvml_close,
};
