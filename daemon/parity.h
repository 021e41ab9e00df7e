/* Parity: does the event log, replayed, give the ledger that is stored? A child process, papertape parity,
 * replays and compares; this file starts it every night and by command, keeps its result, and reports it. */
#ifndef DAEMON_PARITY_H
#define DAEMON_PARITY_H

#include <jansson.h>

#include "daemon/daemon.h"
#include "db/reader.h"

struct parity;

struct parity *daemon_parity_create(struct daemon *daemon); /* NULL without memory */

/* Loads a former run's result from the database's meta. */
void daemon_parity_remember(struct parity *parity, struct db_reader *reader);

/* The log that was compared is gone: days of agreement are counted from 0 again. A failure found before
 * stands. */
void daemon_parity_log_replaced(struct parity *parity);

/* Starts a check. 0, or -EBUSY while one runs. Its result is in the status and the log. */
int daemon_parity_start(struct parity *parity);

/* The status object's "parity". */
json_t *daemon_parity_object(const struct parity *parity);

void daemon_parity_stop(struct parity *parity); /* ends the child; frees itself on the loop's next turns */

#endif
