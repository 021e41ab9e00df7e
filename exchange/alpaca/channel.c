#include "exchange/alpaca/channel.h"

#include <ctype.h>
#include <errno.h>
#include <mpack.h>
#include <stdio.h>
#include <string.h>

#include "exchange/alpaca/assets.h"
#include "exchange/alpaca/reader.h"

static const char *const names[CHANNELS] = {
    [CHANNEL_TRADES] = "trades",     [CHANNEL_QUOTES] = "quotes",    [CHANNEL_BARS] = "bars",
    [CHANNEL_DAILY] = "dailyBars",   [CHANNEL_BOOKS] = "orderbooks", [CHANNEL_UPDATED] = "updatedBars",
    [CHANNEL_STATUSES] = "statuses", [CHANNEL_BANDS] = "lulds",      [CHANNEL_IMBALANCES] = "imbalances",
};

enum {
    NAME_ROOM = SYMBOL_NAME_MAX + 8, /* of one in a request, in either encoding */
    CHANNEL_ROOM = 24,
};

static uint16_t bit(enum alpaca_channel channel)
{
    return (uint16_t)(1u << channel);
}

int alpaca_stream_name(const char *symbol, enum market_kind kind, int64_t interval_ns,
                       char ret[VENUE_STREAM_NAME_MAX])
{
    const int64_t minute_ns = 60000000000, day_ns = 1440 * minute_ns;
    enum alpaca_channel channel;
    switch (kind) {
    case MARKET_TRADE:
        channel = CHANNEL_TRADES;
        break;
    case MARKET_QUOTE:
        channel = CHANNEL_QUOTES;
        break;
    case MARKET_TICKER:
        channel = CHANNEL_DAILY;
        break;
    case MARKET_KLINE:
        if (interval_ns <= 0 || interval_ns % minute_ns != 0 || interval_ns > day_ns ||
            !bar_interval_name(interval_ns))
            return -EINVAL;
        channel = CHANNEL_BARS;
        break;
    case MARKET_DEPTH:
        if (!alpaca_is_crypto(symbol))
            return -EINVAL;
        channel = CHANNEL_BOOKS;
        break;
    default:
        return -EINVAL;
    }
    if (strlen(symbol) >= SYMBOL_NAME_MAX)
        return -ENAMETOOLONG;
    snprintf(ret, VENUE_STREAM_NAME_MAX, "%s:%s", names[channel], symbol);
    return 0;
}

static void alpaca_name_write(enum alpaca_channel channel, struct json_text symbol,
                              char ret[VENUE_STREAM_NAME_MAX])
{
    snprintf(ret, VENUE_STREAM_NAME_MAX, "%s:%.*s", names[channel],
             (int)(symbol.len < SYMBOL_NAME_MAX ? symbol.len : SYMBOL_NAME_MAX - 1), symbol.data);
}

int alpaca_name_parse(const char *name, enum alpaca_channel *ret_channel, char ret_symbol[SYMBOL_NAME_MAX])
{
    const char *colon = strchr(name, ':');
    if (!colon || !colon[1] || strlen(colon + 1) >= SYMBOL_NAME_MAX)
        return -EINVAL;
    for (const char *p = colon + 1; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("./-_*", *p))
            return -EINVAL;
    for (int channel = 0; channel < CHANNELS_ASKED; channel++) {
        if (strlen(names[channel]) != (size_t)(colon - name) ||
            memcmp(names[channel], name, (size_t)(colon - name)) != 0)
            continue;
        if (channel == CHANNEL_BOOKS && !alpaca_is_crypto(colon + 1))
            return -EINVAL;
        *ret_channel = (enum alpaca_channel)channel;
        memcpy(ret_symbol, colon + 1, strlen(colon + 1) + 1);
        return 0;
    }
    return -EINVAL;
}

/* All channels that a subscription needs: late bars come with bars, halts, bands and imbalances with a
 * stock. */
