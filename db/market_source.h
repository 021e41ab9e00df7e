/* A market (engine/market/market.h) from the bars that the database keeps. */
#ifndef DB_MARKET_SOURCE_H
#define DB_MARKET_SOURCE_H

#include "engine/market/market.h"
#include "exchange/bar.h"

/* Loads the bars of n symbols at options->interval_ns, built here or the venue's, with the symbols as they
 * are stored, as of one moment; beside a running daemon, too. options->from_ns, to_ns and threads count
 * besides. There is no cache of it: a database is read anew each time. `load` may be NULL. Returns as
 * market_store_load_files(): -EINVAL for a symbol that is not there or has no such bars; what
 * db_reader_open() says; -EBADMSG for a row that cannot be read. */
int db_market_load(const char *path, const char *const *symbols, size_t n, enum bar_source source,
                   const struct market_options *options, struct market **ret, struct market_load *load,
                   char err[static MARKET_ERROR_MAX]);

#endif
