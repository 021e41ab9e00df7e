/* Positions: what an account holds of a symbol's base asset through its trades, and what it cost, by
 * average and by first in, first out. Pure integer arithmetic over one fill after another: the engine, the
 * database's recovery and its verification agree because they call the same function.
 *
 * A fill against a position closes of it first, and opens with what is left: through zero it does both.
 * Then
 *   the part that closes gets floor(notional · closed / qty) of the fill's notional, the part that opens
 *   the
 *   rest;
 *   by average, floor(cost · closed / held) of the cost leaves, all of it when nothing is held after;
 *   by first in, first out, lots leave oldest first, of the last one floor(cost · part / lot) of its cost,
 *   all of it with the whole lot. A long's realized gain is the notional that closed it less the cost that
 *   left, a short's the reverse. Costs of a short are what it was sold for. No unit is lost on the way: at
 *   all times realized - cost = fifo_realized - fifo_cost (long), realized + cost = fifo_realized +
 *   fifo_cost (short), so that both give the same realized gains whenever nothing is held. */
#ifndef ENGINE_POSITION_H
#define ENGINE_POSITION_H

#include <stdint.h>

#include "exchange/order.h"

/* A part of a position as it was opened, for the cost by first in, first out. Sizes are positive, of longs
 * and shorts alike. */
struct lot {
    int64_t qty, cost; /* qty_scale; quote_scale: paid for it, or received for a short, without fees */
    int64_t opened_ns;
};

/* What an account holds of a symbol's base asset through its trades. Both costs are without fees; they sum to
 * the same while nothing is closed. */
struct position {
    int64_t qty;      /* qty_scale; negative: short */
    int64_t cost;     /* average cost: quote paid for what is held, or received for a short, never negative */
    int64_t realized; /* of closed parts, at average cost, quote_scale */
    int64_t fifo_cost;     /* of the lots still held, first in first out */
    int64_t fifo_realized; /* of closed parts, first in first out */
    int64_t fees;          /* quote_scale */
    int64_t opened_ns;     /* of the oldest part still held; 0 when flat */
    int64_t updated_ns;
    int64_t closed_ns; /* when all of it was last closed, turning round included; 0: never. Not stored: it
                        * follows from the fills */
};

/* A position's lots, oldest first. {0} has none. */
struct lots {
    struct lot *lots;
    uint32_t first, n, cap; /* lots[first .. n) are held */
};

/* Takes one fill into a position and its lots: everything but the fees, which are the caller's to add. qty >
 * 0 and notional >= 0, of the scales above. 0; -ENOMEM without memory for a lot; -ERANGE when the cost of
 * what is held would pass int64; on failure neither has changed. Lifetime gains stop at the ends of int64. */
int position_apply(struct position *position, struct lots *lots, enum order_side side, int64_t qty,
                   int64_t notional, int64_t ts_ns);

/* Adds a lot as it is, for what was kept elsewhere. 0 or -ENOMEM. */
int position_lots_push(struct lots *lots, const struct lot *lot);
void position_lots_finish(struct lots *lots); /* frees; {0} afterwards */

#endif
