/* Replays a recorded log: the engine's own code, driven by the log, its rows written as the database's
 * lists print them. Uses no database. */
#ifndef CLI_BACKTEST_EVENTS_H
#define CLI_BACKTEST_EVENTS_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/events_curve.h"
#include "engine/replay.h"

/* A request; files are NULL where they are not wanted. */
struct events_options {
    const char *log; /* a journal's directory, or one segment */
    int64_t from_ns, to_ns;
    FILE *ledger, *trades, *orders, *equity;
    bool progress; /* on stderr */
};

/* The result. Counts are of what was played. */
struct events_result {
    uint64_t events, fills, ledger_rows, orders, rejected, equity_points;
    uint64_t runs, holes; /* runs that the log holds (a part of); events that were never recorded */
    struct engine_ids before, after; /* at the state that it began with, and at the end */
    uint64_t first_seq, last_seq;    /* of events played; 0 when there was none */
    int64_t first_ns, last_ns;
    double seconds;
    struct events_curves curves; /* the caller's to finish, as is … */
    struct engine *engine;       /* … the engine as it is at the end */
};

/* 0 with *ret; errors of engine_replay_open() and engine_replay_step(), -ENOMEM; err: one sentence. What a
 * file did not take is the caller's to look for, with ferror(). */
int cli_backtest_events_play(const struct events_options *options, struct events_result *ret, char *err,
                             size_t err_size);

#endif
