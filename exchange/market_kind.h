/* The kinds of market messages, and what is kept of some: all that the engine's interface, the configuration
 * and the database need of exchange/market.h. */
#ifndef EXCHANGE_MARKET_KIND_H
#define EXCHANGE_MARKET_KIND_H

#include <stdint.h>

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
    MARKET_BANDS,                  /* the price limits of trading */
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

/* `id` names the trade as it was reported; a correction's own id replaces it where the venue gives one,
 * else it is the same. */
struct market_correction {
    int64_t ts_ns; /* of the correction, or of the cancellation */
    int64_t id, new_id;
    int64_t old_price, old_qty; /* 0: not said */
    int64_t price, qty;         /* CANCEL: those of the trade, or 0 */
    char code[MARKET_CODE_MAX]; /* the venue's word for what was done; may be empty */
};

struct market_bands {
    int64_t up, down; /* prices; 0: none */
};

const char *market_kind_name(enum market_kind kind);

#endif
