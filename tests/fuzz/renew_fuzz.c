/* What two connections may bring while one replaces the other, and what they may say of themselves: a line a
 * frame; its first byte says which brings it ('0', '1'), or that a renewal begins ('b') or one of them ends
 * ('x', 'y').
 *
 *   CC=clang-14 meson setup build-fuzz -Dfuzz=true && ninja -C build-fuzz tests/fuzz/renew_fuzz
 *   build-fuzz/tests/fuzz/renew_fuzz -max_total_time=60 -max_len=4096 NEW_CORPUS tests/fuzz/corpus_renew
 */
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/renew.h"
#include "exchange/binance/shard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t given, reported;

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void on_reported(void *user, const char *data, size_t len)
{
    (void)user;
    must(len > 0 && data[0] == '{');
    reported++;
}

static void read_news(const char *frame, size_t len)
{
    struct binance_news news;
    struct json_text text;
    if (!binance_news_read(frame, len, &news))
        return;
    must(news.shutdown || news.answered || news.refused);
    if (!news.listed)
        return;
    json_enter_array(&news.list);
    while (json_element(&news.list))
        if (!json_read_string(&news.list, &text))
            break;
}

static void give(struct renew *renew, const char *line, size_t len)
{
    struct binance_identity identity;
    char *frame = malloc(len ? len : 1); /* a step past it is seen */
    memcpy(frame, line, len);
    read_news(frame, len);
    binance_is_market_data(frame, len);
    if (len > 0 && frame[0] == '{' && binance_identify(frame, len, &identity)) {
        must(identity.stream.data >= frame && identity.stream.data + identity.stream.len <= frame + len);
        given++;
        if (binance_renew_frame(renew, line[-1] == '1' ? RENEW_NEW : RENEW_OLD, &identity, frame, len) < 0)
            binance_renew_end(renew, RENEW_NEW);
    }
    free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *line = (const char *)data, *end = line + size;
    struct renew *renew = binance_renew_create(on_reported, NULL);
    given = reported = 0;
    while (renew && line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((stop ? stop : end) - line);
        if (len > 0 && *line == 'b' && !binance_renew_both(renew))
            binance_renew_begin(renew);
        else if (len > 0 && (*line == 'x' || *line == 'y'))
            binance_renew_end(renew, *line == 'x' ? RENEW_OLD : RENEW_NEW);
        else if (len > 1)
            give(renew, line + 1, len - 1);
        must(binance_renew_both(renew) || binance_renew_caught_up(renew));
        must(reported + binance_renew_doubled(renew) <= given);
        line += len + 1;
    }
    binance_renew_destroy(renew);
    return 0;
}
