#include "exchange/binance/shard.h"

#include <string.h>

bool binance_is_market_data(const char *frame, size_t len)
{
    static const char start[] = "{\"stream\":\""; /* as the venue writes it: no need to read on */
    if (len >= sizeof(start) && memcmp(frame, start, sizeof(start) - 1) == 0)
        return frame[sizeof(start) - 1] != '!' && frame[sizeof(start) - 1] != '"';
    struct json json;
    struct json_text key, stream;
    json_init(&json, frame, len);
    if (json_peek(&json) != '{')
        return false;
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        if (json_is(key, "stream"))
            return json_peek(&json) == '"' && json_read_string(&json, &stream) && stream.len > 0 &&
                   *stream.data != '!';
        if (!json_skip(&json))
            return false;
    }
    return false;
}

/* {"e":"serverShutdown","E":1770123456789}, bare or as the data of a stream. */
static bool is_shutdown(struct json json)
{
    struct json_text key, type;
    if (json_peek(&json) != '{')
        return false;
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        if (json_is(key, "e") && json_peek(&json) == '"')
            return json_read_string(&json, &type) && json_is(type, "serverShutdown");
        if (!json_skip(&json))
            return false;
    }
    return false;
}

bool binance_news_read(const char *frame, size_t len, struct binance_news *ret)
{
    struct binance_news news = {0};
    struct json json;
    struct json_text key;
    bool with_id = false, with_result = false;
    json_init(&json, frame, len);
    news.shutdown = is_shutdown(json);
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        char next = json_peek(&json);
        if (json_is(key, "data"))
            news.shutdown |= is_shutdown(json);
        news.refused |= json_is(key, "error") || (json_is(key, "code") && next == '0');
        with_result |= json_is(key, "result");
        if (json_is(key, "result") && next == '[') {
            news.listed = true;
            news.list = json;
        }
        if (json_is(key, "id") && next == '0') {
            if (!json_int(&json, &news.id))
                return false;
            with_id = true;
        } else if (!json_skip(&json)) {
            return false;
        }
    }
    news.answered = with_id && (with_result || news.refused);
    if (!json_done(&json) || !(news.shutdown || news.answered || news.refused))
        return false;
    *ret = news;
    return true;
}
