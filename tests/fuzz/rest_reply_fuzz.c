/* What a venue's REST may reply, through the parser that the first byte picks; and URLs.
 *
 *   CC=clang-14 meson setup build-fuzz -Dfuzz=true && ninja -C build-fuzz tests/fuzz/rest_reply_fuzz
 *   build-fuzz/tests/fuzz/rest_reply_fuzz -max_total_time=60 -max_len=4096 NEW_CORPUS tests/fuzz/corpus_rest
 */
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/rest_parse.h"
#include "exchange/net/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CAP = 16 };

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void see_symbol(void *user, const struct symbol *symbol)
{
    (void)user;
    must(symbol->name[0] && symbol->base[0] && symbol->quote[0]);
    must(symbol->qty_scale >= 0 && symbol->price_scale + symbol->qty_scale <= DECIMAL_SCALE_MAX);
    must(symbol->filters.orders_max >= 0);
}

static void info(const char *text, size_t len)
{
    struct venue_symbol wanted[2] = {{.name = "ETHUSDT"}, {.name = "BTCUSTD"}};
    struct binance_info first, second;
    int r = binance_parse_info(text, len, "binance", see_symbol, NULL, &first);
    must(binance_parse_wanted(text, len, "binance", wanted, 2, &second) == r);
    if (r == 0)
        must(first.symbols == second.symbols && first.server_ns == second.server_ns && first.server_ns >= 0);
}

static void klines(const char *text, size_t len)
{
    static const struct symbol symbol = {
        .name = "BTCUSDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8};
    struct bar bars[CAP];
    size_t n, closed;
    if (binance_parse_klines(text, len, &symbol, 60000000000, 1723075320000000000, bars, CAP, &n, &closed) <
        0)
        return;
    must(n <= CAP && closed <= n);
    for (size_t i = 0; i < n; i++) {
        must(bars[i].low > 0 && bars[i].low <= bars[i].open && bars[i].close <= bars[i].high);
        must(bars[i].volume >= 0 && bars[i].open_ns % 60000000000 == 0);
        must(i == 0 || bars[i].open_ns > bars[i - 1].open_ns);
    }
}

static void depth(const char *text, size_t len)
{
    static const struct symbol symbol = {
        .name = "BTCUSDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8};
    struct book_level bids[CAP], asks[CAP];
    uint32_t n_bids, n_asks;
    uint64_t id;
    if (binance_parse_depth(text, len, &symbol, bids, &n_bids, asks, &n_asks, CAP, &id) < 0)
        return;
    must(n_bids <= CAP && n_asks <= CAP && id <= INT64_MAX);
    for (uint32_t i = 0; i < n_bids; i++)
        must(bids[i].price > 0 && bids[i].qty > 0);
    for (uint32_t i = 0; i < n_asks; i++)
        must(asks[i].price > 0 && asks[i].qty > 0);
}

static void small(const char *text, size_t len)
{
    int64_t number;
    struct json_text msg;
    if (binance_parse_time(text, len, &number) == 0)
        must(number >= 0);
    if (binance_parse_error(text, len, &number, &msg))
        must(msg.len == 0 || (msg.data >= text && msg.data + msg.len <= text + len));
}

static void url(const char *text, size_t len)
{
    char *copy = strndup(text, len);
    struct url parsed;
    if (copy && net_url_parse(copy, &parsed) == 0)
        must(parsed.host[0] && strlen(parsed.host) < URL_HOST_MAX && parsed.port > 0 &&
             parsed.path[0] == '/');
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const parsers[])(const char *, size_t) = {info, klines, depth, small, url};
    if (size == 0)
        return 0;
    parsers[data[0] % (sizeof(parsers) / sizeof(parsers[0]))]((const char *)data + 1, size - 1);
    return 0;
}
