/* A market of stocks and pairs of coins, synthetic or of bars files (file_bars.h), in which every minute is a
 * function of the seed, the symbol and the minute alone: nothing is remembered, so that what is streamed,
 * what REST returns for any time in any year, and another run of the same seed agree. Prices are sums of
 * noise of all periods from a second to half a year (octaves whose amplitude grows with the root of the
 * period, as a random walk's does).
 *
 * All prices and sizes are in units of 10^-9; shares and coins alike. */
#ifndef EXCHANGE_REPLAY_ALPACA_MADE_H
#define EXCHANGE_REPLAY_ALPACA_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/corporate_action.h"
#include "exchange/symbol.h"

/* Prices, quantities and notionals are integers of this scale, as the venue has them. */
enum { MADE_SCALE = 9 };
#define MADE_E9       1000000000LL /* one */
#define MADE_SECOND   1000000000LL
#define MADE_MINUTE   (60 * MADE_SECOND)
#define MADE_TAKEN_NS 100000 /* a trade comes so long after the quote that it takes */

enum {
    MADE_OCTAVES = 25,
    MADE_TICKS_MAX = 96, /* of one symbol in one minute */
    MADE_LEVELS = 16,    /* of each side of a book */
    MADE_SYMBOLS_MAX = 128,
    MADE_ACTIONS_MAX = 64,
    MADE_ERROR_MAX = 320,
};

enum made_class { MADE_STOCK, MADE_CRYPTO, MADE_TEST };

struct file_bars;

/* What an asset's entry denies. */
enum made_denied {
    MADE_NOT_TRADABLE = 1,
    MADE_NOT_SHORTABLE = 2,
    MADE_NOT_EASY_TO_BORROW = 4,
    MADE_NOT_FRACTIONABLE = 8,
    MADE_NOT_MARGINABLE = 16,
};

/* A row of the list of what is traded. */
struct made_symbol {
    char name[SYMBOL_NAME_MAX];   /* "AAPL" */
    const char *title, *exchange; /* "Apple Inc. Common Stock", "NASDAQ" */
    enum made_class class;
    char tape, home;        /* 'C'; its listing exchange's letter */
    int64_t price, tick;    /* the price around which it moves; the steps of quotes */
    int64_t level;          /* crypto: the step of the book's levels below the best */
    int64_t size;           /* a typical trade's, crypto */
    int rate;               /* quotes in a minute of the session */
    int swing;              /* by how much it moves, in units of a stock's ordinary move / 4 */
    unsigned denied;        /* enum made_denied, added up */
    int before;             /* after a change of name: 1 + the index of the old one, whose past is its own */
    struct file_bars *bars; /* plays a bars file; NULL: synthetic */
};

enum made_revision { MADE_STANDS, MADE_CANCELLED, MADE_CORRECTED };

struct made_trade {
    int64_t ts_ns, reported_ns; /* its time; when it is reported: later only for a late trade */
    int64_t id;                 /* rises with ts_ns, with holes */
    int64_t price, size;
    char exchange;
    bool odd;              /* less than a round lot: volume only */
    bool extended;         /* outside of the session */
    bool opening, closing; /* of bars: the session's first trade; the official close, no trade of its own */
    bool buy;              /* by the taker */
    enum made_revision revision;
    int64_t revised_ns, new_id, new_price, new_size; /* of a revision */
};

/* A quote, and perhaps the trade that takes it. */
struct made_tick {
    int64_t ts_ns;
    int64_t bid, bid_size, ask, ask_size;
    char bid_exchange, ask_exchange;
    bool iex; /* seen on IEX: quote and trade are that exchange's */
    bool traded;
    struct made_trade trade;
};

struct made_level {
    int64_t price, size;
};

struct made_book {
    struct made_level bids[MADE_LEVELS], asks[MADE_LEVELS]; /* best first */
};

struct made_halt {
    int64_t from_ns, to_ns; /* whole minutes */
    const char *code, *reason;
};

