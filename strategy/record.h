/* What closed trades came to, from fills. A trade is of one account and symbol: it begins when something is
 * held, or owed, that was not, and ends when nothing is; a fill that turns a long into a short, or back, ends
 * one and begins the next, its notional and fee shared as engine/position.h shares them. */
#ifndef STRATEGY_RECORD_H
#define STRATEGY_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/order.h"

/* What the account's closed trades in one symbol came to: a trade begins flat and ends flat. */
struct strategy_record {
    uint32_t wins, losses; /* of more, and of not more, than 0 after fees */
    uint32_t losing;       /* losses in a row, up to now */
    double won, lost;      /* their sums, each >= 0, in the account's currency */
};

struct record_keeper {
    struct strategy_record record;
    int64_t flow; /* of the trade that is open: sales less purchases less fees, quote units; 0 without one */
};

/* Takes one fill. `held`: what was held before it; notional and fee in quote units of quote_scale. True when
 * it ended a trade: *ret_profit is then what that came to, after fees (NULL is fine). */
bool strategy_record_fill(struct record_keeper *keeper, enum order_side side, int64_t qty, int64_t notional,
                          int64_t fee, int64_t held, int quote_scale, int64_t *ret_profit);

/* What is held was begun where nobody kept a record: its trade is taken to have begun at what it cost. */
void strategy_record_resume(struct record_keeper *keeper, int64_t held, int64_t cost);

#endif
