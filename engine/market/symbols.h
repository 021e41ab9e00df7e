/* The symbols of bars files. */
#ifndef ENGINE_MARKET_SYMBOLS_H
#define ENGINE_MARKET_SYMBOLS_H

#include "engine/market/grid.h"

/* Fills in the symbols of n sources, whose bars and names (bars.symbol) are there: from the exchangeInfo in a
 * file, plain or gzip, or, where `info` is NULL, by symbol_default(). 0; -EINVAL for names that are not
 * listed or a text that is no exchangeInfo, -errno of reading, with a sentence. */
int market_symbols(struct market_source *sources, int n, const char *info, char err[static MARKET_ERROR_MAX]);

#endif
