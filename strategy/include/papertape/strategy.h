/* A strategy as a shared object, for papertape: `--strategy lib:FILE.so` and an account's key `strategy`.
 *
 * A file exports one function, papertape_strategy_v1(), which returns a table: name, parameters with their
 * ranges, the indicators that it reads, and a function that is called at each closed bar and answers with
 * order intents. It gets numbers only, and bars up to that one. docs/plugins.md explains it with an example;
 * `papertape strategy new NAME` makes a folder to start from.
 *
 * Version 1. Structs that papertape fills begin with their size, since a later papertape may append members:
 * one that is not within `size` is not there. What an author fills has `size` too, and may be shorter than
 * the program's. Nothing is ever moved or removed without another version, which a program that does not know
 * it refuses to load. C11 and C++11; it includes <stddef.h> and <stdint.h> alone. */
#ifndef PAPERTAPE_STRATEGY_H
#define PAPERTAPE_STRATEGY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAPERTAPE_STRATEGY_VERSION 1

#define PAPERTAPE_SPEC_TEXT        128 /* bytes of an indicator's text, its end included */

/* A parameter. `words`: NULL, or what 0, 1 … are called, with blanks between: `integer` is then 1, `min` 0
 * and `max` the last one's place. */
struct papertape_param {
    const char *name, *summary;
    double fallback, min, max;
    uint32_t integer; /* whole numbers only */
    uint32_t reserved;
    const char *words;
};

/* The closed trades of the account in this symbol, flat to flat, after fees. */
struct papertape_record {
    uint32_t wins, losses;
    uint32_t losing; /* losses in a row, up to now */
    uint32_t reserved;
    double won, lost; /* their sums, each >= 0, in the account's currency */
};

/* A symbol that the account trades: its last closed bar that the strategy has seen, and its position now.
 * Members are those of papertape_input. */
struct papertape_peer {
    uint32_t size;
    uint32_t fresh; /* `together`: 1: it is the bar of this time */
    const char *name;
    int64_t ts_ns; /* the bar's close; 0: there was none yet, and its prices and indicators are NaN */
    double open, high, low, close, volume;
    const double *indicators;
    double qty, entry, stop, profit, leverage;
    uint32_t live_orders, shorts, orders;
    uint32_t reserved;
    struct papertape_record record;
};

/* A closed bar of one symbol, and what the account has. Prices and quantities are plain numbers; times are
 * nanoseconds since 1970 UTC. */
struct papertape_input {
    uint32_t size;
    uint32_t intents_max;                      /* how many intents may be written */
    int64_t ts_ns, interval_ns;                /* the bar's close; the bars' length */
    int64_t session_open_ns, session_close_ns; /* of the bar's session; 0: its market has none */
    double open, high, low, close, volume;
    const double *indicators; /* one value an output, in the order of the specs; NaN while warming up */
    uint32_t live_orders;     /* 1: an order of this symbol is working, stops and profits apart */
    uint32_t shorts;          /* 1: the account may be short of this symbol */
    double qty, entry;        /* the position, negative when short, and its average price; 0 when flat */
    double equity, cash;      /* of the account, in its currency; free cash */
    double stop, profit;      /* prices of the position's stop and take-profit; 0: none */
    uint32_t positions;       /* symbols with a position or an entry, this one included */
    uint32_t symbols;         /* that the account trades */
    struct papertape_record record;
    double leverage; /* the most of its equity that the account may hold of this symbol; 1 without margin */
    uint32_t orders; /* of its own, of this symbol, that work, and that CANCEL would cancel */
    /* Of a strategy with `peers` or `together`: the account's symbols, in an order that stays, and which of
     * them this one is; else 0 and NULL. Bars of one time close one after the other: with `peers` alone those
     * of others may be of the time before. A symbol in another currency is none of them: UINT32_MAX, and its
     * bars are history. */
    uint32_t n_peers;
    const struct papertape_peer *const *peers;
    uint32_t self;
    uint32_t reserved;
};

enum papertape_intent_kind {
    /* Buy for `fraction` of equity: at market, or at `limit` until good_ns. What was filled is protected by a
     * stop at `stop` and sold at `profit`, where they are not 0; one ends the other. */
    PAPERTAPE_ENTER = 0,
    /* Close the position at market, long or short; its stop and profit end too. With a `fraction` between 0
     * and 1 that share of it, in whole lots: what protects it shrinks to what is left. */
    PAPERTAPE_EXIT = 1,
    PAPERTAPE_STOP = 2, /* move the protective stop to `stop` */
    /* Hold `fraction` of equity, from -leverage to leverage, negative where `shorts` allows it: buys or sells
     * the difference at market. */
    PAPERTAPE_TARGET = 3,
    PAPERTAPE_SHORT = 4, /* ENTER the other way round, where `shorts` allows it */
    /* One order of any type, by the members of an order below: its venue and the account's limits take it or
     * refuse it as they do an order by hand. */
    PAPERTAPE_ORDER = 5,
    PAPERTAPE_CANCEL = 6, /* cancels those that `orders` counts */
};

enum papertape_side { PAPERTAPE_BUY = 0, PAPERTAPE_SELL = 1 };

enum papertape_order_type {
    PAPERTAPE_MARKET = 0,
    PAPERTAPE_LIMIT = 1,       /* at `limit` */
    PAPERTAPE_STOP_MARKET = 2, /* at market, once the price is at `stop` */
    PAPERTAPE_STOP_LIMIT = 3,  /* at `limit` then */
    PAPERTAPE_TAKE_PROFIT = 4, /* at market, once the price is at `stop`, which is on the side of gain */
    PAPERTAPE_TAKE_PROFIT_LIMIT = 5, /* at `limit` then */
    PAPERTAPE_TRAILING_STOP = 6,     /* a stop that follows the best price at `trail` or `trail_share` */
};

