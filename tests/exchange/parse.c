/* Binance's frames, whole, shuffled, cut, damaged and hostile. */
#include "exchange/binance/format.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/exchange/frames.h"
#include "tests/random.h"

static struct venue_parser *parser;
static struct market_event event;

/* The text stands at the end of an allocation of its own: a step past it is seen by AddressSanitizer. */
static int parse(const char *text, size_t len)
{
    char *own = malloc(len ? len : 1);
    memcpy(own, text, len);
    memset(&event, 0, sizeof event);
    int r = binance_parse(parser, own, len, &event);
    free(own);
    return r;
}

static int parse_text(const char *text)
{
    return parse(text, strlen(text));
}

static int parse_combined(const struct frame *frame, const int *order, int dropped, int changed,
                          const char *value, bool data_first)
{
    char data[FRAME_MAX], text[2 * FRAME_MAX];
    frame_data(frame, order, dropped, changed, value, data);
    return parse(text, frame_combined(frame->stream, data, data_first, text));
}

static void test_values(void)
{
    CHECK_INT(parse_combined(&frames[0], NULL, -1, -1, NULL, false), 0);
    CHECK_INT(event.kind, MARKET_TRADE);
    CHECK_INT(event.symbol, 1);
    CHECK_INT(event.event_ns, 1723161255343000000);
    CHECK_INT(event.trade.ts_ns, 1723161255342000000);
    CHECK_INT(event.trade.id, 3735683259);
    CHECK_INT(event.trade.first_id, 3735683259);
    CHECK_INT(event.trade.last_id, 3735683259);
    CHECK_INT(event.trade.price, 6183763000000);
    CHECK_INT(event.trade.qty, 2000000);
    CHECK(event.trade.buyer_maker);

    CHECK_INT(parse_combined(&frames[1], NULL, -1, -1, NULL, false), 0);
    CHECK_INT(event.kind, MARKET_AGG_TRADE);
    CHECK_INT(event.trade.id, 3100000000);
    CHECK_INT(event.trade.first_id, 3735683259);
    CHECK_INT(event.trade.last_id, 3735683261);
    CHECK(!event.trade.buyer_maker);

    CHECK_INT(parse_combined(&frames[2], NULL, -1, -1, NULL, false), 0);
    CHECK_INT(event.kind, MARKET_KLINE);
    CHECK_INT(event.kline.interval_ns, 60000000000);
    CHECK(!event.kline.closed);
    const struct bar *bar = &event.kline.bar;
    CHECK_INT(bar->open_ns, 1723161240000000000);
    CHECK_INT(bar->open, 6183763000000);
    CHECK_INT(bar->high, 6184001000000);
    CHECK_INT(bar->low, 6183000000000);
    CHECK_INT(bar->close, 6183800000000);
    CHECK_INT(bar->volume, 1250000000);
    CHECK(bar->quote_volume == (int128_t)7729703750000000 * 1000000 + 1);
    CHECK_INT(bar->trades, 101);
    CHECK_INT(bar->first_trade_id, 100);
    CHECK_INT(bar->last_trade_id, 200);

    CHECK_INT(parse_combined(&frames[3], NULL, -1, -1, NULL, false), 0);
    CHECK_INT(event.kind, MARKET_QUOTE);
    CHECK_INT(event.event_ns, 0);
    CHECK_INT(event.quote.update_id, 50093239212);
    CHECK_INT(event.quote.bid, 6183763000000);
    CHECK_INT(event.quote.bid_qty, 378826000);
    CHECK_INT(event.quote.ask, 6183764000000);
    CHECK_INT(event.quote.ask_qty, 154698000);

    CHECK_INT(parse_combined(&frames[4], NULL, -1, -1, NULL, false), 0);
    CHECK_INT(event.kind, MARKET_TICKER);
    CHECK_INT(event.ticker.open, 5500000000000);
    CHECK_INT(event.ticker.high, 6267307000000);
    CHECK_INT(event.ticker.low, 5472500000000);
    CHECK_INT(event.ticker.close, 6183763000000);
    CHECK(event.ticker.volume == (int128_t)1000000000000000 * 1000000 + 1);

    CHECK_INT(parse_combined(&frames[5], NULL, -1, -1, NULL, false), 0);
    CHECK_INT(event.kind, MARKET_DEPTH);
    CHECK_INT(event.depth.first_id, 50093239189);
    CHECK_INT(event.depth.last_id, 50093239202);
    CHECK_INT(event.depth.n_bids, 2);
    CHECK_INT(event.depth.n_asks, 1);
    CHECK_INT(event.depth.bids[0].price, 6173763000000);
    CHECK_INT(event.depth.bids[0].qty, 0);
    CHECK_INT(event.depth.bids[1].qty, 50000000);
    CHECK_INT(event.depth.asks[0].price, 6183764000000);
    CHECK_INT(event.depth.asks[0].qty, 154698000);
}

