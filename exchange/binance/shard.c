#include "exchange/binance/shard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/net/websocket.h"

struct shard *binance_shard_create(struct shard_config *config, int64_t hold_ms)
{
    struct shard *shard = calloc(1, sizeof(*shard));
    if (!shard)
        return NULL;
    shard->renew = binance_renew_create(config->frame, config->user);
    if (!shard->renew) {
        free(shard);
        return NULL;
    }
    shard->config = config;
    shard->current = shard->next = -1;
    for (int i = 0; i < 2; i++)
        shard->connections[i].shard = shard;
    net_link_init(&shard->link, &config->link, clock_now_ms());
    config->link.jitter_seed =
        (uint64_t)net_backoff_jitter(&shard->link.backoff, INT64_MAX); /* the next one's */
    net_link_hold(&shard->link, hold_ms);
    return shard;
}

#define say(shard, ...) \
    ((void)fail_line(0, (shard)->config->status->detail, VENUE_DETAIL_MAX, NULL, __VA_ARGS__))

static int64_t attempt_failed(struct shard *shard, int64_t now_ms, enum link_failure failure,
                              int64_t retry_after_ms)
{
    shard->config->status->failures++;
    return net_link_failed(&shard->link, now_ms, failure, retry_after_ms);
}

/* Names. */

bool binance_shard_add(struct shard *shard, struct binance_name *name)
{
    if (shard->n == shard->cap) {
        size_t cap = shard->cap ? shard->cap * 2 : 16;
        struct binance_name **names = reallocarray(shard->names, cap, sizeof(*names));
        if (!names)
            return false;
        shard->names = names;
        shard->cap = cap;
    }
    name->shard = shard;
    name->index = shard->n;
    shard->names[shard->n++] = name;
    return true;
}

void binance_shard_forget(struct shard *shard, struct binance_name *name)
{
    struct binance_name *last = shard->names[--shard->n];
    shard->names[name->index] = last;
    last->index = name->index;
    name->shard = NULL;
}

void binance_shard_unsettle(struct shard *shard)
{
    for (int i = 0; i < 2; i++)
        shard->connections[i].unsettled = true;
}

/* Connections. */

static void close_connection(struct shard *shard, int which)
{
    struct connection *connection = &shard->connections[which];
    websocket_destroy(connection->websocket);
    *connection = (struct connection){.shard = shard, .unsettled = true};
    for (size_t i = 0; i < shard->n; i++)
        shard->names[i]->on[which] = false;
}

void binance_shard_close(struct shard *shard)
{
    net_resolver_cancel(shard->query);
    shard->query = NULL;
    for (int i = 0; i < 2; i++)
        close_connection(shard, i);
}

void binance_shard_destroy(struct shard *shard)
{
    if (!shard)
        return;
    binance_shard_close(shard);
    binance_renew_destroy(shard->renew);
    free(shard->names);
    free(shard);
}

static void end_overlap(struct shard *shard, enum renew_side gone)
{
    uint64_t before = binance_renew_doubled(shard->renew);
    shard->behind_ms = clock_now_ms();
    binance_renew_end(shard->renew, gone);
    shard->config->status->doubled += binance_renew_doubled(shard->renew) - before;
}

/* The connection that is up is closed; the next one, if it is open, takes its place. */
static void drop_current(struct shard *shard)
{
    close_connection(shard, shard->current);
    shard->silent = false;
    shard->current = -1;
    if (shard->next >= 0 && shard->connections[shard->next].opened) {
        shard->current = shard->next;
        shard->next = -1;
        shard->config->status->renewals++;
    }
    end_overlap(shard, RENEW_OLD);
}

static void drop_next(struct shard *shard)
{
    close_connection(shard, shard->next);
    shard->next = -1;
    end_overlap(shard, RENEW_NEW);
}

static void take_over(struct shard *shard)
{
    drop_current(shard);
    net_link_took_over(&shard->link);
    shard->config->status->detail[0] = '\0';
    shard->config->changed(shard->config->user);
}

bool binance_shard_replace(struct shard *shard, int64_t now_ms)
{
    if (shard->current < 0 || shard->next >= 0 || shard->link.attempt != LINK_ATTEMPT_NONE)
        return false;
    net_link_renew(&shard->link, now_ms);
    shard->silent = true;
    return true;
}

