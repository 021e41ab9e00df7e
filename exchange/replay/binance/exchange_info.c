#include "exchange/replay/binance/protocol.h"

#include <string.h>

#include "exchange/replay/binance/limits.h"
#include "exchange/replay/binance/order_counts.h"
#include "exchange/replay/keyed.h"

static const char OTHER_QUOTE[] = "USD"; /* the quote asset of symbols whose names do not show it */

static void write_filters(struct text *out, const struct symbol_filters *f,
                          const struct replay_filters *filters)
{
    /* Clients read the tick from the first filter. */
    text_lit(out, "[{\"filterType\":\"PRICE_FILTER\"");
    keyed_e8(out, "minPrice", f->price_min);
    keyed_e8(out, "maxPrice", f->price_max);
    keyed_e8(out, "tickSize", f->tick);
    text_lit(out, "},{\"filterType\":\"LOT_SIZE\"");
    keyed_e8(out, "minQty", f->qty_min);
    keyed_e8(out, "maxQty", f->qty_max);
    keyed_e8(out, "stepSize", f->step);
    text_lit(out, "}");
    replay_filter_write(out, filters, FILTER_ICEBERG_PARTS, true);
    text_lit(out, ",{\"filterType\":\"MARKET_LOT_SIZE\"");
    keyed_e8(out, "minQty", f->market_qty_min);
    keyed_e8(out, "maxQty", f->market_qty_max);
    keyed_e8(out, "stepSize", f->market_step);
    text_lit(out, "}");
    replay_filter_write_delta(out);
    text_lit(
        out,
        ",{\"filterType\":\"PERCENT_PRICE_BY_SIDE\",\"bidMultiplierUp\":\"5\",\"bidMultiplierDown\":\"0.2\","
        "\"askMultiplierUp\":\"5\",\"askMultiplierDown\":\"0.2\",\"avgPriceMins\":5}"
        ",{\"filterType\":\"NOTIONAL\"");
    keyed_e8(out, "minNotional", f->notional_min);
    text_lit(out, ",\"applyMinToMarket\":true");
    keyed_e8(out, "maxNotional", f->notional_max);
    text_lit(out, ",\"applyMaxToMarket\":false,\"avgPriceMins\":5}");
    for (enum replay_filter i = FILTER_MAX_NUM_ORDERS; i < FILTER_OF_EXCHANGE; i++)
        replay_filter_write(out, filters, i, true);
    text_lit(out, "]");
}

static void write_symbol(struct text *out, const struct symbol *listed, const char *status,
                         const struct replay_filters *filters)
{
    text_lit(out, "{\"symbol\":\"");
    text_str(out, listed->name);
    text_lit(out, "\",\"status\":\"");
    text_str(out, status);
    text_lit(out, "\",\"baseAsset\":\"");
    text_str(out, listed->base);
    text_lit(out, "\",\"baseAssetPrecision\":8,\"quoteAsset\":\"");
    text_str(out, listed->quote);
    text_lit(
        out,
        "\",\"quotePrecision\":8,\"quoteAssetPrecision\":8,\"baseCommissionPrecision\":8,"
        "\"quoteCommissionPrecision\":8,\"orderTypes\":[\"LIMIT\",\"LIMIT_MAKER\",\"MARKET\",\"STOP_LOSS\","
        "\"STOP_LOSS_LIMIT\",\"TAKE_PROFIT\",\"TAKE_PROFIT_LIMIT\"],\"icebergAllowed\":true,\"ocoAllowed\":"
        "true,"
        "\"otoAllowed\":true,\"opoAllowed\":false,\"quoteOrderQtyMarketAllowed\":true,\"allowTrailingStop\":true,"
        "\"cancelReplaceAllowed\":true,\"amendAllowed\":true,\"pegInstructionsAllowed\":false,\"isSpotTradingAllowed\":true,\"isMarginTradingAllowed\":false,"
        "\"filters\":");
    write_filters(out, &listed->filters, filters);
    text_lit(out, ",\"permissions\":[],\"permissionSets\":[[\"SPOT\"]],\"defaultSelfTradePreventionMode\":"
                  "\"EXPIRE_MAKER\",\"allowedSelfTradePreventionModes\":[\"EXPIRE_TAKER\",\"EXPIRE_MAKER\","
                  "\"EXPIRE_BOTH\",\"DECREMENT\"]}");
}