struct made_action {
    enum {
        MADE_ACTION_SPLIT,
        MADE_ACTION_DIVIDEND,
        MADE_ACTION_RENAME, /* symbol's name is `renamed`'s from the date on */
        MADE_ACTION_HALT,
        MADE_ACTION_END
    } kind;
    int symbol, renamed;
    int64_t date, from_ns; /* of the ex-date, and its first moment; or of a halt */
    int64_t to_ns;         /* of a halt */
    int64_t pay_date;      /* of a dividend */
    int64_t shares, per, cash;
};

struct made {
    uint64_t seed;
    uint64_t path_seed; /* of its prices' paths: the seed, unless another market's prices are to be near */
    struct made_symbol symbols[MADE_SYMBOLS_MAX];
    int n_symbols;
    struct made_action actions[MADE_ACTIONS_MAX];
    int n_actions;
    struct made_path { /* lattice values around the last time asked for: a cache */
        int64_t index[MADE_OCTAVES];
        int32_t at[MADE_OCTAVES], next[MADE_OCTAVES];
    } paths[MADE_SYMBOLS_MAX];
};

void replay_made_init(struct made *made, uint64_t seed);

/* -1: not listed. */
int replay_made_find(const struct made *made, const char *name);

/* Instead of the synthetic symbols: one more that plays a file, which outlives it. 0; -EINVAL when the name
 * is there already or there are too many. */
int replay_made_file_add(struct made *made, struct file_bars *bars);

/* Adds "split:AAPL:4:1:2026-01-15", "dividend:AAPL:0.24:2026-01-15", "rename:FB:META:2026-01-15" or
 * "halt:AAPL:2026-01-15T15:00:00Z:5m".
 * 0, or -EINVAL with "what: where: what would be right". */
int replay_made_action_add(struct made *made, const char *spec, char error[static MADE_ERROR_MAX]);

/* What happens in the minute that begins at minute × 60 s, in order of time; returns how many. */
size_t replay_made_minute(struct made *made, int symbol, int64_t minute,
                          struct made_tick ticks[static MADE_TICKS_MAX]);

/* Has a file a bar without volume that opens in that minute? It has no ticks. Its open, high, low, close. */
bool replay_made_quiet(const struct made *made, int symbol, int64_t minute, int64_t ret_ohlc[static 4]);

/* Adds a halt, or the end of all trading in a symbol, that begins at the first whole minute at or after
 * `from_ns`; a halt of a stock ends at the next change of the same symbol, at the latest with the day's
 * session. 0; -EINVAL for an unknown symbol, a time at which it cannot be halted, or too many. */
int replay_made_halt_add(struct made *made, const char *symbol, int64_t from_ns, int64_t to_ns);
int replay_made_end_add(struct made *made, const char *symbol, int64_t from_ns);

/* Denies an asset something: "AAPL:not-shortable". 0, or -EINVAL with an error as above. */
int replay_made_deny(struct made *made, const char *spec, char error[static MADE_ERROR_MAX]);

bool replay_made_listed_at(const struct made *made, int symbol, int64_t ns);
/* Before a change of name the new one is not known. */
bool replay_made_known_at(const struct made *made, int symbol, int64_t ns);

/* Is it open then, and not halted? */
bool replay_made_trades_at(const struct made *made, int symbol, int64_t ns);

/* The nth of a stock's halts on a date, from 0 on; false when there are no more. */
bool replay_made_halt_on(const struct made *made, int symbol, int64_t date, int nth, struct made_halt *ret);

/* The official closing price of a file's stock, where its session ends at `ns`: of its last trade. */
bool replay_made_closing(const struct made *made, int symbol, int64_t ns, int64_t *ret_price);

/* The price around which it trades at that time, before quotes are rounded to ticks. */
int64_t replay_made_price(struct made *made, int symbol, int64_t ns);

/* The book whose best levels the tick's quote is. */
void replay_made_book(const struct made *made, int symbol, const struct made_tick *tick,
                      struct made_book *ret);

/* Seeded random numbers of a symbol, for a purpose, by time or number. */
enum made_purpose { MADE_PATHS, MADE_MINUTES, MADE_SIZES, MADE_HALTS, MADE_ASSET_IDS, MADE_ACTION_IDS };
uint64_t replay_made_hash(const struct made *made, int symbol, enum made_purpose purpose, uint64_t at);

#endif
