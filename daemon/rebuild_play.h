/* Plays the event log into a new database, across whatever of it cannot be read. */
#ifndef DAEMON_REBUILD_PLAY_H
#define DAEMON_REBUILD_PLAY_H

#include <sqlite3.h>

#include "daemon/rebuild.h"

struct rebuild_played {
    uint64_t begins;              /* the first event that was played comes after this one */
    uint64_t first_seq, last_seq; /* of the last stretch without a hole: after the first, to the last */
    bool based; /* … which has a base (db/base.h): the log does not begin at its beginning */
    int faults; /* segments, or parts of them, that could not be read */
    char fault[JOURNAL_ERROR_MAX]; /* the first of them; "" */
    bool cut;                      /* what follows last_seq in the log could not be read … */
    uint64_t newest_seq;           /* … up to this event, where it is not known to be more */
    size_t second;                 /* segment that the second stretch begins with; 0: there is one */
};

/* Plays the segments of `events`, each from its own state, into the database at `path`; `db` is another
 * connection to it, for the base and the commands that states hold. Segments
 * before the one of index `from` are left out. 0; -ENOENT: no state could be read; -ECANCELED; -EBADMSG for
 * rows that contradict what the file holds already; -errno. err: one sentence. */
int daemon_rebuild_play(const struct rebuild_options *options, const char *events, const char *path,
                        sqlite3 *db, size_t from, struct rebuild_played *ret, char *err, size_t err_size);

#endif
