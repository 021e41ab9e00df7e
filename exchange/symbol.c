#include "exchange/symbol.h"

#include <errno.h>
#include <string.h>

#include "exchange/decimal.h"

const char *const symbol_asset_names[ASSET_CLASSES] = {"", "crypto", "us_equity"};
const char *const symbol_says_names[SYMBOL_SAYINGS] = {"", "no", "yes"};

bool symbol_renamed(const struct symbol *before, const struct symbol *now)
{
    struct symbol named = *before;
    memcpy(named.name, now->name, sizeof(named.name));
    return strcmp(before->name, now->name) != 0 && before->calendar[0] && symbol_same_units(&named, now) &&
           strcmp(before->venue, now->venue) == 0 && strcmp(before->calendar, now->calendar) == 0;
}

bool symbol_same_units(const struct symbol *a, const struct symbol *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->base, b->base) == 0 &&
           strcmp(a->quote, b->quote) == 0 && a->price_scale == b->price_scale &&
           a->qty_scale == b->qty_scale && a->quote_scale == b->quote_scale;
}

/* Pairs whose steps are known; those of others follow from the data. */
static const struct known {
    const char *name;
    int price_digits, qty_digits;
    int64_t price_most, qty_most, market_qty_most; /* whole units */
} known[] = {
    {"BTCUSDT", 2, 5, 1000000, 9000, 120},
    {"ETHUSDT", 2, 4, 1000000, 9000, 120},
};

enum {
    DEFAULT_SCALE = 8,              /* of prices, quantities and quote amounts */
    DEFAULT_NOTIONAL_MIN = 5,       /* whole units of the quote asset, as the next */
    DEFAULT_NOTIONAL_MAX = 9000000, /* orders that name a price */
    DEFAULT_UP_E4 = 50000,          /* 5 times the price and a fifth of it */
    DEFAULT_DOWN_E4 = 2000,         /* bound an order's */
    DEFAULT_ORDERS_MAX = 200,
};

/* Above any price or quantity, and a number that fits. */
static const int64_t anything = 1000000000000000000;

const char *symbol_quote(const char *name)
{
    static const char *const quotes[] = {"FDUSD", "USDT", "USDC", "BUSD", "TUSD", "BTC", "ETH", "BNB",
                                         "EUR",   "GBP",  "TRY",  "BRL",  "DAI",  "JPY", "USD"};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(quotes) / sizeof(*quotes); i++) {
        size_t n = strlen(quotes[i]);
        if (len > n && strcmp(name + len - n, quotes[i]) == 0)
            return name + len - n;
    }
    return NULL;
}

/* Letters of the base asset in a name: what the quote leaves, or all. */
static size_t base_length(const char *name, const char *quote)
{
    size_t len = strlen(name), n = strlen(quote);
    if (len < n || strcmp(name + len - n, quote) != 0)
        return len;
    len -= n;
    return len > 0 && (name[len - 1] == '-' || name[len - 1] == '/') ? len - 1 : len;
}

/* The unit of so many digits, at a scale that may be coarser. */
static int64_t unit(int scale, int digits)
{
    return decimal_pow10(scale - (digits < scale ? digits : scale));
}

static const struct known *find_known(const char *name)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(name, known[i].name) == 0)
            return &known[i];
    return NULL;
}

bool symbol_known(const char *name)
{
    return find_known(name) != NULL;
}

static void set_default_filters(const struct known *pair, int price_digits, int qty_digits,
                                struct symbol *symbol)
{
    const int64_t one = unit(DEFAULT_SCALE, 0), price_one = unit(symbol->price_scale, 0);
    int64_t tick = unit(symbol->price_scale, price_digits), step = unit(DEFAULT_SCALE, qty_digits);
    if (pair) {
        int64_t known_tick = unit(symbol->price_scale, pair->price_digits);
        tick = known_tick < tick ? known_tick : tick;
        step = unit(DEFAULT_SCALE, pair->qty_digits);
    }
    bool fits = pair && pair->price_most <= anything / price_one;
    symbol->filters = (struct symbol_filters){.price_min = tick,
                                              .price_max = fits ? pair->price_most * price_one : anything,
                                              .tick = tick,
                                              .qty_min = step,
                                              .qty_max = pair ? pair->qty_most * one : anything,
                                              .step = step,
                                              .market_qty_max = pair ? pair->market_qty_most * one : 0,
                                              .notional_min = DEFAULT_NOTIONAL_MIN * one,
                                              .notional_max = DEFAULT_NOTIONAL_MAX * one,
                                              .notional_min_market = true,
                                              .bid_up_e4 = DEFAULT_UP_E4,
                                              .bid_down_e4 = DEFAULT_DOWN_E4,
                                              .ask_up_e4 = DEFAULT_UP_E4,
                                              .ask_down_e4 = DEFAULT_DOWN_E4,
                                              .orders_max = DEFAULT_ORDERS_MAX};
}

int symbol_default(const char *name, const char *quote, int price_digits, int qty_digits, struct symbol *ret)
{
    size_t len = strlen(name);
    if (!quote)
        quote = symbol_quote(name);
    if (!quote)
        quote = SYMBOL_QUOTE_UNKNOWN;
    size_t base = base_length(name, quote);
    if (base == 0 || len >= SYMBOL_NAME_MAX || base >= ASSET_NAME_MAX || !*quote ||
        strlen(quote) >= ASSET_NAME_MAX || price_digits > DECIMAL_SCALE_MAX)
        return -EINVAL;
    *ret = (struct symbol){
        .price_scale = price_digits > DEFAULT_SCALE ? price_digits : DEFAULT_SCALE,
        .qty_scale = DEFAULT_SCALE,
        .quote_scale = DEFAULT_SCALE,
        .trading = true,
    };
    memcpy(ret->name, name, len);
    memcpy(ret->base, name, base);
    memcpy(ret->quote, quote, strlen(quote));
    set_default_filters(find_known(name), price_digits, qty_digits, ret);
    return 0;
}
