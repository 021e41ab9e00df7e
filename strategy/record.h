/* The results of closed trades, from fills. A trade is of one account and symbol: it begins with the first
 * fill of a position, long or short, and ends when the position is flat; a fill that turns a long into a
 * short, or back, ends one and begins the next, and its notional and fee are split as engine/position.h
 * splits them. */
#ifndef STRATEGY_RECORD_H
#define STRATEGY_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/order.h"

/* The results of an account's closed trades in one symbol: a trade begins flat and ends flat. */
struct strategy_record {
    uint32_t wins, losses; /* of more, and of not more, than 0 after fees */
    uint32_t losing;       /* losses in a row, up to now */
    double won, lost;      /* their sums, each >= 0, in the account's currency */
};

struct record_keeper {
    struct strategy_record record;
    int64_t flow; /* of the open trade: sales less purchases less fees, quote units; 0 without one */
};

/* Takes one fill. `held`: the position before it; notional and fee in quote units of quote_scale. True when
 * it ended a trade: *ret_profit is then that trade's profit, after fees (NULL is fine). */
bool strategy_record_fill(struct record_keeper *keeper, enum order_side side, int64_t qty, int64_t notional,
                          int64_t fee, int64_t held, int quote_scale, int64_t *ret_profit);

/* The position is older than the record: its trade's start is taken to be at the position's cost. */
void strategy_record_resume(struct record_keeper *keeper, int64_t held, int64_t cost);

#endif
