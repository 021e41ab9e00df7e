/* Alpaca's messages in both encodings: each value, each missing field, numbers beyond the scale, arrays, cut
 * and damaged frames, msgpack that lies about lengths; long bars from minutes. */
#include "exchange/alpaca/format.h"

#include <errno.h>

#include "exchange/market.h"
#include "tests/check.h"
#include "tests/exchange/packed.h"
#include "tests/random.h"

static const struct symbol symbols[] = {
    {.name = "AAPL", .base = "AAPL", .quote = "USD", .price_scale = 9, .qty_scale = 9, .quote_scale = 9},
    {.name = "BTC/USD", .base = "BTC", .quote = "USD", .price_scale = 9, .qty_scale = 9, .quote_scale = 9},
};

enum { EVENTS_MAX = 64 };

static struct venue_parser *parser;

struct outcome {
    int codes[EVENTS_MAX]; /* of each call */
    struct market_event events[EVENTS_MAX];
    int n;
};

/* The bytes stand at the end of an allocation of their own: a step past it is seen by AddressSanitizer. */
static struct outcome run(const void *data, size_t len)
{
    struct outcome outcome = {.n = 0};
    char *own = malloc(len ? len : 1);
    size_t pos = 0, calls = 0;
    memcpy(own, data, len);
    do {
        struct market_event event;
        memset(&event, 0xa5, sizeof event);
        int r = alpaca_parse(parser, own, len, &pos, &event);
        CHECK(r == 0 || r == 1 || r == -EBADMSG || r == -ENOENT);
        CHECK(pos <= len);
        if (outcome.n < EVENTS_MAX) {
            outcome.codes[outcome.n] = r;
            outcome.events[outcome.n++] = event;
        }
    } while (pos < len && ++calls < 20000);
    CHECK(pos == len);
    free(own);
    return outcome;
}

static void start_over(void)
{
    alpaca_parser_destroy(parser);
    CHECK_INT(alpaca_parser_create(symbols, 2, &parser), 0);
}

/* The same frame in the encoding asked for. */
static struct outcome run_as(const char *json, bool pack)
{
    static struct packed packed;
    if (!pack)
        return run(json, strlen(json));
    packed_from_json(&packed, json);
    return run(packed.data, packed.len);
}

#define TRADE \
    "{\"T\":\"t\",\"S\":\"AAPL\",\"i\":96921,\"x\":\"D\",\"p\":126.55,\"s\":1,\"t\":\"2021-02-22T15:51:44." \
    "208Z\"," \
    "\"c\":[\"@\",\"I\"],\"z\":\"C\",\"new\":{\"a\":[1,2.5,null,true]}}"
#define COIN \
    "{\"T\":\"t\",\"S\":\"BTC/" \
    "USD\",\"p\":57527.5,\"s\":1e-9,\"t\":\"2021-11-22T08:32:39.313396001Z\",\"i\":17209535," \
    "\"tks\":\"S\"}"
#define QUOTE \
    "{\"T\":\"q\",\"S\":\"AAPL\",\"bx\":\"U\",\"bp\":87.66,\"bs\":1,\"ax\":\"Q\",\"ap\":87.68,\"as\":4.25," \
    "\"c\":[\"R\"],\"z\":\"C\",\"t\":\"2021-02-22T15:51:45.335689322Z\"}"
#define BAR_OF(type, time) \
    "{\"T\":\"" type \
    "\",\"S\":\"AAPL\",\"o\":388.985,\"h\":389.13,\"l\":388.975,\"c\":389.12,\"v\":49378.5," \
    "\"t\":\"" time "\",\"n\":461,\"vw\":389.0623471234567}"
#define CORRECTION \
    "{\"T\":\"c\",\"S\":\"AAPL\",\"x\":\"M\",\"oi\":52983525033527,\"op\":39.1582,\"os\":440000,\"oc\":[\" " \
    "\",\"7\"]," \
    "\"ci\":52983525034326,\"cp\":39.1809,\"cs\":440000,\"cc\":[\" \",\"7\"],\"z\":\"A\"," \
    "\"t\":\"2023-04-06T14:25:06.542305024Z\"}"
