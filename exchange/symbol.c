#include "exchange/symbol.h"

#include <errno.h>
#include <string.h>

#include "exchange/decimal.h"

bool symbol_same_units(const struct symbol *a, const struct symbol *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->base, b->base) == 0 &&
           strcmp(a->quote, b->quote) == 0 && a->price_scale == b->price_scale &&
           a->qty_scale == b->qty_scale && a->quote_scale == b->quote_scale;
}

/* Pairs whose steps are known; of the others the data tells. */
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

static const int64_t anything = 10000000000; /* more than a price or a quantity is: 10^18 at the scale */

/* Where the quote asset's name begins; the name's end: it has none that is known. */
static size_t quote_at(const char *name)
{
    static const char *const quotes[] = {"FDUSD", "USDT", "USDC", "BUSD", "TUSD", "BTC", "ETH", "BNB",
                                         "EUR",   "GBP",  "TRY",  "BRL",  "DAI",  "JPY", "USD"};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(quotes) / sizeof(*quotes); i++) {
        size_t n = strlen(quotes[i]);
        if (len > n && strcmp(name + len - n, quotes[i]) == 0)
            return len - n;
    }
    return len;
}

static int64_t unit(int digits)
{
    return decimal_pow10(DEFAULT_SCALE - (digits < DEFAULT_SCALE ? digits : DEFAULT_SCALE));
}

int symbol_default(const char *name, int price_digits, int qty_digits, struct symbol *ret)
{
    static const struct known unknown = {.price_most = anything, .qty_most = anything};
    const struct known *pair = &unknown;
    const int64_t one = unit(0);
    size_t at = quote_at(name), len = strlen(name);
    const char *quote = at < len ? name + at : "USD";
    if (at == 0 || len >= SYMBOL_NAME_MAX || at >= ASSET_NAME_MAX)
        return -EINVAL;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(name, known[i].name) == 0)
            pair = &known[i];
    int64_t tick = unit(price_digits), step = unit(qty_digits);
    if (pair != &unknown) {
        if (unit(pair->price_digits) < tick)
            tick = unit(pair->price_digits);
        step = unit(pair->qty_digits);
    }
    *ret = (struct symbol){
        .price_scale = DEFAULT_SCALE,
        .qty_scale = DEFAULT_SCALE,
        .quote_scale = DEFAULT_SCALE,
        .trading = true,
        .filters = {.price_min = tick,
                    .price_max = pair->price_most * one,
                    .tick = tick,
                    .qty_min = step,
                    .qty_max = pair->qty_most * one,
                    .step = step,
                    .market_qty_max = pair->market_qty_most * one,
                    .notional_min = DEFAULT_NOTIONAL_MIN * one,
                    .notional_max = DEFAULT_NOTIONAL_MAX * one,
                    .notional_min_market = true,
                    .bid_up_e4 = DEFAULT_UP_E4,
                    .bid_down_e4 = DEFAULT_DOWN_E4,
                    .ask_up_e4 = DEFAULT_UP_E4,
                    .ask_down_e4 = DEFAULT_DOWN_E4,
                    .orders_max = DEFAULT_ORDERS_MAX},
    };
    memcpy(ret->name, name, len);
    memcpy(ret->base, name, at);
    memcpy(ret->quote, quote, strlen(quote));
    return 0;
}
