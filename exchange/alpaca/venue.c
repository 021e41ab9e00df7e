/* Each stream function is the one of the same name, with the venue's opaque type for Alpaca's. */
#include "exchange/alpaca/venue.h"

#include "exchange/alpaca/channel.h"
#include "exchange/alpaca/format.h"
#include "exchange/alpaca/rest.h"
#include "exchange/alpaca/settings.h"
#include "exchange/alpaca/stream.h"
#include "exchange/net/requests.h"

#define STREAM(stream) ((struct alpaca_stream *)(stream))

static int stream_create(const struct venue_stream_config *config, const struct venue_stream_handler *handler,
                         void *user, struct venue_stream **ret)
{
    return alpaca_stream_create(config, handler, user, (struct alpaca_stream **)ret);
}

static void stream_destroy(struct venue_stream *stream)
{
    alpaca_stream_destroy(STREAM(stream));
}

static int stream_connection(const struct venue_stream *stream, const char *name)
{
    (void)stream;
    return alpaca_stream_connection(name);
}

static bool stream_connection_up(const struct venue_stream *stream, int connection)
{
    return alpaca_stream_connection_up((const struct alpaca_stream *)stream, connection);
}

static bool stream_replace(struct venue_stream *stream, int connection, const char *why)
{
    return alpaca_stream_replace(STREAM(stream), connection, why);
}

static void stream_pause(struct venue_stream *stream, bool paused)
{
    alpaca_stream_pause(STREAM(stream), paused);
}

static const struct venue_status *stream_status(const struct venue_stream *stream)
{
    return alpaca_stream_status((const struct alpaca_stream *)stream);
}

static int stream_follow(struct venue_stream *stream, const char *const *names, size_t n)
{
    return alpaca_stream_follow(STREAM(stream), names, n);
}

static int stream_unfollow(struct venue_stream *stream, const char *const *names, size_t n)
{
    return alpaca_stream_unfollow(STREAM(stream), names, n);
}

static int stream_list(struct venue_stream *stream,
                       void (*done)(void *user, const char *const *names, size_t n, const char *error),
                       void *user)
{
    return alpaca_stream_list(STREAM(stream), done, user);
}

static void stream_hold(struct venue_stream *stream, int64_t until_ns, const char *why)
{
    alpaca_stream_hold(STREAM(stream), until_ns, why);
}

const struct venue alpaca_venue = {
    .format = &alpaca_format,
    .title = "Alpaca",
    .ws_url = ALPACA_WS_URL,
    .rest_url = ALPACA_REST_URL,
    .options = alpaca_options,
    .n_options = ALPACA_OPTIONS,
    .asks_a_minute = 40, /* of 200 calls */
    .ask_cost = {1, 1, 1, 1, 1, 1},
    .needs_keys = true,
    .stream_name = alpaca_stream_name,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_connection = stream_connection,
    .stream_connection_up = stream_connection_up,
    .stream_replace = stream_replace,
    .stream_pause = stream_pause,
    .stream_status = stream_status,
    .stream_follow = stream_follow,
    .stream_unfollow = stream_unfollow,
    .stream_list = stream_list,
    .stream_hold = stream_hold,
    .rest_create = alpaca_rest_create,
    .rest_destroy = net_requests_destroy,
    .rest_time = net_requests_time,
    .rest_symbols = net_requests_symbols,
    .rest_bars = net_requests_bars,
    .rest_book = net_requests_book,
    .rest_latest = net_requests_latest,
    .rest_days = net_requests_days,
    .rest_actions = net_requests_actions,
    .rest_hold = net_requests_hold,
    .rest_cancel = net_requests_cancel,
    .rest_status = net_requests_status,
};