static void test_streams(void)
{
    static const struct {
        const char *stream;
        int frame, expected;
    } streams[] = {
        {"btcusdt@depth", 5, 0},
        {"btcusdt@depth@1000ms", 5, 0},
        {"btcusdt@depth@0ms", 5, 0},
        {"btcusdt@depth@250ms", 5, 0},
        {"btcusdt@depth@500ms", 5, 0},
        {"btcusdt@depth20@100ms", 5, 1}, /* its first levels */
        {"btcusdt@depthx", 5, 1},
        {"btcusdt@kline_1w", 2, 0},
        {"ethusdt@bookTicker", 3, -EBADMSG}, /* of another symbol than the data */
        {"solusdt@trade", 0, -ENOENT},
        {"btcusd@trade", 0, -ENOENT},
        {"btcusdtt@trade", 0, -ENOENT},
        {"@trade", 0, -ENOENT},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@trade", 0, -ENOENT},
        {"btcusdt@avgPrice", 0, 1},
        {"btcusdt@trades", 0, 1},
        {"btcusdt", 0, 1},
        {"!serverShutdown", 0, 1},
        {"!miniTicker@arr", 4, 1},
        {"btcusdt@depth20", 5, 1},
        {"", 0, 1},
        {"btcusdt@trade", 3, -EBADMSG},
        {"btcusdt@depth", 3, -EBADMSG},
        {"btcusdt@bookTicker", 5, -EBADMSG},
        {"btcusdt@aggTrade", 0, -EBADMSG},
    };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        for (int data_first = 0; data_first < 2; data_first++) {
            char data[FRAME_MAX], text[2 * FRAME_MAX];
            frame_data(&frames[streams[i].frame], NULL, -1, -1, NULL, data);
            int r = parse(text, frame_combined(streams[i].stream, data, data_first, text));
            if (r != streams[i].expected)
                printf("%s: %d\n", text, r);
            CHECK_INT(r, streams[i].expected);
        }
}

/* Keys in any order, the data before the stream's name, raw where the frame says what it is: one event. */
static void test_any_order(void)
{
    struct random random = random_seeded("exchange/parse", 11);
    for (int f = 0; f < FRAMES; f++) {
        const struct frame *frame = &frames[f];
        CHECK_INT(parse_combined(frame, NULL, -1, -1, NULL, false), 0);
        struct market_event expected = event;
        struct book_level bids[2], asks[1];
        if (frame->kind == MARKET_DEPTH) {
            memcpy(bids, event.depth.bids, sizeof bids);
            memcpy(asks, event.depth.asks, sizeof asks);
        }
        int order[FIELDS_MAX], n = frame_fields(frame);
        for (int i = 0; i < n; i++)
            order[i] = i;
        for (int round = 0; round < 300; round++) {
            for (int i = n - 1; i > 0; i--) {
                int j = (int)random_between(&random, 0, i), swap = order[i];
                order[i] = order[j];
                order[j] = swap;
            }
            if (round % 3 == 2 && frame->raw) {
                char data[FRAME_MAX];
                CHECK_INT(parse(data, frame_data(frame, order, -1, -1, NULL, data)), 0);
            } else {
                CHECK_INT(parse_combined(frame, order, -1, -1, NULL, round % 3 == 1), 0);
            }
            CHECK(memcmp(&event, &expected, sizeof event) == 0);
            if (frame->kind == MARKET_DEPTH)
                CHECK(memcmp(event.depth.bids, bids, sizeof bids) == 0 &&
                      memcmp(event.depth.asks, asks, sizeof asks) == 0);
        }
    }
}

