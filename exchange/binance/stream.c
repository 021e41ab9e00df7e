#include "exchange/binance/stream.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/net/backoff.h"
#include "exchange/net/budget.h"
#include "exchange/net/resolver.h"
#include "exchange/net/url.h"
#include "exchange/net/websocket.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    HOUR_MS = 60 * MINUTE_MS,
    BACKOFF_MIN_MS = 500,
    BACKOFF_MAX_MS = MINUTE_MS,
    AGE_MS = 23 * HOUR_MS, /* the venue ends a connection at 24 hours */
    AGE_JITTER_MS = 30 * MINUTE_MS,
    AT_ONCE_MS = MINUTE_MS,      /* at most one reconnection without backoff in so long */
    REFUSED_MS = 15 * MINUTE_MS, /* after a 4xx */
    LIMITED_MS = MINUTE_MS,      /* after a 429 that does not say for how long */
    BANNED_MS = 5 * MINUTE_MS,   /* a 418, likewise */
    NEWS_MAX = 512,              /* bytes; no longer frame is looked into for news of the connection */
    SUBSCRIBE_NAMES = 100,       /* in one request */
    SUBSCRIBE_EVERY_MS = 300,    /* the venue takes 5 messages a second, pongs included */
};

struct binance_stream {
    struct net_context *net;
    const struct venue_stream_handler *handler;
    void *user;
    struct venue_status status;
    struct url url;
    char *url_text;
    char **more; /* names that do not fit the URL: subscribed to when open */
    size_t n_more, n_subscribed;
    bool paused, destroyed;
    bool fresh; /* the connection has brought no data yet */
    int64_t age_max_ms;

    struct backoff backoff;
    struct budget *budget, own_budget;
    int64_t at_once_ms; /* when a reconnection without backoff was last made; 0: never */

    uv_timer_t timer; /* the next attempt, or the connection's age */
    struct resolver_query *query;
    struct resolver_result addresses;
    int address;
    struct websocket *websocket;
};

static int64_t now_ms(void)
{
    return (int64_t)(uv_hrtime() / 1000000);
}

static void say(struct binance_stream *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct binance_stream *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(stream->status.detail, sizeof(stream->status.detail), format, arguments);
    va_end(arguments);
}

/* delay_ms: until the next attempt; negative where none is planned. */
static void enter(struct binance_stream *stream, enum venue_link link, int64_t delay_ms)
{
    int64_t now = now_ms();
    stream->status.link = link;
    stream->status.since_ms = now;
    stream->status.retry_ms = delay_ms >= 0 ? now + delay_ms : 0;
    stream->handler->state(stream->user, &stream->status);
}

static void resolve(struct binance_stream *stream);
static void connect_next(struct binance_stream *stream);

static void on_retry(uv_timer_t *timer)
{
    resolve(timer->data);
}

static void wait_for(struct binance_stream *stream, enum venue_link link, int64_t delay_ms)
{
    uv_update_time(stream->timer.loop);
    uv_timer_start(&stream->timer, on_retry, (uint64_t)delay_ms, 0);
    enter(stream, link, delay_ms);
}

static void drop_connection(struct binance_stream *stream)
{
    uv_timer_stop(&stream->timer);
    resolver_cancel(stream->query);
    stream->query = NULL;
    websocket_destroy(stream->websocket);
    stream->websocket = NULL;
}

/* Comes back without backoff, unless it just did so: then as after a failure. */
static void again(struct binance_stream *stream)
{
    int64_t now = now_ms();
    drop_connection(stream);
    if (stream->at_once_ms > 0 && now - stream->at_once_ms < AT_ONCE_MS) {
        wait_for(stream, VENUE_WAITING, backoff_next(&stream->backoff));
        return;
    }
    stream->at_once_ms = now;
    resolve(stream);
}

