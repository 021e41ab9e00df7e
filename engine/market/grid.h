/* Bars of several symbols, each as its source hands them over, placed on one grid. */
#ifndef ENGINE_MARKET_GRID_H
#define ENGINE_MARKET_GRID_H

#include "engine/market/market.h"
#include "exchange/bars_file.h"

enum { MARKET_ORIGIN_MAX = 256 };

/* One symbol's bars. Whoever fills one owns it: market_sources_finish(). */
struct market_source {
    char origin[MARKET_ORIGIN_MAX]; /* a file's path, or what else to name in a message */
    struct symbol symbol;
    struct bars_file bars; /* its interval_ns 0: not known, as with a single bar */
    int rounded_digits;    /* that its prices had before they were rounded to bars.price_digits; 0: none */
};

void market_sources_finish(struct market_source *sources, int n);

/* Makes the market. Bars are freed one symbol after the other as they are placed, so that memory holds them
 * once; the caller still finishes the sources. options->from_ns, to_ns, interval_ns and threads count.
 * Returns as market_load_files(). */
int market_build(struct market_source *sources, int n, const struct market_options *options,
                 struct market **ret, char err[static MARKET_ERROR_MAX]);

#endif
