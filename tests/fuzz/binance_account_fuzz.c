/* What Binance may say of an account, through the parser that the first byte picks: e a message of the
 * WebSocket API and its event, o an order, l open orders, t an order's trades, b balances.
 *
 *   CC=clang-14 meson setup build-fuzz -Dfuzz=true && ninja -C build-fuzz tests/fuzz/binance_account_fuzz
 *   build-fuzz/tests/fuzz/binance_account_fuzz -max_total_time=60 -max_len=4096 NEW_CORPUS \
 *       tests/fuzz/corpus_binance_account
 */
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/account/event_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct symbol list[] = {
    {.name = "BTCUSDT", .base = "BTC", .quote = "USDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8},
    {.name = "SHIBEUR", .base = "SHIB", .quote = "EUR", .price_scale = 8, .qty_scale = 2, .quote_scale = 6},
};
static const struct venue_symbols symbols = {list, 2};

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void see_order(const struct venue_order *order)
{
    must(order->id[0] && strlen(order->id) < sizeof(order->id));
    must(strlen(order->client_id) < sizeof(order->client_id));
    must(order->name[0] && strlen(order->name) < sizeof(order->name));
    must(order->qty >= 0 && order->filled >= 0 && order->price >= 0 && order->stop_price >= 0);
    must(order->symbol || (order->qty == 0 && order->filled == 0 && order->price == 0));
    must((unsigned)order->state < VENUE_ORDER_STATES && (unsigned)order->type <= ORDER_TYPES);
    must((unsigned)order->tif <= ORDER_TIFS && order->ts_ns >= 0);
}

static void see_fill(const struct venue_fill *fill, int64_t before)
{
    must(fill->symbol && fill->trade_id[0] && fill->order_id[0]);
    must(fill->qty > 0 && fill->price >= 0 && fill->cumulative >= fill->qty && fill->cumulative > before);
    must(fill->notional >= -1 && fill->fee >= 0 && (fill->fee == 0 || fill->fee_asset[0]));
    must(fill->fee_scale >= 0 && fill->fee_scale <= DECIMAL_SCALE_MAX);
}

static void see_parsed(const struct venue_lists *parsed)
{
    int64_t before = 0;
    for (size_t i = 0; i < parsed->n_orders; i++)
        see_order(&parsed->orders[i]);
    for (size_t i = 0; i < parsed->n_fills; i++) {
        see_fill(&parsed->fills[i], before);
        before = parsed->fills[i].cumulative;
    }
    for (size_t i = 0; i < parsed->n_balances; i++) {
        const struct venue_balance *balance = &parsed->balances[i];
        must(balance->asset[0] && balance->free >= 0 && balance->locked >= 0);
        must(balance->scale >= 0 && balance->scale <= DECIMAL_SCALE_MAX);
    }
}

static void see_message(const char *text, size_t len)
{
    struct binance_message message;
    struct binance_event event;
    if (binance_message_read(text, len, 1700000000000, &message) < 0)
        return;
    must(message.wait_ms >= -1);
    must((unsigned)binance_outcome(ACCOUNT_PLACE, &message.refusal) < VENUE_OUTCOMES);
    if (message.kind != BINANCE_MESSAGE_EVENT)
        return;
    if (binance_event_read(message.event, &symbols, &event) == 0) {
        if (event.kind == BINANCE_EVENT_ORDER)
            see_order(&event.order);
        if (event.filled)
            see_fill(&event.fill, 0);
        see_parsed(&event.balances);
    }
    venue_lists_free(&event.balances);
}

static void see_answer(char kind, const char *text, size_t len)
{
    struct venue_lists parsed = {0};
    struct json json;
    json_init(&json, text, len);
    int r = kind == 'o'   ? binance_parse_order(json, &symbols, &parsed)
            : kind == 'l' ? binance_parse_open(json, &symbols, &parsed)
            : kind == 't' ? binance_parse_trades(json, &symbols, &list[0], "7", &parsed)
                          : binance_parse_balances(json, &symbols, &parsed);
    if (r == 0)
        see_parsed(&parsed);
    venue_lists_free(&parsed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == 'e')
        see_message((const char *)data + 1, size - 1);
    else
        see_answer((char)data[0], (const char *)data + 1, size - 1);
    return 0;
}
