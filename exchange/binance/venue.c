
#include "exchange/binance/account/account.h"
#include "exchange/binance/format.h"
#include "exchange/binance/rest.h"
#include "exchange/binance/stream.h"

#define GLOBAL_WS_URL   "wss://data-stream.binance.vision:443"
#define GLOBAL_REST_URL "https://data-api.binance.vision"
#define US_WS_URL       "wss://stream.binance.us:9443"
#define US_REST_URL     "https://api.binance.us"

const struct binance_variant binance_global = {
    .name = "binance",
    .ws_url = GLOBAL_WS_URL,
    .rest_url = GLOBAL_REST_URL,
    .time_unit = "microsecond",
    .lists_briefly = true,
};

const struct binance_variant binance_us = {
    .name = "binance-us",
    .ws_url = US_WS_URL,
    .rest_url = US_REST_URL,
    .time_unit = "millisecond",
};

static int stream_create(const struct venue_stream_config *config, const struct venue_stream_handler *handler,
                         void *user, struct venue_stream **ret)
{
    return binance_stream_create(&binance_global, config, handler, user, ret);
}

static int stream_create_us(const struct venue_stream_config *config,
                            const struct venue_stream_handler *handler, void *user, struct venue_stream **ret)
{
    return binance_stream_create(&binance_us, config, handler, user, ret);
}

static int rest_create(const struct venue_rest_config *config, struct venue_rest **ret)
{
    return binance_rest_create(&binance_global, config, ret);
}

static int rest_create_us(const struct venue_rest_config *config, struct venue_rest **ret)
{
    return binance_rest_create(&binance_us, config, ret);
}

#define UNIT_WORDS   "millisecond microsecond"
#define UNIT_SUMMARY "the resolution of the times in the streams"

static const struct venue_option options[] = {
    {"time_unit", "microsecond", UNIT_WORDS, UNIT_SUMMARY},
    {"orders", "rest", "rest websocket",
     "the way of an account's orders: REST, or the WebSocket API where it is connected"},
};
static const struct venue_option us_options[] = {{"time_unit", "millisecond", UNIT_WORDS, UNIT_SUMMARY}};

/* What both share. A unit of the budget for silent streams is 5 of weight: a quarter of 6000 a minute. */
#define ALIKE \
    .asks_a_minute = 300, .ask_cost = {[MARKET_TRADE] = 5, [MARKET_AGG_TRADE] = 1, [MARKET_KLINE] = 1, \
                                       [MARKET_QUOTE] = 1, [MARKET_DEPTH] = 50,    [MARKET_TICKER] = 1}, \
    .bars_page = BINANCE_KLINES_MAX, .trades_span_ns = BINANCE_TRADES_SPAN_NS, .aggregates = true, \
    .archives = true, .always_open = true, .stream_name = binance_stream_name, \
    .stream_destroy = binance_stream_destroy, .stream_connection = binance_stream_connection, \
    .stream_connection_up = binance_stream_connection_up, .stream_replace = binance_stream_replace, \
    .stream_pause = binance_stream_pause, .stream_status = binance_stream_status, \
    .stream_follow = binance_stream_follow, .stream_unfollow = binance_stream_unfollow, \
    .stream_list = binance_stream_list, .stream_hold = binance_stream_hold

static const char *const live_hosts[] = {"stream.binance.com", "api.binance.com", "ws-api.binance.com", NULL};
static const char *const test_hosts[] = {"stream.testnet.binance.vision", "demo-stream.binance.com", NULL};

const struct venue binance_venue = {
    .format = &binance_format,
    .options = options,
    .n_options = sizeof(options) / sizeof(*options),
    .title = "Binance",
    .ws_url = GLOBAL_WS_URL,
    .rest_url = GLOBAL_REST_URL,
    .live_hosts = live_hosts,
    .test_hosts = test_hosts,
    .accounts = &binance_accounts,
    .stream_create = stream_create,
    .rest_create = rest_create,
    ALIKE,
};

const struct venue binance_us_venue = {
    .format = &binance_us_format,
    .options = us_options,
    .n_options = sizeof(us_options) / sizeof(*us_options),
    .title = "Binance US",
    .ws_url = US_WS_URL,
    .rest_url = US_REST_URL,
    .stream_create = stream_create_us,
    .rest_create = rest_create_us,
    ALIKE,
};
