/* A run of the engine on a market's bars: by_engine.c gives it events, drive_sink.c takes what it gives. */
#ifndef ENGINE_BACKTEST_DRIVE_H
#define ENGINE_BACKTEST_DRIVE_H

#include "engine/backtest/phases.h"
#include "engine/backtest/run.h"

/* One account's result while it grows. */
struct account_book {
    struct backtest_account *ret;
    struct curve curve;
    size_t cap_fills, cap_ledger, cap_taken, cap_receivables, cap_fee_rates;
    int64_t split, dividend; /* booked by the action that takes effect */
    bool moved;              /* by this row */
};

struct drive {
    const struct backtest_config *config;
    struct engine *engine;
    int first, n;
    struct account_book *books; /* [n] */
    struct order *orders;       /* by id, of all accounts, when they are kept */
    size_t n_orders, cap_orders;
    uint8_t waits[SYMBOLS_MAX]; /* bars of the symbol wait behind a gap */
    bool any_waits, out_of_memory;
    size_t row;
    size_t ticks[SYMBOLS_MAX]; /* played of each symbol's */
    uint64_t seq;              /* of the last event, where trades are played */
    uint64_t event_seq;        /* of the last event, */
    int64_t event_ns;          /* and when it was received */
    size_t action;             /* the next one */
    size_t change;             /* likewise, of the universe */
    struct backtest_phases phases;
    bool sessions;                /* there is a calendar */
    struct strategy_host **hosts; /* [n], NULL of a strategy that is called */
    size_t *seen;                 /* values given of each external column */
    struct engine_trace trace;    /* of decisions */
};

/* Takes what the engine gives into the books, while `drive` is there; decisions, too, where the configuration
 * wants them. */
struct engine_sink backtest_drive_sink(struct drive *drive);

#endif
