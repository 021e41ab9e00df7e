/* Puts samples of devices and processes into the database, each process on a device by what it is to the
 * daemon. */
#ifndef DAEMON_SAMPLES_H
#define DAEMON_SAMPLES_H

#include "daemon/daemon.h"
#include "record/device.h"

/* Samples of one moment of the wall's clock, of all devices that there are. One of which no figure is known
 * is stored as a device with a reason alone; `reason` is then what the sampler says, or "". */
void daemon_samples_put_devices(struct daemon *daemon, const struct device_sample *devices, int n,
                                int64_t ts_ns, const char *reason);

void daemon_samples_put_processes(struct daemon *daemon, const struct process_sample *processes, int n,
                                  int64_t ts_ns);

/* Whose a process is: "daemon", "trainer", the name of the training whose worker it or an ancestor of it is;
 * "": none of these, or the kernel does not say, as of a process outside a container. Reads a file of /proc
 * an ancestor. */
const char *daemon_samples_role(const struct daemon *daemon, int64_t pid);

#endif
