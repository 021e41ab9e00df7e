/* Sobol's low-discrepancy sequence in up to 32 dimensions: Sobol (1967), with the direction numbers of Joe
 * and Kuo, "Constructing Sobol sequences with better two-dimensional projections" (2008), new-joe-kuo-6. */
#ifndef ENGINE_BACKTEST_SOBOL_H
#define ENGINE_BACKTEST_SOBOL_H

#include <stdint.h>

enum { BACKTEST_SOBOL_DIMENSIONS = 32 };

/* Direction numbers: of each dimension 32, of which bit k of a point's number in Gray code takes one. */
struct backtest_sobol {
    uint32_t directions[BACKTEST_SOBOL_DIMENSIONS][32];
};
void backtest_sobol_init(struct backtest_sobol *sobol);

/* Coordinate of point i, 0 for the first, in units of 2^-32. dimension < BACKTEST_SOBOL_DIMENSIONS. */
uint32_t backtest_sobol_at(const struct backtest_sobol *sobol, uint32_t i, int dimension);

#endif