enum papertape_tif {
    PAPERTAPE_GTC = 0, /* until it is cancelled */
    PAPERTAPE_IOC = 1, /* what does not fill at once expires */
    PAPERTAPE_FOK = 2, /* fills whole at once, or expires whole */
    PAPERTAPE_DAY = 3, /* until the end of the session */
    PAPERTAPE_GTD = 4, /* until good_ns */
    PAPERTAPE_OPG = 5, /* in the opening auction, or it expires */
    PAPERTAPE_CLS = 6, /* in the closing auction, or it expires */
};

/* What an order's quantity is computed from, as it is made, in whole lots. */
enum papertape_size {
    PAPERTAPE_OF_EQUITY = 0, /* `fraction` of equity, at its limit, else its stop, else the market's price */
    PAPERTAPE_OF_POSITION = 1, /* `fraction` of the position, at most 1 */
    PAPERTAPE_OF_UNITS = 2,    /* `qty` */
};

/* Zeroed before the call: members that a kind does not use stay 0, as do those that are reserved. An intent
 * that no market could fill is refused whole, counted and reported: docs/strategies.md. */
struct papertape_intent {
    uint32_t kind; /* enum papertape_intent_kind */
    uint32_t reserved;
    double fraction;
    double stop, profit;
    double limit;
    int64_t good_ns; /* when a limit expires; 0: never */
    const char *why; /* static text of at most 31 bytes, recorded with the order; NULL: "" */
    /* ORDER alone: enum papertape_side, papertape_order_type, papertape_tif, papertape_size. `limit` and
     * `stop` are its prices, where its type has them; good_ns is of GTD. */
    uint32_t side, type, tif, size;
    double qty;
    double trail, trail_share; /* of a trailing stop one of the two: a distance, or 0..1 of the price */
    uint32_t reduce_only;      /* 1: it only reduces the position */
    uint32_t symbol;           /* of a strategy with `together`: which of the peers; else not read */
    uint64_t later[3];
};

/* The bars of one symbol as columns, n rows each, oldest first, without gaps. */
struct papertape_columns {
    uint32_t size;
    uint32_t reserved;
    uint64_t n;
    int64_t interval_ns;
    const double *open, *high, *low, *close;
    const double *const *indicators; /* [output][n]; NaN while warming up: at the beginning only */
};

/* Words of marks, zeroed: bit i % 64 of word i / 64 says that bar i matters */
struct papertape_marks {
    uint32_t size;
    uint32_t reserved;
    uint64_t *flat;    /* to an account that holds nothing of the symbol */
    uint64_t *holding; /* to one that is long of it */
    uint64_t *shorted; /* to one that is short of it; NULL: the account may not be short */
};

struct papertape_strategy {
    uint32_t size;    /* sizeof(struct papertape_strategy) */
    uint32_t version; /* PAPERTAPE_STRATEGY_VERSION */
    const char *name, *summary;
    const struct papertape_param *params;
    uint32_t n_params;
    uint32_t param_size; /* sizeof(struct papertape_param) */
    uint32_t state_size; /* bytes of memory that it keeps for each symbol of an account */
    uint32_t shorts;     /* 1: it also sells short, where the account may */

    /* NULL, or why these parameters, each within its range, contradict each other: static text that names
     * one, as "fast: fewer bars than slow are needed". NULL as the function: they never do. */
    const char *(*check)(const double *params);

    /* Writes the indicators that it reads with these parameters, as "sma:20", "ema:9@4h" or
     * "lib:mine:name:3", and external columns, as "col:funding", with the age beyond which a value is stale
     * "col:funding,8h", and "sma:20@col:funding"; returns how many. NULL: none. */
    size_t (*specs)(const double *params, char specs[][PAPERTAPE_SPEC_TEXT]);

    /* Decides; returns how many intents it wrote. `state` has state_size bytes, 8-aligned, zeroed at the
     * start; it is copied, saved and loaded as bytes: no pointers. All that it remembers is there: other
     * memory, files, clocks and random numbers make a live run, its replay and a backtest differ, which
     * `papertape lookahead` and `warmup` look for. Called from several threads at once, with different
     * states. */
    size_t (*on_bar)(const double *params, void *state, const struct papertape_input *input,
                     struct papertape_intent *intents);

    /* NULL, or what makes backtests fast: a search for the bars that matter. It marks each bar at which
     * on_bar(), for such an account, may return an intent or change its state. Marks may be too many, never
     * too few; a mark depends on bars up to its own. The columns may begin anywhere in the history: a bar
     * that depends on bars before them must be marked. */
    void (*scan)(const double *params, const struct papertape_columns *columns,
                 const struct papertape_marks *marks);

    uint32_t needs_shorts; /* 1: it opens nothing where the account may not be short */
    uint32_t peers;        /* 1: it reads the last bars of the account's other symbols */
    /* 1: it is called once for a time, when the bars of all of the account's symbols of that time have
     * closed, or some do not come; `fresh` says whose are there. The bar, position and indicators of its
     * input are peers[0]'s; it has one state, and writes at most eight intents of each symbol, live at most
     * 64 in all, of symbols whose bar is fresh. No scan(). */
    uint32_t together;
    uint32_t symbols_min; /* symbols that the account must trade at least */
};

#if defined(__GNUC__)
#define PAPERTAPE_STRATEGY_EXPORT __attribute__((visibility("default")))
#else
#define PAPERTAPE_STRATEGY_EXPORT
#endif

/* What a file exports. The table, and all that it points to, stay as they are for the process's life. */
PAPERTAPE_STRATEGY_EXPORT const struct papertape_strategy *papertape_strategy_v1(void);

#ifdef __cplusplus
}
#endif

#endif
