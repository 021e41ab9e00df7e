/* The symbols of bars files. */
#ifndef ENGINE_MARKET_SYMBOLS_H
#define ENGINE_MARKET_SYMBOLS_H

#include "engine/market/grid.h"

/* Fills in the symbols of n sources, whose bars and names (bars.symbol) are there: from the exchangeInfo in
 * the file `info`, plain or gzip, or, where that is NULL, by symbol_default() and the terms; then prices
 * whose digits a double does not hold are rounded. 0; -EINVAL for names that are not listed, a text that is
 * not an exchangeInfo, or invalid terms, -errno of reading, with a sentence. */
int market_store_symbols(struct market_source *sources, int n, const char *info,
                         const struct market_terms *terms, char err[static MARKET_ERROR_MAX]);

/* Quantities in units as fine as so many digits, where these are more than the symbol's. 0; -EINVAL for more
 * than nine. */
int market_store_refine(struct symbol *symbol, int digits);

#endif
