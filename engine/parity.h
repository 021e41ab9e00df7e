/* Does the log give what was recorded? The engine replays the log, and every order, fill and ledger row
 * that it makes is looked up in the record; every state on the way must equal the engine's, to the byte. */
#ifndef ENGINE_PARITY_H
#define ENGINE_PARITY_H

#include "engine/compare.h"
#include "engine/event_text.h"
#include "engine/replay.h"

struct parity_options {
    const char *path; /* a journal's directory, or a segment */
    int64_t from_ns;  /* begin at the newest state not after it; 0: with the log */
    const struct engine_recorded *recorded;
};

struct parity_result {
    bool equal;
    uint64_t from_seq, to_seq; /* the state that it began with; the last event compared */
    int64_t from_ns, to_ns;
    uint64_t events, runs, holes;
    uint64_t orders, fills, ledger_rows; /* compared, and equal */
    uint64_t unsettled;           /* orders left out: later events than the log's may have changed them,
                                   * or they changed in a hole */
    struct difference difference; /* !equal: the first one, made by … */
    uint64_t difference_seq;
    int64_t difference_ns;
    char difference_event[EVENT_TEXT_MAX];
};

/* 0 with *ret, equal or not; errors of engine_replay_open() and engine_replay_step(), except -EILSEQ, which
 * is a difference; those of the record; err: one sentence. */
int engine_parity_run(const struct parity_options *options, struct parity_result *ret, char *err,
                      size_t err_size);

#endif