static void test_missing_and_wrong(void)
{
    static const char *const wrong[] = {"null",
                                        "true",
                                        "{}",
                                        "[]",
                                        "\"\"",
                                        "\"x\"",
                                        "-1",
                                        "1.5",
                                        "[[\"1\"]]",
                                        "[[\"1\",\"2\"",
                                        "\"-1\"",
                                        "\"1e3\"",
                                        "99999999999999999999"};
    for (int f = 0; f < FRAMES; f++) {
        const struct frame *frame = &frames[f];
        for (int i = 0; i < frame_fields(frame); i++) {
            const struct field *field = &frame->fields[i];
            CHECK_INT(parse_combined(frame, NULL, i, -1, NULL, false), field->required ? -EBADMSG : 0);
            CHECK_INT(parse_combined(frame, NULL, i, -1, NULL, true), field->required ? -EBADMSG : 0);
            for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
                bool allowed = !field->required || /* what the type of some fields lets through */
                               (!strcmp(wrong[w], "true") && !strcmp(field->key, "m")) ||
                               (!strcmp(wrong[w], "[]") && frame->kind == MARKET_DEPTH) ||
                               (!strcmp(wrong[w], "1.5") && field->value[0] == '"');
                int r = parse_combined(frame, NULL, -1, i, wrong[w], false);
                if (!allowed && r != -EBADMSG)
                    printf("%s %s: %s gives %d\n", frame->stream, field->key, wrong[w], r);
                CHECK(r == -EBADMSG || (allowed && r == 0));
            }
        }
    }
    /* Off the scale, and beyond an int64. */
    CHECK_INT(parse_combined(&frames[0], NULL, -1, 4, "\"1.000000001\"", false), -EBADMSG);
    CHECK_INT(parse_combined(&frames[0], NULL, -1, 4, "\"1.000000010\"", false), 0);
    CHECK_INT(parse_combined(&frames[0], NULL, -1, 4, "\"100000000000\"", false), -EBADMSG);
    CHECK_INT(parse_combined(&frames[0], NULL, -1, 4, "\"0.00000000\"", false), -EBADMSG);
    CHECK_INT(parse_combined(&frames[0], NULL, -1, 8, "4102444800001", false), -EBADMSG);
    CHECK_INT(parse_combined(&frames[0], NULL, -1, 8, "172316125534200", false), -EBADMSG);
    CHECK_INT(parse_combined(&frames[1], NULL, -1, 6, "3735683262", false), -EBADMSG);  /* f > l */
    CHECK_INT(parse_combined(&frames[5], NULL, -1, 3, "50093239203", false), -EBADMSG); /* U > u */
    CHECK_INT(parse_combined(&frames[5], NULL, -1, 5, "[[\"0.00000000\",\"1.0\"]]", false), -EBADMSG);
    /* An empty side of the best quote is a zero. */
    CHECK_INT(parse_combined(&frames[3], NULL, -1, 2, "\"0.00000000\"", false), 0);
}

