#include "exchange/replay/recording.h"

#include <errno.h>
#include <string.h>

#define NS_PER_MS 1000000LL

static bool holds(struct json_text text, const char *what)
{
    return text.len > 0 && memmem(text.data, text.len, what, strlen(what)) != NULL;
}

enum reply_kind replay_reply_kind(struct json_text url)
{
    if (holds(url, "/klines?"))
        return REPLY_KLINES;
    return holds(url, "/exchangeInfo") ? REPLY_INFO : REPLY_OTHER;
}

struct json_text replay_reply_argument(struct json_text url, const char *name)
{
    const char *end = url.data + url.len;
    const char *at = url.len > 0 ? memchr(url.data, '?', url.len) : NULL;
    size_t len = strlen(name);
    while (at && at < end) {
        at++;
        const char *next = memchr(at, '&', (size_t)(end - at));
        const char *stop = next ? next : end;
        if ((size_t)(stop - at) > len && memcmp(at, name, len) == 0 && at[len] == '=')
            return (struct json_text){at + len + 1, (size_t)(stop - at) - len - 1};
        at = next;
    }
    return (struct json_text){0};
}

static bool read_ms(struct json *json, int64_t *ret_ns)
{
    int64_t ms;
    if (!json_int(json, &ms) || ms < 0 || ms > INT64_MAX / NS_PER_MS)
        return false;
    *ret_ns = ms * NS_PER_MS;
    return true;
}

static bool read_sum(struct json *json, int scale, int128_t *ret)
{
    struct json_text text;
    return json_read_string(json, &text) && decimal_parse128(text.data, text.len, scale, ret) == 0;
}

/* [open time, open, high, low, close, volume, close time, quote volume, trades, taker's volume, taker's quote
 * volume, unused] */
static bool read_row(struct json *json, struct candle *row, int64_t *ret_close_ns)
{
    struct candle k = {.first_id = -1, .last_id = -1};
    int64_t close_ns;
    bool ok = json_enter_array(json) && json_element(json) && read_ms(json, &k.open_ns) &&
              json_element(json) && json_decimal(json, 8, &k.open) && json_element(json) &&
              json_decimal(json, 8, &k.high) && json_element(json) && json_decimal(json, 8, &k.low) &&
              json_element(json) && json_decimal(json, 8, &k.close) && json_element(json) &&
              read_sum(json, 8, &k.volume) && json_element(json) && read_ms(json, &close_ns) &&
              json_element(json) && read_sum(json, 16, &k.quote_volume) && json_element(json) &&
              json_int(json, &k.trades) && json_element(json) && read_sum(json, 8, &k.taker_volume) &&
              json_element(json) && read_sum(json, 16, &k.taker_quote_volume);
    while (ok && json_element(json))
        ok = json_skip(json);
    if (!ok)
        return false;
    *row = k;
    *ret_close_ns = close_ns;
    return true;
}

int replay_reply_klines(struct json_text body,
                        int (*each)(void *ctx, const struct candle *row, int64_t close_ns), void *ctx)
{
    struct json json;
    json_init(&json, body.data, body.len);
    if (!json_enter_array(&json))
        return -EINVAL;
    while (json_element(&json)) {
        struct candle row;
        int64_t close_ns;
        int rc = read_row(&json, &row, &close_ns) ? each(ctx, &row, close_ns) : -EINVAL;
        if (rc < 0)
            return rc;
    }
    return json_done(&json) ? 0 : -EINVAL;
}

/* Is the next object the symbol's? It is read to its end. */
static bool read_symbol(struct json *json, const char *name)
{
    struct json_text key, found = {0};
    json_enter_object(json);
    while (json_member(json, &key)) {
        if (json_is(key, "symbol"))
            json_read_string(json, &found);
        else
            json_skip(json);
    }
    return json_text_is(found, name);
}

struct json_text replay_reply_symbol(struct json_text body, const char *name)
{
    struct json json;
    struct json_text key;
    json_init(&json, body.data, body.len);
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        if (!json_is(key, "symbols")) {
            json_skip(&json);
            continue;
        }
        json_enter_array(&json);
        while (json_element(&json)) {
            json_peek(&json); /* past the blanks before it */
            const char *at = json.p;
            if (read_symbol(&json, name))
                return (struct json_text){at, (size_t)(json.p - at)};
        }
    }
    return (struct json_text){0};
}