static void refused(struct binance_stream *stream, const struct websocket_end *end)
{
    int status = end->http_status;
    int64_t delay_ms = backoff_next(&stream->backoff);
    if (status == 429 || status == 418) {
        int64_t least_ms = end->retry_after_ms >= 0 ? end->retry_after_ms
                           : status == 429          ? LIMITED_MS
                                                    : BANNED_MS;
        say(stream, "the venue %s this address (HTTP %d): waiting %lld s",
            status == 429 ? "limits" : "has banned", status, (long long)(least_ms / SECOND_MS));
        wait_for(stream, VENUE_WAITING, least_ms + delay_ms);
        return;
    }
    if (status >= 400 && status < 500) {
        say(stream, "the venue refuses the stream (HTTP %d): check the URL and the symbols", status);
        wait_for(stream, VENUE_FAILED, REFUSED_MS + delay_ms);
        return;
    }
    say(stream, "%s", end->reason);
    wait_for(stream, VENUE_WAITING, delay_ms);
}

static void on_aged(uv_timer_t *timer)
{
    struct binance_stream *stream = timer->data;
    say(stream, "the connection is old: the venue ends one at 24 hours");
    again(stream);
}

/* {"method":"SUBSCRIBE","params":["a","b"],"id":1}: the next names, then again until all are. */
static void on_subscribe(uv_timer_t *timer)
{
    struct binance_stream *stream = timer->data;
    char text[64 + SUBSCRIBE_NAMES * (VENUE_STREAM_NAME_MAX + 3)];
    size_t first = stream->n_subscribed, end = first + SUBSCRIBE_NAMES;
    if (first == stream->n_more) {
        int64_t age_ms = stream->age_max_ms > 0 ? stream->age_max_ms
                                                : AGE_MS + backoff_jitter(&stream->backoff, AGE_JITTER_MS);
        uv_timer_start(timer, on_aged, (uint64_t)age_ms, 0);
        return;
    }
    if (end > stream->n_more)
        end = stream->n_more;
    size_t len = (size_t)snprintf(text, sizeof(text), "{\"method\":\"SUBSCRIBE\",\"params\":[");
    for (size_t i = first; i < end; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, i > first ? ",\"%s\"" : "\"%s\"",
                                stream->more[i]);
    len += (size_t)snprintf(text + len, sizeof(text) - len, "],\"id\":%zu}", end);
    if (websocket_send(stream->websocket, text, len) == 0)
        stream->n_subscribed = end;
    uv_timer_start(timer, on_subscribe, SUBSCRIBE_EVERY_MS, 0);
}

static void on_opened(void *user)
{
    struct binance_stream *stream = user;
    stream->status.connects++;
    stream->fresh = true;
    stream->n_subscribed = 0;
    if (stream->paused)
        websocket_pause(stream->websocket, true);
    on_subscribe(&stream->timer);
    enter(stream, VENUE_UP, -1);
}

/* Frames of a combined stream begin so; what the connection itself has to say does not, or names a stream
 * that begins with '!'. */
static bool is_market_data(const char *data, size_t len)
{
    static const char start[] = "{\"stream\":\"";
    return len > NEWS_MAX || (len > sizeof(start) && memcmp(data, start, sizeof(start) - 1) == 0 &&
                              data[sizeof(start) - 1] != '!');
}

static bool mentions(const char *data, size_t len, const char *word)
{
    return memmem(data, len, word, strlen(word)) != NULL;
}

static void on_message(void *user, const char *data, size_t len)
{
    struct binance_stream *stream = user;
    stream->status.frames++;
    stream->status.bytes += len;
    stream->status.last_frame_ms = now_ms();
    if (stream->fresh) {
        stream->fresh = false;
        stream->status.detail[0] = '\0';
        backoff_reset(&stream->backoff);
    }
    bool shutdown = false;
    if (!is_market_data(
            data, len)) { /* {"e":"serverShutdown"} bare or in a stream; {"error":{"code":2,…},"id":1} */
        shutdown = mentions(data, len, "\"serverShutdown\"");
        if (!shutdown && mentions(data, len, "\"code\":"))
            say(stream, "the venue refused a request: %.*s", (int)len, data);
    }
    stream->handler->frame(stream->user, data, len);
    if (shutdown && !stream->destroyed && stream->websocket) {
        say(stream, "the venue's server shuts down");
        again(stream);
    }
}

static void on_ended(void *user, const struct websocket_end *end)
{
    struct binance_stream *stream = user;
    bool never_reached = !end->opened && end->http_status == 0;
    if (never_reached && ++stream->address < stream->addresses.n) { /* the name has other addresses */
        say(stream, "%s", end->reason);
        drop_connection(stream);
        connect_next(stream);
        return;
    }
    struct websocket_end copy = *end;
    char reason[VENUE_DETAIL_MAX];
    snprintf(reason, sizeof(reason), "%s", end->reason);
    copy.reason = reason;
    drop_connection(stream);
    refused(stream, &copy);
}

