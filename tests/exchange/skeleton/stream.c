/* The example venue's stream: one connection, kept up by exchange/net/link.h, and the table of the venue. An
 * old connection is dropped before the next is made; exchange/binance/renew.h has them overlap. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/net/link.h"
#include "exchange/net/resolver.h"
#include "exchange/net/url.h"
#include "exchange/net/websocket.h"
#include "exchange/text.h"
#include "tests/exchange/skeleton/skeleton.h"

enum { URL_MAX = 256, NAMES_MAX = 200 }; /* of a connection, by the venue's rules */

struct venue_stream {
    struct venue_stream_handler handler;
    void *user;
    struct net_context *net;
    char url_text[URL_MAX];
    struct url url;
    struct link link;
    struct budget own_budget;
    struct venue_ban ban;
    struct resolver_query *query;
    struct resolver_result addresses;
    struct websocket *websocket;
    uv_timer_t timer;
    char names[NAMES_MAX][VENUE_STREAM_NAME_MAX];
    size_t n;
    bool paused, changed; /* the names, since they were sent */
    struct venue_status status;
};

static void drive(uv_timer_t *timer);

/* From the loop: no callback comes from within a call. */
static void wake_in(struct venue_stream *stream, int64_t ms)
{
    uv_update_time(stream->timer.loop);
    uv_timer_start(&stream->timer, drive, ms > 0 ? (uint64_t)ms : 0, 0);
}

static void say(struct venue_stream *stream, const char *why)
{
    snprintf(stream->status.detail, VENUE_DETAIL_MAX, "%s", why);
}

static void failed(struct venue_stream *stream, const char *why)
{
    say(stream, why);
    net_link_failed(&stream->link, clock_now_ms(), LINK_LOST, -1);
}

static void disconnect(struct venue_stream *stream)
{
    websocket_destroy(stream->websocket);
    stream->websocket = NULL;
}

/* ["streams", NAME...]: those that the connection carries from now on. */
static void send_names(struct venue_stream *stream)
{
    struct text text = {0};
    text_lit(&text, "[\"streams\"");
    for (size_t i = 0; i < stream->n; i++)
        text_format(&text, ",\"%s\"", stream->names[i]);
    text_lit(&text, "]");
    stream->changed = !text_ok(&text) || websocket_send(stream->websocket, text.data, text.len) < 0;
    stream->status.sent += !stream->changed; /* else another time */
    text_finish(&text);
}

static void on_opened(void *user)
{
    struct venue_stream *stream = user;
    net_link_opened(&stream->link, clock_now_ms());
    websocket_pause(stream->websocket, stream->paused);
    say(stream, "");
    stream->changed = true;
    drive(&stream->timer);
}

static void on_message(void *user, const char *data, size_t len)
{
    struct venue_stream *stream = user;
    stream->status.last_frame_ms = clock_now_ms();
    stream->status.frames++;
    stream->status.bytes += len;
    net_link_received(&stream->link, stream->status.last_frame_ms);
    stream->handler.frame(stream->user, data, len); /* may destroy it */
}

static void on_ended(void *user, const struct websocket_end *end)
{
    struct venue_stream *stream = user;
    enum link_failure failure = end->opened             ? LINK_LOST
                                : end->http_status == 0 ? LINK_UNREACHED
                                                        : net_link_failure_of(end->http_status, false);
    int64_t now = clock_now_ms(), at_ms, retry_ms = end->retry_after_ms;
    say(stream, end->reason);
    disconnect(stream); /* `end` is gone */
    at_ms = (stream->link.up ? net_link_lost : net_link_failed)(&stream->link, now, failure, retry_ms);
    wake_in(stream, 0);
    if ((failure == LINK_LIMITED || failure == LINK_BANNED) && stream->ban.reported)
        stream->ban.reported(stream->ban.user, clock_wall_of_ms(retry_ms < 0 ? at_ms : now + retry_ms),
                             stream->status.detail);
}

static void on_resolved(void *user, const struct resolver_result *result)
{
    struct venue_stream *stream = user;
    stream->query = NULL;
    stream->addresses = *result;
    if (result->error)
        failed(stream, uv_strerror(result->error));
    else
        net_link_resolved(&stream->link, result->n);
    drive(&stream->timer);
}

static void take_step(struct venue_stream *stream, enum link_act act)
{
    static const struct websocket_handler handler = {
        .opened = on_opened, .message = on_message, .ended = on_ended};
    const struct websocket_config config = {.url = stream->url_text,
                                            .address = stream->addresses.addresses[stream->link.address]};
    int r =
        act == LINK_CONNECT
            ? websocket_connect(stream->net, &config, &handler, stream, &stream->websocket)
            : net_resolver_start(stream->timer.loop, stream->url.host, on_resolved, stream, &stream->query);
    if (r < 0)
        failed(stream, uv_strerror(r));
}