#define CANCEL \
    "{\"T\":\"x\",\"S\":\"AAPL\",\"i\":46979771476,\"x\":\"D\",\"p\":39.1582,\"s\":1000,\"a\":\"C\",\"z\":" \
    "\"B\"," \
    "\"t\":\"2023-04-06T13:15:42.83540958Z\"}"
#define BANDS \
    "{\"T\":\"l\",\"S\":\"AAPL\",\"u\":3.24,\"d\":2.65,\"i\":\"B\",\"t\":\"2023-04-06T13:44:45." \
    "565960889Z\",\"z\":\"A\"}"
#define STATUS(code, reason) \
    "{\"T\":\"s\",\"S\":\"AAPL\",\"sc\":\"" code "\",\"sm\":\"Trading Halt\",\"rc\":\"" reason \
    "\",\"rm\":\"Volatility Trading Pause\",\"t\":\"2021-02-22T15:51:44Z\",\"z\":\"C\"}"
#define IMBALANCE \
    "{\"T\":\"i\",\"S\":\"AAPL\",\"p\":9.12,\"z\":\"C\",\"t\":\"2024-12-13T19:58:09.242138635Z\"}"
#define BOOK(reset) \
    "{\"T\":\"o\",\"S\":\"BTC/" \
    "USD\",\"t\":\"2022-06-24T08:00:14.137774336Z\",\"b\":[{\"p\":20846,\"s\":0.1902}," \
    "{\"p\":20850.5,\"s\":0}],\"a\":[{\"p\":20902,\"s\":0.0097}]" reset "}"

static void test_values(bool pack)
{
    start_over();
    struct outcome out =
        run_as("[" TRADE "," COIN "," QUOTE "," BAR_OF("b", "2021-02-22T19:15:00Z") "]", pack);
    CHECK_INT(out.n, 4);
    const struct market_event *event = out.events;
    CHECK_INT(event->kind, MARKET_TRADE);
    CHECK_INT(event->symbol, 0);
    CHECK_INT(event->event_ns, 1614009104208000000);
    CHECK_INT(event->trade.ts_ns, 1614009104208000000);
    CHECK_INT(event->trade.id, 96921);
    CHECK_INT(event->trade.first_id, 96921);
    CHECK_INT(event->trade.last_id, 96921);
    CHECK_INT(event->trade.price, 126550000000);
    CHECK_INT(event->trade.qty, 1000000000);
    CHECK(event->trade.odd && !event->trade.buyer_maker);
    event++;
    CHECK_INT(event->symbol, 1);
    CHECK_INT(event->trade.ts_ns, 1637569959313396001);
    CHECK_INT(event->trade.price, 57527500000000);
    CHECK_INT(event->trade.qty, 1);
    CHECK(event->trade.buyer_maker && !event->trade.odd);
    event++;
    CHECK_INT(event->kind, MARKET_QUOTE);
    CHECK_INT(event->event_ns, 1614009105335689322);
    CHECK_INT(event->quote.update_id, 1614009105335689);
    CHECK_INT(event->quote.bid, 87660000000);
    CHECK_INT(event->quote.bid_qty, 1000000000);
    CHECK_INT(event->quote.ask, 87680000000);
    CHECK_INT(event->quote.ask_qty, 4250000000);
    event++;
    CHECK_INT(event->kind, MARKET_KLINE);
    CHECK(event->kline.closed);
    CHECK_INT(event->kline.interval_ns, 60000000000);
    CHECK_INT(event->kline.bar.open_ns, 1614021300000000000);
    CHECK_INT(event->event_ns, 1614021360000000000);
    CHECK_INT(event->kline.bar.open, 388985000000);
    CHECK_INT(event->kline.bar.high, 389130000000);
    CHECK_INT(event->kline.bar.low, 388975000000);
    CHECK_INT(event->kline.bar.close, 389120000000);
    CHECK(event->kline.bar.volume == 49378500000000);
    CHECK_INT(event->kline.bar.trades, 461);
    CHECK_INT(event->kline.bar.first_trade_id, -1);
    CHECK(event->kline.bar.quote_volume == (int128_t)389062347123 * 49378500000000);

    out = run_as("[" BAR_OF("u", "2021-02-22T19:15:00Z") "," BAR_OF(
                     "d", "2021-02-22T05:00:00Z") "," CORRECTION "," CANCEL "," BANDS "," IMBALANCE "]",
                 pack);
    CHECK_INT(out.n, 6);
    event = out.events;
    CHECK_INT(event->kind, MARKET_REVISION);
    CHECK_INT(event->kline.bar.close, 389120000000);
    event++;
    CHECK_INT(event->kind, MARKET_TICKER);
    CHECK_INT(event->ticker.high, 389130000000);
    CHECK(event->ticker.volume == 49378500000000);
    event++;
    CHECK_INT(event->kind, MARKET_CORRECTION);
    CHECK_INT(event->correction.id, 52983525033527);
    CHECK_INT(event->correction.new_id, 52983525034326);
    CHECK_INT(event->correction.old_price, 39158200000);
    CHECK_INT(event->correction.old_qty, 440000000000000);
    CHECK_INT(event->correction.price, 39180900000);
    CHECK_INT(event->correction.qty, 440000000000000);
    CHECK_INT(event->correction.ts_ns, 1680791106542305024);
    event++;
    CHECK_INT(event->kind, MARKET_CANCEL);
    CHECK_INT(event->correction.id, 46979771476);
    CHECK_INT(event->correction.new_id, 46979771476);
    CHECK_INT(event->correction.price, 39158200000);
    CHECK_INT(event->correction.qty, 1000000000000);
    CHECK_STR(event->correction.code, "C");
    event++;
    CHECK_INT(event->kind, MARKET_BANDS);
    CHECK_INT(event->bands.up, 3240000000);
    CHECK_INT(event->bands.down, 2650000000);
    event++;
    CHECK_INT(event->kind, MARKET_IMBALANCE);
    CHECK_INT(event->imbalance_price, 9120000000);
}