/* The old one is silent and the new one is not: there is nothing to wait for. */
static void end_silence(struct shard *shard, const struct connection *received)
{
    if (!shard->silent)
        return;
    if (shard->next >= 0 && received == &shard->connections[shard->next])
        take_over(shard);
    shard->silent = false;
}

static void received_news(struct connection *connection, const char *data, size_t len)
{
    struct shard *shard = connection->shard;
    struct binance_news news;
    if (!binance_news_read(data, len, &news))
        return;
    if (news.refused)
        say(shard, "the venue refused a request: %.*s",
            (int)(len < VENUE_DETAIL_MAX ? len : VENUE_DETAIL_MAX), data);
    if (news.answered && connection->unanswered > 0)
        connection->unanswered--;
    if (news.answered && news.id == shard->list_id && shard->list_id != 0) {
        shard->list_id = 0;
        shard->config->listed(shard->config->user, news.list,
                              news.listed ? NULL : "the venue refused to list what it sends");
    }
    if (news.shutdown) {
        say(shard, "the venue's server shuts down");
        connection->shuts_down = true;
    }
    shard->config->changed(shard->config->user);
}

static int index_of(const struct connection *connection)
{
    return (int)(connection - connection->shard->connections);
}

/* Has the old one brought all from before the new one started, and all that the new one brought? */
static void look_at_overlap(struct shard *shard)
{
    if (shard->current >= 0 && shard->next >= 0 && shard->connections[shard->current].pong &&
        binance_renew_caught_up(shard->renew) && clock_now_ms() >= shard->settled_ms + SHARD_OVERLAP_MIN_MS)
        take_over(shard);
}

static void on_opened(void *user)
{
    struct connection *connection = user;
    struct shard *shard = connection->shard;
    int64_t now = clock_now_ms();
    connection->opened = true;
    uint64_t before = shard->link.reconnects;
    net_link_opened(&shard->link, now);
    shard->config->status->connects++;
    shard->config->status->reconnects += shard->link.reconnects - before;
    shard->overlap_ms = now;
    shard->settled_ms = 0;
    if (shard->current < 0) {
        shard->current = index_of(connection);
        shard->next = -1;
    }
    if (shard->config->paused)
        websocket_pause(connection->websocket, true);
    shard->config->changed(shard->config->user);
}

static void pass_on(struct connection *connection, const char *data, size_t len)
{
    struct shard *shard = connection->shard;
    struct binance_identity identity;
    if (!binance_renew_active(shard->renew) || !binance_identify(data, len, &identity)) {
        shard->config->frame(shard->config->user, data, len);
        return;
    }
    bool is_new = shard->next >= 0 && connection == &shard->connections[shard->next];
    uint64_t before = binance_renew_doubled(shard->renew);
    int r = binance_renew_frame(shard->renew, is_new ? RENEW_NEW : RENEW_OLD, &identity, data, len);
    shard->config->status->doubled += binance_renew_doubled(shard->renew) - before;
    if (r < 0) { /* the old one continues; another new one is opened later */
        say(shard, "a renewal was given up: %s", strerror(-r));
        attempt_failed(shard, clock_now_ms(), LINK_LOST, -1);
        drop_next(shard);
        shard->config->changed(shard->config->user);
    }
}

static void on_message(void *user, const char *data, size_t len)
{
    struct connection *connection = user;
    struct shard *shard = connection->shard;
    struct venue_status *status = shard->config->status;
    status->frames++;
    status->bytes += len;
    status->last_frame_ms = connection->received_ms = clock_now_ms();
    if (shard->next < 0 || index_of(connection) == shard->next)
        net_link_received(&shard->link, connection->received_ms);
    if (!connection->received) {
        connection->received = true;
        if (shard->next < 0)
            status->detail[0] = '\0';
    }
    if (binance_is_market_data(data, len)) {
        end_silence(shard, connection);
        pass_on(connection, data, len);
        look_at_overlap(shard);
    } else {
        shard->config->frame(shard->config->user, data, len);
        received_news(connection, data, len);
    }
}

static void on_pong(void *user)
{
    struct connection *connection = user;
    if (!connection->pinged || !websocket_pinged(connection->websocket))
        return;
    connection->pong = true;
    connection->pong_ms = clock_now_ms();
    connection->shard->config->changed(connection->shard->config->user);
}

