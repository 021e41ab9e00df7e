#include "exchange/alpaca/endpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/net/secret.h"

enum {
    SECOND_MS = 1000,
    PATIENCE_MS = 10 * SECOND_MS,             /* for the welcome, and for the answer to the keys */
    CONNECTION_LIMIT_MS = 5 * 60 * SECOND_MS, /* another program is connected, probably for long */
    TEXT_MAX = 80,
    PLAN_SYMBOLS = 30, /* of the free plan: the first guess where more are refused */
};

static const char packed_type[] = "application/msgpack";

#define say(endpoint, ...) ((void)snprintf((endpoint)->detail, sizeof(endpoint)->detail, __VA_ARGS__))

enum venue_link alpaca_endpoint_state(const struct endpoint *endpoint)
{
    return endpoint->active ? net_link_state(&endpoint->link) : VENUE_DOWN;
}

static void drive(struct endpoint *endpoint);

static void on_timer(uv_timer_t *timer)
{
    drive(timer->data);
}

static void wake_at(struct endpoint *endpoint, int64_t at_ms)
{
    if (at_ms > endpoint->deadline_ms)
        at_ms = endpoint->deadline_ms;
    if (at_ms == INT64_MAX) {
        uv_timer_stop(&endpoint->timer);
        return;
    }
    int64_t delay_ms = at_ms - clock_now_ms();
    uv_update_time(endpoint->timer.loop);
    uv_timer_start(&endpoint->timer, on_timer, delay_ms > 0 ? (uint64_t)delay_ms : 0, 0);
}

void alpaca_endpoint_touch(struct endpoint *endpoint)
{
    uv_update_time(endpoint->timer.loop);
    uv_timer_start(&endpoint->timer, on_timer, 0, 0);
}

static void announce(struct endpoint *endpoint)
{
    enum venue_link link = alpaca_endpoint_state(endpoint);
    if (link == endpoint->reported)
        return;
    endpoint->reported = link;
    endpoint->since_ms = clock_now_ms();
    endpoint->owner->changed(endpoint->owner->user, endpoint);
}

static void drop_connection(struct endpoint *endpoint)
{
    if (endpoint->phase == ENDPOINT_READY)
        endpoint->ready_ms = clock_now_ms();
    net_resolver_cancel(endpoint->query);
    endpoint->query = NULL;
    websocket_destroy(endpoint->websocket);
    endpoint->websocket = NULL;
    endpoint->phase = ENDPOINT_AWAY;
    endpoint->deadline_ms = INT64_MAX;
    endpoint->unanswered = endpoint->outdated = 0;
    for (size_t i = 0; i < endpoint->n_subscriptions; i++)
        endpoint->subscriptions[i].sent = 0;
    endpoint->list_lost |= endpoint->listing;
    endpoint->listing = false;
}

/* Ends the connection, or the attempt, with that failure. */
static void give_up(struct endpoint *endpoint, enum link_failure failure, int64_t retry_after_ms)
{
    bool ready = endpoint->phase == ENDPOINT_READY;
    int64_t now = clock_now_ms();
    drop_connection(endpoint);
    if (ready)
        net_link_lost(&endpoint->link, now, failure, retry_after_ms);
    else
        net_link_failed(&endpoint->link, now, failure, retry_after_ms);
    drive(endpoint);
}

static bool send_request(struct endpoint *endpoint, const struct alpaca_request *request)
{
    int r = request->overflow ? -EMSGSIZE
            : request->packed ? websocket_send_binary(endpoint->websocket, request->data, request->len)
                              : websocket_send(endpoint->websocket, request->data, request->len);
    endpoint->sent += r == 0;
    endpoint->unanswered += r == 0;
    return r == 0;
}

static bool send_changes(struct endpoint *endpoint, bool add)
{
    struct alpaca_request request;
    size_t at = 0;
    while (at < endpoint->n_subscriptions)
        if (alpaca_request_channels(&request, endpoint->packed, add, endpoint->subscriptions,
                                    endpoint->n_subscriptions, &at) &&
            !send_request(endpoint, &request))
            return false;
    return true;
}

