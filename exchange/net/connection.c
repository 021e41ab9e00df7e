#include "exchange/net/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/text.h"

enum { SECOND_MS = 1000, HTTP_UNAUTHORIZED = 401, HTTP_FORBIDDEN = 403 };

static void drive(struct net_connection *c);

static void on_timer(uv_timer_t *timer)
{
    drive(timer->data);
}

static void wake_at(struct net_connection *c, int64_t at_ms)
{
    if (at_ms > c->deadline_ms)
        at_ms = c->deadline_ms;
    if (at_ms == INT64_MAX) {
        uv_timer_stop(&c->timer);
        return;
    }
    int64_t delay_ms = at_ms - clock_now_ms();
    uv_update_time(c->timer.loop);
    uv_timer_start(&c->timer, on_timer, delay_ms > 0 ? (uint64_t)delay_ms : 0, 0);
}

void net_connection_wake(struct net_connection *c)
{
    uv_update_time(c->timer.loop);
    uv_timer_start(&c->timer, on_timer, 0, 0);
}

static enum venue_link link_of(const struct net_connection *c)
{
    return c->resting ? VENUE_DOWN : net_link_state(&c->link);
}

static void announce(struct net_connection *c)
{
    enum venue_link link = link_of(c);
    if (link == c->reported)
        return;
    c->reported = link;
    c->since_ms = clock_now_ms();
    c->handler->changed(c->user);
}

static void drop(struct net_connection *c)
{
    if (c->ready)
        c->was_ready_ms = clock_now_ms();
    net_resolver_cancel(c->query);
    c->query = NULL;
    websocket_destroy(c->websocket);
    c->websocket = NULL;
    c->open = c->ready = false;
    c->deadline_ms = INT64_MAX;
    c->epoch++;
}

void net_connection_fail(struct net_connection *c, enum link_failure failure, int64_t retry_after_ms)
{
    bool ready = c->ready;
    int64_t now = clock_now_ms();
    if (c->closed)
        return;
    drop(c);
    if (ready)
        net_link_lost(&c->link, now, failure, retry_after_ms);
    else
        net_link_failed(&c->link, now, failure, retry_after_ms);
    drive(c);
}

void net_connection_end(struct net_connection *c)
{
    net_link_failed(&c->link, clock_now_ms(), LINK_ENDED, -1);
    net_connection_wake(c);
}

void net_connection_clear(struct net_connection *c)
{
    c->detail[0] = '\0';
}

bool net_connection_send(struct net_connection *c, const char *text, size_t len)
{
    bool sent = c->open && websocket_send(c->websocket, text, len) == 0;
    c->sent += sent;
    return sent;
}

bool net_connection_send_binary(struct net_connection *c, const void *data, size_t len)
{
    bool sent = c->open && websocket_send_binary(c->websocket, data, len) == 0;
    c->sent += sent;
    return sent;
}

void net_connection_expect(struct net_connection *c, const char *awaited)
{
    if (c->closed)
        return;
    c->awaited = awaited;
    c->deadline_ms = clock_now_ms() + CONNECTION_PATIENCE_MS;
    drive(c);
}

void net_connection_ready(struct net_connection *c)
{
    if (c->closed)
        return;
    c->ready = true;
    net_connection_clear(c);
    c->deadline_ms = INT64_MAX;
    net_link_opened(&c->link, clock_now_ms());
    drive(c);
}

/* ---- What comes. ---- */

static void on_opened(void *user)
{
    struct net_connection *c = user;
    c->open = true;
    c->epoch++;
    if (c->paused)
        websocket_pause(c->websocket, true);
    c->handler->opened(c->user);
}

static void on_message(void *user, const char *data, size_t len)
{
    struct net_connection *c = user;
    c->frames++;
    c->bytes += len;
    c->last_frame_ms = clock_now_ms();
    const uint64_t epoch = c->epoch;
    const bool ready = c->ready;
    if (c->handler->message(c->user, data, len) && ready && c->epoch == epoch)
        net_link_received(&c->link, c->last_frame_ms);
}

static void report_limit(struct net_connection *c, const struct websocket_end *end, enum link_failure failure)
{
    int64_t wait_ms = net_link_wait_ms(failure, end->retry_after_ms);
    net_connection_say(c, "the venue limits this address (HTTP %d): waiting %lld s", end->http_status,
                       (long long)(wait_ms / SECOND_MS));
    if (c->config.ban.reported)
        c->config.ban.reported(c->config.ban.user, clock_wall_ns() + wait_ms * 1000000, c->detail);
}

static void on_ended(void *user, const struct websocket_end *end)
{
    struct net_connection *c = user;
    enum link_failure failure = LINK_LOST;
    bool rights = end->http_status == HTTP_UNAUTHORIZED || end->http_status == HTTP_FORBIDDEN;
    if (!end->opened && end->http_status == 0)
        failure = LINK_UNREACHED;
    else if (!end->opened)
        failure = net_link_failure_of(end->http_status, rights || c->config.final_refusals);
    if (failure == LINK_LIMITED || failure == LINK_BANNED) {
        report_limit(c, end, failure);
    } else if (failure == LINK_ENDED || failure == LINK_REFUSED) {
        net_connection_say(c, "the venue refuses the connection (HTTP %d): check %s", end->http_status,
                           c->config.check ? c->config.check : "the URL and the keys");
    } else if (!end->opened || !c->said || c->ready) { /* else it was said before the venue closed */
        net_connection_say(c, "%s", end->reason);
    }
    net_connection_fail(c, failure, end->retry_after_ms);
}

