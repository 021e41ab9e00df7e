/* Once a second stores prices and the feed's state for readers of the database, and what was sampled since of
 * devices and of the daemon's own processes; notifies the watchdog, and updates systemd's status line. */
#ifndef DAEMON_TELEMETRY_H
#define DAEMON_TELEMETRY_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/daemon.h"
#include "daemon/gpu/sampler.h"

struct telemetry *daemon_telemetry_create(struct daemon *daemon); /* NULL without memory */

/* Stores the prices as they are now: at a stop the last ones, at which the run's last points of equity are.
 */
void daemon_telemetry_prices(struct telemetry *telemetry);

/* The status object's "gpu". */
json_t *daemon_telemetry_gpu_object(const struct telemetry *telemetry);

/* The devices as they were sampled last; lives until the loop turns. */
const struct gpu_status *daemon_telemetry_gpu(const struct telemetry *telemetry);

void daemon_telemetry_stop(struct telemetry *telemetry); /* frees on the loop's next turns */

/* ---- keep.c: files that may be removed under a running daemon, and are restored ---- */

/* Once a second checks the files of the control socket, without which no command comes, of the lock,
 * without which a second daemon could start on the same state, and of the event log, which starts again
 * where it is gone. Reports once what was removed, and why something cannot be restored. Ends the daemon
 * where another one has the lock. */
void daemon_keep_files(struct daemon *daemon);

/* Once an hour, and after a reload: the writer begins the database's housekeeping with [retention]. */
void daemon_keep_rows(struct daemon *daemon);

#endif
