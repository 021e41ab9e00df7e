#include "exchange/replay/alpaca/subscriber.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "exchange/replay/serve.h"

#define NS_PER_S 1000000000ull

static void say_text(struct alpaca_subscriber *trader, const char *text)
{
    struct message *message = text ? replay_message_new(LWS_WRITE_BINARY, strlen(text)) : NULL;
    if (!message) {
        replay_client_close(trader->client, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
        return;
    }
    memcpy(message_text(message), text, strlen(text));
    replay_client_push(trader->client, message);
    replay_message_unref(message);
}

static void say(struct alpaca_subscriber *trader, json_t *answer)
{
    char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
    say_text(trader, text);
    free(text);
    json_decref(answer);
}

static void say_authorization(struct alpaca_subscriber *trader, const char *action, bool good)
{
    say(trader, json_pack("{s:s,s:{s:s,s:s}}", "stream", "authorization", "data", "action", action, "status",
                          good ? "authorized" : "unauthorized"));
}

/* {"action":"auth","key":…,"secret":…}, or the older {"action":"authenticate","data":{"key_id":…,
 * "secret_key":…}}. */
static void authenticate(struct alpaca_subscriber *trader, const char *action, const json_t *request)
{
    bool older = strcmp(action, "authenticate") == 0;
    const json_t *from = older ? json_object_get(request, "data") : request;
    const char *id = json_string_value(json_object_get(from, older ? "key_id" : "key"));
    const char *secret = json_string_value(json_object_get(from, older ? "secret_key" : "secret"));
    bool good = replay_alpaca_keys_good(trader->alpaca, id ? id : "", secret ? secret : "");
    say_authorization(trader, action, good);
    trader->authenticated = good;
    snprintf(trader->key_id, sizeof(trader->key_id), "%s", good ? id : "");
    if (!good) {
        trader->ends = true;
        replay_client_end(trader->client, LWS_CLOSE_STATUS_NORMAL, "");
    }
}

static void listen_to(struct alpaca_subscriber *trader, const json_t *request)
{
    json_t *asked = json_object_get(json_object_get(request, "data"), "streams"), *accepted = json_array(),
           *name;
    size_t i;
    json_array_foreach(asked, i, name)
    {
        if (json_is_string(name) && strcmp(json_string_value(name), "trade_updates") == 0 &&
            json_array_size(accepted) == 0)
            json_array_append(accepted, name);
    }
    bool updates = trader->updates = json_array_size(accepted) > 0;
    say(trader, json_pack("{s:s,s:{s:o}}", "stream", "listening", "data", "streams", accepted));
    for (size_t at = 0; updates && at < trader->alpaca->updates.n; at++)
        say_text(trader, trader->alpaca->updates.frames[at]);
}

void replay_trader_receive(struct alpaca_subscriber *trader, const char *data, size_t len)
{
    json_t *request = json_loadb(data, len, JSON_REJECT_DUPLICATES, NULL);
    const char *action = json_string_value(json_object_get(request, "action"));
    if (trader->ends)
        action = NULL;
    else if (!action)
        say(trader, json_pack("{s:s,s:{s:s}}", "stream", "error", "data", "message", "invalid syntax"));
    if (action && (strcmp(action, "auth") == 0 || strcmp(action, "authenticate") == 0))
        authenticate(trader, action, request);
    else if (action && !trader->authenticated)
        say_authorization(trader, action, false);
    else if (action && strcmp(action, "listen") == 0)
        listen_to(trader, request);
    else if (action)
        say(trader, json_pack("{s:s,s:{s:s}}", "stream", "error", "data", "message", "unknown action"));
    json_decref(request);
}

static void say_event(void *user, const char *text)
{
    say_text(user, text);
}

void replay_trader_update(struct alpaca *alpaca, const char *key, json_t *data)
{
    json_t *frame = data ? json_pack("{s:s,s:o}", "stream", "trade_updates", "data", data) : NULL;
    for (struct alpaca_subscriber *trader = alpaca->traders; frame && trader; trader = trader->next)
        if (trader->updates && strcmp(trader->key_id, key) == 0)
            replay_broker_event(&trader->events, alpaca->base.server->faults, json_dumps(frame, JSON_COMPACT),
                                say_event, trader);
    json_decref(frame);
}

void replay_trader_beat(struct alpaca_subscriber *trader)
{
    if (!trader->authenticated && !trader->ends &&
        uv_hrtime() - trader->since_ns > SUBSCRIBER_AUTH_S * NS_PER_S) {
        say_authorization(trader, "auth", false);
        trader->ends = true;
        replay_client_end(trader->client, LWS_CLOSE_STATUS_NORMAL, "");
    }
    if (trader->authenticated && !trader->ends && replay_alpaca_revoked(trader->alpaca, trader->key_id)) {
        trader->ends = true;
        replay_client_end(trader->client, LWS_CLOSE_STATUS_NORMAL, "");
    }
}
