/* Every input of the engine: nothing else moves it. The same events in the same order give the same
 * orders, fills and ledger, to the bit. */
#ifndef ENGINE_EVENT_H
#define ENGINE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/market.h"
#include "exchange/order.h"

enum event_kind {
    EVENT_MARKET,     /* a frame, parsed */
    EVENT_SNAPSHOT,   /* REST: an order book */
    EVENT_BARS,       /* REST: closed bars, oldest first */
    EVENT_CONNECTION, /* the stream went up or down */
    EVENT_STALE,      /* the watchdog: a symbol's data is too old, or fresh again */
    EVENT_STORAGE,    /* the database cannot commit, or can again */
    EVENT_TIMER,      /* time passed */
    EVENT_COMMAND,    /* the user */
};

struct event_snapshot {
    int symbol;
    uint64_t last_id;
    const struct book_level *bids, *asks; /* best first; the caller's, for the call only */
    uint32_t n_bids, n_asks;
};

struct event_bars {
    int symbol;
    const struct bar *bars;
    uint32_t n;
};

enum command_kind {
    COMMAND_PAUSE, /* strategies may no longer open; stops and closes still work */
    COMMAND_RESUME,
    COMMAND_FLATTEN, /* pause, cancel every order, close every position at market */
    COMMAND_ORDER,
    COMMAND_CANCEL,
};

struct event_command {
    enum command_kind kind;
    uint64_t command_id; /* row in the table of commands; 0 for none */
    int account, symbol; /* ORDER */
    enum order_side side;
    enum order_type type;
    int64_t qty, price, stop_price;
    uint64_t order_id; /* CANCEL */
};

struct event {
    uint64_t seq;    /* 1, 2, 3 … */
    int64_t recv_ns; /* receive time: of the wall clock, or of the feed's with --clock feed */
    enum event_kind kind;
    union {
        struct market_event market;
        struct event_snapshot snapshot;
        struct event_bars bars;
        bool up; /* CONNECTION */
        struct {
            int symbol;
            bool stale;
        } stale;
        bool storage_ok;
        struct event_command command;
    };
};

#endif
