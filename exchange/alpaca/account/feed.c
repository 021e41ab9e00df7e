#include "exchange/alpaca/account/feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/alpaca/channel.h"
#include "exchange/clock.h"
#include "exchange/net/secret.h"
#include "exchange/text.h"

enum {
    SECOND_MS = 1000,
    PATIENCE_MS = 10 * SECOND_MS, /* for each answer */
    HTTP_UNAUTHORIZED = 401,
    HTTP_FORBIDDEN = 403,
};

#define STREAM_PATH "/stream"

static const char listen_request[] = "{\"action\":\"listen\",\"data\":{\"streams\":[\"trade_updates\"]}}";

#define say(feed, ...) ((void)snprintf((feed)->detail, sizeof(feed)->detail, __VA_ARGS__))

static void drive(struct paper_feed *feed);

static void on_timer(uv_timer_t *timer)
{
    drive(timer->data);
}

static void wake_at(struct paper_feed *feed, int64_t at_ms)
{
    if (at_ms > feed->deadline_ms)
        at_ms = feed->deadline_ms;
    if (at_ms == INT64_MAX) {
        uv_timer_stop(&feed->timer);
        return;
    }
    int64_t delay_ms = at_ms - clock_now_ms();
    uv_update_time(feed->timer.loop);
    uv_timer_start(&feed->timer, on_timer, delay_ms > 0 ? (uint64_t)delay_ms : 0, 0);
}

static void announce(struct paper_feed *feed)
{
    enum venue_link link = net_link_state(&feed->link);
    if (link == feed->reported)
        return;
    feed->reported = link;
    feed->since_ms = clock_now_ms();
    if (link == VENUE_UP)
        feed->detail[0] = '\0';
    feed->owner.changed(feed->owner.user);
}

static void drop_connection(struct paper_feed *feed)
{
    net_resolver_cancel(feed->query);
    feed->query = NULL;
    websocket_destroy(feed->websocket);
    feed->websocket = NULL;
    feed->phase = FEED_AWAY;
    feed->deadline_ms = INT64_MAX;
}

/* Ends the connection, or the attempt, with that failure. */
static void give_up(struct paper_feed *feed, enum link_failure failure, int64_t retry_after_ms)
{
    bool ready = feed->phase == FEED_READY;
    int64_t now = clock_now_ms();
    drop_connection(feed);
    if (ready)
        net_link_lost(&feed->link, now, failure, retry_after_ms);
    else
        net_link_failed(&feed->link, now, failure, retry_after_ms);
    drive(feed);
}

static void expect(struct paper_feed *feed, enum paper_phase phase, bool sent)
{
    feed->phase = phase;
    feed->deadline_ms = clock_now_ms() + PATIENCE_MS;
    feed->sent += sent;
    if (sent) {
        drive(feed);
    } else {
        say(feed, "a request could not be sent");
        give_up(feed, LINK_LOST, -1);
    }
}

static void on_opened(void *user)
{
    struct paper_feed *feed = user;
    struct alpaca_request *request = net_secret_alloc(sizeof(*request));
    if (request)
        alpaca_request_auth(request, false, feed->keys.id, feed->keys.secret);
    bool sent =
        request && !request->overflow && websocket_send(feed->websocket, request->data, request->len) == 0;
    net_secret_free(request);
    expect(feed, FEED_ASKED, sent);
}

static void on_listening(struct paper_feed *feed, const struct alpaca_trading *said)
{
    if (feed->phase != FEED_LISTEN)
        return;
    if (!said->updates) {
        say(feed, "the venue does not send these keys the updates of their orders");
        give_up(feed, LINK_REFUSED, -1);
        return;
    }
    feed->phase = FEED_READY;
    feed->deadline_ms = INT64_MAX;
    net_link_opened(&feed->link, clock_now_ms());
    drive(feed);
}