/* Which symbols are within the plan's number: the first ones, in the order in which they were asked for. */
static void apply_limit(struct endpoint *endpoint)
{
    size_t n = 0;
    endpoint->n_refused = 0;
    for (size_t i = 0; i < endpoint->n_subscriptions; i++) {
        struct subscription *subscription = &endpoint->subscriptions[i];
        subscription->refused = subscription->asked && n >= endpoint->limit;
        n += subscription->asked && !subscription->refused;
        endpoint->n_refused += subscription->refused;
    }
}

static size_t asked_symbols(const struct endpoint *endpoint)
{
    size_t n = 0;
    for (size_t i = 0; i < endpoint->n_subscriptions; i++)
        n += endpoint->subscriptions[i].asked && !endpoint->subscriptions[i].refused;
    return n;
}

static void say_limit(struct endpoint *endpoint, const char *said)
{
    size_t taken = asked_symbols(endpoint);
    say(endpoint,
        "%s: the plan takes %zu of %zu symbols (405 %s): remove the others, or have a plan that takes more",
        endpoint->title, taken, taken + endpoint->n_refused, said);
}

/* The venue took none of a request: it did not say how many it would, so the first are tried, and half as
 * many where these are refused too. */
static void lower_limit(struct endpoint *endpoint, const char *said)
{
    size_t n = asked_symbols(endpoint);
    endpoint->limit = n > PLAN_SYMBOLS ? PLAN_SYMBOLS : n / 2;
    endpoint->outdated = endpoint->unanswered;
    apply_limit(endpoint);
    for (size_t i = 0; i < endpoint->n_subscriptions; i++)
        endpoint->subscriptions[i].sent = 0;
    say_limit(endpoint, said);
    endpoint->owner->changed(endpoint->owner->user, endpoint);
}

bool alpaca_endpoint_refuses(const struct endpoint *endpoint, const char *symbol)
{
    for (size_t i = 0; i < endpoint->n_subscriptions && endpoint->n_refused > 0; i++)
        if (endpoint->subscriptions[i].refused && strcmp(endpoint->subscriptions[i].symbol, symbol) == 0)
            return true;
    return false;
}

/* Sends the venue the changes of subscriptions, and forgets channels that are not wanted any more. */
static void subscribe(struct endpoint *endpoint)
{
    if (endpoint->phase != ENDPOINT_READY)
        return;
    size_t refused = endpoint->n_refused;
    apply_limit(endpoint);
    if (!send_changes(endpoint, false) || !send_changes(endpoint, true)) {
        say(endpoint, "a request could not be sent");
        give_up(endpoint, LINK_LOST, -1);
    } else if (endpoint->n_refused != refused) { /* symbols were added, or removed, beyond the limit known */
        if (endpoint->n_refused > 0)
            say_limit(endpoint, "symbol limit exceeded");
        else
            endpoint->detail[0] = '\0';
        endpoint->owner->changed(endpoint->owner->user, endpoint);
    }
}

static void forget_unasked(struct endpoint *endpoint)
{
    size_t kept = 0;
    for (size_t i = 0; i < endpoint->n_subscriptions; i++)
        if (endpoint->subscriptions[i].asked || endpoint->subscriptions[i].sent)
            endpoint->subscriptions[kept++] = endpoint->subscriptions[i];
    endpoint->n_subscriptions = kept;
}

static bool is_asked_for(const struct endpoint *endpoint)
{
    for (size_t i = 0; i < endpoint->n_subscriptions; i++)
        if (endpoint->subscriptions[i].asked)
            return true;
    return false;
}

static void on_opened(void *user)
{
    struct endpoint *endpoint = user;
    endpoint->phase = ENDPOINT_OPEN;
    endpoint->deadline_ms = clock_now_ms() + PATIENCE_MS;
    if (endpoint->paused)
        websocket_pause(endpoint->websocket, true);
    drive(endpoint);
}

