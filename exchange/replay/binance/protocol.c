#include "exchange/replay/binance/protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exchange/replay/bars.h"
#include "exchange/replay/binance/rest.h"
#include "exchange/replay/binance/subscribe.h"
#include "exchange/replay/recording.h"
#include "exchange/replay/serve.h"
#include "exchange/replay/synthetic.h"

#define NS_PER_S 1000000000LL

struct binance {
    struct protocol base;
    struct tape *tape;
    int64_t used_weight, weight_minute; /* of REST */
};

static int64_t now_ns(const struct protocol *protocol)
{
    return ((const struct binance *)protocol)->tape->now_ns;
}

static int64_t count_weight(struct binance *binance, int weight)
{
    int64_t minute = (int64_t)(uv_hrtime() / (60 * NS_PER_S));
    if (minute != binance->weight_minute) {
        binance->weight_minute = minute;
        binance->used_weight = 0;
    }
    return binance->used_weight += weight;
}

static void answer(struct protocol *protocol, const struct request *request, struct response *response)
{
    struct binance *binance = (struct binance *)protocol;
    int weight = 1;
    if (strcmp(request->method, "GET") == 0) {
        response->status = rest_answer(protocol->source, request, &response->body, &weight);
    } else {
        response->status = 404;
        rest_error(&response->body, -1000, "Path not found: market data is read by GET.");
    }
    int64_t used = count_weight(binance, weight);
    response_header_int(response, "x-mbx-used-weight:", used);
    response_header_int(response, "x-mbx-used-weight-1m:", used);
}

static bool admit(struct protocol *protocol, const struct request *request, struct response *response)
{
    (void)protocol, (void)request, (void)response;
    return true;
}

static void enter(struct protocol *protocol, struct client *client, const struct request *request)
{
    struct subscriber *subscriber = calloc(1, sizeof(*subscriber));
    int rc = 0;
    client->state = subscriber;
    if (!subscriber) {
        client_close(client, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
        return;
    }
    subscriber->client = client;
    subscriber->tape = ((struct binance *)protocol)->tape;
    subscriber->combined = strncmp(request->path, "/stream", 7) == 0;
    const char *unit = request_arg(request, "timeUnit"), *streams = request_arg(request, "streams");
    if (unit && strcasecmp(unit, "MICROSECOND") == 0)
        subscriber->unit = STREAM_US;
    if (subscriber->combined && streams)
        rc = subscribe_list(subscriber, streams);
    else if (strncmp(request->path, "/ws/", 4) == 0)
        rc = subscribe_list(subscriber, request->path + 4);
    if (rc == -E2BIG)
        client_close(client, LWS_CLOSE_STATUS_POLICY_VIOLATION, "more than 1024 streams on one connection");
    else if (rc < 0)
        client_close(client, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
}

static void leave(struct protocol *protocol, struct client *client)
{
    (void)protocol;
    if (client->state)
        subscribe_drop(client->state);
    free(client->state);
    client->state = NULL;
}

static void hear(struct protocol *protocol, struct client *client, const char *data, size_t len, bool binary)
{
    struct subscriber *subscriber = client->state;
    (void)protocol, (void)binary;
    uint64_t now = uv_hrtime();
    if (now - subscriber->second_ns >= NS_PER_S) {
        subscriber->second_ns = now;
        subscriber->messages = 0;
    }
    if (++subscriber->messages > SUBSCRIBER_MESSAGES_PER_S)
        client_close(client, LWS_CLOSE_STATUS_POLICY_VIOLATION, "Too many requests");
    else
        subscribe_request(subscriber, data, len);
}

static struct message *wrap(const struct stream *stream, const char *data, size_t len, bool combined)
{
    static const char begin[] = "{\"stream\":\"", middle[] = "\",\"data\":";
    if (!combined) {
        struct message *m = message_new(LWS_WRITE_TEXT, len);
        if (m)
            memcpy(message_text(m), data, len);
        return m;
    }
    struct message *m =
        message_new(LWS_WRITE_TEXT, sizeof(begin) - 1 + stream->name_len + sizeof(middle) - 1 + len + 1);
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

/* The tape says something: it goes to all that listen. */
static void deliver(void *user, struct stream *stream, int unit, const char *data, size_t len)
{
    struct binance *binance = user;
    const struct faults *faults = binance->base.server->faults;
    struct message *made[2] = {NULL, NULL}; /* raw, combined: each rendered once */
    uint64_t sent = ++stream->sent[unit];
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
        server_send(((struct subscriber *)listener->client)->client, *m);
    }
    message_unref(made[0]);
    message_unref(made[1]);
}

static void destroy(struct protocol *protocol)
{
    struct binance *binance = (struct binance *)protocol;
    source_destroy(protocol->source);
    if (binance->tape)
        tape_finish(binance->tape);
    free(binance->tape);
    free(binance);
}

static const struct protocol_ops ops = {
    .now_ns = now_ns,
    .answer = answer,
    .admit = admit,
    .enter = enter,
    .leave = leave,
    .hear = hear,
    .destroy = destroy,
};

/* What the options name, ready to play. */
static int open_source(const struct options *options, struct tape *tape, struct source **ret,
                       char error[static PROTOCOL_ERROR_MAX])
{
    snprintf(error, PROTOCOL_ERROR_MAX, "out of memory");
    if (options->n_recordings > 0)
        return recording_create(tape, options->recordings, options->n_recordings, options->from_ns,
                                options->to_ns, ret, error);
    if (options->n_bars > 0)
        return bars_create(tape, options->bars, options->n_bars, options->interval, options->from_ns,
                           options->to_ns, ret, error);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct synthetic_config config = {
        .seed = options->seed,
        .start_ns = options->from_ns != INT64_MIN ? options->from_ns : (int64_t)now.tv_sec * NS_PER_S,
        .end_ns = options->to_ns,
        .symbols = options->symbols > 0 ? options->symbols : 2,
        .rate = options->rate,
    };
    return synthetic_create(tape, &config, ret);
}

static void tell_gaps(struct source *source)
{
    size_t gaps;
    int64_t missing;
    bars_gaps(source, &gaps, &missing);
    if (gaps > 0)
        fprintf(stderr, "papertape-replay: gaps in the bars: %zu, %" PRId64 " bars missing: kept as gaps\n",
                gaps, missing);
}

static int check(const struct options *options, char error[static PROTOCOL_ERROR_MAX])
{
    (void)options, (void)error;
    return 0;
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
    tape_init(binance->tape);
    binance->tape->deliver = deliver;
    binance->tape->user = binance;
    int rc = open_source(options, binance->tape, &binance->base.source, error);
    if (rc < 0) {
        destroy(&binance->base);
        return rc;
    }
    if (options->n_bars > 0)
        tell_gaps(binance->base.source);
    *ret = &binance->base;
    return 0;
}

const struct protocol_row binance_protocol = {.name = "binance", .check = check, .create = create};
