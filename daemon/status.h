/* The status object of docs/control.md: what the dashboard and scripts read. */
#ifndef DAEMON_STATUS_H
#define DAEMON_STATUS_H

#include <jansson.h>

#include "daemon/daemon.h"

/* A new reference, or NULL without memory. */
json_t *daemon_status_object(struct daemon *daemon);

/* The status object's "accounts"; null before there is an engine. A new reference. */
json_t *daemon_status_accounts(const struct daemon *daemon);

/* One of them. A new reference. */
json_t *daemon_status_account(const struct engine *engine, int account);

#endif
