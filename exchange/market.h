/* What a venue says, in one vocabulary: every parser produces these, everything above reads only these. */
#ifndef EXCHANGE_MARKET_H
#define EXCHANGE_MARKET_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/bar.h"
#include "exchange/book.h"

enum market_kind {
    MARKET_TRADE,
    MARKET_AGG_TRADE, /* several fills of one taker order at one price */
    MARKET_KLINE,     /* forming or closed bar as the venue sees it */
    MARKET_QUOTE,     /* best bid and ask */
    MARKET_DEPTH,     /* book difference */
    MARKET_TICKER,    /* summary of the rolling 24 h, or of the day where the venue has no other */
    MARKET_CHANNELS,  /* the kinds above are subscribed by configuration; those below come along with them */
    MARKET_BOOK = MARKET_CHANNELS, /* the whole book, in the stream: it replaces what is known */
    MARKET_REVISION,               /* a closed bar once more, with other numbers */
    MARKET_CORRECTION,             /* a trade once more, with another price or quantity */
    MARKET_CANCEL,                 /* a trade that never was */
    MARKET_STATUS,                 /* trading halts, resumes, ends */
    MARKET_BANDS,                  /* the prices that trading is held within */
    MARKET_IMBALANCE,              /* of an auction */
    MARKET_KINDS,
};

enum market_trading {
    MARKET_TRADES, /* continuously */
    MARKET_HALTED, /* no trades for now; orders wait */
    MARKET_ENDED,  /* the venue lists the symbol no longer */
    MARKET_TRADINGS,
};

enum { MARKET_CODE_MAX = 16, MARKET_REASON_MAX = 64 };

struct market_trade {
    int64_t ts_ns, id;         /* trade time; trade or aggregate id */
    int64_t first_id, last_id; /* trade ids it covers (equal to id for a plain trade) */
    int64_t price, qty;
    bool buyer_maker; /* the taker sold */
    bool odd;         /* by its conditions it makes no price: volume only */
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

/* `id` names the trade as it was told; a correction's own id replaces it where the venue gives one, else it
 * is the same. */
struct market_correction {
    int64_t ts_ns; /* of the correction, or of the cancellation */
    int64_t id, new_id;
    int64_t old_price, old_qty; /* 0: not said */
    int64_t price, qty;         /* CANCEL: those of the trade, or 0 */
    char code[MARKET_CODE_MAX]; /* the venue's word for what was done; may be empty */
};

struct market_status {
    enum market_trading trading;
    char code[MARKET_CODE_MAX];     /* the venue's, as "H" */
    char reason[MARKET_REASON_MAX]; /* in words; cut; may be empty */
};

struct market_bands {
    int64_t up, down; /* prices; 0: none */
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

const char *market_kind_name(enum market_kind kind);

#endif