static void send_keys(struct endpoint *endpoint)
{
    struct alpaca_request *request = net_secret_alloc(sizeof(*request));
    if (request)
        alpaca_request_auth(request, endpoint->packed, endpoint->keys.id, endpoint->keys.secret);
    bool sent = request && send_request(endpoint, request);
    net_secret_free(request);
    endpoint->phase = ENDPOINT_ASKED;
    endpoint->deadline_ms = clock_now_ms() + PATIENCE_MS;
    if (!sent) {
        say(endpoint, "the keys could not be sent");
        give_up(endpoint, LINK_LOST, -1);
    }
}

static void go_bare(struct endpoint *endpoint)
{
    endpoint->bare = true;
    for (size_t i = 0; i < endpoint->n_subscriptions; i++)
        endpoint->subscriptions[i].bare = true;
}

/* Another program is connected; it may end. */
static int64_t connection_wait_ms(const struct endpoint *endpoint)
{
    int64_t refused_ms = endpoint->link.config.refused_ms;
    return refused_ms > 0 && refused_ms < CONNECTION_LIMIT_MS ? refused_ms : CONNECTION_LIMIT_MS;
}

/* Is it ours that is connected? One whose end did not reach the venue is there for it until its own pings
 * fail. */
static bool may_be_ours(const struct endpoint *endpoint)
{
    return endpoint->ready_ms > 0 && clock_now_ms() - endpoint->ready_ms < CONNECTION_LIMIT_MS;
}

/* Codes of the venue's errors. Refused keys are final; a plan may change: what it has not is tried again,
 * rarely. */
static void on_error(struct endpoint *endpoint, const struct alpaca_notice *notice)
{
    int code = notice->code > 0 && notice->code < 1000 ? (int)notice->code : 0;
    char said[TEXT_MAX];
    snprintf(said, sizeof(said), "%.*s", (int)(notice->text.len < TEXT_MAX ? notice->text.len : TEXT_MAX - 1),
             notice->text.data);
    switch (code) {
    case 402:
        say(endpoint, "the venue refuses the keys (402 %s): check [venue alpaca] keys", said);
        give_up(endpoint, LINK_ENDED, -1);
        return;
    case 410:
        if (endpoint->phase == ENDPOINT_READY && !endpoint->bare) {
            say(endpoint, "the venue has not all that belongs to a stock here (410 %s): without it", said);
            go_bare(endpoint);
            give_up(endpoint, LINK_LOST, -1);
            return;
        }
        /* fall through */
    case 408:
    case 409:
    case 411:
        say(endpoint, "%s: the plan has no feed %s (%d %s): %sor a plan that has it", endpoint->title,
            endpoint->feed, code, said,
            strcmp(endpoint->feed, "sip") == 0 ? "[venue alpaca] feed = iex, " : "another feed, ");
        give_up(endpoint, LINK_REFUSED, -1);
        return;
    case 403: /* authenticated already */
        return;
    case 405:
        lower_limit(endpoint, said);
        if (!endpoint->closed)
            alpaca_endpoint_touch(endpoint);
        return;
    case 406:
        if (may_be_ours(endpoint)) {
            say(endpoint, "%s: the connection that was lost is still there for the venue (406 %s)",
                endpoint->title, said);
            break;
        }
        say(endpoint,
            "%s: the plan's connections are in use (406 %s): end the other program with these keys, or give it "
            "keys of its own",
            endpoint->title, said);
        give_up(endpoint, LINK_LIMITED, connection_wait_ms(endpoint));
        return;
    case 400:
        say(endpoint, "the venue does not understand us (400 %s)", said);
        give_up(endpoint, LINK_REFUSED, -1);
        return;
    case 407:
        say(endpoint, "the venue found us too slow (407 %s)", said);
        break;
    default: /* 401, 404, 500 and unknown codes */
        say(endpoint, "the venue reports error %d %s", code, said);
    }
    give_up(endpoint, LINK_LOST, -1);
}

