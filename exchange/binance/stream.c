#include "exchange/binance/stream.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/shard.h"
#include "exchange/clock.h"
#include "exchange/net/websocket.h"

enum {
    HOUR_MS = 60 * 60 * 1000,
    AGE_MS = 23 * HOUR_MS, /* the venue ends a connection at 24 hours */
    AGE_JITTER_MS = HOUR_MS / 2,
};

_Static_assert((int)BINANCE_CONNECTIONS_MAX <= (int)VENUE_CONNECTIONS_MAX,
               "more connections than a venue may have");

struct binance_stream {
    const struct venue_stream_handler *handler;
    void *user;
    struct venue_status status, reported; /* the second: as the handler last got it */
    struct shard_config config;
    struct budget own_budget;
    struct shard **shards;
    size_t n_shards;
    struct binance_names names;
    struct listing listing;
    struct venue_ban ban;
    int64_t hold_ms;
    uv_timer_t timer;
    bool destroyed, unsettled;
};

/* Status. */

/* From the best to the worst. */
static int badness(enum venue_link link)
{
    static const int ranks[] = {
        [VENUE_UP] = 0,      [VENUE_CONNECTING] = 1, [VENUE_RESOLVING] = 2, [VENUE_DOWN] = 3,
        [VENUE_WAITING] = 4, [VENUE_FAILED] = 5,     [VENUE_FINAL] = 6,
    };
    return ranks[link];
}

static void refresh(struct binance_stream *stream)
{
    struct venue_status *status = &stream->status;
    const struct budget *budget = stream->config.link.budget;
    enum venue_link worst = VENUE_UP;
    status->retry_ms = 0;
    status->up = 0;
    for (size_t i = 0; i < stream->n_shards; i++) {
        const struct link *link = &stream->shards[i]->link;
        enum venue_link state = net_link_state(link);
        int64_t retry_ms = link->up ? 0 : net_link_retry_ms(link);
        status->up += state == VENUE_UP;
        if (badness(state) > badness(worst))
            worst = state;
        if (retry_ms > 0 && (status->retry_ms == 0 || retry_ms < status->retry_ms))
            status->retry_ms = retry_ms;
    }
    status->connections = (uint32_t)stream->n_shards;
    status->budget = budget->limit;
    status->budget_used = net_budget_used(budget, clock_now_ms());
    if (worst != status->link) {
        status->link = worst;
        status->since_ms = clock_now_ms();
    }
}

/* From the loop only. */
static void notify_state(struct binance_stream *stream)
{
    struct venue_status *now = &stream->status, *reported = &stream->reported;
    if (stream->destroyed)
        return;
    refresh(stream);
    bool same = now->link == reported->link && now->up == reported->up &&
                now->connections == reported->connections && now->attempts == reported->attempts &&
                strcmp(now->detail, reported->detail) == 0;
    *reported = *now;
    if (!same)
        stream->handler->state(stream->user, now);
}

static void on_timer(uv_timer_t *timer);

static void wake(struct binance_stream *stream)
{
    if (stream->destroyed)
        return;
    uv_update_time(stream->timer.loop);
    uv_timer_start(&stream->timer, on_timer, 0, 0);
}

/* Callbacks of the shards. */

static void on_changed(void *user)
{
    struct binance_stream *stream = user;
    notify_state(stream);
    wake(stream);
}

static void on_frame(void *user, const char *data, size_t len)
{
    struct binance_stream *stream = user;
    if (!stream->destroyed)
        stream->handler->frame(stream->user, data, len);
}

/* One connection must wait: so must the others, and all other requests to the venue. */
static void on_limited(void *user, int64_t until_ms, const char *why)
{
    struct binance_stream *stream = user;
    stream->hold_ms = until_ms > stream->hold_ms ? until_ms : stream->hold_ms;
    for (size_t i = 0; i < stream->n_shards; i++)
        net_link_hold(&stream->shards[i]->link, until_ms);
    if (stream->ban.reported && !stream->destroyed)
        stream->ban.reported(stream->ban.user, clock_wall_of_ms(until_ms), why);
}

/* Listing. */

static void end_listing(struct binance_stream *stream, const char *error)
{
    for (size_t i = 0; i < stream->n_shards; i++) {
        stream->shards[i]->list_wanted = false;
        stream->shards[i]->list_id = 0;
    }
    if (stream->destroyed)
        binance_listing_drop(&stream->listing);
    else
        binance_listing_end(&stream->listing, error);
}

