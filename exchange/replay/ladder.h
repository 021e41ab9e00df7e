/* One side of the venue's own order book: price levels in a sorted array, the best price last, so that the
 * levels that change most move least. Prices and quantities are of scale 8. */
#ifndef EXCHANGE_REPLAY_LADDER_H
#define EXCHANGE_REPLAY_LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct level {
    int64_t price, qty;
};

struct replay_ladder {
    bool bid;       /* best is the highest price, else the lowest */
    bool keep_zero; /* quantity 0 is a level too (a list of changes), not a removal */
    struct level *levels;
    size_t n, cap;
};

void replay_ladder_finish(struct replay_ladder *ladder);

/* Sets the quantity at a price; 0 removes it. Returns 0 or -ENOMEM. */
int replay_ladder_set(struct replay_ladder *ladder, int64_t price, int64_t qty);

/* The quantity at a price, 0 when there is no level. */
int64_t replay_ladder_qty(const struct replay_ladder *ladder, int64_t price);

/* The i-th best level, or NULL. */
const struct level *replay_ladder_best(const struct replay_ladder *ladder, size_t i);

#endif
