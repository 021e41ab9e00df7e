#include "exchange/binance/renew.h"

#include <string.h>

static uint64_t hash_bytes(const char *data, size_t len)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)data[i]) * 1099511628211u;
    return hash ? hash : 1;
}

/* The member that numbers the stream's messages; "" where only their times do. */
static const char *counted_by(struct json_text stream)
{
    const char *at = memchr(stream.data, '@', stream.len);
    if (!at)
        return "";
    struct json_text kind = {at + 1, stream.len - (size_t)(at + 1 - stream.data)};
    if (json_is(kind, "trade"))
        return "t";
    if (json_is(kind, "aggTrade"))
        return "a";
    if (json_is(kind, "depth") || (kind.len > 6 && memcmp(kind.data, "depth@", 6) == 0)) /* at any pace */
        return "u";
    return "";
}

static void identify_data(struct json data, struct binance_identity *identity)
{
    const char *start = data.p, *counter = counted_by(identity->stream);
    int64_t counted = -1, update = -1, time = -1;
    struct json_text key;
    if (json_peek(&data) == '{') {
        json_enter_object(&data);
        while (json_member(&data, &key)) {
            int64_t *into = key.len != 1            ? NULL
                            : *key.data == *counter ? &counted
                            : *key.data == 'u'      ? &update
                            : *key.data == 'E'      ? &time
                                                    : NULL;
            if (!(into && json_peek(&data) == '0' ? json_int(&data, into) : json_skip(&data)))
                break;
        }
    } else {
        json_skip(&data);
    }
    if (counted >= 0) {
        identity->id = (uint64_t)counted;
        identity->hash = 0;
        return;
    }
    identity->id = update >= 0 ? (uint64_t)update : time >= 0 ? (uint64_t)time : 0;
    identity->hash = hash_bytes(start, (size_t)(data.p - start));
}

bool binance_identify(const char *frame, size_t len, struct binance_identity *ret)
{
    struct binance_identity identity = {.stream = {NULL, 0}};
    struct json json, data = {0};
    struct json_text key;
    json_init(&json, frame, len);
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        if (json_is(key, "stream") && json_peek(&json) == '"') {
            if (!json_read_string(&json, &identity.stream))
                return false;
        } else {
            if (json_is(key, "data"))
                data = json;
            if (data.p && identity.stream.data)
                break;
            if (!json_skip(&json))
                return false;
        }
        if (data.p && identity.stream.data)
            break;
    }
    if (!data.p || identity.stream.len == 0 || *identity.stream.data == '!')
        return false;
    identify_data(data, &identity);
    *ret = identity;
    return true;
}
