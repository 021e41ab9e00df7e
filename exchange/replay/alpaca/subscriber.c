#include "exchange/replay/alpaca/subscriber.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uv.h>

#include "exchange/replay/alpaca/unpack.h"
#include "exchange/replay/alpaca/wire.h"
#include "exchange/replay/serve.h"

#define NS_PER_S 1000000000ull

static const char *const channel_names[FLOW_KINDS] = {
    [FLOW_TRADE] = "trades",        [FLOW_QUOTE] = "quotes",         [FLOW_BAR] = "bars",
    [FLOW_UPDATED] = "updatedBars", [FLOW_DAY] = "dailyBars",        [FLOW_STATUS] = "statuses",
    [FLOW_BANDS] = "lulds",         [FLOW_IMBALANCE] = "imbalances", [FLOW_CORRECTION] = "corrections",
    [FLOW_CANCEL] = "cancelErrors", [FLOW_BOOK] = "orderbooks",
};

static const struct {
    int code;
    bool ends;
    const char *msg;
} errors[] = {
    {400, false, "invalid syntax"},
    {401, false, "not authenticated"},
    {402, true, "auth failed"},
    {403, false, "already authenticated"},
    {404, true, "auth timeout"},
    {405, false, "symbol limit exceeded"},
    {406, true, "connection limit exceeded"},
    {407, true, "slow client"},
    {409, true, "insufficient subscription"},
    {410, false, "invalid subscribe action for this feed"},
    {411, true, "insufficient scope"},
    {500, true, "internal error"},
};

static bool serves(const struct replay_endpoint *endpoint, enum flow_kind kind)
{
    if (endpoint->flow.class != MADE_CRYPTO)
        return kind != FLOW_BOOK;
    return kind == FLOW_BOOK || kind <= FLOW_DAY;
}

/* Corrections and cancellations come with trades, and are not subscribed. */
static bool follows_trades(enum flow_kind kind)
{
    return kind == FLOW_CORRECTION || kind == FLOW_CANCEL;
}

static struct message *message_of(const struct text *text, bool binary)
{
    struct message *message =
        text_ok(text) ? replay_message_new(binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT, text->len) : NULL;
    if (message)
        memcpy(message_text(message), text->data, text->len);
    return message;
}

/* An answer: it does not wait for the pace of the play. */
static void say(struct alpaca_subscriber *s, const struct text *text)
{
    struct message *message = message_of(text, s->msgpack);
    if (message)
        replay_client_push(s->client, message);
    else
        replay_client_close(s->client, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
    replay_message_unref(message);
}

static void say_success(struct alpaca_subscriber *s, const char *msg)
{
    struct text text = {0};
    struct wire wire = wire_to(&text, s->msgpack);
    replay_wire_array(&wire, 1);
    replay_wire_map(&wire, 2);
    replay_wire_key(&wire, "T");
    replay_wire_str(&wire, "success");
    replay_wire_key(&wire, "msg");
    replay_wire_str(&wire, msg);
    replay_wire_map_end(&wire);
    replay_wire_array_end(&wire);
    say(s, &text);
    text_finish(&text);
}

/* [{"T":"error",…}]; codes that end the connection close it. */
static void replay_subscriber_error(struct alpaca_subscriber *s, int code)
{
    struct text text = {0};
    struct wire wire = wire_to(&text, s->msgpack);
    size_t i = 0;
    while (i + 1 < sizeof(errors) / sizeof(*errors) && errors[i].code != code)
        i++;
    replay_wire_array(&wire, 1);
    replay_wire_map(&wire, 3);
    replay_wire_key(&wire, "T");
    replay_wire_str(&wire, "error");
    replay_wire_key(&wire, "code");
    replay_wire_int(&wire, errors[i].code);
    replay_wire_key(&wire, "msg");
    replay_wire_str(&wire, errors[i].msg);
    replay_wire_map_end(&wire);
    replay_wire_array_end(&wire);
    if (code == 407)
        replay_client_drop_queue(s->client);
    say(s, &text);
    text_finish(&text);
    if (errors[i].ends) {
        s->ends = true;
        s->client->listening = false;
        replay_client_end(s->client, LWS_CLOSE_STATUS_NORMAL, "");
    }
}

static bool has_name(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->list[i], name) == 0)
            return true;
    return false;
}