/* Every sale condition on every tape: which of them make no last price, by the tapes' tables. */
static void test_conditions(bool pack)
{
    static const char odd[] = "CGHIMNPQRUVWZ3479", tapes[] = "ABCO";
    unsigned found = 0;
    for (const char *tape = tapes; *tape; tape++)
        for (char c = ' '; c <= '~'; c++) {
            char json[256];
            bool expected = strchr(odd, c) || (c == 'B' && tape < tapes + 2);
            if (c == '"' || c == '\\')
                continue;
            snprintf(json, sizeof json,
                     "[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"p\":150,\"s\":100,\"c\":[\"@\",\"%c\"],"
                     "\"z\":\"%c\",\"t\":\"2021-02-22T15:51:44Z\"}]",
                     c, *tape);
            start_over();
            struct outcome out = run_as(json, pack);
            CHECK_INT(out.codes[0], 0);
            CHECK_INT(out.events[0].kind, MARKET_TRADE);
            if (out.events[0].trade.odd != expected)
                printf("condition %c on tape %c: %s\n", c, *tape, expected ? "makes no price" : "makes one");
            CHECK_INT(out.events[0].trade.odd, expected);
            found += expected;
        }
    CHECK_INT(found, 4 * (sizeof odd - 1) + 2);
}

/* Every exchange's opening and closing prints: only the exchange's that lists the symbol are of its auction,
 * by the list of assets, or where that says nothing by the tape. */