static void test_bars(void)
{
    static const char fields[] =
        "\"t\":1723161240000,\"i\":\"%s\",\"f\":%s,\"L\":%s,\"o\":\"%s\",\"c\":\"%s\","
        "\"h\":\"%s\",\"l\":\"%s\",\"v\":\"1\",\"n\":%s,\"x\":true,\"q\":\"1\"";
    static const struct {
        const char *v[8];
        int expected;
    } bars[] = {
        {{"1m", "1", "2", "5", "6", "7", "4", "2"}, 0},
        {{"1w", "-1", "-1", "5", "5", "5", "5", "0"}, 0}, /* no trades */
        {{"1M", "1", "2", "5", "6", "7", "4", "2"}, -EBADMSG},
        {{"1minutes", "1", "2", "5", "6", "7", "4", "2"}, -EBADMSG},
        {{"", "1", "2", "5", "6", "7", "4", "2"}, -EBADMSG},
        {{"1m", "1", "2", "8", "6", "7", "4", "2"}, -EBADMSG}, /* open above high */
        {{"1m", "1", "2", "3", "6", "7", "4", "2"}, -EBADMSG},
        {{"1m", "1", "2", "5", "8", "7", "4", "2"}, -EBADMSG},
        {{"1m", "1", "2", "5", "3", "7", "4", "2"}, -EBADMSG},
        {{"1m", "1", "2", "5", "6", "4", "7", "2"}, -EBADMSG},
        {{"1m", "1", "2", "5", "6", "7", "4", "-2"}, -EBADMSG},
    };
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
        char bar[512], text[1024];
        const char *const *v = bars[i].v;
        snprintf(bar, sizeof bar, fields, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
        snprintf(text, sizeof text, "{\"stream\":\"btcusdt@kline_1m\",\"data\":{\"k\":{%s}}}", bar);
        CHECK_INT(parse_text(text), bars[i].expected);
        for (const char *comma = bar; bars[i].expected == 0 && (comma = strchr(comma, ',')) != NULL;
             comma++) {
            /* any field missing */
            const char *next = strchr(comma + 1, ',');
            snprintf(text, sizeof text, "{\"stream\":\"btcusdt@kline_1m\",\"data\":{\"k\":{%.*s%s}}}",
                     (int)(comma - bar), bar, next ? next : "");
            CHECK_INT(parse_text(text), -EBADMSG);
        }
    }
}

static void test_other_frames(void)
{
    static const struct {
        const char *text;
        int expected;
    } others[] = {
        {"{\"result\":null,\"id\":1}", 1},
        {"{\"result\":[\"btcusdt@trade\"],\"id\":3}", 1},
        {"{\"code\":2,\"msg\":\"Invalid request: missing \\\"method\\\"\"}", 1},
        {"{\"error\":{\"code\":3,\"msg\":\"Invalid JSON\"},\"id\":null}", 1},
        {"{\"e\":\"serverShutdown\",\"E\":1770000000000}", 1},
        {"{\"stream\":\"!serverShutdown\",\"data\":{\"e\":\"serverShutdown\",\"E\":1770000000000}}", 1},
        {"{\"lastUpdateId\":5,\"bids\":[],\"asks\":[]}", 1},
        {"{\"u\":1,\"s\":\"BTCUSDT\",\"b\":\"1\",\"a\":\"1\",\"A\":\"1\"}",
         1}, /* raw: the kind is ambiguous */
        {"{\"e\":\"trade\"}", -ENOENT},
        {"{\"e\":\"trade\",\"s\":\"SOLUSDT\"}", -ENOENT},
        {"{\"e\":\"trade\",\"s\":\"BTCUSDT\"}", -EBADMSG},
        {"{\"e\":\"trade\",\"s\":7}", -ENOENT},
        {"{\"e\":7}", 1},
        {"{}", 1},
        {" {} ", 1},
        {"{\"stream\":\"btcusdt@trade\"}", -EBADMSG},
        {"{\"stream\":\"btcusdt@trade\",\"data\":null}", -EBADMSG},
        {"{\"stream\":\"btcusdt@trade\",\"data\":[]}", -EBADMSG},
        {"{\"stream\":7,\"data\":{}}", -EBADMSG},
        {"{\"data\":{\"e\":\"trade\"}}", 1},
        {"", -EBADMSG},
        {"[]", -EBADMSG},
        {"null", -EBADMSG},
        {"\"stream\"", -EBADMSG},
        {"{\"result\":null,\"id\":1}x", -EBADMSG},
        {"{\"result\":null,\"id\":1", -EBADMSG},
        {"ping", -EBADMSG},
        {"\xff\xfe\x00", -EBADMSG},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        int r = parse_text(others[i].text);
        if (r != others[i].expected)
            printf("%s: %d\n", others[i].text, r);
        CHECK_INT(r, others[i].expected);
    }
}

