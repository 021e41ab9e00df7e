#include "exchange/replay/binance/protocol.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/replay/serve.h"

/* The venue's codes of websocket errors. */
enum { UNKNOWN_PROPERTY = 0, INVALID_VALUE = 1, INVALID_REQUEST = 2, INVALID_JSON = 3 };

static void recount(struct binance_subscriber *subscriber)
{
    subscriber->client->listening = subscriber->n_names > 0;
    replay_server_recount(subscriber->client->server);
}

/* Subscribes to one stream; names that the venue does not play are accepted and stay silent. 0; -E2BIG above
 * the venue's limit; -ENOMEM. */
static int replay_subscribe_add(struct binance_subscriber *subscriber, const char *name, size_t len)
{
    if (subscriber->n_names >= SUBSCRIBER_STREAMS_MAX)
        return -E2BIG;
    if (subscriber->n_names == subscriber->cap_names) {
        int cap = subscriber->cap_names ? subscriber->cap_names * 2 : 16;
        char **names = reallocarray(subscriber->names, (size_t)cap, sizeof(*names));
        if (!names)
            return -ENOMEM;
        subscriber->names = names;
        subscriber->cap_names = cap;
    }
    char *copy = strndup(name, len);
    if (!copy)
        return -ENOMEM;
    int rc =
        replay_tape_listen(subscriber->tape, name, len, subscriber, subscriber->combined, subscriber->unit);
    if (rc != 0) {
        free(copy);
        return rc < 0 ? rc : 0; /* already there: nothing changes */
    }
    subscriber->names[subscriber->n_names++] = copy;
    recount(subscriber);
    const struct replay_stream *stream = replay_tape_stream(subscriber->tape, name, len);
    if (stream && (stream->recorded || (stream->symbol >= 0 && stream->kind != STREAM_OTHER)))
        replay_play_start(&subscriber->client->server->play);
    return 0;
}

int replay_subscribe_list(struct binance_subscriber *subscriber, const char *names)
{
    while (*names) {
        size_t len = strcspn(names, "/");
        int rc = len > 0 ? replay_subscribe_add(subscriber, names, len) : 0;
        if (rc < 0)
            return rc;
        names += len + (names[len] == '/');
    }
    return 0;
}

void replay_subscribe_drop(struct binance_subscriber *subscriber)
{
    for (int i = 0; i < subscriber->n_names; i++) {
        replay_tape_unlisten(subscriber->tape, subscriber->names[i], strlen(subscriber->names[i]),
                             subscriber);
        free(subscriber->names[i]);
    }
    subscriber->n_names = 0;
    recount(subscriber);
}

static void remove_name(struct binance_subscriber *subscriber, const char *name)
{
    for (int i = 0; i < subscriber->n_names; i++) {
        if (strcmp(subscriber->names[i], name) != 0)
            continue;
        replay_tape_unlisten(subscriber->tape, name, strlen(name), subscriber);
        free(subscriber->names[i]);
        subscriber->names[i] = subscriber->names[--subscriber->n_names];
        recount(subscriber);
        return;
    }
}

static void say(struct binance_subscriber *subscriber, json_t *answer)
{
    char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
    if (text)
        replay_client_say(subscriber->client, text, strlen(text));
    free(text);
    json_decref(answer);
}

static void say_result(struct binance_subscriber *subscriber, json_t *id, json_t *result)
{
    say(subscriber, json_pack("{s:o,s:O}", "result", result, "id", id));
}

static void say_error(struct binance_subscriber *subscriber, json_t *id, int code, const char *msg)
{
    if (id)
        say(subscriber, json_pack("{s:i,s:s,s:O}", "code", code, "msg", msg, "id", id));
    else
        say(subscriber, json_pack("{s:i,s:s}", "code", code, "msg", msg));
}

