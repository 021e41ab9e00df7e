/* Each function is the one of the same name, with the venue's opaque types for Alpaca's. */
#include "exchange/alpaca/venue.h"

#include "exchange/alpaca/channel.h"
#include "exchange/alpaca/format.h"
#include "exchange/alpaca/rest.h"
#include "exchange/alpaca/settings.h"
#include "exchange/alpaca/stream.h"

#define STREAM(stream) ((struct alpaca_stream *)(stream))
#define REST(rest)     ((struct alpaca_rest *)(rest))
#define CALL(ret)      ((struct alpaca_call **)(ret))

static int stream_create(const struct venue_stream_config *config, const struct venue_stream_handler *handler,
                         void *user, struct venue_stream **ret)
{
    return alpaca_stream_create(config, handler, user, (struct alpaca_stream **)ret);
}

static void stream_destroy(struct venue_stream *stream)
{
    alpaca_stream_destroy(STREAM(stream));
}

static void stream_reconnect(struct venue_stream *stream, const char *why)
{
    alpaca_stream_reconnect(STREAM(stream), why);
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

static int rest_create(const struct venue_rest_config *config, struct venue_rest **ret)
{
    return alpaca_rest_create(config, (struct alpaca_rest **)ret);
}

static void rest_destroy(struct venue_rest *rest)
{
    alpaca_rest_destroy(REST(rest));
}

static int rest_time(struct venue_rest *rest, venue_reply_done *done, void *user, struct venue_call **ret)
{
    return alpaca_rest_time(REST(rest), done, user, CALL(ret));
}

static int rest_symbols(struct venue_rest *rest, const char *const *names, size_t n, venue_reply_done *done,
                        void *user, struct venue_call **ret)
{
    return alpaca_rest_symbols(REST(rest), names, n, done, user, CALL(ret));
}

static int rest_bars(struct venue_rest *rest, const struct venue_bars_request *request,
                     venue_reply_done *done, void *user, struct venue_call **ret)
{
    return alpaca_rest_bars(REST(rest), request, done, user, CALL(ret));
}

static int rest_book(struct venue_rest *rest, const struct symbol *symbol, venue_reply_done *done, void *user,
                     struct venue_call **ret)
{
    return alpaca_rest_book(REST(rest), symbol, done, user, CALL(ret));
}

static int rest_days(struct venue_rest *rest, int64_t from_ns, int64_t to_ns, venue_reply_done *done,
                     void *user, struct venue_call **ret)
{
    return alpaca_rest_days(REST(rest), from_ns, to_ns, done, user, CALL(ret));
}

static int rest_actions(struct venue_rest *rest, const char *const *names, size_t n, int64_t from_ns,
                        int64_t to_ns, venue_reply_done *done, void *user, struct venue_call **ret)
{
    return alpaca_rest_actions(REST(rest), names, n, from_ns, to_ns, done, user, CALL(ret));
}

static void rest_hold(struct venue_rest *rest, int64_t until_ns, const char *why)
{
    alpaca_rest_hold(REST(rest), until_ns, why);
}

static void rest_cancel(struct venue_rest *rest, struct venue_call *call)
{
    alpaca_rest_cancel(REST(rest), (struct alpaca_call *)call);
}

static const struct venue_rest_status *rest_status(const struct venue_rest *rest)
{
    return alpaca_rest_status((const struct alpaca_rest *)rest);
}

const struct venue alpaca_venue = {
    .format = &alpaca_format,
    .title = "Alpaca",
    .ws_url = ALPACA_WS_URL,
    .rest_url = ALPACA_REST_URL,
    .options = alpaca_options,
    .n_options = ALPACA_OPTIONS,
    .needs_keys = true,
    .stream_name = alpaca_stream_name,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_reconnect = stream_reconnect,
    .stream_pause = stream_pause,
    .stream_status = stream_status,
    .stream_follow = stream_follow,
    .stream_unfollow = stream_unfollow,
    .stream_list = stream_list,
    .stream_hold = stream_hold,
    .rest_create = rest_create,
    .rest_destroy = rest_destroy,
    .rest_time = rest_time,
    .rest_symbols = rest_symbols,
    .rest_bars = rest_bars,
    .rest_book = rest_book,
    .rest_days = rest_days,
    .rest_actions = rest_actions,
    .rest_hold = rest_hold,
    .rest_cancel = rest_cancel,
    .rest_status = rest_status,
};
