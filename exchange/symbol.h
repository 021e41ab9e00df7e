/* A venue's listing: a pair of assets, the scales of its integers, and the filters that an order must pass.
 * Scales come from the venue's metadata. */
#ifndef EXCHANGE_SYMBOL_H
#define EXCHANGE_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SYMBOL_NAME_MAX = 24,
    ASSET_NAME_MAX = 16,
    VENUE_NAME_MAX = 16,
    CALENDAR_NAME_MAX = 16, /* "us-equity" */
    FEED_NAME_MAX = 16,     /* "delayed_sip" */
    SYMBOLS_MAX = 4096,     /* that one daemon streams */
};

/* What its venue says that it is: which orders it takes depends on it (exchange/order_rules.h). */
enum asset_class { ASSET_UNKNOWN, ASSET_CRYPTO, ASSET_US_EQUITY, ASSET_CLASSES };
extern const char *const symbol_asset_names[ASSET_CLASSES]; /* "", "crypto", "us_equity" */

/* Of what a venue may leave unsaid. */
enum symbol_says { SYMBOL_SAYS_NOTHING, SYMBOL_SAYS_NO, SYMBOL_SAYS_YES, SYMBOL_SAYINGS };
extern const char *const symbol_says_names[SYMBOL_SAYINGS]; /* "", "no", "yes" */

/* A venue's filters, with the field's names for them; a field of 0 disables its check, as the venue defines
 * it. Prices are at price_scale, quantities at qty_scale, notionals at quote_scale, multipliers ×10^4. */
struct symbol_filters {
    int64_t price_min, price_max, tick;                     /* PRICE_FILTER */
    int64_t qty_min, qty_max, step;                         /* LOT_SIZE */
    int64_t market_qty_min, market_qty_max, market_step;    /* MARKET_LOT_SIZE */
    int64_t notional_min, notional_max;                     /* MIN_NOTIONAL, NOTIONAL */
    bool notional_min_market, notional_max_market;          /* do they bind market orders? */
    int64_t bid_up_e4, bid_down_e4, ask_up_e4, ask_down_e4; /* PERCENT_PRICE(_BY_SIDE) */
    int32_t orders_max;                                     /* MAX_NUM_ORDERS: open at once */
};

struct symbol {
    char name[SYMBOL_NAME_MAX]; /* upper case: "BTCUSDT" */
    char base[ASSET_NAME_MAX], quote[ASSET_NAME_MAX];
    int price_scale, qty_scale, quote_scale;
    bool trading;   /* the venue takes orders in it now, as far as its list says */
    bool gone;      /* the venue lists it no longer: nothing more will come */
    bool loose_ids; /* its trades' ids do not count up one by one: no trade is known to be missing */
    char venue[VENUE_NAME_MAX];       /* "": not said */
    char calendar[CALENDAR_NAME_MAX]; /* whose sessions it trades in; "": at all times */
    enum asset_class asset;
    enum symbol_says shortable, easy_to_borrow; /* lent for a short sale; for no fee */
    char feed[FEED_NAME_MAX]; /* which of its venue's feeds its prices come from: "iex"; "": it has one */
    char primary; /* the exchange that lists it, by the letter that its trades have; '\0': not said */
    struct symbol_filters filters;
};

/* Where the quote asset's name begins at the end of a pair's ("USDT" of "BTCUSDT"); NULL: it ends with no
 * known one, or is nothing else. */
const char *symbol_quote(const char *name);

/* The quote asset that stands for one that no source names: ISO 4217's code for no currency. */
#define SYMBOL_QUOTE_UNKNOWN "XXX"

/* A default symbol for prices and quantities whose listing is not known: `quote` as its quote asset, and
 * what is before it in the name (or the whole name) as the base; `quote` NULL: the one that the name ends
 * with, or SYMBOL_QUOTE_UNKNOWN. Scales of 8, of prices as fine as their digits where these are more; steps
 * as fine as the digits after the point that the data shows, quantities' at most 8; for BTCUSDT and ETHUSDT
 * the venue's own where the data's are no finer. papertape-replay lists this symbol, and a backtest on bars
 * files trades it. 0, or -EINVAL for a name that is too long or nothing but a quote, or more than
 * DECIMAL_SCALE_MAX digits. */
int symbol_default(const char *name, const char *quote, int price_digits, int qty_digits, struct symbol *ret);

/* Is it one of the two whose steps are the venue's own? */
bool symbol_known(const char *name);

/* Is `now` the same stock as `before` under another name? Of a market with a calendar, whose `base` is the
 * name that it was known by first, and stays what it is: balances and the ledger are in it. */
bool symbol_renamed(const struct symbol *before, const struct symbol *now);

/* Is it the same pair, in the same units? Only then do integers of one mean the same in the other. */
bool symbol_same_units(const struct symbol *a, const struct symbol *b);

#endif
