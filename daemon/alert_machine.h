/* What the alert rules watch of the machine: the room of the state's file system, the size of the
 * database's write-ahead log, and what became of the last backup (backup.json in the state directory). Read
 * on a thread of libuv's every ten seconds. */
#ifndef DAEMON_ALERT_MACHINE_H
#define DAEMON_ALERT_MACHINE_H

#include <uv.h>

#include "daemon/alert_subjects.h"

struct alert_machine;
struct machine_seen;
struct state_dir;

/* Of that state. NULL without memory. */
struct alert_machine *daemon_alert_machine_create(uv_loop_t *loop, const struct state_dir *state);

/* Reads the rules by what is known; looks again where that is ten seconds old. now_ns as
 * daemon_alert_rules_read(). */
void daemon_alert_machine_read(struct alert_machine *machine, struct alert_rules *rules, int64_t now_ns,
                               int64_t wall_ns, const struct alert_sink *sink);

/* The last look; NULL: there was none yet. */
const struct machine_seen *daemon_alert_machine_seen(const struct alert_machine *machine);

/* Frees itself once no look is under way. NULL is fine. */
void daemon_alert_machine_destroy(struct alert_machine *machine);

/* The size of that database's write-ahead log: 0 where there is none, NaN where it cannot be read. */
double daemon_alert_wal_bytes(const char *database);

/* ---- pure ---- */

struct machine_seen {
    double used;         /* share of the file system that is not available to the daemon; NaN: not known */
    double left_bytes;   /* available */
    double wal_bytes;    /* of the write-ahead log's file; NaN: not known */
    bool backup, failed; /* there is an outcome; it failed */
    bool none;           /* there is no outcome, as of a state that was restored */
    int64_t backup_ns;   /* the end of the last one that succeeded, wall clock; 0: not known */
    char error[160];     /* why it failed */
};
/* Takes a backup's outcome: papertape.backup_outcome/1's `ok`, `error` and `end_ns`. False: it is none. */
bool daemon_alert_backup_take(const char *json, struct machine_seen *seen);

#endif
