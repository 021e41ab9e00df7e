/* What an event log has of a record's history: from the ranges of events that it lacks, and from the states
 * around them, which orders, fills and ledger rows can no longer be computed. */
#ifndef ENGINE_REACH_H
#define ENGINE_REACH_H

#include "engine/engine.h"

/* A range of events that the log lacks, first and last, and what the engine had before and after it: the rows
 * with numbers from before + 1 to after are not computed by any replay. */
struct engine_reach_gap {
    uint64_t from_seq, to_seq;
    struct engine_ids before, after;
    bool hole; /* the log itself says that they were never recorded: the disk refused them */
};

struct engine_reach {
    struct engine_reach_gap *gaps; /* oldest first; the first one is what the log begins after, if anything */
    size_t n;
    uint64_t last_seq;      /* the newest event that it has; 0: none */
    struct engine_ids last; /* of the engine after it, where last_seq < need_seq; else all 0 */
};

/* Reads the headers of the log at `path`, the states behind gaps and, of a segment before one, its events.
 * need_seq: the record's newest event: a log that ends before it is played to its end, for `last`. While a
 * daemon removes segments it is read again. 0; -ENOENT: there is no log; errors of journal_list() and
 * journal_reader_next(); err: one sentence. */
int engine_reach_read(const char *path, uint64_t need_seq, struct engine_reach *ret, char *err,
                      size_t err_size);
void engine_reach_finish(struct engine_reach *reach);

#endif