static bool add_name(struct names *names, const char *name)
{
    if (has_name(names, name))
        return true;
    if (names->n == names->cap) {
        size_t cap = names->cap ? names->cap * 2 : 8;
        void *list =
            cap <= 2 * SUBSCRIBER_NAMES_MAX ? reallocarray(names->list, cap, sizeof(*names->list)) : NULL;
        if (!list)
            return false;
        names->list = list;
        names->cap = cap;
    }
    strcpy(names->list[names->n++], name);
    return true;
}

static void remove_name(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++) {
        if (strcmp(names->list[i], name) == 0) {
            names->n--;
            memmove(&names->list[i], &names->list[i + 1], (names->n - i) * sizeof(*names->list));
            return;
        }
    }
}

static void say_subscription(struct alpaca_subscriber *s)
{
    struct text text = {0};
    struct wire wire = wire_to(&text, s->msgpack);
    size_t n = 0;
    for (int kind = 0; kind < FLOW_KINDS; kind++)
        n += serves(s->endpoint, kind);
    replay_wire_array(&wire, 1);
    replay_wire_map(&wire, n + 1);
    replay_wire_key(&wire, "T");
    replay_wire_str(&wire, "subscription");
    for (int kind = 0; kind < FLOW_KINDS; kind++) {
        if (!serves(s->endpoint, kind))
            continue;
        const struct names *names = &s->channels[follows_trades(kind) ? FLOW_TRADE : kind];
        replay_wire_key(&wire, channel_names[kind]);
        replay_wire_array(&wire, names->n);
        for (size_t i = 0; i < names->n; i++)
            replay_wire_str(&wire, names->list[i]);
        replay_wire_array_end(&wire);
    }
    replay_wire_map_end(&wire);
    replay_wire_array_end(&wire);
    say(s, &text);
    text_finish(&text);
}

bool replay_subscriber_silenced(const struct alpaca_subscriber *s, enum flow_kind kind, const char *symbol)
{
    const struct server *server = s->alpaca->base.server;
    char name[FAULT_STREAM_MAX];
    if (server->faults->n_silences == 0)
        return false;
    int n = snprintf(name, sizeof(name), "%s:%s", channel_names[kind], symbol);
    return n > 0 && (size_t)n < sizeof(name) &&
           replay_fault_stream_silent(server->faults, replay_play_elapsed_ns(&server->play), name, (size_t)n);
}

bool replay_subscriber_wants(const struct alpaca_subscriber *s, enum flow_kind kind, const char *symbol)
{
    const struct names *names = &s->channels[follows_trades(kind) ? FLOW_TRADE : kind];
    return serves(s->endpoint, kind) && (has_name(names, symbol) || has_name(names, "*"));
}

/* Of a recording: each new subscriber of a book gets the whole one. */
static void match_recorded(struct alpaca_subscriber *s)
{
    bool any = false;
    for (int kind = 0; kind < FLOW_KINDS; kind++)
        any |= s->channels[kind].n > 0;
    memset(s->has_book, 0, sizeof(s->has_book));
    s->client->listening = any;
    replay_alpaca_run(s->alpaca, s->endpoint);
}

/* The symbols that the names stand for. */
static void match(struct alpaca_subscriber *s)
{
    const struct made *made = s->endpoint->flow.made;
    bool any = false;
    if (s->alpaca->recorded) {
        match_recorded(s);
        return;
    }
    for (int kind = 0; kind < FLOW_KINDS; kind++) {
        const struct names *names = &s->channels[follows_trades(kind) ? FLOW_TRADE : kind];
        bool all = has_name(names, "*");
        for (int i = 0; i < made->n_symbols; i++) {
            bool wants = serves(s->endpoint, kind) && made->symbols[i].class == s->endpoint->flow.class &&
                         (all || has_name(names, made->symbols[i].name));
            if (kind == FLOW_BOOK && wants && !s->wants[kind][i])
                s->has_book[i] = false;
            s->wants[kind][i] = wants;
            any |= wants;
        }
    }
    s->client->listening = any;
    replay_alpaca_run(s->alpaca, s->endpoint);
}

