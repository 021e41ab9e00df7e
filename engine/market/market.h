/* The market store: bars of many symbols on one grid of time, as columns. Row r opens at
 * start_ns + r * interval_ns for every symbol. A bar that is missing is marked and not tradable: its prices
 * repeat the last close (before the first bar: the first open), its volume is 0.
 *
 * Prices are doubles that decimal_from_double() at the symbol's price_scale turns into the exact integers
 * that they came from; a source whose prices cannot is refused. */
#ifndef ENGINE_MARKET_MARKET_H
#define ENGINE_MARKET_MARKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/symbol.h"

struct market_series {
    struct symbol symbol;
    const double *open, *high, *low, *close, *volume; /* [rows] */
    const uint64_t *present;                          /* bit r % 64 of word r / 64: the bar is there */
    size_t first, last;                               /* the rows of its first and of its last bar */
    size_t missing;                                   /* bars that are not there between the two */
};

/* Arrays belong to the market, mapped from a cache or allocated; nothing writes to them. */
struct market {
    int n_symbols;
    size_t rows;
    int64_t start_ns, interval_ns;
    const struct market_series *series; /* [n_symbols], in the order in which they were asked for */
    uint8_t content[32]; /* SHA-256 of all that it was made from: the same bars, the same hash */
    size_t bytes;        /* of all columns */
};

static inline bool market_present(const struct market_series *series, size_t row)
{
    return series->present[row / 64] >> (row % 64) & 1;
}

void market_close(struct market *market); /* NULL is fine */

#endif
