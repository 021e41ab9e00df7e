#include "exchange/replay/stream.h"

#include <string.h>

static bool is(const char *text, size_t len, const char *what)
{
    return strlen(what) == len && memcmp(text, what, len) == 0;
}

enum stream_kind replay_stream_parse(const char *name, size_t len, size_t *ret_symbol_len, int *ret_interval)
{
    static const struct {
        const char *name;
        enum stream_kind kind;
    } kinds[] = {
        {"trade", STREAM_TRADE},
        {"aggTrade", STREAM_AGG_TRADE},
        {"bookTicker", STREAM_BOOK_TICKER},
        {"depth", STREAM_DEPTH},
        {"depth@1000ms", STREAM_DEPTH},
        {"depth@500ms", STREAM_DEPTH_FAST},
        {"depth@250ms", STREAM_DEPTH_FAST},
        {"depth@100ms", STREAM_DEPTH_FAST},
        {"depth@0ms", STREAM_DEPTH_FAST},
        {"miniTicker", STREAM_MINI_TICKER},
    };
    static const char kline[] = "kline_";
    const char *at = memchr(name, '@', len);
    *ret_symbol_len = at ? (size_t)(at - name) : len;
    if (!at)
        return STREAM_OTHER;
    const char *word = at + 1;
    size_t word_len = len - *ret_symbol_len - 1;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (is(word, word_len, kinds[i].name))
            return kinds[i].kind;
    if (word_len > strlen(kline) && memcmp(word, kline, strlen(kline)) == 0) {
        *ret_interval = replay_candle_interval_find(word + strlen(kline), word_len - strlen(kline));
        if (*ret_interval >= 0)
            return STREAM_KLINE;
    }
    return STREAM_OTHER;
}
