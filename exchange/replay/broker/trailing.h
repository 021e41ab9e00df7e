/* Stops that follow the market: behind the best price since then by a share of it, as Binance's trailingDelta
 * and Alpaca's trail_percent, or by an amount, as Alpaca's trail_price. Pure, and of no venue; prices are of
 * any one scale. */
#ifndef EXCHANGE_REPLAY_BROKER_TRAILING_H
#define EXCHANGE_REPLAY_BROKER_TRAILING_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/order.h"

/* How far behind; both 0: the stop stays where it is. */
struct broker_trail {
    int32_t share_e6; /* of the best price: 10000 is 1 % */
    int64_t amount;
};

static inline bool broker_trails(const struct broker_trail *trail)
{
    return trail->share_e6 > 0 || trail->amount > 0;
}

/* The best price once `price` was traded too: a sale's is the highest, a purchase's the lowest. `best` 0: no
 * trade was seen before. */
int64_t replay_trail_best(enum order_side side, int64_t best, int64_t price);

/* The stop's price: it is reached at that price or beyond it. A share's is rounded away from the best price,
 * so that no price short of the share reaches it. */
int64_t replay_trail_stop(const struct broker_trail *trail, enum order_side side, int64_t best);

/* Has a trade at `price` reached it? */
bool replay_trail_reached(const struct broker_trail *trail, enum order_side side, int64_t best,
                          int64_t price);

#endif
