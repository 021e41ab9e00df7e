/* Once a second: prices and the feed's state for those who read only the database; every ten, the process's
 * own figures and the GPU's; the watchdog's sign of life; and systemd's status line. */
#ifndef DAEMON_TELEMETRY_H
#define DAEMON_TELEMETRY_H

#include <jansson.h>

#include "daemon/daemon.h"

struct telemetry *daemon_telemetry_create(struct daemon *daemon); /* NULL without memory */

/* The status object's "gpu". */
json_t *daemon_telemetry_gpu_object(const struct telemetry *telemetry);

void daemon_telemetry_stop(struct telemetry *telemetry); /* frees on the loop's next turns */

#endif
