/* Reads as much of an event log as possible: each segment by itself, across whatever is damaged or missing
 * between them. */
#ifndef DAEMON_REBUILD_LOG_H
#define DAEMON_REBUILD_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "exchange/journal/journal.h"

struct rebuild_segment {
    char name[64];
    uint64_t seq; /* its state is the one after this event */
};

/* The segments by their names, oldest first: what is in them may be damaged. 0, the list is the caller's to
 * free (NULL: there is none); -errno. */
int daemon_rebuild_log_segments(const char *events, struct rebuild_segment **ret, size_t *ret_n);

/* The event number that the log's oldest segment begins with, by its name. 0, -ENOENT without a segment,
 * -errno. */
int daemon_rebuild_log_begins(const char *events, uint64_t *ret_seq);

/* The newest event that the log names by the headers of its blocks, those behind an altered one among them.
 * 0: none. */
uint64_t daemon_rebuild_log_newest(const char *events);

/* What the log has after the newest event of a database. */
struct rebuild_after {
    uint64_t from, to; /* the first events that it lacks, with a state behind them that reads; 0: none */
    uint64_t end;      /* the newest event that can be played, from that state or before; else `seq` */
    uint64_t newest;   /* the newest that it names: what is after `end` cannot be read */
};

/* Reads from the newest state that is not after event `seq` to the log's end. 0, -ENOENT without a segment,
 * -errno. */
int daemon_rebuild_log_after(const char *events, uint64_t seq, struct rebuild_after *ret);

#endif
