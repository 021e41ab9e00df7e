/* Once a second stores prices and the feed's state for readers of the database, and what was sampled since of
 * devices and of the daemon's own process; notifies the watchdog, and updates systemd's status line. */
#ifndef DAEMON_TELEMETRY_H
#define DAEMON_TELEMETRY_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/daemon.h"

struct telemetry *daemon_telemetry_create(struct daemon *daemon); /* NULL without memory */

/* The status object's "gpu". */
json_t *daemon_telemetry_gpu_object(struct telemetry *telemetry);

void daemon_telemetry_stop(struct telemetry *telemetry); /* frees on the loop's next turns */

/* ---- keep.c: files that may be removed under a running daemon, and are restored ---- */

/* Once a second checks the files of the control socket, without which no command comes, of the lock,
 * without which a second daemon could start on the same state, and of the event log, which starts again
 * where it is gone. Reports once what was removed, and why something cannot be restored. Ends the daemon
 * where another one has the lock. */
void daemon_keep_files(struct daemon *daemon);

/* ---- process.c: what this process uses ---- */

/* -1 where the system does not say. */
struct process_usage {
    int64_t resident_bytes; /* /proc/self/statm */
    int64_t cpu_ns;         /* user and system time of all threads, since the start */
    int files;              /* open file descriptors */
};

/* A few system calls, no allocation to speak of: fit for the loop once a second. */
void daemon_process_usage(struct process_usage *ret);

#endif