static void on_listed(void *user, struct json list, const char *error)
{
    struct binance_stream *stream = user;
    if (!stream->listing.done)
        return;
    if (!error && !binance_listing_take(&stream->listing, list))
        error = "the venue's list of what it sends cannot be kept or read";
    if (error || --stream->listing.left == 0)
        end_listing(stream, error);
}

int binance_stream_list(struct venue_stream *venue,
                        void (*done)(void *user, const char *const *names, size_t n, const char *error),
                        void *user)
{
    struct binance_stream *stream = (struct binance_stream *)venue;
    if (stream->listing.done)
        return -EBUSY;
    for (size_t i = 0; i < stream->n_shards; i++)
        if (stream->shards[i]->current < 0)
            return -ENOTCONN;
    if (stream->n_shards == 0)
        return -ENOTCONN;
    for (size_t i = 0; i < stream->n_shards; i++)
        binance_shard_list(stream->shards[i]);
    stream->listing = (struct listing){
        .done = done,
        .user = user,
        .left = (unsigned)stream->n_shards,
        .until_ms = clock_now_ms() + LISTING_MAX_MS,
    };
    wake(stream);
    return 0;
}

/* Names. */

static struct shard *shard_with_room(struct binance_stream *stream)
{
    for (size_t i = 0; i < stream->n_shards; i++)
        if (stream->shards[i]->n < SHARD_NAMES_MAX)
            return stream->shards[i];
    if (stream->n_shards == BINANCE_CONNECTIONS_MAX)
        return NULL;
    struct shard *shard = binance_shard_create(&stream->config, stream->hold_ms);
    if (shard)
        stream->shards[stream->n_shards++] = shard;
    return shard;
}

/* Frees the last shards, as long as they have no names. */
static void drop_empty(struct binance_stream *stream)
{
    size_t kept = 0;
    for (size_t i = 0; i < stream->n_shards; i++) {
        if (stream->shards[i]->n > 0)
            stream->shards[kept++] = stream->shards[i];
        else
            binance_shard_destroy(stream->shards[i]);
    }
    stream->n_shards = kept;
}

static int add_name(struct binance_stream *stream, const char *text)
{
    struct shard *shard = shard_with_room(stream);
    struct binance_name *name = shard ? binance_names_add(&stream->names, text) : NULL;
    if (!name)
        return -ENOMEM;
    if (!binance_shard_add(shard, name)) {
        binance_names_remove(&stream->names, name);
        return -ENOMEM;
    }
    return 0;
}

int binance_stream_follow(struct venue_stream *venue, const char *const *names, size_t n)
{
    struct binance_stream *stream = (struct binance_stream *)venue;
    size_t added = 0;
    for (size_t i = 0; i < n; i++) {
        if (!binance_name_valid(names[i]))
            return -EINVAL;
        added += !binance_names_find(&stream->names, names[i]);
    }
    if (stream->names.n + added > BINANCE_STREAMS_MAX)
        return -E2BIG;
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++)
        if (!binance_names_find(&stream->names, names[i]))
            r = add_name(stream, names[i]);
    for (size_t i = 0; i < n; i++) {
        struct binance_name *name = binance_names_find(&stream->names, names[i]);
        if (r == 0) {
            name->wanted = true;
            binance_shard_unsettle(name->shard);
        } else if (name && !name->wanted && !name->on[0] && !name->on[1]) {
            binance_shard_forget(name->shard, name);
            binance_names_remove(&stream->names, name);
        }
    }
    wake(stream);
    return r;
}

int binance_stream_unfollow(struct venue_stream *venue, const char *const *names, size_t n)
{
    struct binance_stream *stream = (struct binance_stream *)venue;
    for (size_t i = 0; i < n; i++)
        if (!binance_name_valid(names[i]))
            return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        struct binance_name *name = binance_names_find(&stream->names, names[i]);
        if (!name || !name->wanted)
            continue;
        name->wanted = false;
        binance_shard_unsettle(name->shard);
        stream->unsettled = true;
    }
    wake(stream);
    return 0;
}

