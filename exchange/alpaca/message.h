/* One of Alpaca's market messages, as its streams and, without T and S, its REST replies have it: fields into
 * a market event. Unknown fields are ignored; those of the event are all needed. Nothing is allocated. */
#ifndef EXCHANGE_ALPACA_MESSAGE_H
#define EXCHANGE_ALPACA_MESSAGE_H

#include "exchange/alpaca/reader.h"
#include "exchange/market.h"
#include "exchange/symbol.h"

enum {
    ALPACA_LEVELS_MAX = 16384, /* a side of one message */
    ALPACA_PRICE_SCALE = 9,    /* quotes and prints are finer than the increments that orders keep to */
    ALPACA_QTY_SCALE = 9,
    ALPACA_QUOTE_SCALE = 8,
};

struct alpaca_levels {
    struct book_level bids[ALPACA_LEVELS_MAX], asks[ALPACA_LEVELS_MAX];
};

/* The reader is at the message's map, `type` is its T:
 *
 *   t  TRADE       buyer_maker only where `tks` says so (crypto); odd, and of an auction, by its conditions;
 *                  the latter of the exchange alone that lists the symbol
 *   q  QUOTE       update_id is not written
 *   b  KLINE of one minute, closed; event_ns is its end. trades' ids -1; quote_volume from `vw`
 *   u  REVISION    the same bar once more
 *   d  TICKER      of the day; event_ns: its beginning, where `old`
 *   c  CORRECTION  x  CANCEL  l  BANDS  i  IMBALANCE
 *   s  STATUS      halts and resumptions
 *   o  DEPTH, BOOK (`r`): ids are not written, levels are in *levels
 *
 * 0 with all but ret->symbol written; 1 for a type that is none of these, or a status that changes nothing
 * (the map is left behind); -EBADMSG, then the reader stands anywhere. `old`: from REST, where bars of
 * years ago have neither n nor vw. */
int alpaca_read_message(struct reader *reader, char type, bool old, const struct symbol *symbol,
                        struct alpaca_levels *levels, struct market_event *ret);

#endif
