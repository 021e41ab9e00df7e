/* What orders have taken of a book's levels: it stays taken while a level shows the same quantity. */
#ifndef EXCHANGE_REPLAY_BROKER_TAKEN_H
#define EXCHANGE_REPLAY_BROKER_TAKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/replay/ladder.h"

/* What is gone of a level while it is shown with that quantity. */
struct taken_level {
    int symbol;
    bool bids;
    int64_t price, shown, qty;
};

struct taken_levels {
    struct taken_level *all;
    size_t n, cap;
};

int64_t replay_taken_left(struct taken_levels *taken, int symbol, bool bids, const struct level *level);
/* Where memory is out, the level is whole again. */
void replay_taken_add(struct taken_levels *taken, int symbol, bool bids, const struct level *level,
                      int64_t qty);
void replay_taken_finish(struct taken_levels *taken);

#endif
