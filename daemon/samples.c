#include "daemon/samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/training/trainings.h"
#include "db/writer.h"

enum { ANCESTORS_MAX = 16 };

/* 0: it is gone, or there is none. */
static int64_t parent_of(int64_t pid)
{
    char path[40], text[512];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *end = strrchr(text, ')'); /* the program's name may have blanks */
    long long parent;
    return end && sscanf(end + 1, " %*c %lld", &parent) == 1 ? parent : 0;
}

const char *daemon_samples_role(const struct daemon *daemon, int64_t pid)
{
    if (pid == getpid())
        return "daemon";
    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
        const char *role = daemon_trainings_role(daemon->trainings, pid);
        if (role)
            return role;
        pid = parent_of(pid);
    }
    return "";
}

static bool knows_any(const struct device_figures *figures)
{
    bool any = false;
#define KNOWN(name) any |= !isnan(figures->name);
    RECORD_DEVICE_FIGURES(KNOWN)
#undef KNOWN
    return any;
}

static void put_holders(struct daemon *daemon, const struct device_sample *sample, int64_t ts_ns)
{
    for (int i = 0; i < sample->n_processes; i++) {
        const struct device_process *process = &sample->processes[i];
        const struct db_device_process row = {
            .device = sample->device,
            .name = process->name,
            .role = daemon_samples_role(daemon, process->pid),
            .pid = process->pid,
            .ts_ns = ts_ns,
            .memory_bytes = process->memory_bytes,
            .util_percent = process->util_percent,
        };
        db_writer_put_device_process(daemon_session_writer(daemon->session), &row);
    }
}

static void put_device(struct daemon *daemon, const struct device_sample *sample, int64_t ts_ns,
                       const char *reason)
{
    struct db_writer *writer = daemon_session_writer(daemon->session);
    struct db_device device;
    struct db_device_sample row;
    bool sampled = knows_any(&sample->figures);
    db_device_of(sample, ts_ns, &device, &row);
    if (!sampled) {
        device.reason = reason[0] ? reason : "it does not answer";
        device.last_ns = 0;
    }
    db_writer_group_begin(writer);
    db_writer_put_device(writer, &device);
    if (sampled) {
        db_writer_put_device_sample(writer, &row);
        put_holders(daemon, sample, ts_ns);
    }
    db_writer_group_end(writer);
}

void daemon_samples_put_devices(struct daemon *daemon, const struct device_sample *devices, int n,
                                int64_t ts_ns, const char *reason)
{
    for (int i = 0; i < n; i++)
        if (devices[i].device[0])
            put_device(daemon, &devices[i], ts_ns, reason);
}

void daemon_samples_put_processes(struct daemon *daemon, const struct process_sample *processes, int n,
                                  int64_t ts_ns)
{
    struct db_writer *writer = daemon_session_writer(daemon->session);
    for (int i = 0; i < n; i++) {
        struct db_process process;
        struct db_process_sample row;
        db_process_of(&processes[i], ts_ns, &process, &row);
        db_writer_group_begin(writer);
        db_writer_put_process(writer, &process);
        db_writer_put_process_sample(writer, &row);
        db_writer_group_end(writer);
    }
}