/* The limit of the free plan: distinct symbols of trades and quotes. */
static bool within_plan(const struct alpaca_subscriber *s)
{
    const struct names *trades = &s->channels[FLOW_TRADE], *quotes = &s->channels[FLOW_QUOTE];
    size_t n = trades->n;
    if (!s->alpaca->free_plan || s->endpoint->flow.class != MADE_STOCK)
        return true;
    for (size_t i = 0; i < quotes->n; i++)
        n += !has_name(trades, quotes->list[i]);
    return n <= SUBSCRIBER_FREE_SYMBOLS && !has_name(trades, "*") && !has_name(quotes, "*");
}

static bool copy_channels(const struct alpaca_subscriber *s, struct names copy[static FLOW_KINDS])
{
    for (int kind = 0; kind < FLOW_KINDS; kind++) {
        const struct names *from = &s->channels[kind];
        copy[kind] = (struct names){.n = from->n, .cap = from->n};
        if (from->n == 0)
            continue;
        copy[kind].list = calloc(from->n, sizeof(*from->list));
        if (!copy[kind].list)
            return false;
        memcpy(copy[kind].list, from->list, from->n * sizeof(*from->list));
    }
    return true;
}

static void free_channels(struct names channels[static FLOW_KINDS])
{
    for (int kind = 0; kind < FLOW_KINDS; kind++)
        free(channels[kind].list);
}

static int find_channel(const struct alpaca_subscriber *s, const char *name)
{
    for (int kind = 0; kind < FLOW_KINDS; kind++)
        if (strcmp(channel_names[kind], name) == 0)
            return serves(s->endpoint, kind) ? kind : -1;
    return -1;
}

/* 0 or the error's code; some may have been applied then. */
static int change_channels(struct alpaca_subscriber *s, const json_t *request, bool subscribe)
{
    const char *key;
    json_t *list;
    size_t i;
    json_t *name;
    json_object_foreach((json_t *)(uintptr_t)request, key, list)
    {
        if (!json_is_array(list))
            continue;
        int kind = find_channel(s, key);
        if (kind < 0)
            return 410;
        json_array_foreach(list, i, name)
        {
            if (!json_is_string(name) || json_string_length(name) == 0 ||
                json_string_length(name) >= SYMBOL_NAME_MAX)
                return 400;
            if (follows_trades(kind))
                continue;
            if (!subscribe)
                remove_name(&s->channels[kind], json_string_value(name));
            else if (!add_name(&s->channels[kind], json_string_value(name)))
                return s->channels[kind].n >= SUBSCRIBER_NAMES_MAX ? 405 : 500;
        }
    }
    return within_plan(s) ? 0 : 405;
}

/* Applies all of a request, or nothing. */
static void change(struct alpaca_subscriber *s, const json_t *request, bool subscribe)
{
    struct names before[FLOW_KINDS] = {0};
    int code = copy_channels(s, before) ? change_channels(s, request, subscribe) : 500;
    if (code != 0) {
        struct names wrong[FLOW_KINDS];
        memcpy(wrong, s->channels, sizeof(wrong));
        memcpy(s->channels, before, sizeof(before));
        free_channels(wrong);
        replay_subscriber_error(s, code);
        return;
    }
    free_channels(before);
    say_subscription(s);
    match(s);
}

static bool taken(const struct alpaca_subscriber *s)
{
    for (const struct alpaca_subscriber *other = s->endpoint->subscribers; other; other = other->next)
        if (other != s && other->authenticated && !other->ends && !other->client->close_code &&
            strcmp(other->key_id, s->key_id) == 0)
            return true;
    return false;
}