static void on_said(struct paper_feed *feed, const struct alpaca_trading *said)
{
    switch (said->kind) {
    case TRADING_REFUSED:
        say(feed, "the venue refuses the account's keys: are they of a paper account that was reset?");
        give_up(feed, LINK_ENDED, -1);
        break;
    case TRADING_AUTHORIZED:
        if (feed->phase == FEED_ASKED)
            expect(feed, FEED_LISTEN,
                   websocket_send(feed->websocket, listen_request, sizeof(listen_request) - 1) == 0);
        break;
    case TRADING_LISTENING:
        on_listening(feed, said);
        break;
    case TRADING_UPDATE:
        break;
    }
}

static void on_message(void *user, const char *data, size_t len)
{
    struct paper_feed *feed = user;
    const struct websocket *websocket = feed->websocket;
    struct alpaca_trading said;
    feed->frames++;
    feed->bytes += len;
    feed->last_frame_ms = clock_now_ms();
    int r = alpaca_parse_trading(data, len, &said);
    if (r == 1)
        return;
    if (r == 0 && said.kind != TRADING_UPDATE) {
        on_said(feed, &said);
        return;
    }
    if (feed->phase != FEED_READY && r == 0) /* it listens, and has not said so yet */
        return;
    net_link_received(&feed->link, feed->last_frame_ms);
    bool read = r == 0 && feed->owner.update(feed->owner.user, &said);
    if (read || feed->closed || feed->websocket != websocket)
        return;
    say(feed, "the venue sent what cannot be read: connecting again, to look at the orders");
    give_up(feed, LINK_LOST, -1);
}

static void report_limit(struct paper_feed *feed, const struct websocket_end *end, enum link_failure failure)
{
    int64_t wait_ms = end->retry_after_ms >= 0  ? end->retry_after_ms
                      : failure == LINK_LIMITED ? LINK_LIMITED_MS
                                                : LINK_BANNED_MS;
    say(feed, "the venue limits this address (HTTP %d): waiting %lld s", end->http_status,
        (long long)(wait_ms / SECOND_MS));
    if (feed->ban.reported)
        feed->ban.reported(feed->ban.user, clock_wall_ns() + wait_ms * 1000000, feed->detail);
}

static void on_ended(void *user, const struct websocket_end *end)
{
    struct paper_feed *feed = user;
    enum link_failure failure = LINK_LOST;
    bool rights = end->http_status == HTTP_UNAUTHORIZED || end->http_status == HTTP_FORBIDDEN;
    if (!end->opened && end->http_status == 0)
        failure = LINK_UNREACHED;
    else if (!end->opened)
        failure = net_link_failure_of(end->http_status, rights);
    if (failure == LINK_LIMITED || failure == LINK_BANNED) {
        report_limit(feed, end, failure);
        if (feed->closed)
            return;
    } else if (failure == LINK_ENDED || failure == LINK_REFUSED) {
        say(feed, "the venue refuses the account's stream (HTTP %d): check the URL and the keys",
            end->http_status);
    } else {
        say(feed, "%s", end->reason);
    }
    give_up(feed, failure, end->retry_after_ms);
}

static void on_resolved(void *user, const struct resolver_result *result)
{
    struct paper_feed *feed = user;
    feed->query = NULL;
    if (result->error) {
        say(feed, "%s has no address: %s", feed->url.host, uv_strerror(result->error));
        net_link_failed(&feed->link, clock_now_ms(), LINK_LOST, -1);
    } else {
        feed->addresses = *result;
        net_link_resolved(&feed->link, result->n);
    }
    drive(feed);
}

static void connect_now(struct paper_feed *feed)
{
    static const struct websocket_handler handler = {
        .opened = on_opened, .message = on_message, .ended = on_ended};
    const struct websocket_config config = {
        .url = feed->url_text,
        .address = feed->addresses.addresses[feed->link.address],
    };
    int r = websocket_connect(feed->net, &config, &handler, feed, &feed->websocket);
    if (r < 0) {
        say(feed, "%s", strerror(-r));
        net_link_failed(&feed->link, clock_now_ms(), LINK_LOST, -1);
    }
}

