#include "exchange/alpaca/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/alpaca/assets.h"
#include "exchange/alpaca/endpoint.h"
#include "exchange/alpaca/settings.h"
#include "exchange/clock.h"

enum { STOCKS, CRYPTO, ENDPOINTS };

struct alpaca_stream {
    const struct venue_stream_handler *handler;
    void *user;
    struct endpoint_owner owner;
    struct endpoint endpoints[ENDPOINTS];
    char paths[ENDPOINTS][64];
    int n_endpoints; /* made, and not closed yet */
    bool destroyed;
    struct budget *budget, own_budget;
    struct venue_status status;

    /* stream_list(): the names so far. */
    void (*list_done)(void *user, const char *const *names, size_t n, const char *error);
    void *list_user;
    int list_due; /* answers that are due */
    bool list_failed;
    char **list;
    size_t n_list, cap_list;
};

/* The worst first: the whole stream's link state is that of its worst connection; but it is final only where
 * all of them are. */
static int badness(enum venue_link link)
{
    static const int order[] = {
        [VENUE_UP] = 0,      [VENUE_CONNECTING] = 1, [VENUE_RESOLVING] = 2, [VENUE_DOWN] = 3,
        [VENUE_WAITING] = 4, [VENUE_FAILED] = 5,     [VENUE_FINAL] = 6,
    };
    return order[link];
}

static void gather(struct alpaca_stream *stream)
{
    struct venue_status *status = &stream->status;
    struct venue_status of[ENDPOINTS], *worst = NULL;
    struct venue_status sum = {.link = VENUE_DOWN, .since_ms = status->since_ms};
    uint32_t final = 0;
    for (int i = 0; i < ENDPOINTS; i++) {
        net_connection_status(&stream->endpoints[i].connection, &of[i]);
        sum.attempts += of[i].attempts;
        sum.connects += of[i].connects;
        sum.reconnects += of[i].reconnects;
        sum.failures += of[i].failures;
        sum.frames += of[i].frames;
        sum.bytes += of[i].bytes;
        sum.sent += of[i].sent;
        if (of[i].last_frame_ms > sum.last_frame_ms)
            sum.last_frame_ms = of[i].last_frame_ms;
        if (stream->endpoints[i].connection.resting)
            continue;
        sum.connections++;
        sum.up += of[i].link == VENUE_UP;
        final += of[i].link == VENUE_FINAL;
        if (!worst || badness(of[i].link) > badness(worst->link))
            worst = &of[i];
    }
    if (worst) {
        sum.link = worst->link;
        sum.since_ms = worst->since_ms;
        if (worst->link == VENUE_FINAL && final < sum.connections)
            sum.link = VENUE_FAILED;
        else if (worst->link == VENUE_WAITING || worst->link == VENUE_FAILED)
            sum.retry_ms = worst->retry_ms;
        memcpy(sum.detail, worst->detail, sizeof(sum.detail));
        for (int i = 0; i < ENDPOINTS && !sum.detail[0]; i++)
            if (!stream->endpoints[i].connection.resting)
                memcpy(sum.detail, of[i].detail, sizeof(sum.detail));
    }
    sum.budget = stream->budget->limit;
    sum.budget_used = net_budget_used(stream->budget, clock_now_ms());
    *status = sum;
}

static void on_changed(void *user, struct endpoint *endpoint)
{
    struct alpaca_stream *stream = user;
    (void)endpoint;
    if (stream->destroyed)
        return;
    gather(stream);
    stream->handler->state(stream->user, &stream->status);
}

static void on_frame(void *user, struct endpoint *endpoint, const char *data, size_t len)
{
    struct alpaca_stream *stream = user;
    (void)endpoint;
    stream->handler->frame(stream->user, data, len);
}

static void forget_list(struct alpaca_stream *stream)
{
    for (size_t i = 0; i < stream->n_list; i++)
        free(stream->list[i]);
    free(stream->list);
    stream->list = NULL;
    stream->n_list = stream->cap_list = 0;
    stream->list_done = NULL;
}