static void authenticate(struct alpaca_subscriber *s, const char *id, const char *secret)
{
    if (s->authenticated) {
        replay_subscriber_error(s, 403);
        return;
    }
    if (!replay_alpaca_keys_good(s->alpaca, id, secret) || strlen(id) >= sizeof(s->key_id)) {
        replay_subscriber_error(s, 402);
        return;
    }
    strcpy(s->key_id, id);
    if (s->alpaca->refuse && s->alpaca->now_ns - s->alpaca->began_ns >= s->alpaca->refuse_after_ns) {
        replay_subscriber_error(s, s->alpaca->refuse);
    } else if (s->alpaca->free_plan && strcmp(s->endpoint->feed, "sip") == 0) {
        replay_subscriber_error(s, 409);
    } else if (taken(s)) {
        replay_subscriber_error(s, 406);
    } else {
        s->authenticated = true;
        say_success(s, "authenticated");
    }
}

struct alpaca_subscriber *replay_subscriber_create(struct alpaca *alpaca, struct replay_endpoint *endpoint,
                                                   struct client *client,
                                                   const struct replay_request *request)
{
    struct alpaca_subscriber *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    const char *type = request->headers[HEADER_CONTENT_TYPE];
    s->alpaca = alpaca;
    s->endpoint = endpoint;
    s->client = client;
    s->since_ns = uv_hrtime();
    s->msgpack = endpoint && type && strncasecmp(type, "application/msgpack", 19) == 0;
    if (!endpoint)
        return s;
    say_success(s, "connected");
    if (request->headers[HEADER_KEY] && request->headers[HEADER_SECRET])
        authenticate(s, request->headers[HEADER_KEY], request->headers[HEADER_SECRET]);
    return s;
}

void replay_subscriber_destroy(struct alpaca_subscriber *s)
{
    if (!s)
        return;
    free_channels(s->channels);
    text_finish(&s->pending);
    free(s->events.late);
    free(s);
}

void replay_subscriber_receive(struct alpaca_subscriber *s, const char *data, size_t len)
{
    if (s->ends)
        return;
    json_t *request =
        s->msgpack ? replay_msgpack_read(data, len) : json_loadb(data, len, JSON_REJECT_DUPLICATES, NULL);
    const char *action = json_string_value(json_object_get(request, "action"));
    bool subscribe = action && strcmp(action, "subscribe") == 0;
    if (action && strcmp(action, "auth") == 0) {
        const char *id = json_string_value(json_object_get(request, "key"));
        const char *secret = json_string_value(json_object_get(request, "secret"));
        authenticate(s, id ? id : "", secret ? secret : "");
    } else if (!subscribe && !(action && strcmp(action, "unsubscribe") == 0)) {
        replay_subscriber_error(s, 400);
    } else if (!s->authenticated) {
        replay_subscriber_error(s, 401);
    } else {
        change(s, request, subscribe);
    }
    json_decref(request);
}

void replay_subscriber_beat(struct alpaca_subscriber *s)
{
    if (!s->authenticated && !s->ends && uv_hrtime() - s->since_ns > SUBSCRIBER_AUTH_S * NS_PER_S)
        replay_subscriber_error(s, 404);
}

void replay_subscriber_put(struct alpaca_subscriber *s, const struct text *message)
{
    if (s->n_pending > 0 && !s->msgpack)
        text_lit(&s->pending, ",");
    text_bytes(&s->pending, message->data, message->len);
    s->n_pending++;
}

void replay_subscriber_flush(struct alpaca_subscriber *s)
{
    struct text *frame = &s->alpaca->scratch[s->msgpack];
    if (s->n_pending == 0)
        return;
    if (!s->client->paced && s->client->queued_bytes > SUBSCRIBER_QUEUE_MAX && !s->ends)
        replay_subscriber_error(s, 407);
    text_clear(frame);
    struct wire wire = wire_to(frame, s->msgpack);
    replay_wire_array(&wire, s->n_pending);
    text_bytes(frame, s->pending.data, s->pending.len);
    replay_wire_array_end(&wire);
    if (!text_ok(&s->pending))
        frame->failed = true;
    struct message *message = message_of(frame, s->msgpack);
    if (message)
        replay_server_send(s->client, message);
    else
        replay_client_close(s->client, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
    replay_message_unref(message);
    text_clear(&s->pending);
    s->n_pending = 0;
}
