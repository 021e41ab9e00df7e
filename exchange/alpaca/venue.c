
#include "exchange/alpaca/account/account.h"
#include "exchange/alpaca/channel.h"
#include "exchange/alpaca/format.h"
#include "exchange/alpaca/rest.h"
#include "exchange/alpaca/settings.h"
#include "exchange/alpaca/stream.h"

static const char *const test_hosts[] = {"stream.data.sandbox.alpaca.markets", "data.sandbox.alpaca.markets",
                                         NULL};

const struct venue alpaca_venue = {
    .format = &alpaca_format,
    .title = "Alpaca",
    .ws_url = ALPACA_WS_URL,
    .rest_url = ALPACA_REST_URL,
    .test_hosts = test_hosts,
    .options = alpaca_options,
    .n_options = ALPACA_OPTIONS,
    .asks_a_minute = 40, /* of 200 calls */
    .ask_cost = {1, 1, 1, 1, 1, 1},
    .bars_page = ALPACA_BARS_MAX,
    .trades_span_ns = ALPACA_TRADES_SPAN_NS,
    .needs_keys = true,
    .accounts = &alpaca_accounts,
    .stream_name = alpaca_stream_name,
    .stream_create = alpaca_stream_create,
    .stream_destroy = alpaca_stream_destroy,
    .stream_connection = alpaca_stream_connection,
    .stream_connection_up = alpaca_stream_connection_up,
    .stream_refuses = alpaca_stream_refuses,
    .stream_replace = alpaca_stream_replace,
    .stream_pause = alpaca_stream_pause,
    .stream_status = alpaca_stream_status,
    .stream_follow = alpaca_stream_follow,
    .stream_unfollow = alpaca_stream_unfollow,
    .stream_list = alpaca_stream_list,
    .stream_hold = alpaca_stream_hold,
    .bars_late_ns = alpaca_bars_late_ns,
    .rest_create = alpaca_rest_create,
};