static void test_large(void)
{
    size_t cap = 16400 * 12 + 8 * 1024 * 1024;
    char *text = malloc(cap);
    for (int levels = 16384; levels <= 16385; levels++) {
        size_t len =
            (size_t)sprintf(text, "{\"stream\":\"btcusdt@depth\",\"data\":{\"U\":1,\"u\":2,\"a\":[],\"b\":[");
        for (int i = 0; i < levels; i++)
            len += (size_t)sprintf(text + len, "%s[\"%d\",\"1\"]", i ? "," : "", i + 1);
        len += (size_t)sprintf(text + len, "]}}");
        CHECK_INT(parse(text, len), levels <= 16384 ? 0 : -EBADMSG);
        if (levels == 16384)
            CHECK_INT(event.depth.bids[16383].price, 16384 * INT64_C(100000000));
    }
    /* 8 MB of brackets, of a string, of a number, of keys. */
    static const char *const begins[] = {"{\"x\":", "{\"x\":\"", "{\"x\":1",
                                         "{\"stream\":\"btcusdt@depth\",\"data\":["};
    static const char fills[] = "[a1[";
    for (int i = 0; i < 4; i++) {
        size_t len = (size_t)sprintf(text, "%s", begins[i]);
        memset(text + len, fills[i], 8 * 1024 * 1024);
        CHECK_INT(parse(text, len + 8 * 1024 * 1024), -EBADMSG);
    }
    free(text);
}

static void test_damaged(void)
{
    char data[FRAME_MAX], text[2 * FRAME_MAX], damaged[2 * FRAME_MAX];
    for (int f = 0; f < FRAMES; f++)
        for (int way = 0; way < 3; way++) {
            size_t len = frame_data(&frames[f], NULL, -1, -1, NULL, data);
            if (way == 2)
                memcpy(text, data, len);
            else
                len = frame_combined(frames[f].stream, data, way == 1, text);
            for (size_t cut = 0; cut < len; cut++)
                CHECK_INT(parse(text, cut), -EBADMSG);
            for (size_t i = 0; i < len; i++)
                for (int byte = 0; byte < 256; byte += f % 2 ? 1 : 3) {
                    memcpy(damaged, text, len);
                    damaged[i] = (char)byte;
                    int r = parse(damaged, len);
                    CHECK(r == 0 || r == 1 || r == -EBADMSG || r == -ENOENT);
                    if (r == 0) {
                        CHECK(event.symbol >= 0 && event.symbol < 2 && event.kind < MARKET_KINDS);
                        CHECK(event.event_ns >= 0);
                    }
                }
        }
}

