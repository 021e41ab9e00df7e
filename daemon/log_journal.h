/* The log's way to the journal: entries wait in a ring (daemon/log_ring.h) for a thread that sends them, so
 * that no other thread waits while the journal takes none. When the ring is full a line is dropped and
 * counted; the thread reports that in the journal once there is room. One of them a process. */
#ifndef DAEMON_LOG_JOURNAL_H
#define DAEMON_LOG_JOURNAL_H

#include <stdint.h>

#include "daemon/log.h"
#include "daemon/log_kinds.h"

/* Connects with the journal, and starts the thread. 0 or -errno: there is no journal, or no thread. */
int daemon_log_journal_start(void);

/* The path of the journal's socket. */
const char *daemon_log_journal_path(void);

/* Is it running? */
bool daemon_log_journal_runs(void);

/* Any thread, without waiting: queues an entry, or drops and counts it. `fields` may be NULL. */
void daemon_log_journal_put(enum log_level level, enum log_kind kind, const struct log_fields *fields,
                            const char *message);

/* Waits at most so long for the queue to be empty, and ends the thread. What is left is lost. */
void daemon_log_journal_stop(int timeout_ms);

/* Sends what is queued and the crash itself, without waiting: for a signal handler, which then ends the
 * process. */
void daemon_log_journal_crashed(int number);

/* Lines waiting now, and lost since the start. */
void daemon_log_journal_look(uint64_t *ret_queued, uint64_t *ret_lost);

#endif
