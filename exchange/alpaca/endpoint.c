#include "exchange/alpaca/endpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/net/secret.h"

enum {
    SECOND_MS = 1000,
    CONNECTION_LIMIT_MS = 5 * 60 * SECOND_MS, /* another program is connected, probably for long */
    TEXT_MAX = 80,
    PLAN_SYMBOLS = 30, /* of the free plan: the first guess where more are refused */
};

static const char packed_type[] = "application/msgpack";

#define say(endpoint, ...) net_connection_say(&(endpoint)->connection, __VA_ARGS__)

static void give_up(struct endpoint *endpoint, enum link_failure failure, int64_t retry_after_ms)
{
    net_connection_fail(&endpoint->connection, failure, retry_after_ms);
}

static bool send_request(struct endpoint *endpoint, const struct alpaca_request *request)
{
    struct net_connection *connection = &endpoint->connection;
    bool sent = !request->overflow &&
                (request->packed ? net_connection_send_binary(connection, request->data, request->len)
                                 : net_connection_send(connection, request->data, request->len));
    endpoint->unanswered += sent;
    return sent;
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
    size_t refused = endpoint->n_refused;
    apply_limit(endpoint);
    if (!send_changes(endpoint, false) || !send_changes(endpoint, true)) {
        say(endpoint, "a request could not be sent");
        give_up(endpoint, LINK_LOST, -1);
    } else if (endpoint->n_refused != refused) { /* symbols were added, or removed, beyond the limit known */
        if (endpoint->n_refused > 0)
            say_limit(endpoint, "symbol limit exceeded");
        else
            net_connection_clear(&endpoint->connection);
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
    net_connection_expect(&endpoint->connection, "its welcome");
}

static void send_keys(struct endpoint *endpoint)
{
    struct alpaca_request *request = net_secret_alloc(sizeof(*request));
    if (request)
        alpaca_request_auth(request, endpoint->packed, endpoint->keys.id, endpoint->keys.secret);
    bool sent = request && send_request(endpoint, request);
    net_secret_free(request);
    endpoint->welcomed = true;
    if (sent) {
        net_connection_expect(&endpoint->connection, "an answer to the keys");
    } else {
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
    int64_t refused_ms = endpoint->connection.config.refused_ms;
    return refused_ms > 0 && refused_ms < CONNECTION_LIMIT_MS ? refused_ms : CONNECTION_LIMIT_MS;
}

/* Is it ours that is connected? One whose end did not reach the venue is there for it until its own pings
 * fail. */
static bool may_be_ours(const struct endpoint *endpoint)
{
    const int64_t was_ready_ms = endpoint->connection.was_ready_ms;
    return was_ready_ms > 0 && clock_now_ms() - was_ready_ms < CONNECTION_LIMIT_MS;
}

/* Codes of the venue's errors. Refused keys are final; a plan may change: what it has not is tried again,
 * rarely. */
static void on_error(struct endpoint *endpoint, const struct alpaca_notice *notice)
{
    int code = notice->code > 0 && notice->code < 1000 ? (int)notice->code : 0;
    char said[TEXT_MAX];
    json_text_cut(notice->text, said, sizeof(said));
    switch (code) {
    case 402:
        say(endpoint, "the venue refuses the keys (402 %s): check [venue alpaca] keys", said);
        give_up(endpoint, LINK_ENDED, -1);
        return;
    case 410:
        if (endpoint->connection.ready && !endpoint->bare) {
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
        if (!endpoint->connection.closed)
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
        if (!endpoint->welcomed)
            send_keys(endpoint);
        break;
    case NOTICE_AUTHENTICATED:
        if (endpoint->connection.ready)
            break;
        endpoint->unanswered = 0; /* the keys' */
        endpoint->n_refused = 0;  /* said again */
        net_connection_ready(&endpoint->connection);
        break;
    case NOTICE_SUBSCRIBED:
        if (endpoint->n_refused == 0)
            net_connection_clear(&endpoint->connection);
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
    if (!endpoint->connection.ready || !answer)
        return false;
    endpoint->unanswered -= endpoint->unanswered > 0;
    if (endpoint->outdated == 0)
        return false;
    endpoint->outdated--;
    return notice->kind == NOTICE_ERROR;
}

static bool on_message(void *user, const char *data, size_t len)
{
    struct endpoint *endpoint = user;
    const struct net_connection *connection = &endpoint->connection;
    const uint64_t epoch = connection->epoch;
    struct alpaca_notice notice;
    alpaca_notice_read(data, len, &notice);
    bool outdated = is_outdated(endpoint, &notice);
    endpoint->owner->frame(endpoint->owner->user, endpoint, data, len);
    if (!outdated && !connection->closed && connection->epoch == epoch) /* the owner may have dropped it */
        on_notice(endpoint, &notice, data, len);
    return notice.kind == NOTICE_NONE;
}

/* Another connection, or none: nothing of it is subscribed to. */
static void begin_again(struct endpoint *endpoint)
{
    bool listing = endpoint->listing;
    endpoint->epoch = endpoint->connection.epoch;
    endpoint->unanswered = endpoint->outdated = 0;
    endpoint->welcomed = endpoint->listing = false;
    for (size_t i = 0; i < endpoint->n_subscriptions; i++)
        endpoint->subscriptions[i].sent = 0;
    if (listing)
        endpoint->owner->listed(endpoint->owner->user, endpoint, NULL, 0);
}

static void on_turn(void *user)
{
    struct endpoint *endpoint = user;
    struct net_connection *connection = &endpoint->connection;
    net_connection_rest(connection, !is_asked_for(endpoint));
    if (endpoint->epoch != connection->epoch)
        begin_again(endpoint);
    if (connection->ready && !connection->closed)
        subscribe(endpoint);
    if (!connection->closed && endpoint->epoch == connection->epoch)
        forget_unasked(endpoint);
}

static void on_changed(void *user)
{
    struct endpoint *endpoint = user;
    endpoint->owner->changed(endpoint->owner->user, endpoint);
}

static void on_closed(void *user)
{
    struct endpoint *endpoint = user;
    free(endpoint->subscriptions);
    endpoint->owner->closed(endpoint->owner->user, endpoint);
}

int alpaca_endpoint_init(struct endpoint *endpoint, const struct endpoint_owner *owner,
                         const struct venue_stream_config *config, const char *base, const char *title,
                         const char *path, bool packed, struct budget *budget, uint64_t jitter_seed)
{
    static const struct net_header packed_header = {"Content-Type", packed_type};
    static const struct net_connection_handler handler = {.changed = on_changed,
                                                          .opened = on_opened,
                                                          .message = on_message,
                                                          .turn = on_turn,
                                                          .closed = on_closed};
    const struct net_connection_config connection = {.net = config->net,
                                                     .base = base,
                                                     .path = path,
                                                     .backoff_min_ms = config->backoff_min_ms,
                                                     .backoff_max_ms = config->backoff_max_ms,
                                                     .refused_ms = config->refused_ms,
                                                     .jitter_seed = jitter_seed,
                                                     .budget = budget,
                                                     .ban = config->ban,
                                                     .check = "the URL, the feed and the keys",
                                                     .final_refusals = true,
                                                     .headers = &packed_header,
                                                     .n_headers = packed};
    int r = net_connection_init(&endpoint->connection, &connection, &handler, endpoint);
    if (r < 0)
        return r;
    net_connection_rest(&endpoint->connection, true);
    endpoint->owner = owner;
    endpoint->title = title;
    endpoint->feed = strrchr(path, '/') + 1;
    endpoint->limit = SIZE_MAX;
    endpoint->packed = packed;
    endpoint->keys = config->keys;
    if (!config->keys.id || !config->keys.secret || !config->keys.id[0] || !config->keys.secret[0]) {
        say(endpoint, "the venue wants keys and there are none: set [venue alpaca] keys");
        net_connection_end(&endpoint->connection);
    }
    return 0;
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

int alpaca_endpoint_list(struct endpoint *endpoint)
{
    struct alpaca_request request;
    if (!endpoint->connection.ready)
        return -ENOTCONN;
    alpaca_request_list(&request, endpoint->packed);
    if (!send_request(endpoint, &request))
        return -ENOTCONN;
    endpoint->listing = true;
    return 0;
}