static int keep_name(void *user, const char *name)
{
    struct alpaca_stream *stream = user;
    if (stream->n_list == stream->cap_list) {
        size_t cap = stream->cap_list ? 2 * stream->cap_list : 64;
        char **list = realloc(stream->list, cap * sizeof(*list));
        if (!list)
            return -ENOMEM;
        stream->list = list;
        stream->cap_list = cap;
    }
    char *copy = strdup(name);
    if (!copy)
        return -ENOMEM;
    stream->list[stream->n_list++] = copy;
    return 0;
}

static void on_listed(void *user, struct endpoint *endpoint, const char *data, size_t len)
{
    struct alpaca_stream *stream = user;
    (void)endpoint;
    if (!stream->list_done || stream->destroyed)
        return;
    if (!data || alpaca_notice_names(data, len, keep_name, stream) < 0)
        stream->list_failed = true;
    if (--stream->list_due > 0)
        return;
    void (*done)(void *, const char *const *, size_t, const char *) = stream->list_done;
    char **list = stream->list;
    size_t n = stream->n_list;
    stream->list = NULL;
    stream->n_list = 0;
    forget_list(stream);
    if (stream->list_failed)
        done(stream->list_user, NULL, 0, "the connection ended, or its answer cannot be read");
    else
        done(stream->list_user, (const char *const *)list, n, NULL);
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

static void on_closed(void *user, struct endpoint *endpoint)
{
    struct alpaca_stream *stream = user;
    (void)endpoint;
    if (--stream->n_endpoints > 0)
        return;
    forget_list(stream);
    free(stream);
}

static struct endpoint *endpoint_of(struct alpaca_stream *stream, const char *symbol)
{
    return &stream->endpoints[alpaca_is_crypto(symbol) ? CRYPTO : STOCKS];
}

/* All names or none. */
static int ask(struct alpaca_stream *stream, const char *const *names, size_t n, bool wanted)
{
    enum alpaca_channel channel;
    char symbol[SYMBOL_NAME_MAX];
    for (size_t i = 0; i < n; i++)
        if (alpaca_name_parse(names[i], &channel, symbol) < 0)
            return -EINVAL;
    for (int i = 0; i < ENDPOINTS && wanted; i++)
        if (alpaca_endpoint_reserve(&stream->endpoints[i], n) < 0)
            return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (alpaca_name_parse(names[i], &channel, symbol) == 0)
            alpaca_endpoint_ask(endpoint_of(stream, symbol), channel, symbol, wanted);
    for (int i = 0; i < ENDPOINTS; i++)
        alpaca_endpoint_touch(&stream->endpoints[i]);
    return 0;
}

int alpaca_stream_create(const struct venue_stream_config *config, const struct venue_stream_handler *handler,
                         void *user, struct venue_stream **ret)
{
    const char *base = config->ws_url ? config->ws_url : ALPACA_WS_URL;
    struct alpaca_settings settings = alpaca_settings(config->settings, config->n_settings);
    static const char *const titles[ENDPOINTS] = {[STOCKS] = "stocks", [CRYPTO] = "crypto"};
    if (config->n_streams == 0)
        return -EINVAL;
    struct alpaca_stream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return -ENOMEM;
    stream->handler = handler;
    stream->user = user;
    stream->owner = (struct endpoint_owner){on_changed, on_frame, on_listed, on_closed, stream};
    net_budget_init(&stream->own_budget, BUDGET_ATTEMPTS_DEFAULT, BUDGET_WINDOW_MS_DEFAULT);
    stream->budget = config->budget ? config->budget : &stream->own_budget;
    snprintf(stream->paths[STOCKS], sizeof(stream->paths[STOCKS]), "/v2/%s", settings.feed);
    snprintf(stream->paths[CRYPTO], sizeof(stream->paths[CRYPTO]), "/v1beta3/crypto/%s", settings.crypto);
    int r = 0;
    for (int i = 0; i < ENDPOINTS && r == 0; i++) {
        r = alpaca_endpoint_init(&stream->endpoints[i], &stream->owner, config, base, titles[i],
                                 stream->paths[i], settings.packed, stream->budget,
                                 config->jitter_seed + (uint64_t)i);
        stream->n_endpoints += r == 0;
    }
    if (r == 0)
        r = ask(stream, config->streams, config->n_streams, true);
    if (r < 0) {
        if (stream->n_endpoints == 0)
            free(stream);
        else
            alpaca_stream_destroy((struct venue_stream *)stream);
        return r;
    }
    gather(stream);
    stream->status.since_ms = clock_now_ms();
    *ret = (struct venue_stream *)stream;
    return 0;
}

void alpaca_stream_destroy(struct venue_stream *venue)
{
    struct alpaca_stream *stream = (struct alpaca_stream *)venue;
    if (!stream || stream->destroyed)
        return;
    stream->destroyed = true;
    for (int i = 0, n = stream->n_endpoints; i < n; i++)
        alpaca_endpoint_close(&stream->endpoints[i]);
}

int alpaca_stream_connection(const struct venue_stream *venue, const char *name)
{
    enum alpaca_channel channel;
    char symbol[SYMBOL_NAME_MAX];
    (void)venue;
    if (alpaca_name_parse(name, &channel, symbol) < 0)
        return -1;
    return alpaca_is_crypto(symbol) ? CRYPTO : STOCKS;
}

bool alpaca_stream_connection_up(const struct venue_stream *venue, int connection)
{
    const struct alpaca_stream *stream = (const struct alpaca_stream *)venue;
    return connection >= 0 && connection < ENDPOINTS && stream->endpoints[connection].connection.ready;
}

bool alpaca_stream_refuses(const struct venue_stream *venue, const char *name)
{
    const struct alpaca_stream *stream = (const struct alpaca_stream *)venue;
    enum alpaca_channel channel;
    char symbol[SYMBOL_NAME_MAX];
    return alpaca_name_parse(name, &channel, symbol) == 0 &&
           alpaca_endpoint_refuses(&stream->endpoints[alpaca_is_crypto(symbol) ? CRYPTO : STOCKS], symbol);
}

bool alpaca_stream_replace(struct venue_stream *venue, int connection, const char *why)
{
    struct alpaca_stream *stream = (struct alpaca_stream *)venue;
    if (connection < 0 || connection >= ENDPOINTS)
        return false;
    return net_connection_replace(&stream->endpoints[connection].connection, why);
}

void alpaca_stream_pause(struct venue_stream *venue, bool paused)
{
    struct alpaca_stream *stream = (struct alpaca_stream *)venue;
    for (int i = 0; i < ENDPOINTS; i++)
        net_connection_pause(&stream->endpoints[i].connection, paused);
}

const struct venue_status *alpaca_stream_status(struct venue_stream *venue)
{
    struct alpaca_stream *stream = (struct alpaca_stream *)venue;
    gather(stream);
    return &stream->status;
}

int alpaca_stream_follow(struct venue_stream *venue, const char *const *names, size_t n)
{
    struct alpaca_stream *stream = (struct alpaca_stream *)venue;
    return ask(stream, names, n, true);
}

int alpaca_stream_unfollow(struct venue_stream *venue, const char *const *names, size_t n)
{
    struct alpaca_stream *stream = (struct alpaca_stream *)venue;
    return ask(stream, names, n, false);
}

int alpaca_stream_list(struct venue_stream *venue,
                       void (*done)(void *user, const char *const *names, size_t n, const char *error),
                       void *user)
{
    struct alpaca_stream *stream = (struct alpaca_stream *)venue;
    int due = 0;
    if (stream->list_done)
        return -EBUSY;
    for (int i = 0; i < ENDPOINTS; i++)
        due += alpaca_endpoint_list(&stream->endpoints[i]) == 0;
    if (due == 0)
        return -ENOTCONN;
    stream->list_done = done;
    stream->list_user = user;
    stream->list_due = due;
    stream->list_failed = false;
    return 0;
}

void alpaca_stream_hold(struct venue_stream *venue, int64_t until_ns, const char *why)
{
    struct alpaca_stream *stream = (struct alpaca_stream *)venue;
    for (int i = 0; i < ENDPOINTS; i++)
        net_connection_hold(&stream->endpoints[i].connection, clock_ms_of_wall(until_ns), why);
}
