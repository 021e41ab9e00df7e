/* Puts samples of devices and processes into the database, each process on a device with its role. */
#ifndef DAEMON_SAMPLES_H
#define DAEMON_SAMPLES_H

#include "daemon/gpu/sampler.h"
#include "daemon/process.h"
#include "db/writer.h"

/* The last sample of all devices. A device of which no figure is known is stored with a reason alone. */
void daemon_samples_put_devices(struct db_writer *writer, const struct gpu_status *status,
                                const struct process_role roles[], int n_roles);

/* The last sample; what has no living process is not stored. */
void daemon_samples_put_processes(struct db_writer *writer, const struct process_samples *samples);

#endif
