#include "daemon/samples.h"

#include <math.h>

static void put_holders(struct db_writer *writer, const struct device_sample *sample, int64_t ts_ns,
                        const struct process_role roles[], int n_roles)
{
    for (int i = 0; i < sample->n_processes; i++) {
        const struct device_process *process = &sample->processes[i];
        const char *role = daemon_process_role_of(roles, n_roles, process->pid);
        const struct db_device_process row = {
            .device = sample->device,
            .name = process->name,
            .role = role ? role : "",
            .pid = process->pid,
            .ts_ns = ts_ns,
            .memory_bytes = process->memory_bytes,
            .util_percent = process->util_percent,
        };
        db_writer_put_device_process(writer, &row);
    }
}

static void put_device(struct db_writer *writer, const struct device_sample *sample,
                       const struct gpu_status *status, const struct process_role roles[], int n_roles)
{
    struct db_device device;
    struct db_device_sample row;
    bool sampled = daemon_gpu_device_known(sample);
    db_device_of(sample, status->sampled_ns, &device, &row);
    if (!sampled) {
        device.reason = status->state == GPU_STALLED ? status->reason : GPU_NO_ANSWER;
        device.last_ns = 0;
    }
    db_writer_group_begin(writer);
    db_writer_put_device(writer, &device);
    if (sampled) {
        db_writer_put_device_sample(writer, &row);
        put_holders(writer, sample, status->sampled_ns, roles, n_roles);
    }
    db_writer_group_end(writer);
}

void daemon_samples_put_devices(struct db_writer *writer, const struct gpu_status *status,
                                const struct process_role roles[], int n_roles)
{
    for (int i = 0; i < status->n_devices; i++)
        if (status->devices[i].device[0])
            put_device(writer, &status->devices[i], status, roles, n_roles);
}

void daemon_samples_put_processes(struct db_writer *writer, const struct process_samples *samples)
{
    for (int i = 0; i < samples->n; i++) {
        struct db_process process;
        struct db_process_sample row;
        if (isnan(samples->processes[i].resident_bytes))
            continue;
        db_process_of(&samples->processes[i], samples->sampled_ns, &process, &row);
        db_writer_group_begin(writer);
        db_writer_put_process(writer, &process);
        db_writer_put_process_sample(writer, &row);
        db_writer_group_end(writer);
    }
}
