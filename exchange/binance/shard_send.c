#include "exchange/binance/shard.h"

#include <stdio.h>
#include <string.h>

#include "exchange/net/websocket.h"

void binance_shard_url(struct shard *shard, int which, char *url, size_t size)
{
    const char *suffix = shard->config->suffix;
    size_t end = size - strlen(suffix);
    size_t len = (size_t)snprintf(url, end, "%s/stream?streams=", shard->config->base);
    bool first = true;
    for (size_t i = 0; i < shard->n; i++) {
        struct binance_name *name = shard->names[i];
        if (!name->wanted || len + 1 + strlen(name->text) >= end)
            continue;
        len += (size_t)snprintf(url + len, end - len, first ? "%s" : "/%s", name->text);
        name->on[which] = true;
        first = false;
    }
    memcpy(url + len, suffix, strlen(suffix) + 1);
}

/* {"method":"SUBSCRIBE","params":["a","b"],"id":1}: the next names that are wanted and not asked for, or with
 * UNSUBSCRIBE those that were. False: there are none, or it cannot be sent now. */
static bool send_names(struct shard *shard, int which, bool wanted)
{
    struct connection *connection = &shard->connections[which];
    struct binance_name *sent[SHARD_REQUEST_NAMES];
    char text[64 + SHARD_REQUEST_NAMES * (VENUE_STREAM_NAME_MAX + 3)];
    size_t n = 0;
    size_t len = (size_t)snprintf(text, sizeof(text), "{\"method\":\"%s\",\"params\":[",
                                  wanted ? "SUBSCRIBE" : "UNSUBSCRIBE");
    for (size_t i = 0; i < shard->n && n < SHARD_REQUEST_NAMES; i++) {
        struct binance_name *name = shard->names[i];
        if (name->wanted != wanted || name->on[which] == wanted)
            continue;
        len += (size_t)snprintf(text + len, sizeof(text) - len, n > 0 ? ",\"%s\"" : "\"%s\"", name->text);
        sent[n++] = name;
    }
    len += (size_t)snprintf(text + len, sizeof(text) - len, "],\"id\":%lld}", (long long)++shard->request_id);
    if (n == 0 || websocket_send(connection->websocket, text, len) < 0)
        return false;
    for (size_t i = 0; i < n; i++)
        sent[i]->on[which] = wanted;
    connection->unanswered++;
    return true;
}

static bool send_list(struct connection *connection)
{
    struct shard *shard = connection->shard;
    char text[80];
    int len = snprintf(text, sizeof(text), "{\"method\":\"LIST_SUBSCRIPTIONS\",\"id\":%lld}",
                       (long long)++shard->request_id);
    if (websocket_send(connection->websocket, text, (size_t)len) < 0)
        return false;
    shard->list_wanted = false;
    shard->list_id = shard->request_id;
    connection->unanswered++;
    return true;
}

int64_t binance_shard_send(struct shard *shard, int which, int64_t now_ms)
{
    struct connection *connection = &shard->connections[which];
    bool current = which == shard->current;
    if (!connection->opened ||
        !(connection->unsettled || connection->pinging || (current && shard->list_wanted)))
        return INT64_MAX;
    if (now_ms < connection->send_ms)
        return connection->send_ms;
    bool sent = false;
    if (connection->unsettled) {
        sent = send_names(shard, which, true) || send_names(shard, which, false);
        connection->unsettled = sent;
    }
    if (!sent && connection->pinging && websocket_ping(connection->websocket) == 0) {
        sent = connection->pinged = true;
        connection->pinging = false;
    }
    if (!sent && current && shard->list_wanted)
        sent = send_list(connection);
    if (sent)
        shard->config->status->sent++;
    connection->send_ms = now_ms + SHARD_SEND_EVERY_MS;
    return connection->send_ms;
}
