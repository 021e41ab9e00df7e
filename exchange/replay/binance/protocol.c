#include "exchange/replay/binance/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exchange/fail.h"
#include "exchange/replay/binance/limits.h"
#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/session.h"
#include "exchange/replay/serve.h"

#define NS_PER_S  1000000000ULL
#define NS_PER_MS 1000000LL
#define DAY_NS    (24 * 3600 * 1000000000LL)

struct binance {
    struct protocol base;
    struct tape *tape;
    struct limits limits;
    struct replay_source *market;
    struct replay_in_flight in_flight; /* what is played: the market, and orders on their way */
    struct binance_orders orders;
    uint64_t asked;            /* REST requests and attempts to connect */
    int64_t first_asked_ms;    /* when the first came */
    int64_t age_ns;            /* of a connection, in market time, without a fault; INT64_MAX: no bound */
    bool announced, shut_down; /* fault shutdown */
    bool made;                 /* a synthetic market, which pauses in a halt */
    bool recorded;             /* its time is that of its frames */
};

static int64_t now_ns(const struct protocol *protocol)
{
    return ((const struct binance *)protocol)->tape->now_ns;
}

/* Time passes between the market's steps, too. */
static void pass_time(struct binance *binance)
{
    if (!binance->recorded)
        binance->tape->now_ns = replay_play_clock(&binance->base.server->play, binance->tape->now_ns);
}

static int64_t monotonic_ms(void)
{
    return (int64_t)(uv_hrtime() / NS_PER_MS);
}

/* Market time since the start of play. */
static int64_t played_ns(const struct binance *binance)
{
    const struct play *play = &binance->base.server->play;
    return play->started ? binance->tape->now_ns - play->played_from_ns : INT64_MIN;
}

static void set_retry_after(const struct limits *limits, struct response *response, int status,
                            int64_t wait_s)
{
    char msg[256];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    response->status = status;
    replay_response_header_int(response, "retry-after:", wait_s);
    if (status == LIMITS_BANNED)
        snprintf(
            msg, sizeof(msg),
            "Way too much request weight used; IP banned until %lld. Please use WebSocket Streams for live "
            "updates to avoid bans.",
            ((long long)now.tv_sec + wait_s) * 1000);
    else
        snprintf(
            msg, sizeof(msg),
            "Too much request weight used; current limit is %lld request weight per 1 MINUTE. Please use "
            "WebSocket Streams for live updates to avoid polling the API.",
            (long long)replay_limits_weight(limits));
    replay_rest_error(&response->body, -1003, msg);
}

/* The limits that faults impose: 0 or the status of the refusal. */
static int refuse_by_fault(struct binance *binance, int64_t ms, int64_t *ret_wait_s)
{
    const struct faults *faults = binance->base.server->faults;
    if (binance->asked++ == 0)
        binance->first_asked_ms = ms;
    if (faults->ban_after > 0 && binance->asked == faults->ban_after)
        replay_limits_ban(&binance->limits, ms, faults->ban_ns / NS_PER_MS);
    int64_t first_ns = binance->first_asked_ms * NS_PER_MS;
    int64_t teapot_ms = replay_fault_limit_ns(&faults->teapot, first_ns) / NS_PER_MS;
    int64_t too_many_ms = replay_fault_limit_ns(&faults->too_many, first_ns) / NS_PER_MS;
    if (ms < teapot_ms) {
        *ret_wait_s = (teapot_ms - ms + 999) / 1000;
        return LIMITS_BANNED;
    }
    *ret_wait_s = (too_many_ms - ms + 999) / 1000;
    return ms < too_many_ms ? LIMITS_TOO_MANY : 0;
}

/* Every fourth request, or each of one path, in turn, gets a broken venue's answer. After a timeout its
 * outcome is unknown. */
