/* The codes of all alerts: [alerts] severities takes these, and docs/control.md and docs/alerts.md have each.
 */
#ifndef DAEMON_ALERT_CODES_H
#define DAEMON_ALERT_CODES_H

#include <stdbool.h>

#include "exchange/nearest.h"

/* Is it one? If not, *nearest has been offered all of them. */
bool daemon_alert_code_known(const char *code, struct nearest *nearest);

#endif