/* Reports why, and whether the address is limited. */
static void explain(struct shard *shard, enum link_failure failure, const struct websocket_end *end,
                    int64_t until_ms)
{
    char why[VENUE_DETAIL_MAX];
    if (failure == LINK_LIMITED || failure == LINK_BANNED) {
        snprintf(why, sizeof(why), "the venue %s this address (HTTP %d)",
                 failure == LINK_LIMITED ? "limits" : "has banned", end->http_status);
        say(shard, "%s: waiting %lld s", why, (long long)((until_ms - clock_now_ms()) / 1000));
        shard->config->limited(shard->config->user, shard->link.hold_ms, why);
    } else if (end->http_status == 403) {
        say(shard, "the venue's firewall refuses this address (HTTP 403)");
    } else if (failure == LINK_REFUSED) {
        say(shard, "the venue refuses the stream (HTTP %d): check the URL and the symbols", end->http_status);
    } else {
        say(shard, "%s", end->reason);
    }
}

static void on_ended(void *user, const struct websocket_end *end)
{
    struct connection *connection = user;
    struct shard *shard = connection->shard;
    int64_t now = clock_now_ms(), until_ms;
    enum link_failure failure = net_link_failure_of(end->http_status, false);
    if (!end->opened && end->http_status == 0)
        failure = LINK_UNREACHED;
    struct websocket_end copy = *end;
    char reason[VENUE_DETAIL_MAX];
    snprintf(reason, sizeof(reason), "%s", end->reason);
    copy.reason = reason;
    if (index_of(connection) == shard->current) {
        until_ms = net_link_lost(&shard->link, now, failure, end->retry_after_ms);
        drop_current(shard);
    } else {
        until_ms = attempt_failed(shard, now, failure, end->retry_after_ms);
        drop_next(shard);
    }
    if (shard->current < 0 && shard->next < 0)
        binance_renew_reset(shard->renew);
    if (shard->current >= 0 && shard->next < 0 && shard->link.attempt == LINK_ATTEMPT_NONE)
        shard->config->status->detail[0] = '\0'; /* another had taken its place */
    else
        explain(shard, failure, &copy, until_ms);
    shard->config->changed(shard->config->user);
}

static void connect_next(struct shard *shard)
{
    static const struct websocket_handler handler = {on_opened, on_message, on_pong, on_ended, NULL};
    char url[SHARD_BASE_MAX + WEBSOCKET_PATH_MAX + 1];
    const struct shard_config *shared = shard->config;
    size_t host = strlen(shared->base) - (shared->url.path[1] ? strlen(shared->url.path) : 0);
    int which = shard->current == 0 ? 1 : 0;
    shard->next = which;
    binance_shard_url(shard, which, url, host + WEBSOCKET_PATH_MAX + 1);
    const struct websocket_config config = {
        .url = url,
        .address = shard->addresses.addresses[shard->link.address],
    };
    shard->config->status->attempts++;
    if (shard->current >= 0)
        binance_renew_begin(shard->renew);
    int r = websocket_connect(shard->config->net, &config, &handler, &shard->connections[which],
                              &shard->connections[which].websocket);
    if (r < 0) {
        say(shard, "%s", strerror(-r));
        attempt_failed(shard, clock_now_ms(), LINK_LOST, -1);
        drop_next(shard);
    }
    shard->config->changed(shard->config->user);
}

static void on_resolved(void *user, const struct resolver_result *result)
{
    struct shard *shard = user;
    shard->query = NULL;
    if (result->error) {
        say(shard, "%s has no address: %s", shard->config->url.host, uv_strerror(result->error));
        attempt_failed(shard, clock_now_ms(), LINK_LOST, -1);
    } else {
        shard->addresses = *result;
        net_link_resolved(&shard->link, result->n);
    }
    shard->config->changed(shard->config->user);
}

static void resolve(struct shard *shard)
{
    int r = net_resolver_start(net_context_loop(shard->config->net), shard->config->url.host, on_resolved,
                               shard, &shard->query);
    if (r < 0) {
        say(shard, "%s: %s", shard->config->url.host, uv_strerror(r));
        attempt_failed(shard, clock_now_ms(), LINK_LOST, -1);
    }
    shard->config->changed(shard->config->user);
}

/* Both are up: asks the old one for a pong once the new one carries all, and hands over. Returns when to look
 * again. */