/* Removes names that are not wanted any more and that no connection carries. */
static void forget_names(struct binance_stream *stream)
{
    stream->unsettled = false;
    for (size_t s = 0; s < stream->n_shards; s++) {
        struct shard *shard = stream->shards[s];
        for (size_t i = 0; i < shard->n;) {
            struct binance_name *name = shard->names[i];
            if (name->wanted || name->on[0] || name->on[1]) {
                stream->unsettled |= !name->wanted;
                i++;
                continue;
            }
            binance_shard_forget(shard, name);
            binance_names_remove(&stream->names, name);
        }
    }
    drop_empty(stream);
}

/* The loop. */

static void on_timer(uv_timer_t *timer)
{
    struct binance_stream *stream = timer->data;
    int64_t now = clock_now_ms(), wake_ms = INT64_MAX;
    uv_timer_stop(timer);
    if (stream->unsettled)
        forget_names(stream);
    for (size_t i = 0; i < stream->n_shards && !stream->destroyed; i++) {
        int64_t at_ms = binance_shard_drive(stream->shards[i], now);
        wake_ms = at_ms < wake_ms ? at_ms : wake_ms;
    }
    if (stream->listing.done && !stream->destroyed) {
        bool lost = false;
        for (size_t i = 0; i < stream->n_shards; i++)
            lost |= stream->shards[i]->current < 0;
        if (lost || now >= stream->listing.until_ms)
            end_listing(stream, lost ? "the connection was lost" : "the venue does not answer");
        else if (stream->listing.until_ms < wake_ms)
            wake_ms = stream->listing.until_ms;
    }
    notify_state(stream);
    if (stream->destroyed || uv_is_active((uv_handle_t *)timer) || wake_ms == INT64_MAX)
        return;
    uv_update_time(timer->loop);
    now = clock_now_ms();
    uv_timer_start(timer, on_timer, wake_ms > now ? (uint64_t)(wake_ms - now) : 0, 0);
}

static void free_stream(struct binance_stream *stream)
{
    for (size_t i = 0; i < stream->n_shards; i++)
        binance_shard_destroy(stream->shards[i]);
    free(stream->shards);
    binance_names_clear(&stream->names);
    free(stream->config.base);
    free(stream);
}

static int take_settings(struct binance_stream *stream, const struct binance_variant *variant,
                         const struct venue_stream_config *config)
{
    const char *unit = variant->time_unit;
    for (size_t i = 0; i < config->n_settings; i++) {
        if (strcmp(config->settings[i].name, "time_unit") == 0)
            unit = config->settings[i].value;
        else if (strcmp(config->settings[i].name, "orders") != 0) /* an account's */
            return -EINVAL;
    }
    if (strcmp(unit, "microsecond") != 0 && strcmp(unit, "millisecond") != 0)
        return -EINVAL;
    stream->config.suffix = strcmp(unit, "microsecond") == 0 ? "&timeUnit=MICROSECOND" : "";
    return 0;
}

static int take_url(struct binance_stream *stream, const char *base)
{
    size_t len = strlen(base);
    while (len > 0 && base[len - 1] == '/')
        len--;
    if (len >= SHARD_BASE_MAX)
        return -EINVAL;
    stream->config.base = strndup(base, len);
    if (!stream->config.base)
        return -ENOMEM;
    return net_url_parse_as(stream->config.base, "wss", &stream->config.url);
}

int binance_stream_create(const struct binance_variant *variant, const struct venue_stream_config *config,
                          const struct venue_stream_handler *handler, void *user, struct venue_stream **ret)
{
    struct binance_stream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return -ENOMEM;
    stream->shards = calloc(BINANCE_CONNECTIONS_MAX, sizeof(*stream->shards));
    int r = stream->shards ? take_url(stream, config->ws_url ? config->ws_url : variant->ws_url) : -ENOMEM;
    if (r == 0)
        r = config->n_streams > 0 ? take_settings(stream, variant, config) : -EINVAL;
    net_budget_init(&stream->own_budget, BUDGET_ATTEMPTS_DEFAULT, BUDGET_WINDOW_MS_DEFAULT);
    stream->config.net = config->net;
    stream->config.link = (struct link_config){
        .backoff_min_ms = config->backoff_min_ms,
        .backoff_max_ms = config->backoff_max_ms,
        .refused_ms = config->refused_ms,
        .jitter_seed = config->jitter_seed,
        .budget = config->budget ? config->budget : &stream->own_budget,
        .age_max_ms = config->age_max_ms > 0 ? config->age_max_ms : AGE_MS,
        .age_jitter_ms = config->age_max_ms > 0 ? 0 : AGE_JITTER_MS,
    };
    stream->config.status = &stream->status;
    stream->config.user = stream;
    stream->config.frame = on_frame;
    stream->config.changed = on_changed;
    stream->config.limited = on_limited;
    stream->config.listed = on_listed;
    stream->handler = handler;
    stream->user = user;
    stream->ban = config->ban;
    if (config->ban.until_ns > clock_wall_ns())
        stream->hold_ms = clock_ms_of_wall(config->ban.until_ns);
    stream->destroyed = true; /* nothing is woken yet */
    if (r == 0)
        r = binance_stream_follow((struct venue_stream *)stream, config->streams, config->n_streams);
    if (r == 0)
        r = uv_timer_init(net_context_loop(config->net), &stream->timer);
    if (r < 0) {
        free_stream(stream);
        return r;
    }
    stream->destroyed = false;
    stream->timer.data = stream;
    stream->status.since_ms = clock_now_ms();
    stream->status.connections = (uint32_t)stream->n_shards;
    stream->status.budget = stream->config.link.budget->limit;
    if (stream->hold_ms > 0)
        snprintf(stream->status.detail, sizeof(stream->status.detail), BINANCE_BANNED_BEFORE);
    stream->reported = stream->status;
    wake(stream);
    *ret = (struct venue_stream *)stream;
    return 0;
}

