/* Several files of one symbol, as an archive has them by month or by day, are one series. */
#ifndef ENGINE_MARKET_JOIN_H
#define ENGINE_MARKET_JOIN_H

#include "engine/market/grid.h"

/* Makes one source of all that have the same bars.symbol, at the place of the first of them, with the bars in
 * the order of their time, in whatever order the files are; *n counts what is left. Each has at least one
 * bar. interval_ns: what the caller says that they have, or 0. 0; -EINVAL for files that overlap, have
 * different intervals or were given different terms, -ENOMEM, with the sentence; sources are still to be
 * finished. */
int market_store_join(struct market_source *sources, int *n, int64_t interval_ns,
                      const struct market_terms *terms, char err[static MARKET_ERROR_MAX]);

#endif
