/* Every input of the engine: nothing else changes its state. The same state and the same events in the same
 * order give the same orders, fills and ledger, to the bit; so the journal keeps states and events
 * (engine/record.h), and recovery, backtest, parity, explanation and what-if are one mechanism:
 * engine/replay.h. */
#ifndef ENGINE_EVENT_H
#define ENGINE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/command.h"
#include "exchange/corporate_action.h"
#include "exchange/market.h"
#include "exchange/symbol.h"
#include "exchange/trading_calendar.h"
#include "exchange/trading_day.h"
#include "strategy/column.h"

enum event_kind {
    EVENT_MARKET,            /* a frame, parsed */
    EVENT_SNAPSHOT,          /* REST: an order book */
    EVENT_BARS,              /* REST: closed bars, oldest first */
    EVENT_SYMBOL,            /* REST: the venue lists a symbol with other filters now */
    EVENT_CONNECTION,        /* the stream went up or down */
    EVENT_STALE,             /* the watchdog: a symbol's data is too old, or fresh again */
    EVENT_STORAGE,           /* the database or the journal cannot store, or can again */
    EVENT_TIMER,             /* time passed */
    EVENT_COMMAND,           /* the user */
    EVENT_SESSION,           /* a calendar's market opens, closes, or changes its phase */
    EVENT_ACTION,            /* a split or a dividend takes effect */
    EVENT_SYMBOL_CONNECTION, /* the venue's connections that carry a symbol went down, or are up */
    EVENT_CALENDAR,          /* the days of a market's calendar */
    EVENT_VENUE_CLOCK,       /* how far a venue's clock is from the one that stamps events */
    EVENT_VENUE_ORDER,       /* what became of an order that was sent to its venue */
    EVENT_VENUE_ACCOUNT,     /* what an account at its venue holds, or that it was reset there */
    EVENT_DECISION,          /* what an outside strategy decided on a bar: strategy/external.h */
    EVENT_COLUMN,            /* a value of an external column: strategy/column.h */
    EVENT_UNIVERSE,          /* a symbol is in the universe from now on, or out of it: engine/universe.h */
    EVENT_STOP,              /* the run ends cleanly: a point of equity of each account, with its marks */
    EVENT_KINDS,
};

struct event_snapshot {
    int symbol;
    uint64_t last_id;
    const struct book_level *bids, *asks; /* best first; the caller's, for the call only */
    uint32_t n_bids, n_asks;
};

struct event_bars {
    int symbol;
    const struct bar *bars; /* the caller's, for the call only */
    uint32_t n;
    bool missed; /* they closed while nothing was streamed: orders that they crossed are reported */
};

/* index == the number of symbols: it is streamed from now on, and has that index. A stock may get another
 * name (symbol_renamed()): positions, orders and all that is known of it stay. */
struct event_symbol {
    int index;
    struct symbol listed;
};

/* For all symbols of a venue: its stream went up or down. */
struct event_connection {
    char venue[VENUE_NAME_MAX]; /* "": of every venue */
    bool up;
};

/* For all symbols of a venue, until the next one: what recv_ns is, the venue's clock says ahead_ns later;
 * below 0: earlier. Bars, sessions and trades have the venue's time. */
struct event_venue_clock {
    char venue[VENUE_NAME_MAX]; /* "": of every venue */
    int64_t ahead_ns;           /* at most ENGINE_VENUE_AHEAD_MAX, either way */
};
#define ENGINE_VENUE_AHEAD_MAX (INT64_MAX / 8)

struct event_action {
    int symbol;
    struct corporate_action action;
};

/* All that is known of a calendar, in place of what was known under its name: engine_calendar_event(). */
struct event_calendar {
    struct trading_calendar calendar; /* its days are the caller's, for the call only */
    uint8_t hash[CALENDAR_HASH_SIZE]; /* trading_calendar_hash() */
};

/* Of an account with EXECUTION_VENUE_PAPER (engine/account.h). An order that has ended, and an update that
 * says nothing new, change nothing: so the same may come twice, by an answer and as user data. */
