#include "trainer/command/study_machine.h"

#include <sched.h>

#include "trainer/study/pool.h"
#include "trainer/telemetry/usage.h"

/* A worker's own memory, beside the shared bars and features: networks, a rollout. DEVICE_WORKERS: trials
 * that share a device. */
#define WORKER_BYTES (INT64_C(256) << 20)
enum { DEVICE_WORKERS = 8 };

void trainer_study_machine_find(const struct train_config *config, struct study_machine *ret)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    ret->cores = n > 0 ? n : 1;
    n = config->ppo.device == PPO_CPU ? 0 : serve_devices_find("auto", ret->device_ids, STUDY_DEVICES_MAX);
    ret->n_devices = n > 0 ? n : 0;
    for (int i = 0; i < ret->n_devices; i++)
        ret->devices[i] = ret->device_ids[i];
}

static int64_t memory_limit(int64_t memory_mib)
{
    int64_t machine = serve_process_memory_limit(), own = memory_mib << 20;
    return own > 0 && (machine < 0 || own < machine) ? own : machine;
}

int trainer_study_machine_workers(const struct study_machine *machine, const struct study_settings *settings,
                                  int64_t memory_mib, size_t each_bytes, int left)
{
    const struct study_workers_room room = {.cores = machine->cores,
                                            .n_devices = machine->n_devices,
                                            .a_device = DEVICE_WORKERS,
                                            .left = left,
                                            .memory_bytes = memory_limit(memory_mib),
                                            .shared_bytes = (int64_t)telemetry_usage_rss(),
                                            .each_bytes = WORKER_BYTES + (int64_t)each_bytes};
    int workers = settings->workers > 0 ? settings->workers : study_workers_fit(&room);
    return workers > left && left > 0 ? left : workers;
}

void trainer_study_machine_share(const struct study_machine *machine, int workers, struct ppo_params *ppo)
{
    if (ppo->threads == 0)
        ppo->threads = machine->cores > workers ? machine->cores / workers : 1;
    const int devices = machine->n_devices > 0 ? machine->n_devices : 1; /* a module may find one */
    ppo->sharers = (workers + devices - 1) / devices;
}
