#include <math.h>

#include "daemon/gpu/source.h"
#include "daemon/procfs.h"

static void clear_figures(struct device_figures *figures)
{
#define CLEAR(name) figures->name = NAN;
    RECORD_DEVICE_FIGURES(CLEAR)
#undef CLEAR
}

void daemon_gpu_device_clear(struct device_sample *device)
{
    *device = (struct device_sample){.index = -1};
    clear_figures(&device->figures);
}

void daemon_gpu_device_forget(struct device_sample *device)
{
    clear_figures(&device->figures);
    device->profile[0] = '\0';
    device->processes_known = false;
    device->n_processes = 0;
}

bool daemon_gpu_device_known(const struct device_sample *device)
{
    bool any = false;
#define KNOWN(name) any |= !isnan(device->figures.name);
    RECORD_DEVICE_FIGURES(KNOWN)
#undef KNOWN
    return any;
}

void daemon_gpu_clean(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
            *text = '?';
}

void daemon_gpu_process_name(struct device_process *process)
{
    daemon_procfs_read_of(process->pid, "comm", process->name, sizeof process->name);
    daemon_gpu_clean(process->name);
}

static double held(const struct device_process *process)
{
    return isnan(process->memory_bytes) ? -1 : process->memory_bytes;
}

/* The same process twice, for graphics and to compute: each list has all of its memory. */
static void merge(struct device_process *into, const struct device_process *from)
{
    into->memory_bytes = fmax(into->memory_bytes, from->memory_bytes);
    into->util_percent = fmax(into->util_percent, from->util_percent);
}

void daemon_gpu_device_add(struct device_sample *device, const struct device_process *process)
{
    struct device_process *least = NULL;
    for (int i = 0; i < device->n_processes; i++) {
        struct device_process *other = &device->processes[i];
        if (other->pid == process->pid) {
            merge(other, process);
            return;
        }
        if (!least || held(other) < held(least))
            least = other;
    }
    if (device->n_processes < DEVICE_PROCESSES_MAX)
        device->processes[device->n_processes++] = *process;
    else if (held(process) > held(least))
        *least = *process;
}

void daemon_gpu_device_settle(struct device_sample *device, bool listed)
{
    const double much = 1 << 30; /* more than any driver keeps for itself */
    const struct device_figures *figures = &device->figures;
    bool used = figures->util_percent > 0 || figures->memory_used_bytes > much; /* NaN is neither */
    device->processes_known = device->n_processes > 0 || (listed && !used);
}