static void connect_next(struct binance_stream *stream)
{
    static const struct websocket_handler handler = {on_opened, on_message, NULL, on_ended};
    int64_t now = now_ms();
    if (!budget_take(stream->budget, now)) {
        int64_t delay_ms = budget_next_ms(stream->budget, now) - now;
        say(stream, "%u attempts in %lld s used up", stream->budget->limit,
            (long long)(stream->budget->window_ms / SECOND_MS));
        wait_for(stream, VENUE_WAITING, delay_ms + backoff_jitter(&stream->backoff, SECOND_MS));
        return;
    }
    const struct websocket_config config = {
        .url = stream->url_text,
        .address = stream->addresses.addresses[stream->address],
    };
    stream->status.attempts++;
    int r = websocket_connect(stream->net, &config, &handler, stream, &stream->websocket);
    if (r < 0) {
        say(stream, "%s", strerror(-r));
        wait_for(stream, VENUE_WAITING, backoff_next(&stream->backoff));
        return;
    }
    enter(stream, VENUE_CONNECTING, -1);
}

static void on_resolved(void *user, const struct resolver_result *result)
{
    struct binance_stream *stream = user;
    stream->query = NULL;
    if (result->error) {
        say(stream, "%s has no address: %s", stream->url.host, uv_strerror(result->error));
        wait_for(stream, VENUE_WAITING, backoff_next(&stream->backoff));
        return;
    }
    stream->addresses = *result;
    stream->address = 0;
    connect_next(stream);
}

static void resolve(struct binance_stream *stream)
{
    int r = resolver_start(stream->timer.loop, stream->url.host, on_resolved, stream, &stream->query);
    if (r < 0) {
        say(stream, "%s: %s", stream->url.host, uv_strerror(r));
        wait_for(stream, VENUE_WAITING, backoff_next(&stream->backoff));
        return;
    }
    enter(stream, VENUE_RESOLVING, -1);
}

static bool stream_name_valid(const char *name)
{
    if (!*name || strlen(name) >= VENUE_STREAM_NAME_MAX)
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("@_!-.", *name))
            return false;
    return true;
}

/* BASE/stream?streams=a/b/c, with as many names as fit; the rest go to stream->more. */
static int take_names(struct binance_stream *stream, const struct venue_stream_config *config)
{
    const char *base = config->ws_url ? config->ws_url : BINANCE_WS_URL;
    size_t base_len = strlen(base);
    while (base_len > 0 && base[base_len - 1] == '/')
        base_len--;
    if (config->n_streams == 0)
        return -EINVAL;
    if (config->n_streams > BINANCE_STREAMS_MAX)
        return -E2BIG;
    for (size_t i = 0; i < config->n_streams; i++)
        if (!stream_name_valid(config->streams[i]))
            return -EINVAL;

    size_t size = base_len + WEBSOCKET_PATH_MAX + 1, len, used = 0;
    stream->url_text = malloc(size);
    stream->more = calloc(config->n_streams, sizeof(*stream->more));
    if (!stream->url_text || !stream->more)
        return -ENOMEM;
    len = (size_t)snprintf(stream->url_text, size, "%.*s/stream?streams=", (int)base_len, base);
    while (used < config->n_streams && len + 1 + strlen(config->streams[used]) < size) {
        len += (size_t)snprintf(stream->url_text + len, size - len, used > 0 ? "/%s" : "%s",
                                config->streams[used]);
        used++;
    }
    for (; used < config->n_streams; used++) {
        char *name = strdup(config->streams[used]);
        if (!name)
            return -ENOMEM;
        stream->more[stream->n_more++] = name;
    }
    return 0;
}

static void on_start(uv_timer_t *timer)
{
    resolve(timer->data);
}

static void free_stream(struct binance_stream *stream)
{
    for (size_t i = 0; i < stream->n_more; i++)
        free(stream->more[i]);
    free(stream->more);
    free(stream->url_text);
    free(stream);
}