static void on_notice(struct endpoint *endpoint, const struct alpaca_notice *notice, const char *data,
                      size_t len)
{
    switch (notice->kind) {
    case NOTICE_CONNECTED:
        if (endpoint->phase == ENDPOINT_OPEN)
            send_keys(endpoint);
        break;
    case NOTICE_AUTHENTICATED:
        if (endpoint->phase == ENDPOINT_AWAY || endpoint->phase == ENDPOINT_READY)
            break;
        endpoint->phase = ENDPOINT_READY;
        endpoint->deadline_ms = INT64_MAX;
        endpoint->unanswered = 0; /* the keys' */
        net_link_opened(&endpoint->link, clock_now_ms());
        subscribe(endpoint);
        if (!endpoint->closed)
            drive(endpoint);
        break;
    case NOTICE_SUBSCRIBED:
        if (endpoint->n_refused == 0)
            endpoint->detail[0] = '\0';
        if (endpoint->listing) {
            endpoint->listing = false;
            endpoint->owner->listed(endpoint->owner->user, endpoint, data, len);
        }
        break;
    case NOTICE_ERROR:
        on_error(endpoint, notice);
        break;
    case NOTICE_NONE:
        break;
    }
}

/* Counts answers. A request of before the limit was known is answered as it was, and says nothing new. */
static bool is_outdated(struct endpoint *endpoint, const struct alpaca_notice *notice)
{
    bool answer = notice->kind == NOTICE_SUBSCRIBED || (notice->kind == NOTICE_ERROR && notice->code == 405);
    if (endpoint->phase != ENDPOINT_READY || !answer)
        return false;
    endpoint->unanswered -= endpoint->unanswered > 0;
    if (endpoint->outdated == 0)
        return false;
    endpoint->outdated--;
    return notice->kind == NOTICE_ERROR;
}

static void on_message(void *user, const char *data, size_t len)
{
    struct endpoint *endpoint = user;
    struct websocket *websocket = endpoint->websocket;
    struct alpaca_notice notice;
    endpoint->frames++;
    endpoint->bytes += len;
    endpoint->last_frame_ms = clock_now_ms();
    alpaca_notice_read(data, len, &notice);
    bool outdated = is_outdated(endpoint, &notice);
    if (notice.kind == NOTICE_NONE && endpoint->phase == ENDPOINT_READY)
        net_link_received(&endpoint->link, endpoint->last_frame_ms);
    endpoint->owner->frame(endpoint->owner->user, endpoint, data, len);
    if (!outdated && !endpoint->closed &&
        endpoint->websocket == websocket) /* the owner may have dropped it */
        on_notice(endpoint, &notice, data, len);
}

static void on_ended(void *user, const struct websocket_end *end)
{
    struct endpoint *endpoint = user;
    enum link_failure failure = LINK_LOST;
    if (!end->opened && end->http_status == 0)
        failure = LINK_UNREACHED;
    else if (!end->opened)
        failure = net_link_failure_of(end->http_status, true);
    if (failure == LINK_LIMITED || failure == LINK_BANNED) {
        int64_t wait_ms = end->retry_after_ms >= 0  ? end->retry_after_ms
                          : failure == LINK_LIMITED ? LINK_LIMITED_MS
                                                    : LINK_BANNED_MS;
        say(endpoint, "the venue limits this address (HTTP %d): waiting %lld s", end->http_status,
            (long long)(wait_ms / SECOND_MS));
        if (endpoint->ban.reported)
            endpoint->ban.reported(endpoint->ban.user, clock_wall_ns() + wait_ms * 1000000, endpoint->detail);
        if (endpoint->closed)
            return;
    } else if (failure == LINK_ENDED) {
        say(endpoint, "the venue refuses the stream (HTTP %d): check the URL, the feed and the keys",
            end->http_status);
    } else if (end->opened && endpoint->detail[0] && endpoint->phase != ENDPOINT_READY) {
        /* the venue said why before it closed */
    } else {
        say(endpoint, "%s", end->reason);
    }
    give_up(endpoint, failure, end->retry_after_ms);
}

static void on_resolved(void *user, const struct resolver_result *result)
{
    struct endpoint *endpoint = user;
    endpoint->query = NULL;
    if (result->error) {
        say(endpoint, "%s has no address: %s", endpoint->url.host, uv_strerror(result->error));
        net_link_failed(&endpoint->link, clock_now_ms(), LINK_LOST, -1);
    } else {
        endpoint->addresses = *result;
        net_link_resolved(&endpoint->link, result->n);
    }
    drive(endpoint);
}

