/* When the hour or the day of a summary has ended, by the local clock. */
#ifndef DAEMON_ALERT_PERIOD_H
#define DAEMON_ALERT_PERIOD_H

#include <stdbool.h>
#include <time.h>

#include "daemon/notify/sink.h"

enum { ALERT_PERIOD_MAX = 16 }; /* "2026-03-01T08", or of a day "2026-03-01" */

/* Makes `period` the one of now: "" at first, and while summaries are off. True: the one before has ended,
 * once however many have passed since; one that began before summaries were hourly or daily is none. A day
 * ends at [alerts] summary_at. */
bool daemon_alert_period(const struct notify_config *config, time_t now,
                         char period[static ALERT_PERIOD_MAX]);

#endif
