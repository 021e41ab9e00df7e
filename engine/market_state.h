/* One symbol's market, as the events reported it. */
#ifndef ENGINE_MARKET_STATE_H
#define ENGINE_MARKET_STATE_H

#include "engine/engine.h"
#include "engine/measure.h"
#include "exchange/market.h"

enum { RECENT_BARS_MAX = ENGINE_RECENT_BARS_MAX };

/* The last closed bars of a symbol, for the indicators of accounts that are made later. {0} is empty. */
struct recent_bars {
    struct bar *bars; /* a ring: the oldest at `first` once n is RECENT_BARS_MAX, before that at 0 */
    uint32_t first, n, cap;
};

/* How much an account's orders took of a price that the market shows: it counts as taken while the price is
 * shown. */
struct taken {
    int account;
    enum order_side taker; /* BUY: of the asks */
    int64_t price, qty;
};

/* The source of a symbol's last price. One of history may be long past: no peak is computed from it, and it
 * locks no account. */
enum last_from { LAST_NONE, LAST_HISTORY, LAST_BAR, LAST_TRADE };

/* A trade as it was reported, while it may be corrected. */
struct kept_trade {
    int64_t ts_ns, id, price, qty;
    bool odd;
};

/* The newest of a symbol, in order of arrival; the one of its last price stays. {0} is empty. */
struct kept_trades {
    struct kept_trade *trades; /* a ring */
    uint32_t first, n, cap;
    int64_t newest_ns; /* the latest of their times, while there are any */
    bool priced;       /* does one of them make a price? */
    int64_t priced_ns; /* then: the latest time of those */
    bool started;
    int64_t whole_ns; /* all trades of bars that open then or later are there */
};

/* A split or a dividend that took effect. */
struct known_action {
    char id[ACTION_ID_MAX];
    int64_t ex_ns;
};

/* A symbol's session and its auctions, by its trades: auction.c. */
struct auction {
    int64_t open_ns;     /* when the newest session opened; 0: not known */
    int64_t first, last; /* prices of its first and its last trade; 0: none yet */
    int64_t last_ns;     /* when the last one was made */
    int64_t print;       /* an official price that came before the event of its phase; 0: none */
    int64_t due_ns;      /* until then, by recv_ns, the official price is waited for; 0: no auction waits */
    int64_t before_ns;   /* only orders that took effect before it trade there */
    bool closing;        /* which of the two is waited for */
};

/* One symbol's market, as the events reported it. */
struct market_state {
    struct symbol symbol;
    int64_t notional_unit; /* price·qty / notional_unit = quote units */
    struct book book;
    struct bar_builder builder;
    struct market_quote quote;
    int64_t last; /* price of the last trade; of the last closed bar before the first, and with FILL_BAR */
    /* FILL_BAR: the close of the newest bar where that is before or after the session; 0: it is not. Only
     * accounts that trade then see it: engine_price(). Derived from last_bar. */
    int64_t outside;
    enum last_from last_from;
    int64_t priced_ns;   /* when `last` was made: a trade's receive time, a bar's end; 0: not known */
    int64_t last_ns;     /* receive time of the last event */
    int64_t change_open; /* 24 h ago */
    int64_t ahead_ns;    /* its venue's clock is so far ahead of recv_ns; 0: it is the same, or not known */
    bool stale;
    bool out; /* the universe leaves it out: strategies and policies open nothing of it */
    /* Its calendar's session; OPEN without a calendar. */
    enum market_phase phase;
    bool extended;         /* EARLY and LATE are traded in as well */
    int64_t phase_next_ns; /* when the phase changes; 0: not known */
    /* When the newest period in which orders are filled started, and when the newest one that is over
     * ended; 0: not known. */
    int64_t opened_ns, closed_ns;
    int64_t reopened_ns; /* when trading last began again: what was shown before is forgotten; 0: never */
    enum market_trading trading;
    struct auction auction;
    struct market_bands bands;  /* for display only */
    struct known_action *known; /* in order of arrival */
    uint32_t n_known, cap_known;
    int64_t known_before_ns; /* of those whose ex_ns is not after it no other takes effect; 0: none */
    uint64_t bars;
    struct bar last_bar, forming;
    struct bar *held; /* closed bars that wait for missing ones before them; NULL: there never were any */
    uint32_t n_held;
    bool torn; /* bars may be missing since the last one: the stream was interrupted */
    struct kept_trades trades;
    struct recent_bars recent;
    uint32_t shorts;      /* accounts that are short of it */
    uint32_t live_orders; /* of all accounts, resting or on their way */
    /* Derived, and not part of the state: does any live order depend on quotes, or on trades within these
     * prices? false: not known. */
    bool unmoved, calm;
    int64_t calm_above, calm_below;
    bool quotes_only; /* derived: the fill model uses no book */
    struct measure_track
        *measured;       /* for sink.book_bar, and not part of the state; NULL until it is needed */
    struct taken *taken; /* oldest first */
    uint32_t n_taken, cap_taken;
};

#endif