/* The recorded object, with the status that the symbol has now. */
static void write_recorded(struct text *out, const char *info, const char *status)
{
    static const char key[] = "\"status\":\"";
    const char *at = strstr(info, key);
    if (!at) {
        text_str(out, info);
        return;
    }
    at += sizeof(key) - 1;
    text_bytes(out, info, (size_t)(at - info));
    text_str(out, status);
    text_str(out, at + strcspn(at, "\""));
}

/* Filters as a venue changes them now and then: the least notional rises, and the largest quantity falls. */
static void change_filters(struct symbol_filters *f)
{
    f->notional_min *= 2;
    f->qty_max = f->qty_max / 2 / f->step * f->step;
    f->market_qty_max = f->qty_max < f->market_qty_max ? f->qty_max : f->market_qty_max;
    f->qty_min = f->step * 10;
}

void replay_exchange_info_write(struct text *out, const struct tape *tape, const bool *symbols,
                                const struct limits *limits)
{
    bool first = true;
    text_lit(out, "{\"timezone\":\"UTC\",\"serverTime\":");
    text_int(out, tape->now_ns / 1000000);
    text_format(
        out,
        ",\"rateLimits\":[{\"rateLimitType\":\"REQUEST_WEIGHT\",\"interval\":\"MINUTE\",\"intervalNum\":1,"
        "\"limit\":%lld},",
        (long long)replay_limits_weight(limits));
    replay_order_limits_write(out, NULL, 0);
    text_format(
        out,
        ",{\"rateLimitType\":\"RAW_REQUESTS\",\"interval\":\"MINUTE\",\"intervalNum\":5,\"limit\":%lld}],"
        "\"exchangeFilters\":[",
        (long long)replay_limits_requests(limits));
    replay_filters_write_exchange(out, &limits->filters);
    text_lit(out, "],\"symbols\":[");
    for (int i = 0; i < tape->n_symbols; i++) {
        const struct tape_symbol *sym = &tape->symbols[i];
        struct symbol listed;
        bool recorded = sym->info && !sym->other_filters;
        const char *quote = symbol_quote(sym->name) ? NULL : OTHER_QUOTE;
        if (!symbols[i] || (!recorded && symbol_default(sym->name, quote, sym->price_digits, sym->qty_digits,
                                                        &listed) < 0)) /* no asset has such a name */
            continue;
        if (!first)
            text_lit(out, ",");
        if (!recorded && sym->other_filters)
            change_filters(&listed.filters);
        if (recorded && !sym->changed)
            text_str(out, sym->info);
        else if (recorded)
            write_recorded(out, sym->info, sym->status);
        else
            write_symbol(out, &listed, sym->status, &limits->filters);
        first = false;
    }
    text_lit(out, "]}");
}

void replay_exchange_info_filters(struct text *out, const struct tape_symbol *symbol,
                                  const struct symbol *listed, const struct limits *limits)
{
    static const char key[] = "\"filters\":";
    const char *at = symbol->info && !symbol->other_filters ? strstr(symbol->info, key) : NULL,
               *end = at ? strchr(at, ']') : NULL;
    text_lit(out, "{\"exchangeFilters\":[");
    replay_filters_write_exchange(out, &limits->filters);
    text_lit(out, "],\"symbolFilters\":");
    if (end)
        text_bytes(out, at + sizeof(key) - 1, (size_t)(end + 1 - (at + sizeof(key) - 1)));
    else
        write_filters(out, &listed->filters, &limits->filters);
    text_lit(out, ",\"assetFilters\":[");
    replay_filters_write_assets(out, &limits->filters, listed);
    text_lit(out, "]}");
}