static int64_t drive_both(struct shard *shard, int64_t now_ms)
{
    struct connection *old = &shard->connections[shard->current];
    const struct connection *new = &shard->connections[shard->next];
    if (shard->settled_ms == 0 && !new->unsettled &&new->unanswered == 0) {
        shard->settled_ms = now_ms;
        old->pinging = true;
    }
    int64_t least_ms = shard->settled_ms + SHARD_OVERLAP_MIN_MS;
    int64_t most_ms = shard->overlap_ms + SHARD_SETTLE_MAX_MS;
    if (shard->settled_ms > 0) {
        int64_t since_ms = old->pong                              ? old->pong_ms
                           : old->received_ms > shard->settled_ms ? old->received_ms
                                                                  : shard->settled_ms;
        int64_t backlog_ms = shard->settled_ms + SHARD_BACKLOG_MAX_MS;
        most_ms = since_ms + SHARD_OVERLAP_MAX_MS < backlog_ms ? since_ms + SHARD_OVERLAP_MAX_MS : backlog_ms;
    }
    if (shard->config->paused) /* nothing is read */
        return INT64_MAX;
    if (now_ms >= most_ms)
        take_over(shard);
    else
        look_at_overlap(shard);
    return shard->next < 0 ? INT64_MAX : old->pong && now_ms < least_ms ? least_ms : most_ms;
}

static int64_t drive_overlap(struct shard *shard, int64_t now_ms)
{
    if (shard->current >= 0 && shard->next >= 0 && shard->connections[shard->next].opened) {
        int64_t at_ms = drive_both(shard, now_ms);
        if (shard->next >= 0)
            return at_ms;
    }
    if (!binance_renew_active(shard->renew) || binance_renew_both(shard->renew))
        return INT64_MAX;
    if (now_ms < shard->behind_ms + SHARD_BEHIND_MAX_MS)
        return shard->behind_ms + SHARD_BEHIND_MAX_MS;
    binance_renew_reset(shard->renew);
    return INT64_MAX;
}

static int64_t drive_link(struct shard *shard, int64_t now_ms)
{
    for (;;) {
        bool short_before = shard->link.budget_short;
        struct link_step step = net_link_next(&shard->link, now_ms);
        if (shard->link.budget_short && !short_before)
            say(shard, "%u attempts in %lld s used up", shard->config->link.budget->limit,
                (long long)(shard->config->link.budget->window_ms / 1000));
        if (step.act == LINK_WAIT)
            return step.at_ms;
        if (step.act == LINK_RESOLVE)
            resolve(shard);
        else
            connect_next(shard);
    }
}

int64_t binance_shard_drive(struct shard *shard, int64_t now_ms)
{
    if (shard->current >= 0 && shard->connections[shard->current].shuts_down)
        net_link_renew(&shard->link, now_ms);
    int64_t wake_ms = drive_link(shard, now_ms), at_ms = drive_overlap(shard, now_ms);
    wake_ms = at_ms < wake_ms ? at_ms : wake_ms;
    for (int i = 0; i < 2; i++) {
        at_ms = binance_shard_send(shard, i, now_ms);
        wake_ms = at_ms < wake_ms ? at_ms : wake_ms;
    }
    return wake_ms;
}

void binance_shard_pause(struct shard *shard, bool paused)
{
    int64_t now_ms = clock_now_ms();
    if (paused && shard->paused_ms == 0) {
        shard->paused_ms = now_ms;
    } else if (!paused && shard->paused_ms > 0) { /* while nothing was read no silence is counted */
        int64_t passed_ms = now_ms - shard->paused_ms;
        shard->paused_ms = 0;
        shard->overlap_ms += passed_ms;
        shard->behind_ms += passed_ms;
        shard->settled_ms += shard->settled_ms > 0 ? passed_ms : 0;
        for (int i = 0; i < 2; i++) {
            shard->connections[i].received_ms += passed_ms;
            shard->connections[i].pong_ms += passed_ms;
        }
    }
    for (int i = 0; i < 2; i++)
        if (shard->connections[i].websocket)
            websocket_pause(shard->connections[i].websocket, paused);
}

int binance_shard_list(struct shard *shard)
{
    if (shard->current < 0)
        return -ENOTCONN;
    shard->list_wanted = true;
    return 0;
}
