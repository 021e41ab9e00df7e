/* The tape: the venue's messages, made from the events of its market.
 *
 * A source passes trades, quotes and changes of the book to the tape, in order of time. The tape makes of
 * them every stream that has listeners (trades joined to aggregates, klines, slow depth, tickers), renders
 * each message once, and passes it to `deliver`. It keeps what REST shows: klines, the last trades and
 * aggregates.
 *
 * Recorded messages are passed on unchanged, except times in another unit; for a stream that is recorded,
 * no message is made. */
#ifndef EXCHANGE_REPLAY_TAPE_H
#define EXCHANGE_REPLAY_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/replay/candles.h"
#include "exchange/replay/ladder.h"
#include "exchange/replay/stream.h"
#include "exchange/symbol.h"
#include "exchange/text.h"

enum {
    TAPE_SYMBOLS_MAX = 4096,
    TAPE_TRADES_KEPT = 1000,      /* for /api/v3/trades */
    TAPE_AGGREGATES_KEPT = 10000, /* for /api/v3/aggTrades, unless another number is set */
    TAPE_HASH = 1 << 14,
};

struct tape_trade {
    int64_t event_ns, ts_ns;
    int64_t id, price, qty;
    bool buyer_maker;
};

/* Trades of one taker order at one price. */
struct tape_aggregate {
    int64_t ts_ns, id, first_id, last_id, price, qty;
    bool buyer_maker;
};

struct tape_symbol {
    char name[SYMBOL_NAME_MAX]; /* upper case */
    char lower[SYMBOL_NAME_MAX];
    int price_digits, qty_digits;          /* digits after the point in its prices and quantities */
    char status[24];                       /* as exchangeInfo has it: "TRADING" */
    bool changed, delisted, other_filters; /* its status, its listing, its filters: see binance/changes.c */
    char *info; /* its object in exchangeInfo as it was recorded, or NULL; freed with the tape */
    struct candles candles;
    struct replay_stream *streams; /* with listeners, or that are recorded */
    int64_t next_close_ns;         /* when the first of its klines closes; INT64_MAX: none */

    struct tape_trade *trades; /* ring of TAPE_TRADES_KEPT */
    uint64_t n_trades;         /* ever */

    struct tape_aggregate *aggregates; /* ring of cap_aggregates, at most tape->aggregates_kept */
    uint64_t n_aggregates, cap_aggregates;

    bool agg_open; /* a run of trades that may continue */
    int64_t agg_id, agg_first_id, agg_last_id, agg_qty;
    struct tape_trade agg;

    struct replay_ladder slow[2]; /* changes of bids and asks since the last slow depth message */
    uint64_t slow_first_id, slow_last_id;
    int64_t slow_event_ns;

    int64_t bid, bid_qty, ask, ask_qty; /* last quote, 0 before the first */
};

struct tape {
    struct tape_symbol *symbols; /* moves when one is added */
    int n_symbols, cap_symbols;
    int *by_name;   /* TAPE_HASH slots of index + 1; 0: free */
    int64_t now_ns; /* market time: the latest event time seen */
    struct replay_stream *hash[TAPE_HASH];
    struct text scratch, other; /* what is being rendered; a recorded message in another unit */
    uint64_t aggregates_kept;   /* the last so many of each symbol */
    size_t n_changed;           /* changes of symbols that were applied */
    bool failed;                /* out of memory */

    /* One message: the stream's data object, for those of its listeners that want times in `unit`. */
    void (*deliver)(void *user, struct replay_stream *stream, int unit, const char *data, size_t len);
    void *user;

    /* Each trade (of a recording without plain ones, each aggregate), before its messages; NULL: no. */
    void (*traded)(void *user, int symbol, const struct tape_trade *trade);
    void *traded_user;
};

/* struct tape is large: keep it on the heap, zeroed. */
void replay_tape_init(struct tape *tape);
void replay_tape_finish(struct tape *tape);

/* Adds a symbol, given in either case; returns its index (the old one if it is there), -ENOSPC or -EINVAL. */
int replay_tape_symbol_add(struct tape *tape, const char *name, size_t len);
int replay_tape_symbol_find(const struct tape *tape, const char *name, size_t len); /* -1: none */

/* The stream of a name, made when there is none; NULL when memory is out. */
struct replay_stream *replay_tape_stream(struct tape *tape, const char *name, size_t len);

/* A client listens, for times in STREAM_MS or STREAM_US; 1 when it did already, else 0, or -ENOMEM. */
int replay_tape_listen(struct tape *tape, const char *name, size_t len, void *client, bool combined,
                       int unit);
/* It no longer does; false when it did not. */
bool replay_tape_unlisten(struct tape *tape, const char *name, size_t len, void *client);

/* Market time passes: klines whose interval is over by then are closed. Trades do it by themselves;
 * `event_ns` of other messages counts `grace_ns` late, because trades of the closed interval may still come.
 */
void replay_tape_advance(struct tape *tape, int symbol, int64_t event_ns, int64_t grace_ns);

/* The market stops at `end_ns` for a time that is not known, or for good: klines that are over by then are
 * closed, and no klines are made until the next trade. */
void replay_tape_pause(struct tape *tape, int symbol, int64_t end_ns);

/* The market stood still since a pause, and had opened at `open_ns` without a trade so far: its klines begin
 * there. */
void replay_tape_resume(struct tape *tape, int symbol, int64_t open_ns);

/* One trade. `raw` is its message as recorded, or NULL. Trades of one taker order at one price and time
 * form one aggregate; `run_ends`: no more will join this one (else the next trade or the time shows it). */
void replay_tape_trade(struct tape *tape, int symbol, const struct tape_trade *trade, bool run_ends,
                       const char *raw, size_t raw_len);

/* An aggregate of a recording: sends `raw`, and counts it into klines, where the recording has no plain
 * trades. */
void replay_tape_agg_trade(struct tape *tape, int symbol, const struct tape_trade *trade, int64_t first_id,
                           int64_t last_id, bool count, const char *raw, size_t raw_len);

/* Best bid and ask after update `id`. */
void replay_tape_quote(struct tape *tape, int symbol, uint64_t id, int64_t bid, int64_t bid_qty, int64_t ask,
                       int64_t ask_qty, const char *raw, size_t raw_len);

/* Changes of the book, of updates first_id..last_id, each side best first. */
void replay_tape_depth(struct tape *tape, int symbol, int64_t event_ns, uint64_t first_id, uint64_t last_id,
                       const struct level *bids, size_t n_bids, const struct level *asks, size_t n_asks,
                       const char *raw, size_t raw_len);

/* Any other recorded message. */
void replay_tape_recorded(struct tape *tape, struct replay_stream *stream, const char *raw, size_t raw_len);

/* The aggregates that are kept are at positions from the first one up to below symbol->n_aggregates. */
uint64_t replay_tape_aggregates_first(const struct tape_symbol *symbol);
const struct tape_aggregate *replay_tape_aggregate(const struct tape_symbol *symbol, uint64_t position);
/* The first position whose id (by_time: whose time) is at least that; symbol->n_aggregates: there is none. */
uint64_t replay_tape_aggregates_from(const struct tape_symbol *symbol, bool by_time, int64_t least);

/* Nothing more comes: what was held back to be joined goes out. */
void replay_tape_end(struct tape *tape);

/* The 24 h before market time: open, high, low, close, volumes; false before the first trade. */
bool replay_tape_day(const struct tape *tape, int symbol, struct candle *ret);

#endif
