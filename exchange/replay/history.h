/* The klines of a synthetic market before its first moment. */
#ifndef EXCHANGE_REPLAY_HISTORY_H
#define EXCHANGE_REPLAY_HISTORY_H

#include <stdint.h>

#include "exchange/replay/candles.h"
#include "exchange/replay/chance.h"

struct history_recipe {
    int64_t base, tick, step; /* as the live market's; scale 8 */
    int64_t width_e9;         /* of one second, in 1e-9 of the price */
    int trade_bits;
    size_t share; /* one `share`-th of what is said below, for markets of many symbols; 1 or more */
};

/* Walks back from `price` at start_ns (a whole second) and fills all bases: the last hour in seconds, a month
 * in minutes, two years in hours, the rest of 1500 days in days, every longer bar the sum of the shorter ones
 * where those exist. The last trade has the id before next_trade_id. 0 or -ENOMEM. */
int replay_history_make(struct candles *candles, const struct history_recipe *recipe, struct chance *chance,
                        int64_t start_ns, int64_t price, int64_t next_trade_id);

#endif