static void test_auctions(bool pack)
{
    static const char conditions[] = "@OQ6M5T", exchanges[] = "NQPAZVDT", tapes[] = "ABCO";
    static const char *const of_tape[] = {"N", "PAZ", "Q", ""};
    unsigned found[MARKET_AUCTIONS] = {0};
    for (const char *primary = "-NQPAZV"; *primary; primary++) {
        struct symbol listed = symbols[0];
        listed.primary = *primary == '-' ? '\0' : *primary;
        alpaca_parser_destroy(parser);
        CHECK_INT(alpaca_parser_create(&listed, 1, &parser), 0);
        for (size_t i = 0; i < 4 * 7 * 8; i++) {
            char json[256], c = conditions[i % 7], exchange = exchanges[i / 7 % 8], tape = tapes[i / 56];
            bool ours =
                listed.primary ? exchange == listed.primary : strchr(of_tape[i / 56], exchange) != NULL;
            enum market_auction expected = !ours                  ? MARKET_NO_AUCTION
                                           : c == 'O' || c == 'Q' ? MARKET_OPENING
                                           : c == '6' || c == 'M' ? MARKET_CLOSING
                                                                  : MARKET_NO_AUCTION;
            snprintf(json, sizeof json,
                     "[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"x\":\"%c\",\"p\":150,\"s\":100,"
                     "\"c\":[\"@\",\"%c\"],\"z\":\"%c\",\"t\":\"2021-02-22T15:51:44Z\"}]",
                     exchange, c, tape);
            struct outcome out = run_as(json, pack);
            CHECK_INT(out.codes[0], 0);
            CHECK_INT(out.events[0].trade.auction, expected);
            CHECK_INT(out.events[0].trade.odd, c == 'Q' || c == 'M');
            found[expected]++;
        }
    }
    CHECK_INT(found[MARKET_OPENING],
              2 * (6 * 4 + 5)); /* of a listing on 4 tapes; of A, B and C without one */
    CHECK_INT(found[MARKET_CLOSING], found[MARKET_OPENING]);
    start_over();
}

static void test_book(bool pack)
{
    start_over();
    struct outcome out =
        run_as("[" BOOK("") "," BOOK(",\"r\":true") "," BOOK("") "," BOOK(",\"r\":false") "]", pack);
    CHECK_INT(out.n, 4);
    const struct market_event *event = out.events;
    const uint64_t us = 1656057614137774;
    CHECK_INT(event[0].kind, MARKET_DEPTH);
    CHECK_INT(event[0].depth.last_id, us);
    CHECK_INT(event[1].kind, MARKET_BOOK);
    CHECK_INT(event[1].depth.first_id, us + 1);
    CHECK_INT(event[1].depth.last_id, us + 1);
    CHECK_INT(event[2].kind, MARKET_DEPTH);
    CHECK_INT(event[2].depth.first_id, us + 2);
    CHECK_INT(event[2].depth.last_id, us + 2);
    CHECK_INT(event[3].depth.first_id, us + 3);
    CHECK_INT(event[3].depth.n_bids, 2);
    CHECK_INT(event[3].depth.n_asks, 1);
    CHECK_INT(event[3].depth.bids[0].price, 20846000000000);
    CHECK_INT(event[3].depth.bids[0].qty, 190200000);
    CHECK_INT(event[3].depth.bids[1].price, 20850500000000);
    CHECK_INT(event[3].depth.bids[1].qty, 0);
    CHECK_INT(event[3].depth.asks[0].qty, 9700000);
    /* A quote later than the book counts beside it; the next difference has no hole before it. */
    out = run_as("[{\"T\":\"q\",\"S\":\"BTC/"
                 "USD\",\"bp\":1,\"bs\":1,\"ap\":2,\"as\":1,\"t\":\"2022-06-24T08:00:15Z\"}," BOOK("") "]",
                 pack);
    CHECK_INT(out.events[0].quote.update_id, 1656057615000000);
    CHECK_INT(out.events[1].depth.first_id, us + 4);
    CHECK_INT(out.events[1].depth.last_id, 1656057615000000);
}