/* Does what is due, and says what has changed. */
static void drive(uv_timer_t *timer)
{
    struct venue_stream *stream = timer->data;
    struct venue_status *status = &stream->status;
    struct link *link = &stream->link;
    enum venue_link before = status->link;
    struct link_step step;
    while ((step = net_link_next(link, clock_now_ms())).act != LINK_WAIT)
        take_step(stream, step.act);
    if (step.at_ms < INT64_MAX)
        wake_in(stream, step.at_ms - clock_now_ms());
    if (link->up && stream->changed)
        send_names(stream);
    status->link = net_link_state(link);
    status->retry_ms = net_link_retry_ms(link);
    status->attempts = link->attempts;
    status->connects = link->connects;
    status->failures = link->failures;
    status->up = link->up;
    status->budget = link->config.budget->limit;
    status->budget_used = net_budget_used(link->config.budget, clock_now_ms());
    if (status->link == before)
        return;
    status->since_ms = clock_now_ms();
    stream->handler.state(stream->user, status); /* may destroy it */
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
    stream->changed = true;
    wake_in(stream, 0);
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
    net_link_hold(&stream->link, clock_ms_of_wall(until_ns));
    if (!stream->link.up && until_ns > clock_wall_ns())
        say(stream, why);
    wake_in(stream, 0);
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void destroy(struct venue_stream *stream)
{
    if (!stream || uv_is_closing((uv_handle_t *)&stream->timer))
        return;
    net_resolver_cancel(stream->query);
    disconnect(stream);
    uv_close((uv_handle_t *)&stream->timer, on_timer_closed);
}

static int create(const struct venue_stream_config *config, const struct venue_stream_handler *handler,
                  void *user, struct venue_stream **ret)
{
    const char *text = config->ws_url ? config->ws_url : skeleton_venue.ws_url;
    struct url url;
    int r = strlen(text) < URL_MAX ? net_url_parse_as(text, "wss", &url) : -EINVAL;
    struct venue_stream *stream = r == 0 ? calloc(1, sizeof *stream) : NULL;
    if (!stream)
        return r < 0 ? r : -ENOMEM;
    stream->handler = *handler;
    stream->user = user;
    stream->net = config->net;
    stream->url = url;
    strcpy(stream->url_text, text);
    stream->ban = config->ban;
    stream->timer.data = stream;
    stream->status = (struct venue_status){.since_ms = clock_now_ms(), .connections = 1};
    uv_timer_init(net_context_loop(config->net), &stream->timer);
    net_budget_init(&stream->own_budget, BUDGET_ATTEMPTS_DEFAULT, BUDGET_WINDOW_MS_DEFAULT);
    struct budget *budget = config->budget ? config->budget : &stream->own_budget;
    const struct link_config link = {
        config->backoff_min_ms, config->backoff_max_ms, config->refused_ms, config->jitter_seed, budget,
        .alone = true};
    net_link_init(&stream->link, &link, clock_now_ms());
    hold(stream, config->ban.until_ns, "banned, as known from before");
    r = want(stream, config->streams, config->n_streams, true);
    if (r < 0)
        destroy(stream);
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
    return which == 0 && stream->link.up;
}

static bool replace(struct venue_stream *stream, int which, const char *why)
{
    if (which != 0 || !stream->link.up)
        return false;
    disconnect(stream);
    say(stream, why);
    net_link_again(&stream->link, clock_now_ms());
    wake_in(stream, 0);
    return true;
}

static void set_paused(struct venue_stream *stream, bool paused)
{
    stream->paused = paused;
    if (stream->link.up)
        websocket_pause(stream->websocket, paused);
}

static const struct venue_status *status_of(const struct venue_stream *stream)
{
    return &stream->status;
}

/* What is not here it does not have: trades of the past, a list of its streams, a plan's limits, accounts. */
const struct venue skeleton_venue = {.format = &skeleton_format,
                                     .title = "Skeleton",
                                     .ws_url = "wss://stream.example.com",
                                     .rest_url = "https://api.example.com",
                                     .asks_a_minute = 60,
                                     .ask_cost = {[MARKET_TRADE] = 1, [MARKET_KLINE] = 1, [MARKET_QUOTE] = 1},
                                     .bars_page = SKELETON_PAGE,
                                     .always_open = true,
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