static void connect_now(struct endpoint *endpoint)
{
    static const struct websocket_handler handler = {
        .opened = on_opened, .message = on_message, .ended = on_ended};
    const struct net_header header = {"Content-Type", packed_type};
    const struct websocket_config config = {
        .url = endpoint->url_text,
        .address = endpoint->addresses.addresses[endpoint->link.address],
        .headers = &header,
        .n_headers = endpoint->packed,
    };
    int r = websocket_connect(endpoint->net, &config, &handler, endpoint, &endpoint->websocket);
    if (r < 0) {
        say(endpoint, "%s", strerror(-r));
        net_link_failed(&endpoint->link, clock_now_ms(), LINK_LOST, -1);
    }
}

static void drive(struct endpoint *endpoint)
{
    if (endpoint->list_lost) {
        endpoint->list_lost = false;
        endpoint->owner->listed(endpoint->owner->user, endpoint, NULL, 0);
        if (endpoint->closed)
            return;
    }
    if (endpoint->active && !is_asked_for(endpoint)) {
        drop_connection(endpoint);
        forget_unasked(endpoint);
        endpoint->active = false;
        if (endpoint->link.attempt != LINK_ATTEMPT_ENDED) { /* it keeps what it learnt about waiting */
            endpoint->link.up = false;
            endpoint->link.attempt = LINK_ATTEMPT_DUE;
        }
    } else if (!endpoint->active && is_asked_for(endpoint)) {
        endpoint->active = true;
    }
    if (!endpoint->active) {
        uv_timer_stop(&endpoint->timer);
        announce(endpoint);
        return;
    }
    if (endpoint->phase != ENDPOINT_AWAY && clock_now_ms() >= endpoint->deadline_ms) {
        say(endpoint, "the venue let %d s pass without %s", PATIENCE_MS / SECOND_MS,
            endpoint->phase == ENDPOINT_OPEN ? "its welcome" : "an answer to the keys");
        give_up(endpoint, LINK_LOST, -1);
        return;
    }
    for (;;) {
        struct link_step step = net_link_next(&endpoint->link, clock_now_ms());
        if (step.act == LINK_WAIT) {
            wake_at(endpoint, step.at_ms);
            break;
        }
        if (step.act == LINK_CONNECT) {
            connect_now(endpoint);
            continue;
        }
        int r = net_resolver_start(endpoint->timer.loop, endpoint->url.host, on_resolved, endpoint,
                                   &endpoint->query);
        if (r < 0) {
            say(endpoint, "%s: %s", endpoint->url.host, uv_strerror(r));
            net_link_failed(&endpoint->link, clock_now_ms(), LINK_LOST, -1);
        }
    }
    if (endpoint->phase == ENDPOINT_READY) {
        subscribe(endpoint);
        if (endpoint->closed || endpoint->phase != ENDPOINT_READY)
            return;
        forget_unasked(endpoint);
    }
    announce(endpoint);
}

int alpaca_endpoint_init(struct endpoint *endpoint, const struct endpoint_owner *owner,
                         const struct venue_stream_config *config, const char *base, const char *title,
                         const char *path, bool packed, struct budget *budget, uint64_t jitter_seed)
{
    size_t len = strlen(base);
    while (len > 0 && base[len - 1] == '/')
        len--;
    size_t size = len + strlen(path) + 1;
    char *text = malloc(size);
    struct url url;
    if (!text)
        return -ENOMEM;
    snprintf(text, size, "%.*s%s", (int)len, base, path);
    int r = net_url_parse_as(text, "wss", &url);
    if (r == 0)
        r = uv_timer_init(net_context_loop(config->net), &endpoint->timer);
    if (r < 0) {
        free(text);
        return r;
    }
    endpoint->timer.data = endpoint;
    endpoint->owner = owner;
    endpoint->net = config->net;
    endpoint->url_text = text;
    endpoint->title = title;
    endpoint->feed = strrchr(path, '/') + 1;
    endpoint->limit = SIZE_MAX;
    endpoint->url = url;
    endpoint->packed = packed;
    endpoint->keys = config->keys;
    endpoint->ban = config->ban;
    endpoint->deadline_ms = INT64_MAX;
    endpoint->since_ms = clock_now_ms();
    const struct link_config link = {
        .backoff_min_ms = config->backoff_min_ms,
        .backoff_max_ms = config->backoff_max_ms,
        .refused_ms = config->refused_ms,
        .jitter_seed = jitter_seed,
        .budget = budget,
        .alone = true,
    };
    net_link_init(&endpoint->link, &link, clock_now_ms());
    if (!config->keys.id || !config->keys.secret || !config->keys.id[0] || !config->keys.secret[0]) {
        say(endpoint, "the venue wants keys and there are none: set [venue alpaca] keys");
        net_link_failed(&endpoint->link, clock_now_ms(), LINK_ENDED, -1);
    }
    if (config->ban.until_ns > clock_wall_ns())
        alpaca_endpoint_hold(endpoint, clock_ms_of_wall(config->ban.until_ns),
                             "the venue's limit, as known from before");
    alpaca_endpoint_touch(endpoint);
    return 0;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct endpoint *endpoint = handle->data;
    free(endpoint->url_text);
    free(endpoint->subscriptions);
    endpoint->owner->closed(endpoint->owner->user, endpoint);
}

