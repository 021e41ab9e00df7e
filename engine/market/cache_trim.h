/* Keeps the cache's folder below its limit. */
#ifndef ENGINE_MARKET_CACHE_TRIM_H
#define ENGINE_MARKET_CACHE_TRIM_H

#include "engine/market/cache.h"

#define CACHE_TEMPORARY "tmp-"
#define CACHE_KNOWN     ".hash"

/* Removes what processes that ended left half written, then the files that were used longest ago, until
 * `more` bytes fit into the limit. Files that are none of the cache's stay, and so does `keep`. */
void market_store_cache_trim(const struct cache *cache, uint64_t more, const char *keep);

#endif