static void test_status(bool pack)
{
    static const struct {
        const char *text;
        int code;
        enum market_trading trading;
    } cases[] = {
        {STATUS("H", "T1"), 0, MARKET_HALTED}, {STATUS("P", "LUDP"), 0, MARKET_HALTED},
        {STATUS("Q", ""), 0, MARKET_HALTED},   {STATUS("T", ""), 0, MARKET_TRADES},
        {STATUS("2", "M"), 0, MARKET_HALTED},  {STATUS("3", ""), 0, MARKET_TRADES},
        {STATUS("H", "D"), 0, MARKET_ENDED},   {STATUS("5", ""), 1, MARKET_TRADES},
        {STATUS("E", ""), 1, MARKET_TRADES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome out = run_as(cases[i].text, pack); /* bare: no array */
        CHECK_INT(out.n, 1);
        CHECK_INT(out.codes[0], cases[i].code);
        if (cases[i].code != 0)
            continue;
        CHECK_INT(out.events[0].kind, MARKET_STATUS);
        CHECK_INT(out.events[0].status.trading, cases[i].trading);
        CHECK_STR(out.events[0].status.reason, "Volatility Trading Pause");
    }
    struct outcome out = run_as(STATUS("H", "T1"), pack);
    CHECK_STR(out.events[0].status.code, "H");
}

static void test_other(bool pack)
{
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        {"[]", 1},
        {"[{\"T\":\"success\",\"msg\":\"connected\"}]", 1},
        {"[{\"T\":\"subscription\",\"trades\":[\"AAPL\"],\"quotes\":[]}]", 1},
        {"[{\"T\":\"error\",\"code\":405,\"msg\":\"symbol limit exceeded\"}]", 1},
        {"[{\"T\":\"n\",\"id\":5,\"symbols\":[\"AAPL\"]}]", 1},
        {"[{\"T\":\"t\",\"S\":\"AAPLX\",\"i\":1,\"p\":1,\"s\":1,\"t\":\"2022-06-24T08:00:15Z\"}]", -ENOENT},
        {"[{\"T\":\"t\",\"i\":1,\"p\":1,\"s\":1,\"t\":\"2022-06-24T08:00:15Z\"}]", -EBADMSG},
        {"[{\"S\":\"AAPL\",\"i\":1,\"p\":1,\"s\":1,\"t\":\"2022-06-24T08:00:15Z\",\"T\":\"t\"}]", 0},
        {"[{\"S\":\"AAPL\",\"i\":1,\"p\":1,\"s\":1,\"t\":\"2022-06-24T08:00:15Z\"}]", -EBADMSG},
        {"[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"p\":0,\"s\":1,\"t\":\"2022-06-24T08:00:15Z\"}]", -EBADMSG},
        {"[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"p\":-1.5,\"s\":1,\"t\":\"2022-06-24T08:00:15Z\"}]",
         -EBADMSG},
        {"[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"p\":1,\"s\":0.0000000001,\"t\":\"2022-06-24T08:00:15Z\"}]",
         -EBADMSG},
        {"[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"p\":10000000000,\"s\":1,\"t\":\"2022-06-24T08:00:15Z\"}]",
         -EBADMSG},
        {"[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"p\":{},\"s\":1,\"t\":\"2022-06-24T08:00:15Z\"}]", -EBADMSG},
        {"[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1.5,\"p\":1,\"s\":1,\"t\":\"2022-06-24T08:00:15Z\"}]", -EBADMSG},
        {"[7]", -EBADMSG},
        {"[[]]", -EBADMSG},
        {"[{}]", -EBADMSG},
    };
    start_over();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome out = run_as(cases[i].text, pack);
        CHECK_INT(out.n, 1);
        CHECK_INT(out.codes[0], cases[i].code);
        if (out.codes[0] != cases[i].code)
            fprintf(stderr, "  case %zu%s: %s\n", i, pack ? ", msgpack" : "", cases[i].text);
    }
    /* A malformed one, and the next is read. */
    struct outcome out = run_as("[{\"T\":\"t\",\"S\":\"AAPL\",\"p\":[[1],{\"a\":2}]}," TRADE "]", pack);
    CHECK_INT(out.n, 2);
    CHECK_INT(out.codes[0], -EBADMSG);
    CHECK_INT(out.codes[1], 0);
}

