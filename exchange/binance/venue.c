/* Each stream function is the one of the same name, with the venue's opaque type for Binance's. */
#include "exchange/binance/venue.h"

#include "exchange/binance/format.h"
#include "exchange/binance/rest.h"
#include "exchange/binance/stream.h"
#include "exchange/net/requests.h"

#define STREAM(stream)  ((struct binance_stream *)(stream))

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
    return binance_stream_create(&binance_global, config, handler, user, (struct binance_stream **)ret);
}

static int stream_create_us(const struct venue_stream_config *config,
                            const struct venue_stream_handler *handler, void *user, struct venue_stream **ret)
{
    return binance_stream_create(&binance_us, config, handler, user, (struct binance_stream **)ret);
}

static void stream_destroy(struct venue_stream *stream)
{
    binance_stream_destroy(STREAM(stream));
}

static int stream_connection(const struct venue_stream *stream, const char *name)
{
    return binance_stream_connection((const struct binance_stream *)stream, name);
}

static bool stream_connection_up(const struct venue_stream *stream, int connection)
{
    return binance_stream_connection_up((const struct binance_stream *)stream, connection);
}

static bool stream_replace(struct venue_stream *stream, int connection, const char *why)
{
    return binance_stream_replace(STREAM(stream), connection, why);
}

static void stream_pause(struct venue_stream *stream, bool paused)
{
    binance_stream_pause(STREAM(stream), paused);
}

static const struct venue_status *stream_status(const struct venue_stream *stream)
{
    return binance_stream_status((const struct binance_stream *)stream);
}

static int stream_follow(struct venue_stream *stream, const char *const *names, size_t n)
{
    return binance_stream_follow(STREAM(stream), names, n);
}

static int stream_unfollow(struct venue_stream *stream, const char *const *names, size_t n)
{
    return binance_stream_unfollow(STREAM(stream), names, n);
}

static int stream_list(struct venue_stream *stream,
                       void (*done)(void *user, const char *const *names, size_t n, const char *error),
                       void *user)
{
    return binance_stream_list(STREAM(stream), done, user);
}

static void stream_hold(struct venue_stream *stream, int64_t until_ns, const char *why)
{
    binance_stream_hold(STREAM(stream), until_ns, why);
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
#define UNIT_SUMMARY "how finely the streams tell their times"

static const struct venue_option options[] = {{"time_unit", "microsecond", UNIT_WORDS, UNIT_SUMMARY}};
static const struct venue_option us_options[] = {{"time_unit", "millisecond", UNIT_WORDS, UNIT_SUMMARY}};

/* What both have alike. A unit of what silent streams may cost is 5 of weight: a quarter of 6000 a minute. */
#define ALIKE \
    .asks_a_minute = 300, .ask_cost = {[MARKET_TRADE] = 5, [MARKET_AGG_TRADE] = 1, [MARKET_KLINE] = 1, \
                                       [MARKET_QUOTE] = 1, [MARKET_DEPTH] = 50,    [MARKET_TICKER] = 1}, \
    .n_options = 1, .always_open = true, .stream_name = binance_stream_name, \
    .stream_destroy = stream_destroy, .stream_connection = stream_connection, \
    .stream_connection_up = stream_connection_up, .stream_replace = stream_replace, \
    .stream_pause = stream_pause, .stream_status = stream_status, .stream_follow = stream_follow, \
    .stream_unfollow = stream_unfollow, .stream_list = stream_list, .stream_hold = stream_hold, \
    .rest_destroy = net_requests_destroy, .rest_time = net_requests_time, \
    .rest_symbols = net_requests_symbols, .rest_bars = net_requests_bars, .rest_book = net_requests_book, \
    .rest_latest = net_requests_latest, .rest_hold = net_requests_hold, .rest_cancel = net_requests_cancel, \
    .rest_status = net_requests_status

const struct venue binance_venue = {
    .format = &binance_format,
    .options = options,
    .title = "Binance",
    .ws_url = GLOBAL_WS_URL,
    .rest_url = GLOBAL_REST_URL,
    .stream_create = stream_create,
    .rest_create = rest_create,
    ALIKE,
};

const struct venue binance_us_venue = {
    .format = &binance_us_format,
    .options = us_options,
    .title = "Binance US",
    .ws_url = US_WS_URL,
    .rest_url = US_REST_URL,
    .stream_create = stream_create_us,
    .rest_create = rest_create_us,
    ALIKE,
};