void alpaca_endpoint_close(struct endpoint *endpoint)
{
    if (endpoint->closed)
        return;
    endpoint->closed = true;
    drop_connection(endpoint);
    uv_close((uv_handle_t *)&endpoint->timer, on_timer_closed);
}

int alpaca_endpoint_reserve(struct endpoint *endpoint, size_t more)
{
    size_t need = endpoint->n_subscriptions + more;
    if (need <= endpoint->cap_subscriptions)
        return 0;
    struct subscription *list = realloc(endpoint->subscriptions, 2 * need * sizeof(*list));
    if (!list)
        return -ENOMEM;
    endpoint->subscriptions = list;
    endpoint->cap_subscriptions = 2 * need;
    return 0;
}

void alpaca_endpoint_ask(struct endpoint *endpoint, enum alpaca_channel channel, const char *symbol,
                         bool wanted)
{
    size_t i = 0;
    while (i < endpoint->n_subscriptions && strcmp(endpoint->subscriptions[i].symbol, symbol) != 0)
        i++;
    if (i == endpoint->n_subscriptions) {
        if (!wanted)
            return;
        endpoint->subscriptions[endpoint->n_subscriptions] = (struct subscription){.bare = endpoint->bare};
        snprintf(endpoint->subscriptions[endpoint->n_subscriptions++].symbol, SYMBOL_NAME_MAX, "%s", symbol);
    }
    uint16_t bit = (uint16_t)(1u << channel);
    if (wanted)
        endpoint->subscriptions[i].asked |= bit;
    else
        endpoint->subscriptions[i].asked &= (uint16_t)~bit;
}

bool alpaca_endpoint_reconnect(struct endpoint *endpoint, const char *why)
{
    if (endpoint->phase != ENDPOINT_READY)
        return false;
    drop_connection(endpoint);
    say(endpoint, "%s", why);
    net_link_again(&endpoint->link, clock_now_ms());
    alpaca_endpoint_touch(endpoint);
    return true;
}

void alpaca_endpoint_pause(struct endpoint *endpoint, bool paused)
{
    endpoint->paused = paused;
    if (endpoint->websocket && endpoint->phase != ENDPOINT_AWAY)
        websocket_pause(endpoint->websocket, paused);
}

int alpaca_endpoint_list(struct endpoint *endpoint)
{
    struct alpaca_request request;
    if (endpoint->phase != ENDPOINT_READY)
        return -ENOTCONN;
    alpaca_request_list(&request, endpoint->packed);
    if (!send_request(endpoint, &request))
        return -ENOTCONN;
    endpoint->listing = true;
    return 0;
}

void alpaca_endpoint_hold(struct endpoint *endpoint, int64_t until_ms, const char *why)
{
    if (until_ms <= clock_now_ms())
        return;
    net_link_hold(&endpoint->link, until_ms);
    if (!endpoint->link.up)
        say(endpoint, "%s", why);
    alpaca_endpoint_touch(endpoint);
}