/* Times in microseconds, futures' fields, raw frames without a type. */
static void test_variants(void)
{
    CHECK_INT(parse_combined(&frames[0], NULL, -1, 8, "1723161255342123", false), 0);
    CHECK_INT(event.trade.ts_ns, 1723161255342123000);
    CHECK_INT(
        parse_text(
            "{\"stream\":\"btcusdt@kline_1m\",\"data\":{\"e\":\"kline\",\"E\":1723161255342123,"
            "\"s\":\"BTCUSDT\",\"k\":{\"t\":1723161240000000,\"T\":1723161299999999,\"s\":\"BTCUSDT\","
            "\"i\":\"1m\",\"f\":-1,\"L\":-1,\"o\":\"1\",\"c\":\"1\",\"h\":\"1\",\"l\":\"1\",\"v\":\"0\","
            "\"n\":0,\"x\":false,\"q\":\"0\",\"V\":\"0\",\"Q\":\"0\",\"B\":\"0\"}}}"),
        0);
    CHECK_INT(event.event_ns, 1723161255342123000);
    CHECK_INT(event.kline.bar.open_ns, 1723161240000000000);
    static const char *const lies[] = {"4102444800001", "999999999999999", "4102444800000001"};
    for (size_t i = 0; i < 3; i++)
        CHECK_INT(parse_combined(&frames[0], NULL, -1, 8, lies[i], false), -EBADMSG);

    /* A difference that names the one before it: its U may lie beyond ids that touched no level. */
    static const char depth[] = "{\"e\":\"depthUpdate\",\"E\":1723161255343,\"T\":1723161255342,\"s\":"
                                "\"BTCUSDT\",\"U\":207,\"u\":210,"
                                "\"pu\":200,\"b\":[[\"1\",\"2\"]],\"a\":[]}";
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s%s", i == 0 ? "{\"stream\":\"btcusdt@depth@100ms\",\"data\":" : "",
                 depth, i == 0 ? "}" : "");
        CHECK_INT(parse_text(text), 0);
        CHECK_INT(event.depth.first_id, 201);
        CHECK_INT(event.depth.last_id, 210);
        *strstr(text, "200") = '3'; /* after what it follows */
        CHECK_INT(parse_text(text), -EBADMSG);
    }
    static const char *const quotes[] = {
        "{\"stream\":\"btcusdt@bookTicker\",\"data\":{\"e\":\"bookTicker\",\"u\":7,\"E\":1723161255343,"
        "\"T\":1723161255342,\"s\":\"BTCUSDT\",\"b\":\"1\",\"B\":\"2\",\"a\":\"3\",\"A\":\"4\"}}",
        "{\"e\":\"bookTicker\",\"u\":7,\"E\":1723161255343,\"T\":1723161255342,\"s\":\"BTCUSDT\",\"b\":\"1\","
        "\"B\":\"2\",\"a\":\"3\",\"A\":\"4\"}",
        "{\"u\":7,\"s\":\"BTCUSDT\",\"b\":\"1\",\"B\":\"2\",\"a\":\"3\",\"A\":\"4\"}",
    };
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(parse_text(quotes[i]), 0);
        CHECK_INT(event.kind, MARKET_QUOTE);
        CHECK_INT(event.event_ns, i < 2 ? 1723161255343000000 : 0);
        CHECK_INT(event.quote.update_id, 7);
        CHECK_INT(event.quote.bid_qty, 200000000);
        CHECK_INT(event.quote.ask, 300000000);
    }
    CHECK_INT(parse_text("{\"u\":7,\"s\":\"BTCUSDT\",\"b\":\"1\",\"B\":\"2\",\"a\":\"3\"}"), -EBADMSG);
    CHECK_INT(parse_text("{\"u\":7,\"s\":\"SOLUSDT\",\"b\":\"1\",\"B\":\"2\",\"a\":\"3\",\"A\":\"4\"}"),
              -ENOENT);
    CHECK_INT(parse_text("{\"u\":7,\"s\":\"BTCUSDT\"}"), 1);

    /* A crossed quote is refused; an empty side is no cross, nor are equal prices. */
    CHECK_INT(parse_text("{\"u\":7,\"s\":\"BTCUSDT\",\"b\":\"3.1\",\"B\":\"2\",\"a\":\"3\",\"A\":\"4\"}"),
              -EBADMSG);
    CHECK_INT(parse_text("{\"u\":7,\"s\":\"BTCUSDT\",\"b\":\"3\",\"B\":\"2\",\"a\":\"3\",\"A\":\"4\"}"), 0);
    CHECK_INT(parse_text("{\"u\":7,\"s\":\"BTCUSDT\",\"b\":\"3\",\"B\":\"2\",\"a\":\"0\",\"A\":\"0\"}"), 0);

    /* Futures say of what was no trade in the market that its price is not available. */
    static const struct {
        const char *fields;
        int expected;
    } trades[] = {
        {"\"p\":\"0\",\"q\":\"0\",\"X\":\"NA\"", 1},
        {"\"X\":\"NA\",\"p\":\"0\",\"q\":\"0.000\"", 1},
        {"\"p\":\"0\",\"q\":\"0\",\"X\":\"MARKET\"", -EBADMSG},
        {"\"p\":\"0\",\"q\":\"1\",\"X\":\"NA\"", -EBADMSG},
        {"\"p\":\"0\",\"q\":\"0\"", -EBADMSG},
        {"\"p\":\"5\",\"q\":\"1\",\"X\":\"MARKET\"", 0},
        {"\"p\":\"5\",\"q\":\"1\",\"X\":7", 0},
    };
    for (size_t i = 0; i < sizeof trades / sizeof *trades; i++)
        for (int raw = 0; raw < 2; raw++) {
            char text[512];
            snprintf(
                text, sizeof text,
                "%s{\"e\":\"trade\",\"E\":1723161255343,\"T\":1723161255342,\"s\":\"BTCUSDT\",\"t\":9,%s,"
                "\"m\":true}%s",
                raw ? "" : "{\"stream\":\"btcusdt@trade\",\"data\":", trades[i].fields, raw ? "" : "}");
            CHECK_INT(parse_text(text), trades[i].expected);
        }

    /* Without the field that only spot has, and with some that are unknown. */
    CHECK_INT(parse_text("{\"stream\":\"btcusdt@aggTrade\",\"data\":{\"e\":\"aggTrade\",\"E\":1723161255343,"
                         "\"a\":5,\"s\":\"BTCUSDT\",\"p\":\"1\",\"q\":\"2\",\"nq\":\"2\",\"f\":8,\"l\":9,"
                         "\"T\":1723161255342,\"m\":true,\"new\":{\"x\":[1,null]}}}"),
              0);
    CHECK_INT(event.trade.last_id, 9);
}

