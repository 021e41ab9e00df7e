/* An engine driven by a journal: the same code, the same decisions, at full speed. Recovery, backtest
 * --events, parity, explain and what-if are built on it. */
#ifndef ENGINE_REPLAY_H
#define ENGINE_REPLAY_H

#include "engine/record.h"
#include "engine/state.h"
#include "exchange/journal/journal.h"

struct replay;

/* A run of the daemon, as far as it was read: from its first state on. */
struct replay_run {
    uint64_t number;
    int64_t began_ns, last_ns; /* of the first state, and of the last event or state */
    bool stopped;              /* with a state of its own: it was not killed */
    bool followed;             /* to_ns lies between it and a run that began after that */
};

struct replay_options {
    const char *path;  /* a journal's directory, or one segment */
    uint64_t from_seq; /* begin at the newest state not after this event; 0: at the oldest there is */
    int64_t from_ns;   /* the same by receive time; 0: by from_seq */
    bool newest;       /* begin at the newest state */
    int64_t to_ns;     /* end before the first event received after this; 0: at the journal's end */
    /* Finds the policies that accounts trade by; NULL: policy_cache_of_log() of the path. */
    const struct policies *policies;
    bool check_states; /* each state on the way must equal the engine's, to the byte; one of an older layout,
                          in all that such a layout holds */
    struct engine_sink sink;                                   /* of the engine */
    void (*run_over)(void *ctx, const struct replay_run *run); /* another began; NULL; `ctx` is the sink's */
};

/* 0; errors of journal_reader_open() and engine_load(); -ENOENT when the journal starts later; -ENODATA for
 * one of frames only; err: one sentence. */
int engine_replay_open(const struct replay_options *options, struct replay **ret, char *err, size_t err_size);

/* Gives the engine the next event. 1; 0 at the end; -EILSEQ where a state on the way does not equal the
 * engine's; errors of journal_reader_next() and event_decode(). A state of another run (a new
 * configuration, or after a hole) replaces the engine, and engine_replay_runs() counts it. */
int engine_replay_step(struct replay *replay);

struct engine *engine_replay_engine(struct replay *replay); /* another one after a new run started */
const struct event *
engine_replay_event(const struct replay *replay);            /* the last one given; NULL before the first */
uint64_t engine_replay_seq(const struct replay *replay);     /* of it, or of the state it began with */
int64_t engine_replay_received(const struct replay *replay); /* the receive time of the same */
const struct state_record *
engine_replay_state(const struct replay *replay); /* the last one that an engine was made of */
uint64_t
engine_replay_runs(const struct replay *replay); /* 1, and one more each time the engine was replaced */
const struct replay_run *engine_replay_run(const struct replay *replay); /* the one that is read */
uint64_t engine_replay_holes(const struct replay *replay); /* events that were never recorded: a full disk */
const char *engine_replay_error(const struct replay *replay);
void engine_replay_close(struct replay *replay); /* and its engine; NULL is fine */

/* Takes the engine out, to continue by itself with another sink; the replay is closed, and with it the
 * policies that no options named: such an engine may only be read. */
struct engine *engine_replay_take(struct replay *replay, const struct engine_sink *sink);

#endif
