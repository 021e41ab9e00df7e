/* Builds the database again from the event log and from what can be salvaged of the present file.
 *
 * A new file is built beside the database, checked, synced and renamed into place; the former one, with its
 * -wal and -shm, is kept under a dated name. Each step leaves a state directory that
 * daemon_rebuild_finish() at the next start takes to the former or to the new database, whatever ended the
 * process between them.
 *
 * No session, no loop, no globals: any thread or process may call these while another writes the log. The
 * caller ensures that no process writes the database meanwhile, and that its own connection is closed. */
#ifndef DAEMON_REBUILD_H
#define DAEMON_REBUILD_H

#include <stdatomic.h>

#include "db/rebuilt.h"
#include "db/state.h"
#include "exchange/journal/journal.h"
#include "strategy/policy/policy.h"

enum { REBUILD_ERROR_MAX = 768, REBUILD_TEXT_MAX = 480 };

struct rebuild_options {
    const struct state_dir *state;
    const char *events; /* the log's directory; NULL: state->events */
    const char *why;    /* what is wrong with the database, for the record: a clause */
    const char *venue;  /* of symbols that name none (logs before there were several) */
    const struct policies
        *policies; /* where the policies are that accounts trade by; NULL: those of the log's state */
    bool sound; /* the former database is sound: -EILSEQ where the log contradicts it, and nothing changes */
    bool follows_log; /* the session itself puts the events after the log's end: nothing beyond is salvaged */
    int64_t now_ns;   /* the wall clock: dates the names */
    const atomic_bool *stop; /* set: gives up with -ECANCELED, everything unchanged; NULL: never */
};

struct rebuild_result {
    uint64_t event_seq; /* the newest event whose rows it holds: later rows are to be put again */
    uint64_t base_seq;  /* the record is whole from this event on; 0: from its beginning */
    bool lost_money;    /* rows of orders, fills or ledger are gone: the list of sources says which */
    char aside[STATE_PATH_MAX + 64]; /* where the former database is now; "": there was none */
    char
        text[REBUILD_TEXT_MAX]; /* "built again from the event log, events 1 to 8123: …": for log and alert */
};

/* Builds and swaps. 0; -ENOENT: no state of the log can be read, so nothing can be built: the former
 * database stays where it was; -EUCLEAN: what was built does not verify, with or without what was salvaged:
 * the same, and it is kept as papertape.db.unsound-DATE; -EBADMSG: segments of the log contradict each
 * other; -EILSEQ: the log contradicts a sound database; -ECANCELED; -ENOSPC, -EIO and others: the same.
 * err: one sentence. */
int daemon_rebuild_database(const struct rebuild_options *options, struct rebuild_result *ret, char *err,
                            size_t err_size);

/* The same by command, in whatever state the database is: takes the lock of a state that has a log, finishes
 * what a former process left, and rebuilds. Also -EINVAL without a log, -EBUSY while a daemon runs. */
int daemon_rebuild_state(const struct state_dir *state, const char *venue, const atomic_bool *stop,
                         struct rebuild_result *ret, char *err, size_t err_size);

/* Finishes a swap that a former process started, and removes an unfinished build. Called at a start, before
 * the database is opened. 1: a swap was finished; 0: there was none; -errno. */
int daemon_rebuild_finish(const struct state_dir *state, char *err, size_t err_size);

/* May this database be used? 0; -EBADMSG with what is wrong: SQLite's `quick_check`, the seals of the
 * record's rows, newest first, SQLite's `integrity_check`; what is not checked after `limit_ms` (0: no
 * limit) counts as good. -ENOENT: there is no file, or one of no bytes; -errno. Reads only. */
int daemon_rebuild_check(const char *database, int64_t limit_ms, char *err, size_t err_size);

#endif