static void test_tables(void)
{
    struct venue_parser *other = NULL;
    struct symbol twice[] = {frame_symbols[0], frame_symbols[1], frame_symbols[0]};
    CHECK_INT(binance_parser_create(twice, 3, &other), -EINVAL);
    CHECK(!other);
    static struct symbol many[SYMBOLS_MAX + 1];
    for (int i = 0; i <= SYMBOLS_MAX; i++) {
        many[i] = frame_symbols[0];
        snprintf(many[i].name, sizeof many[i].name, "A%dUSDT", i * 7919);
    }
    CHECK_INT(binance_parser_create(many, SYMBOLS_MAX + 1, &other), -EINVAL);
    CHECK_INT(binance_parser_create(many, 1, &other), 0);
    CHECK_INT(binance_parser_grow(other, SYMBOLS_MAX + 1), -EINVAL);
    many[3] = many[1];
    CHECK_INT(binance_parser_grow(other, 4), -EINVAL);
    snprintf(many[3].name, sizeof many[3].name, "A%dUSDT", 3 * 7919);
    CHECK_INT(binance_parser_grow(other, 4), 0);
    CHECK_INT(binance_parser_grow(other, 3), -EINVAL);
    CHECK_INT(binance_parser_grow(other, SYMBOLS_MAX), 0);
    struct venue_parser *first = parser;
    parser = other;
    for (int i = 0; i < SYMBOLS_MAX; i++) {
        char text[256];
        snprintf(
            text, sizeof text,
            "{\"stream\":\"a%dusdt@bookTicker\",\"data\":{\"u\":1,\"s\":\"A%dUSDT\",\"b\":\"1\",\"B\":\"1\","
            "\"a\":\"1\",\"A\":\"1\"}}",
            i * 7919, i * 7919);
        CHECK_INT(parse_text(text), 0);
        CHECK_INT(event.symbol, i);
    }
    parser = first;
    binance_parser_destroy(other);
    binance_parser_destroy(NULL);
}

int main(void)
{
    if (binance_parser_create(frame_symbols, 2, &parser) < 0)
        return EXIT_FAILURE;
    test_values();
    test_streams();
    test_any_order();
    test_missing_and_wrong();
    test_bars();
    test_other_frames();
    test_large();
    test_damaged();
    test_variants();
    test_tables();
    binance_parser_destroy(parser);
    return check_done("exchange/parse");
}