/* ---- What is due. ---- */

static void attempt_failed(struct net_connection *c, const char *why)
{
    net_connection_say(c, "%s: %s", c->url.host, why);
    net_link_failed(&c->link, clock_now_ms(), LINK_LOST, -1);
}

static void on_resolved(void *user, const struct resolver_result *result)
{
    struct net_connection *c = user;
    c->query = NULL;
    c->addresses = *result;
    if (result->error)
        attempt_failed(c, uv_strerror(result->error));
    else
        net_link_resolved(&c->link, result->n);
    drive(c);
}

static void take_step(struct net_connection *c, enum link_act act)
{
    static const struct websocket_handler handler = {
        .opened = on_opened, .message = on_message, .ended = on_ended};
    const struct websocket_config config = {.url = c->url_text,
                                            .address = c->addresses.addresses[c->link.address],
                                            .headers = c->config.headers,
                                            .n_headers = c->config.n_headers};
    if (act == LINK_CONNECT)
        c->said = false;
    int r = act == LINK_CONNECT ? websocket_connect(c->config.net, &config, &handler, c, &c->websocket)
                                : net_resolver_start(c->timer.loop, c->url.host, on_resolved, c, &c->query);
    if (r < 0)
        attempt_failed(c, uv_strerror(r));
}

static void drive(struct net_connection *c)
{
    if (c->handler->turn)
        c->handler->turn(c->user);
    if (c->closed)
        return;
    if (c->resting) {
        uv_timer_stop(&c->timer);
        announce(c);
        return;
    }
    if (c->open && clock_now_ms() >= c->deadline_ms) {
        net_connection_say(c, "the venue let %d s pass without %s", CONNECTION_PATIENCE_MS / SECOND_MS,
                           c->awaited);
        net_connection_fail(c, LINK_LOST, -1);
        return;
    }
    struct link_step step;
    while ((step = net_link_next(&c->link, clock_now_ms())).act != LINK_WAIT)
        take_step(c, step.act);
    wake_at(c, step.at_ms);
    announce(c);
}

void net_connection_rest(struct net_connection *c, bool rests)
{
    if (rests && !c->resting) {
        drop(c);
        net_link_rest(&c->link);
    }
    c->resting = rests;
}

bool net_connection_replace(struct net_connection *c, const char *why)
{
    if (!c->ready)
        return false;
    drop(c);
    net_connection_say(c, "%s", why);
    net_link_again(&c->link, clock_now_ms());
    net_connection_wake(c);
    return true;
}

void net_connection_pause(struct net_connection *c, bool paused)
{
    c->paused = paused;
    if (c->open)
        websocket_pause(c->websocket, paused);
}

void net_connection_hold(struct net_connection *c, int64_t until_ms, const char *why)
{
    if (until_ms <= clock_now_ms())
        return;
    net_link_hold(&c->link, until_ms);
    if (!c->link.up)
        net_connection_say(c, "%s", why);
    net_connection_wake(c);
}

/* ---- Its life. ---- */

int net_connection_init(struct net_connection *c, const struct net_connection_config *config,
                        const struct net_connection_handler *handler, void *user)
{
    struct text text = {0};
    text_base(&text, config->base);
    text_str(&text, config->path);
    c->url_text = text_take(&text);
    int r = c->url_text ? net_url_parse_as(c->url_text, "wss", &c->url) : -ENOMEM;
    if (r == 0)
        r = uv_timer_init(net_context_loop(config->net), &c->timer);
    if (r < 0) {
        free(c->url_text);
        return r;
    }
    c->timer.data = c;
    c->handler = handler;
    c->user = user;
    c->config = *config;
    c->config.base = c->config.path = NULL;
    c->deadline_ms = INT64_MAX;
    c->since_ms = clock_now_ms();
    net_budget_init(&c->own_budget, BUDGET_ATTEMPTS_DEFAULT, BUDGET_WINDOW_MS_DEFAULT);
    const struct link_config link = {
        .backoff_min_ms = config->backoff_min_ms,
        .backoff_max_ms = config->backoff_max_ms,
        .refused_ms = config->refused_ms,
        .jitter_seed = config->jitter_seed,
        .budget = config->budget ? config->budget : &c->own_budget,
        .alone = true,
    };
    net_link_init(&c->link, &link, clock_now_ms());
    net_connection_hold(c, clock_ms_of_wall(config->ban.until_ns), LINK_LIMITED_BEFORE);
    net_connection_wake(c);
    return 0;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct net_connection *c = handle->data;
    free(c->url_text);
    c->handler->closed(c->user);
}

void net_connection_close(struct net_connection *c)
{
    if (c->closed)
        return;
    c->closed = true;
    drop(c);
    uv_close((uv_handle_t *)&c->timer, on_timer_closed);
}

void net_connection_status(const struct net_connection *c, struct venue_status *ret)
{
    const struct link *link = &c->link;
    *ret = (struct venue_status){
        .link = link_of(c),
        .since_ms = c->since_ms,
        .retry_ms = net_link_retry_ms(link),
        .last_frame_ms = c->last_frame_ms,
        .attempts = link->attempts,
        .connects = link->connects,
        .reconnects = link->reconnects,
        .failures = link->failures,
        .frames = c->frames,
        .bytes = c->bytes,
        .sent = c->sent,
        .connections = 1,
        .up = link->up,
        .budget = link->config.budget->limit,
        .budget_used = net_budget_used(link->config.budget, clock_now_ms()),
    };
    memcpy(ret->detail, c->detail, sizeof(c->detail));
}