static bool break_down(struct binance *binance, const char *path, struct response *response)
{
    static const int statuses[] = {500, 502, 503, 504};
    const struct server *server = binance->base.server;
    bool of_path = replay_fault_broken(server->faults, replay_play_elapsed_ns(&server->play), path);
    if (!of_path && (!server->faults->broken || binance->asked % FAULT_BROKEN_EVERY != 0))
        return false;
    response->status = statuses[(of_path ? binance->asked : binance->asked / FAULT_BROKEN_EVERY) % 4];
    if (response->status == 504)
        replay_rest_error(&response->body, -1007,
                          "Timeout waiting for response from backend server. Send status unknown; "
                          "execution status unknown.");
    else
        replay_rest_error(&response->body, -1000, "An unknown error occurred while processing the request.");
    return true;
}

/* With the headers that an order's answer has. */
static int answer_order(struct binance *binance, const struct replay_request *request,
                        struct response *response, int *ret_weight)
{
    struct binance_orders *orders = &binance->orders;
    struct order_outcome outcome;
    const int status = replay_orders_answer(orders, request, request->headers[REPLAY_HEADER_API_KEY],
                                            &response->body, &outcome);
    for (int i = 0; outcome.counted && i < ORDER_WINDOWS; i++)
        replay_response_header_int(response, replay_order_windows[i].header,
                                   replay_order_unfilled(orders, outcome.account, i));
    if (outcome.wait_ns > 0)
        replay_response_header_int(response, "retry-after:", outcome.wait_ns / (int64_t)NS_PER_S + 1);
    *ret_weight = outcome.weight;
    return status;
}

static void answer(struct protocol *protocol, const struct replay_request *request, struct response *response)
{
    struct binance *binance = (struct binance *)protocol;
    int64_t ms = monotonic_ms(), wait_s = 0;
    int weight = 1, status;
    pass_time(binance);
    if ((status = refuse_by_fault(binance, ms, &wait_s)) != 0 ||
        (status = replay_limits_request(&binance->limits, ms, &wait_s)) != 0) {
        set_retry_after(&binance->limits, response, status, wait_s);
    } else if (!break_down(binance, request->path, response)) {
        replay_changes_apply(binance->tape, binance->base.server->faults, played_ns(binance));
        if (replay_orders_serves(request->path)) {
            response->status = answer_order(binance, request, response, &weight);
            response->lost = response->status < 0;
        } else if (strcmp(request->method, "GET") == 0) {
            response->status =
                replay_rest_answer(protocol->source, binance->base.server->faults->clock_skew_ns,
                                   &binance->limits, request, &response->body, &weight);
        } else {
            response->status = 404;
            replay_rest_error(&response->body, -1000,
                              "Path not found: papertape-replay(1) has what is served.");
        }
        if ((status = replay_limits_charge(&binance->limits, ms, weight, &wait_s)) != 0) {
            text_clear(&response->body);
            set_retry_after(&binance->limits, response, status, wait_s);
        }
    }
    int64_t used = replay_limits_used(&binance->limits, ms);
    replay_response_header_int(response, "x-mbx-used-weight:", used);
    replay_response_header_int(response, "x-mbx-used-weight-1m:", used);
}

static bool is_api_path(const char *path)
{
    return strcmp(path, "/ws-api/v3") == 0;
}

static bool is_socket_path(const char *path)
{
    return is_api_path(path) || strcmp(path, "/") == 0 || strcmp(path, "/ws") == 0 ||
           strncmp(path, "/ws/", 4) == 0 || strcmp(path, "/stream") == 0 || strcmp(path, "/stream/") == 0;
}

static bool admit(struct protocol *protocol, const struct replay_request *request, struct response *response)
{
    struct binance *binance = (struct binance *)protocol;
    int64_t ms = monotonic_ms(), wait_s = 0;
    int status = refuse_by_fault(binance, ms, &wait_s);
    if (status != 0 || (status = replay_limits_attempt(&binance->limits, ms, &wait_s)) != 0) {
        set_retry_after(&binance->limits, response, status, wait_s);
        return false;
    }
    if (is_socket_path(request->path))
        return true;
    response->status = 404;
    replay_rest_error(&response->body, -1000,
                      "Path not found: streams are at /ws, /ws/NAME and /stream?streams=NAME/NAME.");
    return false;
}

