/* Parity: does the event log, played again, give the ledger that is stored? A child process, papertape
 * parity, plays and compares; this file starts it every night and by command, keeps what it found, and tells.
 */
#ifndef DAEMON_PARITY_H
#define DAEMON_PARITY_H

#include <jansson.h>

#include "daemon/daemon.h"
#include "db/reader.h"

struct parity;

struct parity *daemon_parity_create(struct daemon *daemon); /* NULL without memory */

/* What a former run found, from the database's meta. */
void daemon_parity_remember(struct parity *parity, struct db_reader *reader);

/* The log of which it was found is gone: days of agreement begin anew. A failure found before stands. */
void daemon_parity_log_anew(struct parity *parity);

/* Starts a check. 0, or -EBUSY while one runs. What comes of it is in the status and the log. */
int daemon_parity_start(struct parity *parity);

/* The status object's "parity". */
json_t *daemon_parity_object(const struct parity *parity);

void daemon_parity_stop(struct parity *parity); /* ends the child; frees itself on the loop's next turns */

#endif
