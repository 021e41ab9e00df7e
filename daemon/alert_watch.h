/* Once a second reads the figures of devices and trainings (alert_subjects.h), accounts, venues and sinks
 * (alert_figures.h) and the machine (alert_machine.h), and raises, changes and closes the session's alerts by
 * the rules (alert_rules.h). Says the summary once its hour or day has ended. */
#ifndef DAEMON_ALERT_WATCH_H
#define DAEMON_ALERT_WATCH_H

#include "daemon/daemon.h"

struct alert_watch;

/* It watches from the loop's next turns on, once alerts can be stored. NULL without memory. */
struct alert_watch *daemon_alert_watch_create(struct daemon *daemon);

/* Other limits, from the next turn on. */
void daemon_alert_watch_limits(struct alert_watch *watch, const struct alert_limits *limits);

/* What it knows of the machine; NULL: nothing yet. NULL is fine. */
struct machine_seen;
const struct machine_seen *daemon_alert_watch_machine(const struct alert_watch *watch);

/* Frees itself on the loop's next turns; what is open stays open. NULL is fine. */
void daemon_alert_watch_stop(struct alert_watch *watch);

#endif