static void resolve_now(struct paper_feed *feed)
{
    int r = net_resolver_start(feed->timer.loop, feed->url.host, on_resolved, feed, &feed->query);
    if (r < 0) {
        say(feed, "%s: %s", feed->url.host, uv_strerror(r));
        net_link_failed(&feed->link, clock_now_ms(), LINK_LOST, -1);
    }
}

static void drive(struct paper_feed *feed)
{
    if (feed->phase != FEED_AWAY && clock_now_ms() >= feed->deadline_ms) {
        say(feed, "the venue let %d s pass without an answer to %s", PATIENCE_MS / SECOND_MS,
            feed->phase == FEED_ASKED ? "the keys" : "the request for updates");
        give_up(feed, LINK_LOST, -1);
        return;
    }
    for (;;) {
        struct link_step step = net_link_next(&feed->link, clock_now_ms());
        if (step.act == LINK_WAIT) {
            wake_at(feed, step.at_ms);
            break;
        }
        if (step.act == LINK_CONNECT)
            connect_now(feed);
        else
            resolve_now(feed);
    }
    announce(feed);
}

static void touch(struct paper_feed *feed)
{
    uv_update_time(feed->timer.loop);
    uv_timer_start(&feed->timer, on_timer, 0, 0);
}

int alpaca_feed_init(struct paper_feed *feed, const struct paper_feed_owner *owner,
                     const struct venue_account_config *config, const char *ws_url,
                     const struct venue_keys *keys)
{
    struct text text = {0};
    text_base(&text, ws_url);
    text_lit(&text, STREAM_PATH);
    feed->url_text = text_take(&text);
    int r = feed->url_text ? net_url_parse_as(feed->url_text, "wss", &feed->url) : -ENOMEM;
    if (r == 0)
        r = uv_timer_init(net_context_loop(config->net), &feed->timer);
    if (r < 0) {
        free(feed->url_text);
        return r;
    }
    feed->timer.data = feed;
    feed->owner = *owner;
    feed->net = config->net;
    feed->keys = *keys;
    feed->ban = config->ban;
    feed->deadline_ms = INT64_MAX;
    feed->since_ms = clock_now_ms();
    net_budget_init(&feed->budget, BUDGET_ATTEMPTS_DEFAULT, BUDGET_WINDOW_MS_DEFAULT);
    const struct link_config link = {
        .jitter_seed = config->jitter_seed, .budget = &feed->budget, .alone = true};
    net_link_init(&feed->link, &link, clock_now_ms());
    touch(feed);
    return 0;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct paper_feed *feed = handle->data;
    free(feed->url_text);
    feed->owner.closed(feed->owner.user);
}

void alpaca_feed_close(struct paper_feed *feed)
{
    if (feed->closed)
        return;
    feed->closed = true;
    drop_connection(feed);
    uv_close((uv_handle_t *)&feed->timer, on_timer_closed);
}

void alpaca_feed_hold(struct paper_feed *feed, int64_t until_ms, const char *why)
{
    if (until_ms <= clock_now_ms())
        return;
    net_link_hold(&feed->link, until_ms);
    if (!feed->link.up)
        say(feed, "%s", why);
    touch(feed);
}

void alpaca_feed_status(const struct paper_feed *feed, struct venue_status *ret)
{
    const struct link *link = &feed->link;
    *ret = (struct venue_status){
        .link = net_link_state(link),
        .since_ms = feed->since_ms,
        .last_frame_ms = feed->last_frame_ms,
        .attempts = link->attempts,
        .connects = link->connects,
        .failures = link->failures,
        .frames = feed->frames,
        .bytes = feed->bytes,
        .sent = feed->sent,
        .connections = 1,
        .up = link->up,
        .budget = feed->budget.limit,
        .budget_used = net_budget_used(&feed->budget, clock_now_ms()),
    };
    if (ret->link == VENUE_WAITING || ret->link == VENUE_FAILED)
        ret->retry_ms = net_link_retry_ms(link);
    memcpy(ret->detail, feed->detail, sizeof(ret->detail));
}