static uint16_t alpaca_channels_wanted(const struct subscription *subscription)
{
    uint16_t wanted = subscription->refused ? 0 : subscription->asked;
    if (wanted & bit(CHANNEL_BARS))
        wanted |= bit(CHANNEL_UPDATED);
    if (wanted && !subscription->bare && !alpaca_is_crypto(subscription->symbol))
        wanted |= bit(CHANNEL_STATUSES) | bit(CHANNEL_BANDS) | bit(CHANNEL_IMBALANCES);
    return wanted;
}

static void put(struct alpaca_request *request, const char *data, size_t len)
{
    if (len > sizeof(request->data) - request->len) {
        request->overflow = true;
        return;
    }
    memcpy(request->data + request->len, data, len);
    request->len += len;
}

static void put_token(struct alpaca_request *request, mpack_token_t token)
{
    char *at = request->data + request->len;
    size_t left = sizeof(request->data) - request->len;
    mpack_tokbuf_t buffer;
    mpack_tokbuf_init(&buffer);
    if (left < MPACK_MAX_TOKEN_LEN || mpack_write(&buffer, &at, &left, &token) != MPACK_OK)
        request->overflow = true;
    else
        request->len = sizeof(request->data) - left;
}

static void put_text(struct alpaca_request *request, const char *text)
{
    size_t len = strlen(text);
    if (request->packed) {
        put_token(request, mpack_pack_str((mpack_uint32_t)len));
        put(request, text, len);
        return;
    }
    put(request, "\"", 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        char escaped[8];
        if (c < 0x20 || c == '"' || c == '\\')
            put(request, escaped, (size_t)snprintf(escaped, sizeof(escaped), "\\u%04x", c));
        else
            put(request, text, 1);
    }
    put(request, "\"", 1);
}

static void begin(struct alpaca_request *request, bool packed, unsigned members, const char *action)
{
    request->packed = packed;
    request->overflow = false;
    request->len = 0;
    if (packed)
        put_token(request, mpack_pack_map(members));
    else
        put(request, "{", 1);
    put_text(request, "action");
    if (!packed)
        put(request, ":", 1);
    put_text(request, action);
}

static void put_key(struct alpaca_request *request, const char *key)
{
    if (!request->packed)
        put(request, ",", 1);
    put_text(request, key);
    if (!request->packed)
        put(request, ":", 1);
}

static void end(struct alpaca_request *request)
{
    if (!request->packed)
        put(request, "}", 1);
}

void alpaca_request_auth(struct alpaca_request *request, bool packed, const char *id, const char *secret)
{
    begin(request, packed, 3, "auth");
    put_key(request, "key");
    put_text(request, id);
    put_key(request, "secret");
    put_text(request, secret);
    end(request);
}

static void put_symbols(struct alpaca_request *request, enum alpaca_channel channel, bool add,
                        const struct subscription *list, size_t n)
{
    unsigned count = 0;
    for (int write = 0; write < 2; write++) {
        for (size_t i = 0; i < n; i++) {
            uint16_t wanted = alpaca_channels_wanted(&list[i]);
            uint16_t change = add ? wanted & ~list[i].sent : list[i].sent & ~wanted;
            if (!(change & bit(channel)))
                continue;
            if (!write) {
                count++;
                continue;
            }
            if (!request->packed && count++ > 0)
                put(request, ",", 1);
            put_text(request, list[i].symbol);
        }
        if (write)
            break;
        put_key(request, names[channel]);
        if (request->packed)
            put_token(request, mpack_pack_array(count));
        else
            put(request, "[", 1);
        count = 0;
    }
    if (!request->packed)
        put(request, "]", 1);
}

void alpaca_request_list(struct alpaca_request *request, bool packed)
{
    begin(request, packed, 2, "subscribe");
    put_symbols(request, CHANNEL_TRADES, true, NULL, 0);
    end(request);
}