static void enter(struct protocol *protocol, struct client *client, const struct replay_request *request)
{
    struct binance *binance = (struct binance *)protocol;
    struct binance_subscriber *subscriber = calloc(1, sizeof(*subscriber));
    int rc = 0;
    client->state = subscriber;
    if (subscriber && is_api_path(request->path))
        subscriber->session =
            replay_session_open(&binance->orders, client, replay_request_arg(request, "timeUnit"),
                                replay_request_arg(request, "returnRateLimits"));
    if (!subscriber || (is_api_path(request->path) && !subscriber->session)) {
        replay_client_close(client, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
        return;
    }
    subscriber->client = client;
    subscriber->tape = binance->tape;
    subscriber->opened_ns = binance->tape->now_ns;
    subscriber->combined = strncmp(request->path, "/stream", 7) == 0;
    const char *unit = replay_request_arg(request, "timeUnit"),
               *streams = replay_request_arg(request, "streams");
    if (unit && strcasecmp(unit, "MICROSECOND") == 0)
        subscriber->unit = STREAM_US;
    if (subscriber->combined && streams)
        rc = replay_subscribe_list(subscriber, streams);
    else if (strncmp(request->path, "/ws/", 4) == 0)
        rc = replay_subscribe_list(subscriber, request->path + 4);
    if (rc == -E2BIG)
        replay_client_close(client, LWS_CLOSE_STATUS_POLICY_VIOLATION,
                            "more than 1024 streams on one connection");
    else if (rc < 0)
        replay_client_close(client, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
}

static void leave(struct protocol *protocol, struct client *client)
{
    (void)protocol;
    struct binance_subscriber *subscriber = client->state;
    if (subscriber) {
        replay_session_close(subscriber->session);
        replay_subscribe_drop(subscriber);
        free(subscriber->names);
    }
    free(subscriber);
    client->state = NULL;
}

/* Counts its messages and pongs; false when there are too many. */
static bool count_message(struct binance_subscriber *subscriber)
{
    uint64_t now = uv_hrtime();
    if (now - subscriber->second_ns >= NS_PER_S) {
        subscriber->second_ns = now;
        subscriber->messages = 0;
    }
    if (++subscriber->messages <= SUBSCRIBER_MESSAGES_PER_S)
        return true;
    replay_client_close(subscriber->client, LWS_CLOSE_STATUS_POLICY_VIOLATION, "Too many requests");
    return false;
}

static void receive(struct protocol *protocol, struct client *client, const char *data, size_t len,
                    bool binary)
{
    (void)binary;
    struct binance_subscriber *subscriber = client->state;
    pass_time((struct binance *)protocol);
    if (subscriber->session) /* which weighs its requests, and does not count messages */
        replay_session_request(subscriber->session, data, len);
    else if (count_message(subscriber))
        replay_subscribe_request(subscriber, data, len);
}

static void heartbeat(struct protocol *protocol, struct client *client)
{
    (void)protocol;
    if (!client->paced) /* pongs that set the pace of full speed are ours, not the venue's */
        count_message(client->state);
}

/* A connection ends after a day. */
static void end_old(const struct binance *binance, struct binance_subscriber *subscriber)
{
    const int64_t fault_ns = binance->base.server->faults->age_ns;
    if (binance->tape->now_ns - subscriber->opened_ns >= (fault_ns > 0 ? fault_ns : binance->age_ns))
        replay_client_end(subscriber->client, LWS_CLOSE_STATUS_GOINGAWAY, "connection is 24 hours old");
}

/* Sends serverShutdown to all clients, and closes their connections a while later. */
static void shut_down(struct binance *binance)
{
    const struct faults *faults = binance->base.server->faults;
    int64_t since_ns = replay_play_elapsed_ns(&binance->base.server->play);
    bool announce = since_ns >= faults->shutdown_ns && !binance->announced;
    bool close = since_ns >= faults->shutdown_ns + faults->shutdown_close_ns && !binance->shut_down;
    char data[96], text[160];
    if (!binance->base.server->play.started || (!announce && !close))
        return;
    binance->announced = true;
    binance->shut_down |= close;
    for (struct client *c = binance->base.server->clients; c; c = c->next) {
        struct binance_subscriber *subscriber = c->state;
        if (!subscriber)
            continue;
        if (announce) {
            int64_t unit_ns = subscriber->unit == STREAM_US ? 1000 : NS_PER_MS;
            snprintf(data, sizeof(data), "{\"e\":\"serverShutdown\",\"E\":%lld}",
                     (long long)(binance->tape->now_ns / unit_ns));
            snprintf(text, sizeof(text),
                     subscriber->combined ? "{\"stream\":\"!serverShutdown\",\"data\":%s}" : "%s", data);
            replay_client_say(c, text, strlen(text));
            subscriber->leaving = true;
        }
        if (close && subscriber->leaving)
            replay_client_end(c, LWS_CLOSE_STATUS_GOINGAWAY, "server is shutting down");
    }
}

static void beat(struct protocol *protocol)
{
    struct binance *binance = (struct binance *)protocol;
    replay_changes_apply(binance->tape, protocol->server->faults, played_ns(binance));
    for (struct client *c = protocol->server->clients; c; c = c->next)
        if (c->state)
            end_old(binance, c->state);
    if (protocol->server->faults->shutdown)
        shut_down(binance);
    if (protocol->server->faults->wipe)
        replay_orders_wipe(&binance->orders);
    protocol->server->faults->wipe = false;
    replay_order_arrivals(&binance->orders);
}

static struct message *wrap(const struct replay_stream *stream, const char *data, size_t len, bool combined)
{
    static const char begin[] = "{\"stream\":\"", middle[] = "\",\"data\":";
    if (!combined) {
        struct message *m = replay_message_new(LWS_WRITE_TEXT, len);
        if (m)
            memcpy(message_text(m), data, len);
        return m;
    }
    struct message *m = replay_message_new(LWS_WRITE_TEXT, sizeof(begin) - 1 + stream->name_len +
                                                               sizeof(middle) - 1 + len + 1);
    if (m) {
        unsigned char *p = message_text(m);
        p = mempcpy(p, begin, sizeof(begin) - 1);
        p = mempcpy(p, stream->name, stream->name_len);
        p = mempcpy(p, middle, sizeof(middle) - 1);
        p = mempcpy(p, data, len);
        *p = '}';
    }
    return m;
}

/* The tape emits a message: sends it to all subscribers. */
static void deliver(void *user, struct replay_stream *stream, int unit, const char *data, size_t len)
{
    struct binance *binance = user;
    const struct faults *faults = binance->base.server->faults;
    struct message *made[2] = {NULL, NULL}; /* raw, combined: each rendered once */
    const struct tape_symbol *symbol = stream->symbol >= 0 ? &binance->tape->symbols[stream->symbol] : NULL;
    uint64_t sent = ++stream->sent[unit];
    replay_changes_apply(binance->tape, faults, played_ns(binance));
    if (symbol && (symbol->delisted || (!binance->made && replay_changes_silence(symbol, stream->kind))))
        return;
    if (replay_fault_stream_silent(faults, replay_play_elapsed_ns(&binance->base.server->play), stream->name,
                                   stream->name_len))
        return;
    if (faults->gap_book && (stream->kind == STREAM_DEPTH || stream->kind == STREAM_DEPTH_FAST) &&
        sent % FAULT_GAP_EVERY == 0)
        return;
    for (size_t i = 0; i < stream->n_listeners; i++) {
        const struct listener *listener = &stream->listeners[i];
        if (listener->unit != unit)
            continue;
        struct message **m = &made[listener->combined];
        if (!*m && !(*m = wrap(stream, data, len, listener->combined))) {
            binance->tape->failed = true;
            break;
        }
        struct binance_subscriber *subscriber = listener->client;
        replay_server_send(subscriber->client, *m);
        end_old(binance, subscriber);
    }
    replay_message_unref(made[0]);
    replay_message_unref(made[1]);
}

static void destroy(struct protocol *protocol)
{
    struct binance *binance = (struct binance *)protocol;
    replay_orders_finish(&binance->orders);
    source_destroy(binance->market);
    if (binance->tape)
        replay_tape_finish(binance->tape);
    free(binance->tape);
    free(binance);
}

static const char *const header_names[] = {
    [REPLAY_HEADER_TIME_UNIT] = "x-mbx-time-unit:", [REPLAY_HEADER_API_KEY] = "x-mbx-apikey:", NULL};

/* Keys are those of --keys, and there are no corporate actions. */
static int check_faults(const struct faults *faults, char error[static PROTOCOL_ERROR_MAX])
{
    return *faults->revoked || faults->actions_bad
               ? fail_with(-EINVAL, error, PROTOCOL_ERROR_MAX,
                           "not of this venue: --fault revoke, actions: leave them out, or --venue alpaca")
               : 0;
}

static const struct protocol_ops ops = {
    .check_faults = check_faults,
    .now_ns = now_ns,
    .answer = answer,
    .headers = header_names,
    .admit = admit,
    .enter = enter,
    .leave = leave,
    .receive = receive,
    .heartbeat = heartbeat,
    .beat = beat,
    .destroy = destroy,
};

/* Its own options. 0 or -EINVAL. */
static int read_given(const struct options *options, struct limits *limits, const char **ret_keys,
                      char error[static PROTOCOL_ERROR_MAX])
{
    for (size_t i = 0; i < options->n_given; i++) {
        const char *name = options->given[i].name, *value = options->given[i].value;
        if (strcmp(name, "keys") == 0)
            *ret_keys = value;
        else if (strcmp(name, "limit") == 0 && !replay_limits_set(limits, value))
            return fail_with(-EINVAL, error, PROTOCOL_ERROR_MAX,
                             "unknown limit: --limit %.40s: weight=N, requests=N or connections=N, above 0",
                             value);
        else if (strcmp(name, "weight") == 0 && !replay_limits_set_weight(limits, value))
            return fail_with(
                -EINVAL, error, PROTOCOL_ERROR_MAX,
                "bad weight: --weight %.40s: the last part of a path and a number, as klines=4, at most "
                "%d of them",
                value, LIMITS_WEIGHTS_MAX);
        else if (strcmp(name, "filter") == 0 && !replay_filters_set(&limits->filters, value))
            return fail_with(-EINVAL, error, PROTOCOL_ERROR_MAX,
                             "unknown filter: --filter %.40s: a filter that counts and a number, as "
                             "MAX_NUM_ORDERS=3, MAX_POSITION=1500 or MAX_ASSET:USDT=1000",
                             value);
    }
    return 0;
}

static int check(const struct options *options, char error[static PROTOCOL_ERROR_MAX])
{
    struct limits limits = {0};
    struct faults faults;
    const char *keys;
    replay_fault_schedule_all(&options->schedule, &faults);
    return check_faults(&faults, error) < 0 ? -EINVAL : read_given(options, &limits, &keys, error);
}

static int create(const struct options *options, struct protocol **ret, char error[static PROTOCOL_ERROR_MAX])
{
    struct binance *binance = calloc(1, sizeof(*binance));
    if (!binance || !(binance->tape = calloc(1, sizeof(*binance->tape)))) {
        snprintf(error, PROTOCOL_ERROR_MAX, "out of memory");
        free(binance);
        return -ENOMEM;
    }
    binance->base.ops = &ops;
    binance->made = options->synthetic;
    binance->recorded = options->n_recordings > 0;
    binance->age_ns = options->speed > 0 ? DAY_NS : INT64_MAX;
    replay_tape_init(binance->tape);
    if (options->aggregates > 0)
        binance->tape->aggregates_kept = options->aggregates;
    binance->tape->deliver = deliver;
    binance->tape->user = binance;
    const char *keys = NULL;
    read_given(options, &binance->limits, &keys, error);
    int rc = replay_open_source(options, binance->tape, &binance->market, error);
    if (rc == 0)
        rc = replay_orders_init(&binance->orders, binance->market, keys, &options->schedule.now,
                                &binance->limits, error);
    if (rc < 0) {
        destroy(&binance->base);
        return rc;
    }
    replay_in_flight_init(&binance->in_flight, binance->market, binance->orders.broker);
    binance->base.source = &binance->in_flight.base;
    *ret = &binance->base;
    return 0;
}

static const char *const options[] = {"keys", "limit", "weight", "filter", NULL};

const struct protocol_row replay_binance_protocol = {
    .name = "binance", .options = options, .check = check, .create = create};
