/* Prices that doubles carry without loss. */
#ifndef ENGINE_MARKET_EXACT_H
#define ENGINE_MARKET_EXACT_H

#include <stdbool.h>
#include <stddef.h>

/* Units, 2^52. Up to it the doubles lie closer than the units, so that no other whole number of units has the
 * same one. */
#define MARKET_EXACT_MOST 4503599627370496.0

/* Does a price that had at most `digits` digits after the point come back whole, by decimal_from_double(),
 * from the nearest double at `scale`, which is not less than `digits`? */
bool market_store_exact(double x, int digits, int scale);

/* Are all of n such prices above 0, and do they come back? True is sure; false is not: one of them is near
 * the bounds. Several times as fast. */
bool market_store_exact_all(const double *x, size_t n, int digits, int scale);

#endif