enum venue_update {
    VENUE_UPDATE_OPEN,    /* the venue has it; also: it does after all */
    VENUE_UPDATE_UNKNOWN, /* it may have it or not: ORDER_UNKNOWN until another comes */
    VENUE_UPDATE_FILL,    /* `fill`: booked if its cumulative quantity continues what is booked */
    VENUE_UPDATE_CANCELED,
    VENUE_UPDATE_EXPIRED,
    VENUE_UPDATE_REJECTED,  /* the venue refused it */
    VENUE_UPDATE_AGAIN,     /* it certainly does not have it: it is sent once more, to protect a position */
    VENUE_UPDATE_ABSENT,    /* the venue never got it, and will not: `text` says why */
    VENUE_UPDATE_DUPLICATE, /* `duplicate`: the venue has another order of its client id, venue_id, which
                           becomes an order here: the next number. Later updates of it are of that number */
    VENUE_UPDATES,
};
enum { VENUE_UPDATE_TEXT_MAX = 128, VENUE_UPDATE_ID_MAX = 40, VENUE_UPDATE_TRADE_MAX = 80 };
struct event_venue_order {
    int account;
    uint64_t order_id; /* ours */
    enum venue_update update;
    char venue_id[VENUE_UPDATE_ID_MAX]; /* the venue's id of the order; "" where it is not known */
    char text[VENUE_UPDATE_TEXT_MAX];   /* the venue's words, or why: of all but OPEN, FILL and AGAIN; "" */
    struct {
        int64_t price, qty, cumulative; /* price_scale, qty_scale */
        int64_t notional;               /* quote_scale; -1: computed here */
        int64_t fee;                    /* at the scale that the account has of the asset */
        char fee_asset[ASSET_NAME_MAX]; /* "": the venue does not say; the balances show it later */
        bool maker;
        char trade_id[VENUE_UPDATE_TRADE_MAX];
        int64_t ts_ns; /* the venue's time of it, by the venue's clock; 0: not said */
    } fill;            /* FILL */
    struct {
        int symbol;
        enum order_side side;
        enum order_type type;
        enum order_tif tif;
        int64_t qty, price, stop_price; /* qty_scale, price_scale; 0 where the type has none */
    } duplicate;                        /* DUPLICATE */
};

struct venue_total {
    char asset[ASSET_NAME_MAX];
    int scale;
    int64_t total; /* free and locked */
};
struct event_venue_account {
    int account;
    enum venue_account_update {
        VENUE_ACCOUNT_ATTACHED, /* the first one: what it holds is booked as deposited */
        VENUE_ACCOUNT_BALANCES, /* a later one, while no order's outcome is open: differences are booked */
        VENUE_ACCOUNT_RESET,    /* it is another account now, or was wiped: this one is halted */
        VENUE_ACCOUNT_UPDATES,
    } update;
    char prefix[9];                   /* ATTACHED: begins the client ids of its orders */
    const struct venue_total *totals; /* the caller's, for the call; those left out are 0 */
    int n;
    char text[VENUE_UPDATE_TEXT_MAX]; /* RESET: why */
};

/* The answer to the first of the engine's requests (engine_request_next()), which has these. */
struct strategy_decision;
struct event_decision {
    int account, symbol;
    int64_t open_ns;                          /* of the bar */
    const struct strategy_decision *decision; /* the caller's, for the call only */
};

/* Of a symbol, or of every symbol: -1. Refused, and nothing changes: engine_column_check(). */
struct event_column {
    int symbol;
    char name[COLUMN_NAME_MAX];
    struct column_value value;
};

struct event {
    uint64_t seq; /* 1, 2, 3 … through all runs of a state directory */
    int64_t
        recv_ns; /* receive time: of the wall clock, or of the feed's with --clock feed; never goes back */
    enum event_kind kind;
    union {
        struct market_event market;
        struct event_snapshot snapshot;
        struct event_bars bars;
        struct event_symbol symbol;
        struct event_connection connection;
        struct market_session session;
        struct event_action action;
        struct event_calendar calendar;
        struct event_venue_clock venue_clock;
        struct event_venue_order venue_order;
        struct event_venue_account venue_account;
        struct {
            int symbol;
            bool stale;
        } stale;
        struct {
            int symbol;
            bool up;
        } symbol_connection;
        struct {
            int symbol;
            bool in;
        } universe;
        bool storage_ok;
        struct event_command command;
        struct event_decision decision;
        struct event_column column;
    };
};

#endif
