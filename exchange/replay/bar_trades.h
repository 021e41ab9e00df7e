/* The trades that make a bar. */
#ifndef EXCHANGE_REPLAY_BAR_TRADES_H
#define EXCHANGE_REPLAY_BAR_TRADES_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/decimal.h"
#include "exchange/replay/chance.h"

enum {
    BAR_TRADES_SHAPED = 4, /* reach open, high, low and close */
    BAR_TRADES_MIN = 6,
    BAR_TRADES_MAX = 150,
};

struct bar_trade {
    int64_t ts_ns, price, qty; /* scale 8 */
    bool buy;                  /* the taker bought */
};

struct bar_shape {
    int64_t open_ns, length_ns;
    int64_t open, high, low, close; /* scale 8, multiples of tick */
    int128_t volume;                /* scale 8 */
    int64_t tick, unit;             /* steps of prices and, where the volume allows it, of quantities */
};

/* Fills trades[] with at most `most` (BAR_TRADES_MIN..BAR_TRADES_MAX) in order of time, all within the bar;
 * returns how many: where the volume has fewer units, as many as these, but no less than BAR_TRADES_SHAPED.
 * None when the volume is 0; fewer than the shape needs only when the volume is less than a unit of scale 8
 * for each. A quantity that would not fit int64 returns -1. */
int bar_trades_make(const struct bar_shape *shape, struct chance *chance, int most, struct bar_trade *trades);

#endif
