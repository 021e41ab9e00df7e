/* Features of a market's symbols on its grid (indicators_gpu/features/features.h): what a policy sees. */
#ifndef ENGINE_MARKET_FEATURES_H
#define ENGINE_MARKET_FEATURES_H

#include "engine/market/market.h"
#include "indicators_gpu/features/features.h"

/* The matrix of one symbol, mapped from the cache or allocated; nothing writes to it. Indicators see the bars
 * that exist, one after the other: a gap is no bar, and the bars of market_store_compact() are chained
 * (indicators_gpu/features/chain.h). Rows of bars that are missing are NaN throughout, and so is a feature
 * before it has its first value. */
struct market_features {
    size_t rows, n;      /* the market's rows; features in each */
    const float *values; /* [rows][n], 64-byte aligned */
    size_t first;        /* the first row in which all have a value; rows if there is none */
    size_t bytes;
};

/* Statistics of a load. */
struct market_features_load {
    bool cached;
    double map_s, compute_s, write_s;
    char note[MARKET_ERROR_MAX]; /* as struct market_load's */
};

/* Computes or maps it, for a market that market_store_load_files() or db_market_load() made. Of the options,
 * cache, no_cache, cache_bytes, threads and now_ns count; it is found in the cache by the symbol's bars on
 * their grid, the set's text with all its fitted figures, and the backend: FEATURE_FAST's values are those of
 * one kind of processor. `load` may be NULL. 0, for market_store_features_close(); what feature_matrix()
 * returns, -ENOMEM, with a sentence. */
int market_store_features(const struct market *market, int symbol, const struct feature_set *set,
                          enum feature_backend backend, const struct market_options *options,
                          struct market_features **ret, struct market_features_load *load,
                          char err[static MARKET_ERROR_MAX]);
void market_store_features_close(struct market_features *features); /* NULL is fine */

/* Fits a set on the bars of a symbol that are there in rows [from, to): feature_set_fit(). */
int market_store_features_fit(const struct market *market, int symbol, struct feature_set *set, size_t from,
                              size_t to, char err[static MARKET_ERROR_MAX]);

/* One symbol's unscaled features, computed once for many fits (feature_columns_create()). Of `market`, which
 * must outlive it. 0, for market_store_columns_close(); what that returns, with a sentence. */
struct market_columns;
int market_store_columns_open(const struct market *market, int symbol, const struct feature_set *set,
                              enum feature_backend backend, struct market_columns **ret,
                              char err[static MARKET_ERROR_MAX]);
void market_store_columns_close(struct market_columns *columns); /* NULL is fine */
/* The first row in which all have a value; the market's rows if there is none. */
size_t market_store_columns_first(const struct market_columns *columns);

/* Fits the set on the symbol's bars that are there in the rows of these blocks of the market, and on no
 * other: feature_columns_fit(). Blocks without any bar do not count. */
int market_store_columns_fit(const struct market_columns *columns, struct feature_set *set,
                             const struct feature_rows *blocks, size_t n_blocks,
                             char err[static MARKET_ERROR_MAX]);

/* What market_store_features() gives of the fitted set, bit for bit; allocated. */
int market_store_columns_scale(const struct market_columns *columns, const struct feature_set *set,
                               struct market_features **ret, char err[static MARKET_ERROR_MAX]);

#endif
