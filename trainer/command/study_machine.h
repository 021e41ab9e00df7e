/* What a study's workers share: the machine's cores, devices and memory. */
#ifndef TRAINER_COMMAND_STUDY_MACHINE_H
#define TRAINER_COMMAND_STUDY_MACHINE_H

#include <stddef.h>

#include "trainer/serve/process.h"
#include "trainer/study/settings.h"

enum { STUDY_DEVICES_MAX = 64 };

struct study_machine {
    int cores, n_devices;
    char device_ids[STUDY_DEVICES_MAX][DEVICE_ID_MAX];
    char *devices[STUDY_DEVICES_MAX]; /* of device_ids: it must not move */
};

/* Devices are looked for unless the configuration wants the CPU. */
void trainer_study_machine_find(const struct train_config *config, struct study_machine *ret);

/* How many workers run at once: those of the settings, else as many as fit into memory_mib (0: the
 * machine's), each with `each_bytes` beside what this process has; at most one for each of the trials `left`.
 */
int trainer_study_machine_workers(const struct study_machine *machine, const struct study_settings *settings,
                                  int64_t memory_mib, size_t each_bytes, int left);

/* A worker's configuration: with its share of the machine. */
void trainer_study_machine_share(const struct study_machine *machine, int workers, struct ppo_params *ppo);

#endif
