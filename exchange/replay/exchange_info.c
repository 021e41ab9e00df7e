#include "exchange/replay/exchange_info.h"

#include <string.h>

static const char *const quotes[] = {"FDUSD", "USDT", "USDC", "BUSD", "TUSD", "BTC", "ETH", "BNB",
                                     "EUR",   "GBP",  "TRY",  "BRL",  "DAI",  "JPY", "USD"};

/* Where the quote asset's name begins. */
static size_t split(const char *symbol)
{
    size_t len = strlen(symbol);
    for (size_t i = 0; i < sizeof(quotes) / sizeof(*quotes); i++) {
        size_t n = strlen(quotes[i]);
        if (len > n && strcmp(symbol + len - n, quotes[i]) == 0)
            return len - n;
    }
    return len > 3 ? len - 3 : len;
}

static int64_t unit(int digits)
{
    int64_t e8 = 1;
    for (; digits < 8; digits++)
        e8 *= 10;
    return e8;
}

static void key_e8(struct text *out, const char *key, int64_t value)
{
    text_lit(out, ",\"");
    text_str(out, key);
    text_lit(out, "\":");
    text_e8(out, value);
}

static void write_filters(struct text *out, const struct tape_symbol *sym)
{
    const int64_t e8 = 100000000;
    int64_t tick = unit(sym->price_digits), step = unit(sym->qty_digits);
    if (strcmp(sym->name, "BTCUSDT") == 0) {
        tick = unit(2);
        step = unit(5);
    } else if (strcmp(sym->name, "ETHUSDT") == 0) {
        tick = unit(2);
        step = unit(4);
    }
    /* Clients read the tick from the first filter. */
    text_lit(out, "[{\"filterType\":\"PRICE_FILTER\"");
    key_e8(out, "minPrice", tick);
    key_e8(out, "maxPrice", tick * 100000000);
    key_e8(out, "tickSize", tick);
    text_lit(out, "},{\"filterType\":\"LOT_SIZE\"");
    key_e8(out, "minQty", step);
    key_e8(out, "maxQty", 9000 * e8);
    key_e8(out, "stepSize", step);
    text_lit(out, "},{\"filterType\":\"ICEBERG_PARTS\",\"limit\":10},{\"filterType\":\"MARKET_LOT_SIZE\"");
    key_e8(out, "minQty", 0);
    key_e8(out, "maxQty", 120 * e8);
    key_e8(out, "stepSize", 0);
    text_lit(
        out,
        "},{\"filterType\":\"TRAILING_DELTA\",\"minTrailingAboveDelta\":10,\"maxTrailingAboveDelta\":2000,"
        "\"minTrailingBelowDelta\":10,\"maxTrailingBelowDelta\":2000}"
        ",{\"filterType\":\"PERCENT_PRICE_BY_SIDE\",\"bidMultiplierUp\":\"5\",\"bidMultiplierDown\":\"0.2\","
        "\"askMultiplierUp\":\"5\",\"askMultiplierDown\":\"0.2\",\"avgPriceMins\":5}"
        ",{\"filterType\":\"NOTIONAL\"");
    key_e8(out, "minNotional", 5 * e8);
    text_lit(out, ",\"applyMinToMarket\":true");
    key_e8(out, "maxNotional", 9000000 * e8);
    text_lit(out, ",\"applyMaxToMarket\":false,\"avgPriceMins\":5}"
                  ",{\"filterType\":\"MAX_NUM_ORDERS\",\"maxNumOrders\":200}"
                  ",{\"filterType\":\"MAX_NUM_ALGO_ORDERS\",\"maxNumAlgoOrders\":5}]");
}

static void write_symbol(struct text *out, const struct tape_symbol *sym)
{
    size_t at = split(sym->name);
    if (sym->info) {
        text_str(out, sym->info);
        return;
    }
    text_lit(out, "{\"symbol\":\"");
    text_str(out, sym->name);
    text_lit(out, "\",\"status\":\"TRADING\",\"baseAsset\":\"");
    text_bytes(out, sym->name, at);
    text_lit(out, "\",\"baseAssetPrecision\":8,\"quoteAsset\":\"");
    text_str(out, sym->name + at);
    text_lit(
        out,
        "\",\"quotePrecision\":8,\"quoteAssetPrecision\":8,\"baseCommissionPrecision\":8,"
        "\"quoteCommissionPrecision\":8,\"orderTypes\":[\"LIMIT\",\"LIMIT_MAKER\",\"MARKET\",\"STOP_LOSS\","
        "\"STOP_LOSS_LIMIT\",\"TAKE_PROFIT\",\"TAKE_PROFIT_LIMIT\"],\"icebergAllowed\":true,\"ocoAllowed\":"
        "true,"
        "\"otoAllowed\":true,\"quoteOrderQtyMarketAllowed\":true,\"allowTrailingStop\":true,"
        "\"cancelReplaceAllowed\":true,\"isSpotTradingAllowed\":true,\"isMarginTradingAllowed\":false,"
        "\"filters\":");
    write_filters(out, sym);
    text_lit(out, ",\"permissions\":[],\"permissionSets\":[[\"SPOT\"]],\"defaultSelfTradePreventionMode\":"
                  "\"EXPIRE_MAKER\",\"allowedSelfTradePreventionModes\":[\"EXPIRE_TAKER\",\"EXPIRE_MAKER\","
                  "\"EXPIRE_BOTH\",\"DECREMENT\"]}");
}

void exchange_info_write(struct text *out, const struct tape *tape, const bool *symbols)
{
    bool first = true;
    text_lit(out, "{\"timezone\":\"UTC\",\"serverTime\":");
    text_int(out, tape->now_ns / 1000000);
    text_lit(
        out,
        ",\"rateLimits\":[{\"rateLimitType\":\"REQUEST_WEIGHT\",\"interval\":\"MINUTE\",\"intervalNum\":1,"
        "\"limit\":6000},{\"rateLimitType\":\"ORDERS\",\"interval\":\"SECOND\",\"intervalNum\":10,\"limit\":"
        "100},"
        "{\"rateLimitType\":\"ORDERS\",\"interval\":\"DAY\",\"intervalNum\":1,\"limit\":200000},"
        "{\"rateLimitType\":\"RAW_REQUESTS\",\"interval\":\"MINUTE\",\"intervalNum\":5,\"limit\":61000}],"
        "\"exchangeFilters\":[],\"symbols\":[");
    for (int i = 0; i < tape->n_symbols; i++) {
        if (!symbols[i])
            continue;
        if (!first)
            text_lit(out, ",");
        write_symbol(out, &tape->symbols[i]);
        first = false;
    }
    text_lit(out, "]}");
}
