/* A synthetic market without end: BTCUSDT around 60000, ETHUSDT around 3000, and as many more as are asked
 * for.
 *
 * A fair price walks at random in short regimes of trend and volatility and is drawn back to where it began
 * (within a few percent, over hours). Takers buy what is offered below it and sell to bids above it; makers
 * close the spread around it and come and go deeper in the book. All arithmetic is on integers: the same seed
 * and start give the same bytes on every machine. Before the start lies history: over REST 1500 klines and
 * more of every interval up to a day, ending at the opening price. */
#ifndef EXCHANGE_REPLAY_SYNTHETIC_H
#define EXCHANGE_REPLAY_SYNTHETIC_H

#include <stdint.h>

#include "exchange/replay/candles.h"
#include "exchange/replay/chance.h"
#include "exchange/replay/source.h"

struct synthetic_config {
    uint64_t seed;
    int64_t start_ns; /* cut to a whole second */
    int64_t end_ns;   /* ends before it; INT64_MAX: never */
    int symbols;      /* 1 to TAPE_SYMBOLS_MAX: BTCUSDT, ETHUSDT, XAAAUSDT, XAABUSDT, ... */
    /* Messages a second of each symbol: its trades, quotes and differences together, evenly spaced; 0: the
     * market's own rate, some 150. */
    double rate;
};

/* Adds its symbols to the tape. Of many symbols less history is kept, so that all need some 300 MB at most.
 * 0, -ENOMEM, or the tape's error. */
int replay_synthetic_create(struct tape *tape, const struct synthetic_config *config,
                            struct replay_source **ret);

/* The klines of a synthetic market before its first moment. */

struct history_recipe {
    int64_t base, tick, step; /* as the live market's; scale 8 */
    int64_t width_e9;         /* of one second, in 1e-9 of the price */
    int trade_bits;
    size_t share; /* one `share`-th of the counts below, for markets of many symbols; 1 or more */
};

/* Walks back from `price` at start_ns (a whole second) and fills all bases: the last hour in seconds, a month
 * in minutes, two years in hours, the rest of 1500 days in days, every longer bar the sum of the shorter ones
 * where those exist. The last trade has the id before next_trade_id. 0 or -ENOMEM. */
int replay_history_make(struct candles *candles, const struct history_recipe *recipe, struct chance *chance,
                        int64_t start_ns, int64_t price, int64_t next_trade_id);

#endif
