/* Binance's frames as their fields, so that tests can shuffle, drop and damage them one by one. */
#ifndef TESTS_EXCHANGE_FRAMES_H
#define TESTS_EXCHANGE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "exchange/market.h"
#include "exchange/symbol.h"

enum { FRAME_MAX = 2048, FIELDS_MAX = 20 };

struct field {
    const char *key, *value;
    bool required;
};

struct frame {
    const char *stream;
    enum market_kind kind;
    bool raw; /* carries its event type, so that it can be read without the stream's name */
    struct field fields[FIELDS_MAX];
};

static const struct symbol frame_symbols[] = {
    {.name = "ETHUSDT", .base = "ETH", .quote = "USDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8},
    {.name = "BTCUSDT", .base = "BTC", .quote = "USDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8},
};

static const struct frame frames[] = {
    {"btcusdt@trade",
     MARKET_TRADE,
     true,
     {{"e", "\"trade\"", false},
      {"E", "1723161255343", false},
      {"s", "\"BTCUSDT\"", false},
      {"t", "3735683259", true},
      {"p", "\"61837.63000000\"", true},
      {"q", "\"0.02000000\"", true},
      {"b", "28951632453", false},
      {"a", "28951632450", false},
      {"T", "1723161255342", true},
      {"m", "true", true},
      {"M", "true", false}}},
    {"btcusdt@aggTrade",
     MARKET_AGG_TRADE,
     true,
     {{"e", "\"aggTrade\"", false},
      {"E", "1723161255343", false},
      {"s", "\"BTCUSDT\"", false},
      {"a", "3100000000", true},
      {"p", "\"61837.63000000\"", true},
      {"q", "\"0.02000000\"", true},
      {"f", "3735683259", true},
      {"l", "3735683261", true},
      {"T", "1723161255342", true},
      {"m", "false", true},
      {"M", "true", false}}},
    {"btcusdt@kline_1m",
     MARKET_KLINE,
     true,
     {{"e", "\"kline\"", false},
      {"E", "1723161255343", false},
      {"s", "\"BTCUSDT\"", false},
      {"k",
       "{\"t\":1723161240000,\"T\":1723161299999,\"s\":\"BTCUSDT\",\"i\":\"1m\",\"f\":100,\"L\":200,"
       "\"o\":\"61837.63000000\",\"c\":\"61838.00000000\",\"h\":\"61840.01000000\",\"l\":\"61830.00000000\","
       "\"v\":\"12.50000000\",\"n\":101,\"x\":false,\"q\":\"772970.3750000000000001\",\"V\":\"1.0\",\"Q\":"
       "\"1.0\","
       "\"B\":\"0\"}",
       true}}},
    {"btcusdt@bookTicker",
     MARKET_QUOTE,
     false,
     {{"u", "50093239212", true},
      {"s", "\"BTCUSDT\"", false},
      {"b", "\"61837.63000000\"", true},
      {"B", "\"3.78826000\"", true},
      {"a", "\"61837.64000000\"", true},
      {"A", "\"1.54698000\"", true}}},
    {"btcusdt@miniTicker",
     MARKET_TICKER,
     true,
     {{"e", "\"24hrMiniTicker\"", false},
      {"E", "1723161255343", false},
      {"s", "\"BTCUSDT\"", false},
      {"c", "\"61837.63000000\"", true},
      {"o", "\"55000.00000000\"", true},
      {"h", "\"62673.07000000\"", true},
      {"l", "\"54725.00000000\"", true},
      {"v", "\"10000000000000.00000001\"", true},
      {"q", "\"2651240532.52132360\"", false}}},
    {"btcusdt@depth@100ms",
     MARKET_DEPTH,
     true,
     {{"e", "\"depthUpdate\"", false},
      {"E", "1723161255208", false},
      {"s", "\"BTCUSDT\"", false},
      {"U", "50093239189", true},
      {"u", "50093239202", true},
      {"b", "[[\"61737.63000000\",\"0.00000000\"],[\"61730.17000000\",\"0.5\",[]]]", true},
      {"a", "[[\"61837.64000000\",\"1.54698000\"]]", true}}},
};

enum { FRAMES = sizeof frames / sizeof *frames };

static inline int frame_fields(const struct frame *frame)
{
    int n = 0;
    while (n < FIELDS_MAX && frame->fields[n].key)
        n++;
    return n;
}

/* The data object with its fields in the given order, `dropped` left out (-1: none) and `changed` with
 * another value (-1: none). Returns the length. */
static inline size_t frame_data(const struct frame *frame, const int *order, int dropped, int changed,
                                const char *value, char buf[static FRAME_MAX])
{
    size_t len = (size_t)snprintf(buf, FRAME_MAX, "{");
    for (int i = 0, n = frame_fields(frame), written = 0; i < n; i++) {
        const struct field *field = &frame->fields[order ? order[i] : i];
        int at = (int)(field - frame->fields);
        if (at == dropped)
            continue;
        len += (size_t)snprintf(buf + len, FRAME_MAX - len, "%s\"%s\":%s", written++ ? "," : "", field->key,
                                at == changed ? value : field->value);
    }
    return len + (size_t)snprintf(buf + len, FRAME_MAX - len, "}");
}

/* {"stream":…,"data":…}, or data first. */
static inline size_t frame_combined(const char *stream, const char *data, bool data_first,
                                    char buf[static 2 * FRAME_MAX])
{
    if (data_first)
        return (size_t)snprintf(buf, 2 * FRAME_MAX, "{\"data\":%s,\"stream\":\"%s\"}", data, stream);
    return (size_t)snprintf(buf, 2 * FRAME_MAX, "{\"stream\":\"%s\",\"data\":%s}", stream, data);
}

#endif
