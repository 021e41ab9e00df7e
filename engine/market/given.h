/* One symbol's bars that a program has in memory, given in pieces, become a market: as a bars file with the
 * same numbers in it, printed by the shortest decimals that are their doubles, would. */
#ifndef ENGINE_MARKET_GIVEN_H
#define ENGINE_MARKET_GIVEN_H

#include "engine/market/market.h"

struct market_given;

/* Consecutive bars, oldest first: when each opens, ns UTC, and its numbers. */
struct market_given_columns {
    const int64_t *open_ns;
    const double *open, *high, *low, *close, *volume;
};

/* Begins a series. `repair` as in struct market_options. 0 with *ret; -EINVAL for a name that is no symbol's;
 * -ENOMEM. */
int market_store_given_create(const char *symbol, bool repair, struct market_given **ret,
                              char err[static MARKET_ERROR_MAX]);
void market_store_given_destroy(struct market_given *given); /* NULL is fine */

/* Adds n bars behind those that are there. 0; -EINVAL for a time that does not rise or a number that is not
 * finite; -ENOMEM; with the sentence. Then the series is to be destroyed. */
int market_store_given_add(struct market_given *given, const struct market_given_columns *columns, size_t n,
                           char err[static MARKET_ERROR_MAX]);

size_t market_store_given_bars(const struct market_given *given);

/* Makes the market; the series is empty then, and to be destroyed. Of the options interval_ns, from_ns,
 * to_ns, exchange_info, terms (of one file), calendar, session, keep_straddling and threads count. Returns as
 * market_store_load_files(). */
int market_store_given_load(struct market_given *given, const struct market_options *options,
                            struct market **ret, char err[static MARKET_ERROR_MAX]);

#endif
