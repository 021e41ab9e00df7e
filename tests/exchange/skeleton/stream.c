/* The example venue's stream: one connection, kept up by exchange/net/connection.h, and the table of the
 * venue. An old connection is dropped before the next is made; exchange/binance/renew.h has them overlap. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/net/connection.h"
#include "exchange/text.h"
#include "tests/exchange/skeleton/skeleton.h"

enum { NAMES_MAX = 200 }; /* of a connection, by the venue's rules */
#define UNSENT "a request could not be sent"

struct venue_stream {
    struct venue_stream_handler handler;
    void *user;
    struct net_connection connection;
    struct venue_status status;
    char names[NAMES_MAX][VENUE_STREAM_NAME_MAX];
    size_t n;
};

/* ["streams", NAME...]: those that the connection carries from now on. */
static bool send_names(struct venue_stream *stream)
{
    struct text text = {0};
    text_lit(&text, "[\"streams\"");
    for (size_t i = 0; i < stream->n; i++)
        text_format(&text, ",\"%s\"", stream->names[i]);
    text_lit(&text, "]");
    bool sent = text_ok(&text) && net_connection_send(&stream->connection, text.data, text.len);
    text_finish(&text);
    return sent;
}

static const struct venue_status *status_of(struct venue_stream *stream)
{
    net_connection_status(&stream->connection, &stream->status);
    return &stream->status;
}

static void on_changed(void *user)
{
    struct venue_stream *stream = user;
    stream->handler.state(stream->user, status_of(stream));
}

static void on_opened(void *user)
{
    struct venue_stream *stream = user;
    if (send_names(stream)) {
        net_connection_ready(&stream->connection);
        return;
    }
    net_connection_say(&stream->connection, UNSENT);
    net_connection_fail(&stream->connection, LINK_LOST, -1);
}

static bool on_message(void *user, const char *data, size_t len)
{
    struct venue_stream *stream = user;
    stream->handler.frame(stream->user, data, len);
    return true;
}

static size_t find(const struct venue_stream *stream, const char *name)
{
    size_t i = 0;
    while (i < stream->n && strcmp(stream->names[i], name) != 0)
        i++;
    return i;
}

/* All names or none. */
static int want(struct venue_stream *stream, const char *const *names, size_t n, bool wanted)
{
    for (size_t i = 0; i < n; i++)
        if (!strchr(names[i], ':') || strpbrk(names[i], "\"\\") || strlen(names[i]) >= VENUE_STREAM_NAME_MAX)
            return -EINVAL;
    if (wanted && stream->n + n > NAMES_MAX)
        return -E2BIG;
    for (size_t i = 0; i < n; i++) {
        size_t at = find(stream, names[i]);
        if (wanted && at == stream->n)
            strcpy(stream->names[stream->n++], names[i]);
        else if (!wanted && at < stream->n)
            memmove(stream->names[at], stream->names[--stream->n], sizeof *stream->names);
    }
    if (stream->connection.ready && !send_names(stream))
        net_connection_replace(&stream->connection, UNSENT);
    return 0;
}

static int follow(struct venue_stream *stream, const char *const *names, size_t n)
{
    return want(stream, names, n, true);
}

static int unfollow(struct venue_stream *stream, const char *const *names, size_t n)
{
    return want(stream, names, n, false);
}

static void hold(struct venue_stream *stream, int64_t until_ns, const char *why)
{
    net_connection_hold(&stream->connection, clock_ms_of_wall(until_ns), why);
}

static void destroy(struct venue_stream *stream)
{
    if (stream)
        net_connection_close(&stream->connection); /* then it is freed */
}

static int create(const struct venue_stream_config *config, const struct venue_stream_handler *handler,
                  void *user, struct venue_stream **ret)
{
    static const struct net_connection_handler kept = {
        .changed = on_changed, .opened = on_opened, .message = on_message, .closed = free};
    const struct net_connection_config connection = {.net = config->net,
                                                     .base = config->ws_url ? config->ws_url
                                                                            : skeleton_venue.ws_url,
                                                     .path = "",
                                                     .backoff_min_ms = config->backoff_min_ms,
                                                     .backoff_max_ms = config->backoff_max_ms,
                                                     .refused_ms = config->refused_ms,
                                                     .jitter_seed = config->jitter_seed,
                                                     .budget = config->budget,
                                                     .ban = config->ban};
    struct venue_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return -ENOMEM;
    stream->handler = *handler;
    stream->user = user;
    int r = want(stream, config->streams, config->n_streams, true);
    r = r < 0 ? r : net_connection_init(&stream->connection, &connection, &kept, stream);
    if (r < 0)
        free(stream);
    else
        *ret = stream;
    return r;
}

static int connection(const struct venue_stream *stream, const char *name)
{
    return find(stream, name) < stream->n ? 0 : -1;
}

static bool connection_up(const struct venue_stream *stream, int which)
{
    return which == 0 && stream->connection.ready;
}

static bool replace(struct venue_stream *stream, int which, const char *why)
{
    return which == 0 && net_connection_replace(&stream->connection, why);
}

static void set_paused(struct venue_stream *stream, bool paused)
{
    net_connection_pause(&stream->connection, paused);
}

/* What is not here it does not have: trades of the past, a list of its streams, a plan's limits. */
const struct venue skeleton_venue = {.format = &skeleton_format,
                                     .title = "Skeleton",
                                     .ws_url = "wss://stream.example.com",
                                     .rest_url = "https://api.example.com",
                                     .asks_a_minute = 60,
                                     .ask_cost = {[MARKET_TRADE] = 1, [MARKET_KLINE] = 1, [MARKET_QUOTE] = 1},
                                     .bars_page = SKELETON_PAGE,
                                     .always_open = true,
                                     .accounts = &skeleton_accounts,
                                     .stream_name = skeleton_stream_name,
                                     .stream_create = create,
                                     .stream_destroy = destroy,
                                     .stream_connection = connection,
                                     .stream_connection_up = connection_up,
                                     .stream_replace = replace,
                                     .stream_pause = set_paused,
                                     .stream_status = status_of,
                                     .stream_follow = follow,
                                     .stream_unfollow = unfollow,
                                     .stream_hold = hold,
                                     .rest_create = skeleton_rest_create};
