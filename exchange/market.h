/* A venue's messages in one vocabulary: every parser produces these, everything above reads only these. */
#ifndef EXCHANGE_MARKET_H
#define EXCHANGE_MARKET_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/bar.h"
#include "exchange/book.h"
#include "exchange/market_kind.h"

/* Does a trade say the price of an auction? By the exchange that lists the symbol alone. */
enum market_auction { MARKET_NO_AUCTION, MARKET_OPENING, MARKET_CLOSING, MARKET_AUCTIONS };

struct market_trade {
    int64_t ts_ns, id;         /* trade time; trade or aggregate id */
    int64_t first_id, last_id; /* trade ids it covers (equal to id for a plain trade) */
    int64_t price, qty;
    bool buyer_maker; /* the taker sold */
    bool odd;         /* by its conditions it makes no price: volume only */
    enum market_auction auction;
};

struct market_kline {
    int64_t interval_ns;
    struct bar bar;
    bool closed;
};

struct market_quote {
    uint64_t update_id;
    int64_t bid, bid_qty, ask, ask_qty;
};

struct market_status {
    enum market_trading trading;
    char code[MARKET_CODE_MAX];     /* the venue's, as "H" */
    char reason[MARKET_REASON_MAX]; /* in words; cut; may be empty */
};

/* Levels belong to the parser and live until its next call; qty 0 deletes. */
struct market_depth {
    uint64_t first_id, last_id; /* U, u; from a venue that numbers nothing the parser's own, without holes */
    const struct book_level *bids, *asks;
    uint32_t n_bids, n_asks;
};

struct market_ticker {
    int64_t open, high, low, close; /* of the last 24 h */
    int128_t volume;
};

/* One normalised message. `symbol` indexes the table that the parser was given. */
struct market_event {
    enum market_kind kind;
    int symbol;
    int64_t event_ns; /* the venue's event time; 0 where the message has none (bookTicker) */
    union {
        struct market_trade trade; /* TRADE, AGG_TRADE */
        struct market_kline kline; /* KLINE, REVISION */
        struct market_quote quote;
        struct market_depth depth; /* DEPTH; BOOK: first_id = last_id, 0 where the venue counts nothing */
        struct market_ticker ticker;
        struct market_correction correction; /* CORRECTION, CANCEL */
        struct market_status status;
        struct market_bands bands;
        int64_t imbalance_price;
    };
};

#endif
