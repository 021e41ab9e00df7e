/* Collects what alert_accounts.h, and the rules on venues and sinks, need of the daemon's parts. */
#ifndef DAEMON_ALERT_FIGURES_H
#define DAEMON_ALERT_FIGURES_H

#include "daemon/alert_accounts.h"
#include "daemon/daemon.h"

/* What is kept between two looks; all zero: nothing. */
struct alert_figures {
    struct alert_account *accounts; /* [n_accounts], by the engine's numbers */
    struct alert_held *held;        /* their positions, looked at a part of them each time */
    int n_accounts, next;
};
void daemon_alert_figures_finish(struct alert_figures *figures);

/* Reads the rules of accounts, venues' clocks, and sinks. now_ns as daemon_alert_rules_read(). */
void daemon_alert_figures_read(struct alert_figures *figures, struct daemon *daemon,
                               struct alert_rules *rules, int64_t now_ns, const struct alert_sink *sink);

/* A summary in one line: equity and the day's gain of each account, trades, open alerts, uptime. */
void daemon_alert_summary(const struct daemon *daemon, char *ret, size_t size);

#endif
