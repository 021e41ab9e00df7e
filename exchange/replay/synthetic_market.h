/* The book of a synthetic market, and the messages that agree with it: orders take from it, trades are
 * numbered without holes, every change has an update id, quotes and differences are what the book shows.
 * Prices and quantities are of scale 8. */
#ifndef EXCHANGE_REPLAY_SYNTHETIC_MARKET_H
#define EXCHANGE_REPLAY_SYNTHETIC_MARKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/replay/ladder.h"
#include "exchange/replay/source.h"
#include "exchange/replay/tape.h"

struct synthetic_market {
    struct tape *tape;
    int symbol;
    struct replay_ladder bids, asks;
    uint64_t update_id;  /* of the last change */
    uint64_t emitted_id; /* of the last change that a difference emitted */
    int64_t next_trade_id;
    uint64_t messages; /* emitted so far: trades, quotes, differences */
    struct replay_ladder
        changed[2]; /* prices changed since then (bids, asks); their quantities are not used */
    struct level quoted_bid, quoted_ask;
};

void replay_synthetic_market_init(struct synthetic_market *market, struct tape *tape, int symbol,
                                  uint64_t update_id, int64_t trade_id);
void replay_synthetic_market_finish(struct synthetic_market *market);

/* Sets a level's quantity; 0 removes it. */
void replay_synthetic_market_set(struct synthetic_market *market, bool bid, int64_t price, int64_t qty);

/* A taker buys (or sells) up to `qty`, no worse than `limit`: emits trades as they happen, one or two a
 * level. Returns what was traded. */
int64_t replay_synthetic_market_take(struct synthetic_market *market, int64_t ts_ns, bool buy, int64_t qty,
                                     int64_t limit);

/* Emits the best bid and ask if they differ from the last quote. */
void replay_synthetic_market_quote(struct synthetic_market *market);

/* Emits the changes since the last difference, if there are any. */
void replay_synthetic_market_diff(struct synthetic_market *market, int64_t ts_ns);

/* As source_ops.book. */
bool replay_synthetic_market_book(const struct synthetic_market *market, struct source_book *ret);

#endif