bool alpaca_request_channels(struct alpaca_request *request, bool packed, bool add, struct subscription *list,
                             size_t n, size_t *at)
{
    size_t room = ALPACA_REQUEST_MAX - CHANNELS * CHANNEL_ROOM - CHANNEL_ROOM, first = *at, last;
    uint16_t all = 0;
    for (last = first; last < n; last++) {
        uint16_t wanted = alpaca_channels_wanted(&list[last]);
        uint16_t change = add ? wanted & ~list[last].sent : list[last].sent & ~wanted;
        size_t need = (size_t)__builtin_popcount(change) * NAME_ROOM;
        if (need > room)
            break;
        room -= need;
        all |= change;
    }
    *at = last;
    if (!all)
        return false;
    begin(request, packed, 1 + (unsigned)__builtin_popcount(all), add ? "subscribe" : "unsubscribe");
    for (int channel = 0; channel < CHANNELS; channel++)
        if (all & bit(channel))
            put_symbols(request, (enum alpaca_channel)channel, add, list + first, last - first);
    end(request);
    for (size_t i = first; i < last; i++) {
        uint16_t wanted = alpaca_channels_wanted(&list[i]);
        list[i].sent = add ? list[i].sent | wanted : list[i].sent & wanted;
    }
    return true;
}

/* Enters the frame's first message, if it is one of the connection's own: their types are words. */
static bool enter_notice(struct reader *reader, const char *frame, size_t len, struct json_text *ret_type)
{
    struct json_text key;
    alpaca_reader_init(reader, alpaca_reader_is_packed(frame, len), frame, len);
    if (alpaca_reader_peek(reader) == '[' &&
        (!alpaca_reader_enter_array(reader) || !alpaca_reader_element(reader)))
        return false;
    return alpaca_reader_enter_map(reader) && alpaca_reader_member(reader, &key) && json_is(key, "T") &&
           alpaca_reader_text(reader, ret_type) && ret_type->len > 1;
}

void alpaca_notice_read(const char *frame, size_t len, struct alpaca_notice *ret)
{
    struct reader reader;
    struct json_text type, key, said = {"", 0};
    int64_t code = 0;
    *ret = (struct alpaca_notice){.kind = NOTICE_NONE, .text = {"", 0}};
    if (!enter_notice(&reader, frame, len, &type))
        return;
    if (json_is(type, "subscription")) {
        ret->kind = NOTICE_SUBSCRIBED;
        return;
    }
    while (alpaca_reader_member(&reader, &key)) {
        bool ok = json_is(key, "msg")    ? alpaca_reader_text(&reader, &said)
                  : json_is(key, "code") ? alpaca_reader_int(&reader, &code)
                                         : alpaca_reader_skip(&reader);
        if (!ok)
            return;
    }
    if (json_is(type, "error"))
        *ret = (struct alpaca_notice){NOTICE_ERROR, code, said};
    else if (json_is(type, "success") && json_is(said, "connected"))
        ret->kind = NOTICE_CONNECTED;
    else if (json_is(type, "success") && json_is(said, "authenticated"))
        ret->kind = NOTICE_AUTHENTICATED;
}

int alpaca_notice_names(const char *frame, size_t len, int (*each)(void *user, const char *name), void *user)
{
    struct reader reader;
    struct json_text type, key, symbol;
    if (!enter_notice(&reader, frame, len, &type))
        return -EBADMSG;
    while (alpaca_reader_member(&reader, &key)) {
        unsigned channel = json_text_among(key, names, CHANNELS_ASKED);
        if (channel == CHANNELS_ASKED || alpaca_reader_peek(&reader) != '[') {
            if (!alpaca_reader_skip(&reader))
                return -EBADMSG;
            continue;
        }
        alpaca_reader_enter_array(&reader);
        while (alpaca_reader_element(&reader)) {
            char name[VENUE_STREAM_NAME_MAX];
            if (!alpaca_reader_text(&reader, &symbol))
                return -EBADMSG;
            alpaca_name_write((enum alpaca_channel)channel, symbol, name);
            int r = each(user, name);
            if (r != 0)
                return r;
        }
    }
    return reader_failed(&reader) ? -EBADMSG : 0;
}
