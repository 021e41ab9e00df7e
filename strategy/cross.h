/* The crossing of two averages. The fast one is above the slow one or below; where they are equal, it stays
 * on its last side. */
#ifndef STRATEGY_CROSS_H
#define STRATEGY_CROSS_H

#include <stdio.h>

#include "strategy/strategy.h"

/* The memory between bars. */
struct cross {
    int side; /* -1 below, 1 above, 0 not known yet */
};

/* The side at this bar, from the one before. */
static inline int cross_side(int before, double fast, double slow)
{
    return fast > slow ? 1 : fast < slow ? -1 : before;
}

/* Their kind, a parameter of the crosses. */
#define CROSS_AVERAGE \
    "average", "of the averages: simple, or exponential", 0, 0, 1, true, .words = "sma ema", .later = true

/* "ema:10" */
static inline void cross_spec(char out[static STRATEGY_SPEC_TEXT], double average, double period)
{
    snprintf(out, STRATEGY_SPEC_TEXT, "%s:%d", average == 0 ? "sma" : "ema", (int)period);
}

/* scan() of a strategy whose outputs 0 and 1 are the averages, which does nothing while one of its first
 * n_outputs is NaN, enters only on crosses upward and sells while the fast one is below. */
void strategy_cross_scan(const struct strategy_columns *columns, size_t n_outputs, uint64_t *flat,
                         uint64_t *holding);

/* The same marks, to the bit, for simple averages of `fast` < `slow` closes, which are above 0, and for no
 * other outputs. */
void strategy_cross_scan_closes(const double *close, size_t n, size_t fast, size_t slow, uint64_t *flat,
                                uint64_t *holding);

#endif
