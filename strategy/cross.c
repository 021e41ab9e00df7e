#include "strategy/cross.h"

#include "strategy/mask.h"

void cross_scan(const struct strategy_columns *columns, size_t n_outputs, uint64_t *flat, uint64_t *holding)
{
    size_t from = mask_known_from(columns, n_outputs), n = columns->n;
    uint64_t above_before = 0, below_before = 0;
    mask_columns(columns->indicators[0], columns->indicators[1], n, flat, holding);
    for (size_t w = 0; w < mask_words(n); w++) {
        uint64_t known = mask_range(w, from, n), above = flat[w] & known, below = holding[w] & known;
        uint64_t turns = mask_rises(above, &above_before) | mask_rises(below, &below_before);
        flat[w] = turns;
        holding[w] = turns | (known & ~above);
    }
}