static void test_json_frames(void)
{
    static const struct {
        const char *text;
        int first;
    } cases[] = {
        {"", -EBADMSG},
        {"x", -EBADMSG},
        {"[", -EBADMSG},
        {"[,]", -EBADMSG},
        {"[" TRADE, -EBADMSG},
        {"[" TRADE ",]", -EBADMSG},
        {"[" TRADE "]]", -EBADMSG},
        {" [ " TRADE " ] ", 0},
        {" [ ] ", 1},
        {"[] x", -EBADMSG},
        {"[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"p\":1,\"s\":1,\"t\":\"2022-02-29T08:00:15Z\"}]", -EBADMSG},
        {"[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"p\":1,\"s\":1,\"t\":\"2022-02-28T08:00:15\"}]", -EBADMSG},
        {"[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"p\":1,\"s\":1,\"t\":\"2022-02-28T08:00:15.Z\"}]", -EBADMSG},
        {"[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"p\":1,\"s\":1,\"t\":\"2022-02-28T03:00:15-05:00\"}]", 0},
        {"[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"p\":1.5E+2,\"s\":0e5,\"t\":\"2022-02-28T03:00:15Z\"}]", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int r = run(cases[i].text, strlen(cases[i].text)).codes[0];
        bool trailing = cases[i].text[0] == '[' && strstr(cases[i].text, ",]") && cases[i].text[1] == '{';
        CHECK(r == cases[i].first || trailing); /* there the next call has the error */
        if (r != cases[i].first && !trailing)
            fprintf(stderr, "  case %zu: %s is %d\n", i, cases[i].text, r);
    }
    CHECK_INT(run("[" TRADE ",]", strlen("[" TRADE ",]")).codes[1], -EBADMSG);
}

/* What msgpack says about lengths is believed only as far as bytes are there. */
static void test_lies(void)
{
    static const struct {
        const char *data;
        size_t len;
    } lies[] = {
        {"\xdd\xff\xff\xff\xff", 5},                /* 4 G messages */
        {"\xdd\xff\xff\xff\xff\x81\xa1T\xa1t", 10}, /* and one is there */
        {"\x91\xdf\xff\xff\xff\xff", 6},            /* 4 G members */
        {"\x91\x81\xdb\xff\xff\xff\xff", 7},        /* a key of 4 GB */
        {"\x91\x82\xa1T\xa1t\xa1S\xdb\x7f\xff\xff\xff"
         "AAPL",
         16},                                                    /* a name of 2 GB */
        {"\x91\x82\xa1T\xa1t\xa1S\xc9\xff\xff\xff\xff\xff", 13}, /* an extension of 4 GB */
        {"\x91\x82\xa1T\xa1t\xa1X\xdd\xff\xff\xff\xff\xdd\xff\xff\xff\xff", 17},
        {"\x91\x81\xa1T\xc1", 5},             /* an invalid code */
        {"\x92\x81\xa1T\xa7success", 12},     /* one too few */
        {"\x91\x81\xa1T\xa7success\x00", 13}, /* one too many */
        {"\xdc", 1},
        {"\x91", 1},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct outcome out = run(lies[i].data, lies[i].len);
        CHECK_INT(out.codes[out.n - 1], -EBADMSG);
    }
    char deep[3000];
    memset(deep, '\x91', sizeof deep);
    CHECK_INT(run(deep, sizeof deep).codes[0], -EBADMSG);
}

static const char *const everything[] = {TRADE,
                                         COIN,
                                         QUOTE,
                                         BAR_OF("b", "2021-02-22T19:15:00Z"),
                                         BAR_OF("u", "2021-02-22T19:15:00Z"),
                                         BAR_OF("d", "2021-02-22T05:00:00Z"),
                                         CORRECTION,
                                         CANCEL,
                                         BANDS,
                                         STATUS("H", "T1"),
                                         IMBALANCE,
                                         BOOK(",\"r\":true")};
enum { EVERYTHING = sizeof everything / sizeof *everything };

/* Each member left out, each given a value of another kind: the message is refused unless the member is not
 * needed. */
static void test_members(bool pack)
{
    static const char *const spare[] = {"x",  "c", "z", "new", "tks", "bx", "ax", "oc",
                                        "cc", "a", "i", "r",   "sm",  "rc", "rm"};
    unsigned refused = 0, taken = 0;
    for (int m = 0; m < EVERYTHING; m++) {
        for (int which = 2; which < 20; which++) {
            struct json json;
            struct json_text key, gone = {0};
            char text[2048];
            size_t len = 0;
            int at = 0;
            json_init(&json, everything[m], strlen(everything[m]));
            json_enter_object(&json);
            while (json_member(&json, &key)) {
                json_peek(&json);
                const char *start = json.p;
                json_skip(&json);
                if (at++ == which) {
                    gone = key;
                    continue;
                }
                len += (size_t)snprintf(text + len, sizeof text - len, "%c\"%.*s\":%.*s", len ? ',' : '{',
                                        (int)key.len, key.data, (int)(json.p - start), start);
            }
            if (!gone.data)
                break;
            char type = everything[m][6];
            bool needed = true;
            for (size_t i = 0; i < sizeof spare / sizeof *spare; i++)
                if (json_text_is(gone, spare[i]))
                    needed = (type == 't' && json_is(gone, "i")) || (type == 'x' && json_is(gone, "i")) ||
                             (type == 'o' && json_is(gone, "a")) ||
                             (strchr("bud", type) && json_is(gone, "c"));
            char without[2100], strange[2100];
            snprintf(without, sizeof without, "[%s}]", text);
            int code = run_as(without, pack).codes[0];
            CHECK_INT(code, needed ? -EBADMSG : 0);
            if (code != (needed ? -EBADMSG : 0))
                fprintf(stderr, "  without %.*s: %s\n", (int)gone.len, gone.data, without);
            snprintf(strange, sizeof strange, "[%s,\"%.*s\":false}]", text, (int)gone.len, gone.data);
            if (!json_is(gone, "t") || !pack) /* the converter makes times of it */
                CHECK_INT(run_as(strange, pack).codes[0], needed ? -EBADMSG : run_as(strange, pack).codes[0]);
            refused += needed;
            taken += !needed;
        }
    }
    CHECK(refused > 30 && taken > 15);
}

static void test_damage(struct random *random)
{
    static struct packed packed;
    char json[8192];
    size_t len = 0;
    for (int m = 0; m < EVERYTHING; m++)
        len += (size_t)snprintf(json + len, sizeof json - len, "%c%s", m ? ',' : '[', everything[m]);
    len += (size_t)snprintf(json + len, sizeof json - len, "]");
    packed_from_json(&packed, json);
    CHECK_INT(run(json, len).n, EVERYTHING);
    CHECK_INT(run(packed.data, packed.len).n, EVERYTHING);
    for (size_t cut = 0; cut < len; cut += 3)
        CHECK(run(json, cut).codes[run(json, cut).n - 1] == -EBADMSG);
    for (size_t cut = 0; cut < packed.len; cut += 3)
        CHECK(run(packed.data, cut).codes[run(packed.data, cut).n - 1] == -EBADMSG);
    for (int i = 0; i < 2000; i++) {
        char copy[8192];
        bool pack = random_chance(random, 50);
        size_t n = pack ? packed.len : len;
        memcpy(copy, pack ? (const char *)packed.data : json, n);
        for (int64_t k = random_between(random, 1, 4); k > 0; k--)
            copy[random_between(random, 0, (int64_t)n - 1)] = (char)random_next(random);
        run(copy, n);
    }
}

static struct market_event minute(int at, int64_t price, bool pack, struct outcome *ret)
{
    char text[400];
    snprintf(text, sizeof text,
             "[{\"T\":\"b\",\"S\":\"AAPL\",\"o\":%" PRId64 ",\"h\":%" PRId64 ",\"l\":%" PRId64
             ",\"c\":%" PRId64 ",\"v\":10,\"t\":\"2021-02-22T15:%02d:00Z\",\"n\":2,\"vw\":%" PRId64 "}]",
             price, price + 2, price - 2, price + 1, at, price);
    *ret = run_as(text, pack);
    return ret->events[0];
}

static void test_long_bars(bool pack)
{
    struct outcome out;
    start_over();
    run_as("[{\"T\":\"success\",\"msg\":\"connected\"}]", pack);
    minute(1, 100, pack, &out); /* the first ones are in the middle of every interval */
    CHECK_INT(out.n, 1);
    minute(2, 101, pack, &out);
    CHECK_INT(out.n, 1);
    minute(3, 102, pack, &out);
    minute(4, 103, pack, &out);
    CHECK_INT(out.n, 1); /* 5 minutes began before we looked */
    minute(5, 104, pack, &out);
    CHECK_INT(out.n, 2);
    CHECK_INT(out.events[1].kline.interval_ns, 180000000000);
    CHECK_INT(out.events[1].kline.bar.open_ns, 1614006180000000000);
    CHECK_INT(out.events[1].kline.bar.open, 102000000000);
    CHECK_INT(out.events[1].kline.bar.high, 106000000000);
    CHECK_INT(out.events[1].kline.bar.low, 100000000000);
    CHECK_INT(out.events[1].kline.bar.close, 105000000000);
    CHECK(out.events[1].kline.bar.volume == 30000000000);
    CHECK_INT(out.events[1].kline.bar.trades, 6);
    minute(7, 105, pack, &out); /* 6 and 8 have no trades: 6..9 closes with the next */
    CHECK_INT(out.n, 1);
    minute(9, 106, pack, &out);
    CHECK_INT(out.n, 3);
    CHECK_INT(out.events[1].kline.interval_ns, 180000000000);
    CHECK_INT(out.events[1].kline.bar.open, 105000000000);
    CHECK_INT(out.events[1].kline.bar.trades, 2);
    CHECK_INT(out.events[2].kline.interval_ns, 300000000000);
    CHECK_INT(out.events[2].kline.bar.open_ns, 1614006300000000000);
    CHECK_INT(out.events[2].kline.bar.open, 104000000000);
    CHECK_INT(out.events[2].kline.bar.trades, 6);
    run_as("[{\"T\":\"success\",\"msg\":\"connected\"}]", pack); /* 9..12 and 10..15 may have holes now */
    minute(11, 107, pack, &out);
    CHECK_INT(out.n, 1);
    minute(14, 108, pack, &out);
    CHECK_INT(out.n, 2);
    CHECK_INT(out.events[1].kline.interval_ns, 180000000000);
    CHECK_INT(out.events[1].kline.bar.trades, 2);
}

/* A symbol that is added while another's bar is being put together. */
static void test_growth(bool pack)
{
    static struct symbol list[40];
    struct outcome out;
    for (int i = 0; i < 40; i++) {
        list[i] = symbols[0];
        snprintf(list[i].name, sizeof list[i].name, "%s%d", i == 0 ? "AAPL" : "X", i);
    }
    list[0] = symbols[0];
    alpaca_parser_destroy(parser);
    CHECK_INT(alpaca_parser_create(list, 1, &parser), 0);
    run_as("[{\"T\":\"success\",\"msg\":\"connected\"}]", pack);
    minute(2, 100, pack, &out);
    minute(3, 101, pack, &out);
    list[2] = list[0];
    CHECK_INT(alpaca_parser_grow(parser, 3), -EINVAL);
    snprintf(list[2].name, sizeof list[2].name, "X2");
    minute(4, 102, pack, &out);
    CHECK_INT(alpaca_parser_grow(parser, 40), 0);
    CHECK_INT(alpaca_parser_grow(parser, 39), -EINVAL);
    CHECK_INT(alpaca_parser_grow(parser, SYMBOLS_MAX + 1), -EINVAL);
    minute(5, 103, pack, &out);
    CHECK_INT(out.n, 2);
    CHECK_INT(out.events[1].symbol, 0);
    CHECK_INT(out.events[1].kline.bar.open_ns, 1614006180000000000);
    CHECK_INT(out.events[1].kline.bar.trades, 6);
    out = run_as("[{\"T\":\"t\",\"S\":\"X39\",\"i\":1,\"x\":\"V\",\"p\":1,\"s\":1,\"c\":[\"@\"],\"z\":\"C\","
                 "\"t\":\"2021-02-22T15:06:00Z\"}]",
                 pack);
    CHECK_INT(out.codes[0], 0);
    CHECK_INT(out.events[0].symbol, 39);
    start_over();
}

int main(void)
{
    struct random random = random_seeded("alpaca_parse", 20261122);
    for (int pack = 0; pack < 2; pack++) {
        test_values(pack);
        test_conditions(pack);
        test_auctions(pack);
        test_book(pack);
        test_status(pack);
        test_other(pack);
        test_members(pack);
        test_long_bars(pack);
        test_growth(pack);
    }
    test_json_frames();
    test_lies();
    test_damage(&random);
    alpaca_parser_destroy(parser);
    return check_done("alpaca_parse");
}
