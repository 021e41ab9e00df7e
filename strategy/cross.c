#include "strategy/cross.h"

#include "strategy/clones.h"
#include "strategy/mask.h"

CLONES void strategy_cross_scan(const struct strategy_columns *columns, size_t n_outputs,
                                const struct strategy_marks *marks)
{
    size_t from = mask_known_from(columns, n_outputs);
    uint64_t above_before = 0, below_before = 0;
    for (size_t i = 0; i < columns->n; i += MASK_BITS) {
        size_t n = mask_bars(columns->n, i);
        const double *fast = columns->indicators[0] + i, *slow = columns->indicators[1] + i;
        uint64_t known = mask_range(i, from, columns->n);
        uint64_t above = mask_above(fast, slow, n) & known, below = mask_above(slow, fast, n) & known;
        uint64_t turns = mask_rises(above, &above_before) | mask_rises(below, &below_before);
        marks->flat[i / MASK_BITS] = turns;
        marks->holding[i / MASK_BITS] = turns | (known & ~above);
        if (marks->shorted)
            marks->shorted[i / MASK_BITS] = turns | (known & ~below);
    }
}
