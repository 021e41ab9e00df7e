/* Binance's filters that count orders, parts and amendments or limit a quantity of an account: one table, by
 * which exchangeInfo and myFilters list them and orders are checked. Prices and lots are in
 * exchange/filter.h. */
#ifndef EXCHANGE_REPLAY_BINANCE_FILTERS_H
#define EXCHANGE_REPLAY_BINANCE_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/symbol.h"
#include "exchange/text.h"

struct tape_symbol;

enum replay_filter {
    FILTER_ICEBERG_PARTS,
    FILTER_MAX_NUM_ORDERS,
    FILTER_MAX_NUM_ALGO_ORDERS,
    FILTER_MAX_NUM_ICEBERG_ORDERS,
    FILTER_MAX_NUM_ORDER_LISTS,
    FILTER_MAX_NUM_ORDER_AMENDS,
    FILTER_MAX_POSITION, /* of scale 8, as MAX_ASSET; the others are numbers */
    FILTER_OF_EXCHANGE,  /* the first that all of an account's symbols share */
    FILTER_EXCHANGE_MAX_NUM_ORDERS = FILTER_OF_EXCHANGE,
    FILTER_EXCHANGE_MAX_NUM_ALGO_ORDERS,
    FILTER_EXCHANGE_MAX_NUM_ICEBERG_ORDERS,
    FILTER_EXCHANGE_MAX_NUM_ORDER_LISTS,
    FILTERS,
};

enum { FILTERS_ASSETS_MAX = 16 };

/* MAX_ASSET: the most of an asset that one order may be about. */
struct replay_asset_filter {
    char asset[ASSET_NAME_MAX];
    int64_t limit;
};

/* Those that are others than the usual. */
struct replay_filters {
    bool is_set[FILTERS];
    int64_t values[FILTERS]; /* 0: not listed */
    struct replay_asset_filter assets[FILTERS_ASSETS_MAX];
    size_t n_assets;
};

/* "MAX_NUM_ORDERS=3", "MAX_POSITION=1500.5", "MAX_ASSET:USDT=1000"; 0: it is not listed. False: there is no
 * such filter, or no room. */
bool replay_filters_set(struct replay_filters *filters, const char *spec);

const char *replay_filter_name(enum replay_filter filter);
/* Its value for that symbol, a recorded one's where its exchangeInfo was recorded; 0: it has no such one. */
int64_t replay_filter_of(const struct replay_filters *filters, const struct tape_symbol *symbol,
                         enum replay_filter filter);
/* MAX_ASSET of that asset; 0: none. */
int64_t replay_filter_asset(const struct replay_filters *filters, const char *asset);

/* What a trailing stop's delta may be, in hundredths of a per cent, by whether its stop is above the market.
 */
struct replay_delta_range {
    int64_t min, max; /* 0 of both: any */
};
struct replay_delta_range replay_filter_delta(const struct tape_symbol *symbol, bool above);
/* Of symbols that are not recorded, as exchangeInfo has it, with a comma before it. */
void replay_filter_write_delta(struct text *out);

/* Does exchangeInfo say of the symbol that it takes them: "ocoAllowed", "icebergAllowed"? */
bool replay_filter_allows(const struct tape_symbol *symbol, const char *name);

/* An object of exchangeInfo's; nothing where it is not listed. `comma`: before it. */
void replay_filter_write(struct text *out, const struct replay_filters *filters, enum replay_filter filter,
                         bool comma);
void replay_filters_write_exchange(struct text *out, const struct replay_filters *filters);
/* The assets' that a symbol has. */
void replay_filters_write_assets(struct text *out, const struct replay_filters *filters,
                                 const struct symbol *listed);

#endif
