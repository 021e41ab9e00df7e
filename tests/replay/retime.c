/* Messages in the other unit of time: what is rendered in one unit and rewritten is what is rendered in the
 * other, byte by byte, and nothing but times changes. */
#include "exchange/replay/retime.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/replay/render.h"
#include "tests/check.h"
#include "tests/random.h"

#define NS_PER_MS 1000000LL

enum { ROUNDS = 3000 };

static struct text ms, us, out;

static void check_pair(void)
{
    CHECK(text_ok(&ms) && text_ok(&us));
    text_clear(&out);
    CHECK(replay_retime(&out, STREAM_US, ms.data, ms.len));
    CHECK(out.len == us.len && memcmp(out.data, us.data, us.len) == 0);
    text_clear(&out);
    CHECK(replay_retime(&out, STREAM_MS, us.data, us.len));
    CHECK(out.len == ms.len && memcmp(out.data, ms.data, ms.len) == 0);
    /* In the unit that it has already: as it stands. */
    text_clear(&out);
    CHECK(!replay_retime(&out, STREAM_MS, ms.data, ms.len) &&
          !replay_retime(&out, STREAM_US, us.data, us.len));
    /* Cut anywhere it is no message, and nothing is read beyond its end. */
    size_t cut = ms.len / 2;
    char *part = malloc(cut);
    CHECK(part != NULL);
    memcpy(part, ms.data, cut);
    CHECK(!replay_retime(&out, STREAM_US, part, cut));
    free(part);
}

static int64_t below(struct random *r, int64_t n)
{
    return random_between(r, 0, n - 1);
}

static void test_rendered(struct random *r)
{
    for (int i = 0; i < ROUNDS; i++) {
        int64_t event_ns = (1600000000000 + below(r, 200000000000)) * NS_PER_MS;
        struct tape_trade trade = {.event_ns = event_ns,
                                   .ts_ns = event_ns - below(r, 1000) * NS_PER_MS,
                                   .id = below(r, INT64_MAX / 2),
                                   .price = 1 + below(r, 1000000000000),
                                   .qty = 1 + below(r, 1000000000000),
                                   .buyer_maker = below(r, 2) == 0};
        struct level levels[2] = {{trade.price, trade.qty}, {trade.price + 1, 0}};
        struct candle bar = {.open_ns = event_ns - event_ns % (60000 * NS_PER_MS),
                             .open = trade.price,
                             .high = trade.price,
                             .low = trade.price,
                             .close = trade.price,
                             .volume = trade.qty,
                             .trades = 1};
        struct text *both[STREAM_UNITS] = {&ms, &us};
        for (int kind = 0; kind < 5; kind++) {
            for (int unit = 0; unit < STREAM_UNITS; unit++) {
                text_clear(both[unit]);
                if (kind == 0)
                    replay_render_trade(both[unit], unit, "BTCUSDT", &trade);
                else if (kind == 1)
                    replay_render_agg_trade(both[unit], unit, "BTCUSDT", &trade, trade.id, 1, 2, trade.qty);
                else if (kind == 2)
                    replay_render_kline(both[unit], unit, "BTCUSDT", event_ns, 1, &bar, i % 2 == 0);
                else if (kind == 3)
                    replay_render_depth(both[unit], unit, "BTCUSDT", event_ns, 1, 2, levels, 2, levels, 1);
                else
                    replay_render_mini_ticker(both[unit], unit, "BTCUSDT", event_ns, &bar);
            }
            check_pair();
        }
    }
}

/* Frames as venues write them: spot, futures and others, blanks and unknown members among them. */
static void test_written(void)
{
    static const struct {
        const char *ms, *us;
    } frames[] = {
        {"{ \"e\": \"depthUpdate\", \"E\": 1700000000123, \"T\": 1700000000120, \"s\": \"X\", \"U\": "
         "1700000000999, \"u\": 2, \"pu\": 1, \"b\": [], \"a\": [] }",
         "{ \"e\": \"depthUpdate\", \"E\": 1700000000123000, \"T\": 1700000000120000, \"s\": \"X\", \"U\": "
         "1700000000999, \"u\": 2, \"pu\": 1, \"b\": [], \"a\": [] }"},
        {"{\"e\":\"trade\",\"E\":1700000000123,\"t\":1700000000123,\"T\":1700000000001,\"new\":{\"T\":"
         "1700000000001}}",
         "{\"e\":\"trade\",\"E\":1700000000123000,\"t\":1700000000123,\"T\":1700000000001000,\"new\":{\"T\":"
         "1700000000001}}"},
        {"{\"e\":\"24hrTicker\",\"E\":1700000000123,\"c\":\"1.0\",\"O\":1699913600123,\"C\":1700000000123}",
         "{\"e\":\"24hrTicker\",\"E\":1700000000123000,\"c\":\"1.0\",\"O\":1699913600123000,\"C\":"
         "1700000000123000}"},
        {"{\"k\":{\"t\":1700000040000,\"T\":1700000099999,\"L\":1700000000000}}",
         "{\"k\":{\"t\":1700000040000000,\"T\":1700000099999999,\"L\":1700000000000}}"},
    };
    static const char *const others[] = {"",
                                         "[]",
                                         "{}",
                                         "[1700000000123]",
                                         "{\"E\":\"1700000000123\"}",
                                         "{\"E\":5}",
                                         "{\"E\":1700000000123",
                                         "{\"E\":1.7e12}",
                                         "{\"k\":3}",
                                         "null"};
    for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
        text_clear(&ms);
        text_clear(&us);
        text_str(&ms, frames[i].ms);
        text_str(&us, frames[i].us);
        check_pair();
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        for (int unit = 0; unit < STREAM_UNITS; unit++) {
            text_clear(&out);
            CHECK(!replay_retime(&out, unit, others[i], strlen(others[i])));
        }
}

static void test_moments(void)
{
    int64_t ns = -7;
    CHECK(replay_retime_ns(1700000000123, &ns) && ns == 1700000000123 * NS_PER_MS);
    CHECK(replay_retime_ns(1700000000123456, &ns) && ns == 1700000000123456000);
    CHECK(replay_retime_ns(0, &ns) && ns == 0);
    ns = -7;
    CHECK(!replay_retime_ns(-1, &ns) && !replay_retime_ns(INT64_MAX, &ns) &&
          !replay_retime_ns(99999999999999, &ns) && ns == -7);
}

int main(void)
{
    struct random r = random_seeded("replay/retime", 7);
    test_rendered(&r);
    test_written();
    test_moments();
    text_finish(&ms);
    text_finish(&us);
    text_finish(&out);
    return check_done("retime");
}