int binance_stream_create(const struct venue_stream_config *config,
                          const struct venue_stream_handler *handler, void *user, struct binance_stream **ret)
{
    struct binance_stream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return -ENOMEM;
    int r = take_names(stream, config);
    if (r == 0)
        r = url_parse(stream->url_text, &stream->url);
    if (r == 0 && strcmp(stream->url.scheme, "wss") != 0)
        r = -EPROTONOSUPPORT;
    if (r == 0 && strlen(stream->url.path) > WEBSOCKET_PATH_MAX)
        r = -EINVAL; /* the base has a path of its own */
    if (r == 0)
        r = uv_timer_init(net_context_loop(config->net), &stream->timer);
    if (r < 0) {
        free_stream(stream);
        return r;
    }
    stream->net = config->net;
    stream->handler = handler;
    stream->user = user;
    stream->timer.data = stream;
    stream->age_max_ms = config->age_max_ms;
    stream->status.since_ms = now_ms();
    backoff_init(&stream->backoff, config->backoff_min_ms > 0 ? config->backoff_min_ms : BACKOFF_MIN_MS,
                 config->backoff_max_ms > 0 ? config->backoff_max_ms : BACKOFF_MAX_MS, config->jitter_seed);
    budget_init(&stream->own_budget, BUDGET_ATTEMPTS_DEFAULT, BUDGET_WINDOW_MS_DEFAULT);
    stream->budget = config->budget ? config->budget : &stream->own_budget;
    uv_timer_start(&stream->timer, on_start, 0, 0);
    *ret = stream;
    return 0;
}

void binance_stream_reconnect(struct binance_stream *stream, const char *why)
{
    if (stream->status.link != VENUE_UP)
        return;
    int64_t now = now_ms(), delay_ms = 0;
    say(stream, "%s", why);
    drop_connection(stream);
    if (stream->at_once_ms > 0 && now - stream->at_once_ms < AT_ONCE_MS)
        delay_ms = backoff_next(&stream->backoff);
    else
        stream->at_once_ms = now;
    /* As wait_for(), but `state` must not be called from within this call. */
    stream->status.link = VENUE_WAITING;
    stream->status.since_ms = now;
    stream->status.retry_ms = now + delay_ms;
    uv_update_time(stream->timer.loop);
    uv_timer_start(&stream->timer, on_retry, (uint64_t)delay_ms, 0);
}

void binance_stream_pause(struct binance_stream *stream, bool paused)
{
    stream->paused = paused;
    if (stream->websocket)
        websocket_pause(stream->websocket, paused);
}

const struct venue_status *binance_stream_status(const struct binance_stream *stream)
{
    return &stream->status;
}

static void on_timer_closed(uv_handle_t *handle)
{
    free_stream(handle->data);
}

void binance_stream_destroy(struct binance_stream *stream)
{
    if (!stream || stream->destroyed)
        return;
    stream->destroyed = true;
    drop_connection(stream);
    uv_close((uv_handle_t *)&stream->timer, on_timer_closed);
}

int binance_stream_name(const char *symbol, enum market_kind kind, int64_t interval_ns,
                        char ret[VENUE_STREAM_NAME_MAX])
{
    static const char *const suffixes[MARKET_CHANNELS] = {
        [MARKET_TRADE] = "trade",      [MARKET_AGG_TRADE] = "aggTrade", [MARKET_KLINE] = "kline_",
        [MARKET_QUOTE] = "bookTicker", [MARKET_DEPTH] = "depth@100ms",  [MARKET_TICKER] = "miniTicker",
    };
    const char *interval = "";
    char lower[SYMBOL_NAME_MAX];
    size_t len = strlen(symbol);
    if (kind < 0 || kind >= MARKET_CHANNELS || len == 0)
        return -EINVAL;
    if (len >= sizeof(lower))
        return -ENAMETOOLONG;
    for (size_t i = 0; i <= len; i++)
        lower[i] = (char)tolower((unsigned char)symbol[i]);
    if (kind == MARKET_KLINE) {
        interval = bar_interval_name(interval_ns);
        if (!interval)
            return -EINVAL;
    }
    snprintf(ret, VENUE_STREAM_NAME_MAX, "%s@%s%s", lower, suffixes[kind], interval);
    return 0;
}
