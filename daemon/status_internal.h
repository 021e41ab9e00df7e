/* The parts of the status object, shared by its own files: status.c combines them, status_trading.c has the
 * accounts, positions and orders, status_venues.c the feeds, status_log.c the event log and the recovery,
 * status_alerts.c the open alerts and the last backup, status_execution.c accounts at their venues. */
#ifndef DAEMON_STATUS_INTERNAL_H
#define DAEMON_STATUS_INTERNAL_H

#include "daemon/status.h"
#include "exchange/order.h"

/* NaN for 0: it is not known. */
double daemon_status_price(int64_t units, int scale);
/* Digits after the point that a step of this size leaves. */
int daemon_status_decimals_of(int64_t step, int scale);

/* How many orders were refused, by reason; reasons that never were are left out. */
json_t *daemon_status_refused(const uint64_t refused[static ORDER_REASONS]);

/* Adds to an account of the status, where its orders are filled at its venue. */
void daemon_status_execution(const struct daemon *daemon, const char *name, json_t *account);

/* The sum of each currency, as db_totals_json(). Null before there is an engine. */
json_t *daemon_status_totals(const struct daemon *daemon);

/* null before there is an engine */
json_t *daemon_status_positions(const struct daemon *daemon);
json_t *daemon_status_orders(const struct daemon *daemon);

/* The state of the venues: the whole, and each. */
json_t *daemon_status_feed(const struct daemon *daemon);
json_t *daemon_status_venues(const struct daemon *daemon);

/* How many alerts are open, by severity and code. */
json_t *daemon_status_alerts(const struct daemon *daemon);
/* The prices that are waited for. */
json_t *daemon_status_price_alerts(const struct daemon *daemon);
/* What became of the last backup. */
json_t *daemon_status_backup(const struct daemon *daemon);

json_t *daemon_status_events(const struct daemon *daemon);
json_t *daemon_status_recovery(const struct daemon *daemon);

#endif
