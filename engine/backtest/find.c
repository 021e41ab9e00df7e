#include "engine/backtest/find.h"

#include "strategy/clones.h"

enum { BLOCK = 32 }; /* bars that are compared before a branch */

CLONES size_t backtest_find_reached(const double *low, const double *high, double below, double above,
                                    size_t from, size_t to)
{
    size_t i = from;
    for (; i + BLOCK <= to; i += BLOCK) {
        long any = 0;
        for (size_t k = 0; k < BLOCK; k++)
            any |= (long)(low[i + k] <= below) | (long)(high[i + k] >= above);
        if (any)
            break;
    }
    while (i < to && !(low[i] <= below) && !(high[i] >= above))
        i++;
    return i;
}