int binance_stream_connection(const struct venue_stream *venue, const char *text)
{
    const struct binance_stream *stream = (const struct binance_stream *)venue;
    const struct binance_name *name = binance_names_find(&stream->names, text);
    for (size_t i = 0; name && i < stream->n_shards; i++)
        if (stream->shards[i] == name->shard)
            return (int)i;
    return -1;
}

bool binance_stream_connection_up(const struct venue_stream *venue, int connection)
{
    const struct binance_stream *stream = (const struct binance_stream *)venue;
    return connection >= 0 && (size_t)connection < stream->n_shards &&
           net_link_state(&stream->shards[connection]->link) == VENUE_UP;
}

bool binance_stream_replace(struct venue_stream *venue, int connection, const char *why)
{
    struct binance_stream *stream = (struct binance_stream *)venue;
    if (connection < 0 || (size_t)connection >= stream->n_shards ||
        !binance_shard_replace(stream->shards[connection], clock_now_ms()))
        return false;
    snprintf(stream->status.detail, sizeof(stream->status.detail), "%s", why);
    wake(stream);
    return true;
}

void binance_stream_pause(struct venue_stream *venue, bool paused)
{
    struct binance_stream *stream = (struct binance_stream *)venue;
    stream->config.paused = paused;
    for (size_t i = 0; i < stream->n_shards; i++)
        binance_shard_pause(stream->shards[i], paused);
    wake(stream);
}

const struct venue_status *binance_stream_status(struct venue_stream *venue)
{
    struct binance_stream *stream = (struct binance_stream *)venue;
    /* Attempts leave the budget's window as time passes. */
    stream->status.budget_used = net_budget_used(stream->config.link.budget, clock_now_ms());
    return &stream->status;
}

void binance_stream_hold(struct venue_stream *venue, int64_t until_ns, const char *why)
{
    struct binance_stream *stream = (struct binance_stream *)venue;
    if (until_ns <= clock_wall_ns())
        return;
    int64_t until_ms = clock_ms_of_wall(until_ns);
    stream->hold_ms = until_ms > stream->hold_ms ? until_ms : stream->hold_ms;
    for (size_t i = 0; i < stream->n_shards; i++)
        net_link_hold(&stream->shards[i]->link, until_ms);
    if (stream->status.link != VENUE_UP)
        snprintf(stream->status.detail, sizeof(stream->status.detail), "%s", why);
    wake(stream);
}

static void on_timer_closed(uv_handle_t *handle)
{
    free_stream(handle->data);
}

void binance_stream_destroy(struct venue_stream *venue)
{
    struct binance_stream *stream = (struct binance_stream *)venue;
    if (!stream || stream->destroyed)
        return;
    stream->destroyed = true;
    end_listing(stream, NULL);
    for (size_t i = 0; i < stream->n_shards; i++)
        binance_shard_close(stream->shards[i]);
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
        if (!interval || interval_ns == BAR_MONTH_NS) /* its name is the archive's */
            return -EINVAL;
    }
    snprintf(ret, VENUE_STREAM_NAME_MAX, "%s@%s%s", lower, suffixes[kind], interval);
    return 0;
}