/* SUBSCRIBE or UNSUBSCRIBE. */
static void change(struct binance_subscriber *subscriber, json_t *id, json_t *params, bool subscribe)
{
    size_t i;
    json_t *name;
    if (!json_is_array(params) || json_array_size(params) == 0) {
        say_error(subscriber, id, INVALID_REQUEST,
                  "Invalid request: params must be a non-empty array of stream names");
        return;
    }
    json_array_foreach(params, i, name)
    {
        if (!json_is_string(name) || json_string_length(name) == 0) {
            say_error(subscriber, id, INVALID_REQUEST, "Invalid request: params must be strings");
            return;
        }
    }
    /* The answer goes before the first message of a new stream, as the position moves only later. */
    json_array_foreach(params, i, name)
    {
        int rc = 0;
        if (subscribe)
            rc = replay_subscribe_add(subscriber, json_string_value(name), json_string_length(name));
        else
            remove_name(subscriber, json_string_value(name));
        if (rc < 0) {
            say_error(subscriber, id, INVALID_REQUEST,
                      rc == -E2BIG ? "Invalid request: more than 1024 streams on one connection"
                                   : "out of memory");
            return;
        }
    }
    say_result(subscriber, id, json_null());
}

static void list(struct binance_subscriber *subscriber, json_t *id)
{
    json_t *names = json_array();
    for (int i = 0; names && i < subscriber->n_names; i++)
        json_array_append_new(names, json_string(subscriber->names[i]));
    if (names)
        say_result(subscriber, id, names);
}

/* "combined" is the one property there is. */
static void property(struct binance_subscriber *subscriber, json_t *id, json_t *params, bool set)
{
    const char *name = json_string_value(json_array_get(params, 0));
    json_t *value = json_array_get(params, 1);
    if (!name || strcmp(name, "combined") != 0) {
        say_error(subscriber, id, UNKNOWN_PROPERTY, "Unknown property");
        return;
    }
    if (!set) {
        say_result(subscriber, id, json_boolean(subscriber->combined));
        return;
    }
    if (!json_is_boolean(value)) {
        say_error(subscriber, id, INVALID_VALUE, "Invalid value type: expected Boolean");
        return;
    }
    subscriber->combined = json_is_true(value);
    for (int i = 0; i < subscriber->n_names; i++) {
        size_t len = strlen(subscriber->names[i]);
        struct replay_stream *stream = replay_tape_stream(subscriber->tape, subscriber->names[i], len);
        for (size_t k = 0; stream && k < stream->n_listeners; k++)
            if (stream->listeners[k].client == subscriber)
                stream->listeners[k].combined = subscriber->combined;
    }
    say_result(subscriber, id, json_null());
}

void replay_subscribe_request(struct binance_subscriber *subscriber, const char *text, size_t len)
{
    json_error_t error;
    json_t *request = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    json_t *id = json_object_get(request, "id"), *params = json_object_get(request, "params");
    const char *method = json_string_value(json_object_get(request, "method"));
    if (!request)
        say_error(subscriber, NULL, INVALID_JSON,
                  "Invalid JSON: expected an object like {\"method\":\"SUBSCRIBE\",\"params\":[],\"id\":1}");
    else if (!json_is_object(request))
        say_error(subscriber, NULL, INVALID_REQUEST, "Invalid request: request must be an object");
    else if (!id || !(json_is_integer(id) || json_is_string(id) || json_is_null(id)))
        say_error(subscriber, NULL, INVALID_REQUEST,
                  "Invalid request: request ID must be an unsigned integer, a string or null");
    else if (!method)
        say_error(subscriber, id, INVALID_REQUEST, "Invalid request: method must be a string");
    else if (strcmp(method, "SUBSCRIBE") == 0 || strcmp(method, "UNSUBSCRIBE") == 0)
        change(subscriber, id, params, method[0] == 'S');
    else if (strcmp(method, "LIST_SUBSCRIPTIONS") == 0)
        list(subscriber, id);
    else if (strcmp(method, "SET_PROPERTY") == 0 || strcmp(method, "GET_PROPERTY") == 0)
        property(subscriber, id, params, method[0] == 'S');
    else
        say_error(subscriber, id, INVALID_REQUEST, "Invalid request: unknown method");
    json_decref(request);
}
