#include <math.h>
#include <stdlib.h>

#include "daemon/gpu/nvml.h"

enum {
    LISTED_MAX = 256,  /* of a device with more the list is not known */
    SAMPLED_MAX = 512, /* likewise of their use */
};

static void add(struct device_sample *device, unsigned pid, unsigned long long used)
{
    struct device_process process = {
        .pid = pid, .memory_bytes = used == NVML_NOT_AVAILABLE ? NAN : (double)used, .util_percent = NAN};
    if (pid > 0)
        daemon_gpu_device_add(device, &process);
}

static bool list_v2(nvml_return (*call)(nvml_handle, unsigned *, struct nvml_process_v2 *),
                    nvml_handle handle, struct device_sample *device)
{
    /* Twice the room that is asked for: a driver of a longer struct writes nothing beyond it. */
    struct nvml_process_v2 *all = calloc(2 * LISTED_MAX, sizeof *all);
    unsigned n = LISTED_MAX;
    bool listed = call && all && call(handle, &n, all) == NVML_SUCCESS && n <= LISTED_MAX;
    for (unsigned i = 0; listed && i < n; i++)
        add(device, all[i].pid, all[i].used);
    free(all);
    return listed;
}

static bool list_v1(nvml_return (*call)(nvml_handle, unsigned *, struct nvml_process_v1 *),
                    nvml_handle handle, struct device_sample *device)
{
    struct nvml_process_v1 all[LISTED_MAX];
    unsigned n = LISTED_MAX;
    bool listed = call && call(handle, &n, all) == NVML_SUCCESS && n <= LISTED_MAX;
    for (unsigned i = 0; listed && i < n; i++)
        add(device, all[i].pid, all[i].used);
    return listed;
}

/* The newest sample of a process that is listed. */
static void take(const struct nvml_process_sample all[], unsigned n, struct device_process *process)
{
    unsigned long long newest = 0;
    for (unsigned i = 0; i < n; i++) {
        if (all[i].pid != process->pid || all[i].time_us < newest || all[i].sm > 100)
            continue;
        newest = all[i].time_us;
        process->util_percent = all[i].sm;
    }
}

/* A process without a sample has not used the device since the last time; without any sample that is certain
 * only while the device is idle. */
static void sample_use(const struct nvml *nvml, nvml_handle handle, struct nvml_known *known,
                       struct device_sample *device)
{
    struct nvml_process_sample all[SAMPLED_MAX];
    unsigned n = SAMPLED_MAX;
    if (!nvml->process_use || device->n_processes == 0)
        return;
    nvml_return result = nvml->process_use(handle, all, &n, known->used_us);
    bool idle = result == NVML_NOT_FOUND && device->figures.util_percent == 0;
    if (!idle && (result != NVML_SUCCESS || n > SAMPLED_MAX || n == 0))
        return;
    n = idle ? 0 : n;
    for (int p = 0; p < device->n_processes; p++) {
        device->processes[p].util_percent = 0;
        take(all, n, &device->processes[p]);
    }
    for (unsigned i = 0; i < n; i++)
        if (all[i].time_us > known->used_us)
            known->used_us = all[i].time_us;
}

void daemon_gpu_nvml_processes(struct nvml *nvml, nvml_handle handle, struct nvml_known *known,
                               struct device_sample *device)
{
    bool compute = list_v2(nvml->compute_v2, handle, device) || list_v1(nvml->compute_v1, handle, device);
    bool graphics = list_v2(nvml->graphics_v2, handle, device) || list_v1(nvml->graphics_v1, handle, device);
    sample_use(nvml, handle, known, device);
    for (int i = 0; i < device->n_processes; i++)
        daemon_gpu_process_name(&device->processes[i]);
    daemon_gpu_device_settle(device, compute || graphics);
}
