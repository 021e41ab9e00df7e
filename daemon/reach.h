/* What the event log no longer has of the record (db/books/reach.h): read in a thread at the start and
 * whenever the log's beginning changes, for the status, for the header, and for the alert `event-log-short`.
 */
#ifndef DAEMON_REACH_H
#define DAEMON_REACH_H

#include <jansson.h>

#include "daemon/daemon.h"

struct reach_watch;

struct reach_watch *daemon_reach_create(struct daemon *daemon); /* NULL without memory */

/* How many ledger rows rest on the database alone; -1: not known yet. */
int64_t daemon_reach_rows(const struct reach_watch *reach);

/* db_reach_json(), the status object's "rests_on_database"; null: not known yet. A new reference. */
json_t *daemon_reach_object(const struct reach_watch *reach);

/* Frees itself on the loop's next turns. */
void daemon_reach_stop(struct reach_watch *reach);

#endif
