/* REST replies: hand-written ones, each of them cut and mutated at every byte, and the recorded ones of 2021.
 */
#include <errno.h>
#include <zlib.h>

#include "exchange/binance/rest_call.h"
#include "exchange/binance/rest_parse.h"
#include "exchange/market.h"
#include "tests/check.h"

#define S 100000000LL

static const struct symbol btc = {.name = "BTCUSDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8};

/* The text in a block of exactly its size, so that a read past its end is caught. */
static char *exact(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);
    memcpy(copy, text, len);
    return copy;
}

static const char info_text[] =
    "{\"timezone\":\"UTC\",\"serverTime\":1633998511098,\"rateLimits\":["
    "{\"rateLimitType\":\"ORDERS\",\"interval\":\"SECOND\",\"intervalNum\":10,\"limit\":50},"
    "{\"rateLimitType\":\"REQUEST_WEIGHT\",\"interval\":\"MINUTE\",\"intervalNum\":1,\"limit\":6000}],"
    "\"exchangeFilters\":[],\"symbols\":["
    /* filters before the scales, types after the numbers, unknown members and filters */
    "{\"filters\":[{\"tickSize\":\"0.01000000\",\"minPrice\":\"0.01000000\",\"maxPrice\":\"1000000."
    "00000000\","
    "\"filterType\":\"PRICE_FILTER\",\"new\":{\"a\":[1,2]}},"
    "{\"filterType\":\"LOT_SIZE\",\"minQty\":\"0.00001000\",\"maxQty\":\"9000.00000000\",\"stepSize\":\"0."
    "00001000\"},"
    "{\"filterType\":\"MARKET_LOT_SIZE\",\"minQty\":\"0.00000000\",\"maxQty\":\"107.86158541\",\"stepSize\":"
    "\"0.00000000\"},"
    "{\"filterType\":\"NOTIONAL\",\"minNotional\":\"5.00000000\",\"applyMinToMarket\":true,\"maxNotional\":"
    "\"9000000.00000000\",\"applyMaxToMarket\":false,\"avgPriceMins\":5},"
    "{\"filterType\":\"PERCENT_PRICE_BY_SIDE\",\"bidMultiplierUp\":\"5\",\"bidMultiplierDown\":\"0.2\","
    "\"askMultiplierUp\":\"4.5\",\"askMultiplierDown\":\"0.3\",\"avgPriceMins\":5},"
    "{\"filterType\":\"TRAILING_DELTA\",\"minTrailingAboveDelta\":10},"
    "{\"filterType\":\"MAX_NUM_ORDERS\",\"maxNumOrders\":200}],"
    "\"symbol\":\"BTCUSDT\",\"status\":\"TRADING\",\"baseAsset\":\"BTC\",\"baseAssetPrecision\":8,"
    "\"quoteAsset\":\"USDT\",\"quotePrecision\":2,\"quoteAssetPrecision\":8,\"orderTypes\":[\"LIMIT\"],\"x\":"
    "null},"
    /* the older filters; only quotePrecision; a maximum that no int64 holds */
    "{\"symbol\":\"ETHUSDT\",\"status\":\"BREAK\",\"baseAsset\":\"ETH\",\"baseAssetPrecision\":8,"
    "\"quoteAsset\":\"USDT\","
    "\"quotePrecision\":8,\"filters\":[{\"filterType\":\"MIN_NOTIONAL\",\"minNotional\":\"10.00000000\","
    "\"applyToMarket\":true,\"avgPriceMins\":5},{\"filterType\":\"PERCENT_PRICE\",\"multiplierUp\":\"1."
    "3000\","
    "\"multiplierDown\":\"0.7\",\"avgPriceMins\":5},{\"filterType\":\"LOT_SIZE\",\"minQty\":\"1\",\"maxQty\":"
    "\"99999999999999.00000000\",\"stepSize\":\"0.5\"}]},"
    /* not ours to hold: a name too long, a scale too deep, no filters at all */
    "{\"symbol\":\"AVERYLONGNAMEOFMORETHANTWENTYFOUR\",\"status\":\"TRADING\",\"baseAsset\":\"A\","
    "\"baseAssetPrecision\":8,"
    "\"quoteAsset\":\"USDT\",\"quoteAssetPrecision\":8,\"filters\":[]},"
    "{\"symbol\":\"DEEPUSDT\",\"status\":\"TRADING\",\"baseAsset\":\"A\",\"baseAssetPrecision\":18,"
    "\"quoteAsset\":\"USDT\",\"quoteAssetPrecision\":8,\"filters\":[]},"
    "{\"symbol\":\"BAREUSDT\",\"status\":\"TRADING\",\"baseAsset\":\"A\",\"baseAssetPrecision\":8,"
    "\"quoteAsset\":\"USDT\",\"quoteAssetPrecision\":8}]}";

static void want(struct venue_symbol *wanted, const char *name)
{
    memset(wanted, 0, sizeof(*wanted));
    snprintf(wanted->name, sizeof(wanted->name), "%s", name);
}

static void test_wanted(void)
{
    struct venue_symbol wanted[5];
    struct binance_info info;
    want(&wanted[0], "ETHUSDT");
    want(&wanted[1], "BTCUSTD");
    want(&wanted[2], "BTCUSDT");
    want(&wanted[3], "DEEPUSDT");
    want(&wanted[4], "ZZZZZZZZZZ");
    CHECK_INT(binance_parse_wanted(info_text, sizeof(info_text) - 1, "binance", wanted, 5, &info), 0);
    CHECK_INT(info.server_ns, 1633998511098000000);
    CHECK_INT(info.weight_per_minute, 6000);
    CHECK_INT(info.symbols, 5);
    CHECK(wanted[2].found && wanted[0].found && !wanted[1].found && !wanted[3].found && !wanted[4].found);
    CHECK_STR(wanted[1].nearest, "BTCUSDT");
    CHECK_STR(wanted[4].nearest, "");

    /* Listed, but not so that it can be read: it is not taken for a misspelling of itself. */
    static const char bare[] = "{\"symbols\":[{\"symbol\":\"XAAAUSDT\",\"status\":\"TRADING\",\"baseAsset\":"
                               "\"XAAA\",\"baseAssetPrecision\":8,\"quoteAsset\":\"USDT\","
                               "\"quoteAssetPrecision\":8},{\"symbol\":\"XAABUSDT\"}]}";
    struct venue_symbol unusable;
    want(&unusable, "XAAAUSDT");
    CHECK_INT(binance_parse_wanted(bare, sizeof(bare) - 1, "binance", &unusable, 1, &info), 0);
    CHECK_INT(info.unusable, 1);
    CHECK(!unusable.found && unusable.unusable);
    CHECK_STR(unusable.nearest, "");
    want(&unusable, "XAACUSDT");
    CHECK_INT(binance_parse_wanted(bare, sizeof(bare) - 1, "binance", &unusable, 1, &info), 0);
    CHECK(!unusable.found && !unusable.unusable && unusable.nearest[0]);

    const struct symbol *s = &wanted[2].symbol;
    CHECK_STR(s->name, "BTCUSDT");
    CHECK_STR(s->base, "BTC");
    CHECK_STR(s->quote, "USDT");
    CHECK(s->trading);
    CHECK_INT(s->price_scale, 8);
    CHECK_INT(s->qty_scale, 8);
    CHECK_INT(s->quote_scale, 8);
    CHECK_INT(s->filters.tick, S / 100);
    CHECK_INT(s->filters.price_min, S / 100);
    CHECK_INT(s->filters.price_max, 1000000 * S);
    CHECK_INT(s->filters.qty_min, 1000);
    CHECK_INT(s->filters.qty_max, 9000 * S);
    CHECK_INT(s->filters.step, 1000);
    CHECK_INT(s->filters.market_qty_min, 0);
    CHECK_INT(s->filters.market_qty_max, 10786158541);
    CHECK_INT(s->filters.market_step, 0);
    CHECK_INT(s->filters.notional_min, 5 * S);
    CHECK_INT(s->filters.notional_max, 9000000 * S);
    CHECK(s->filters.notional_min_market && !s->filters.notional_max_market);
    CHECK_INT(s->filters.bid_up_e4, 50000);
    CHECK_INT(s->filters.bid_down_e4, 2000);
    CHECK_INT(s->filters.ask_up_e4, 45000);
    CHECK_INT(s->filters.ask_down_e4, 3000);
    CHECK_INT(s->filters.orders_max, 200);

    s = &wanted[0].symbol;
    CHECK(!s->trading);
    CHECK_INT(s->quote_scale, 8);
    CHECK_INT(s->filters.notional_min, 10 * S);
    CHECK(s->filters.notional_min_market);
    CHECK_INT(s->filters.bid_up_e4, 13000);
    CHECK_INT(s->filters.ask_up_e4, 13000);
    CHECK_INT(s->filters.bid_down_e4, 7000);
    CHECK_INT(s->filters.ask_down_e4, 7000);
    CHECK_INT(s->filters.qty_max, INT64_MAX);
    CHECK_INT(s->filters.step, S / 2);
    CHECK_INT(s->filters.tick, 0);
    CHECK_INT(s->filters.orders_max, 0);
}

/* A whole list, as large as a venue's, again and again: what trades, halts, comes back and goes. */
static void test_changes(void)
{
    enum { LISTED = 400 };
    static const char *const states[] = {"TRADING", "HALT", "BREAK", "END_OF_DAY", "AUCTION_MATCH"};
    static char text[LISTED * 200];
    static struct venue_symbol wanted[LISTED];
    for (int round = 0; round < 5; round++) {
        size_t len = (size_t)snprintf(text, sizeof(text), "{\"serverTime\":1,\"symbols\":[");
        for (int i = 0; i < LISTED; i++) {
            snprintf(wanted[i].name, sizeof(wanted[i].name), "S%dUSDT",
                     (i * 211) % LISTED); /* out of order */
            if (i % 7 != round)           /* others are delisted each time */
                len +=
                    (size_t)snprintf(text + len, sizeof(text) - len,
                                     "%s{\"symbol\":\"S%dUSDT\",\"status\":\"%s\",\"baseAsset\":\"S%d\","
                                     "\"baseAssetPrecision\":8,\"quoteAsset\":\"USDT\",\"quotePrecision\":8,"
                                     "\"filters\":[]}",
                                     text[len - 1] == '[' ? "" : ",", i, states[(i + round) % 5], i);
        }
        len += (size_t)snprintf(text + len, sizeof(text) - len, "]}");
        struct binance_info info;
        CHECK_INT(binance_parse_wanted(text, len, "binance-us", wanted, LISTED, &info), 0);
        for (int i = 0; i < LISTED; i++) {
            int number = atoi(wanted[i].name + 1);
            CHECK_INT(wanted[i].found, number % 7 != round);
            if (!wanted[i].found) {
                CHECK(wanted[i].nearest[0] == 'S' && strcmp(wanted[i].nearest, wanted[i].name) != 0);
                continue;
            }
            CHECK_STR(wanted[i].symbol.name, wanted[i].name);
            CHECK_STR(wanted[i].symbol.venue, "binance-us");
            CHECK_STR(wanted[i].symbol.calendar, "");
            CHECK_INT(wanted[i].symbol.trading, (number + round) % 5 == 0);
        }
    }

    /* A name requested twice is reported twice. */
    struct venue_symbol twice[3] = {{.name = "S6USDT"}, {.name = "S5USDT"}, {.name = "S6USDT"}};
    struct binance_info info;
    CHECK_INT(binance_parse_wanted(text, strlen(text), "binance", twice, 3, &info), 0);
    CHECK(twice[0].found && twice[1].found && twice[2].found);
    CHECK_STR(twice[0].symbol.venue, "binance");
    CHECK_STR(twice[2].symbol.name, "S6USDT");
}

static const char klines_text[] =
    "[[1723075200000,\"55133.34000000\",\"55140.00000000\",\"55100.10000000\",\"55101.00000000\",\"12."
    "34567000\","
    "1723075259999,\"680543.21340000\",1234,\"6.10000000\",\"336313.37000000\",\"0\"],"
    "[1723075260000,\"55101.00000000\",\"55200.00000000\",\"55101.00000000\",\"55199.99000000\","
    "\"10000000000000.00000001\","
    "1723075319999,\"0.00000000\",0,\"0\",\"0\",\"0\"],"
    "[1723075320000,\"1\",\"1\",\"1\",\"1\",\"0\",1723075379999,\"0\",0,\"0\",\"0\",\"0\"]]";

static int klines(const char *text, size_t len, int64_t now_ns, struct bar *bars, size_t cap, size_t *n,
                  size_t *closed)
{
    return binance_parse_klines(text, len, &btc, 60000000000, now_ns, bars, cap, n, closed);
}

static void test_klines(void)
{
    struct bar bars[4];
    size_t n = 9, closed = 9;
    CHECK_INT(klines(klines_text, sizeof(klines_text) - 1, 1723075320000000000, bars, 4, &n, &closed), 0);
    CHECK_INT(n, 3);
    CHECK_INT(closed, 2);
    CHECK_INT(bars[0].open_ns, 1723075200000000000);
    CHECK_INT(bars[0].open, 5513334000000);
    CHECK_INT(bars[0].high, 5514000000000);
    CHECK_INT(bars[0].low, 5510010000000);
    CHECK_INT(bars[0].close, 5510100000000);
    CHECK(bars[0].volume == 1234567000);
    CHECK(bars[0].quote_volume == (int128_t)68054321340000 * S);
    CHECK_INT(bars[0].trades, 1234);
    CHECK_INT(bars[0].first_trade_id, -1);
    CHECK(bars[1].volume == (int128_t)10000000000000 * S + 1);
    CHECK_INT(klines(klines_text, sizeof(klines_text) - 1, 1723075319999999999, bars, 4, &n, &closed), 0);
    CHECK_INT(closed, 1);
    CHECK_INT(klines(klines_text, sizeof(klines_text) - 1, 0, bars, 2, &n, &closed), -E2BIG);
    CHECK_INT(klines("[]", 2, 0, bars, 4, &n, &closed), 0);
    CHECK_INT(n, 0);

    static const char *const bad[] = {
        "",
        "{}",
        "[",
        "[[]]",
        "null",
        "[1]",
        "[]x",
        /* eleven and thirteen fields */
        "[[60000,\"1\",\"1\",\"1\",\"1\",\"0\",119999,\"0\",0,\"0\",\"0\"]]",
        "[[60000,\"1\",\"1\",\"1\",\"1\",\"0\",119999,\"0\",0,\"0\",\"0\",\"0\",\"0\"]]",
        /* high below open, low above close, low of zero, negative volume, trades */
        "[[60000,\"2\",\"1\",\"1\",\"1\",\"0\",119999,\"0\",0,\"0\",\"0\",\"0\"]]",
        "[[60000,\"2\",\"2\",\"2\",\"1\",\"0\",119999,\"0\",0,\"0\",\"0\",\"0\"]]",
        "[[60000,\"0\",\"0\",\"0\",\"0\",\"0\",119999,\"0\",0,\"0\",\"0\",\"0\"]]",
        "[[60000,\"1\",\"1\",\"1\",\"1\",\"-1\",119999,\"0\",0,\"0\",\"0\",\"0\"]]",
        "[[60000,\"1\",\"1\",\"1\",\"1\",\"0\",119999,\"0\",-1,\"0\",\"0\",\"0\"]]",
        /* off the grid, another interval, a time out of range */
        "[[60001,\"1\",\"1\",\"1\",\"1\",\"0\",120000,\"0\",0,\"0\",\"0\",\"0\"]]",
        "[[60000,\"1\",\"1\",\"1\",\"1\",\"0\",359999,\"0\",0,\"0\",\"0\",\"0\"]]",
        "[[9223372036854775807,\"1\",\"1\",\"1\",\"1\",\"0\",119999,\"0\",0,\"0\",\"0\",\"0\"]]",
        /* not ascending */
        ("[[60000,\"1\",\"1\",\"1\",\"1\",\"0\",119999,\"0\",0,\"0\",\"0\",\"0\"],"
         "[60000,\"1\",\"1\",\"1\",\"1\",\"0\",119999,\"0\",0,\"0\",\"0\",\"0\"]]"),
        /* more digits than the scale */
        "[[60000,\"1.000000001\",\"2\",\"1\",\"1\",\"0\",119999,\"0\",0,\"0\",\"0\",\"0\"]]",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_INT(klines(bad[i], strlen(bad[i]), 0, bars, 4, &n, &closed), -EBADMSG);
}

static const char depth_text[] =
    "{\"lastUpdateId\":160,\"bids\":[[\"0.00240000\",\"10.00000000\"],[\"0.00230000\","
    "\"7\",\"x\"]],\"asks\":[[\"0.00260000\",\"100.00000000\"]],\"T\":1}";

static int depth(const char *text, size_t len, struct book_level *bids, uint32_t *nb, struct book_level *asks,
                 uint32_t *na, uint32_t cap, uint64_t *id)
{
    return binance_parse_depth(text, len, &btc, bids, nb, asks, na, cap, id);
}

static void test_depth(void)
{
    struct book_level bids[4], asks[4];
    uint32_t nb, na;
    uint64_t id;
    CHECK_INT(depth(depth_text, sizeof(depth_text) - 1, bids, &nb, asks, &na, 4, &id), 0);
    CHECK_INT(id, 160);
    CHECK_INT(nb, 2);
    CHECK_INT(na, 1);
    CHECK_INT(bids[1].price, 230000);
    CHECK_INT(bids[1].qty, 7 * S);
    CHECK_INT(asks[0].qty, 100 * S);
    CHECK_INT(depth(depth_text, sizeof(depth_text) - 1, bids, &nb, asks, &na, 1, &id), -E2BIG);
    static const char *const bad[] = {"",
                                      "[]",
                                      "{}",
                                      "{\"lastUpdateId\":1,\"bids\":[]}",
                                      "{\"bids\":[],\"asks\":[]}",
                                      "{\"lastUpdateId\":-1,\"bids\":[],\"asks\":[]}",
                                      "{\"lastUpdateId\":1,\"bids\":[[\"1\"]],\"asks\":[]}",
                                      "{\"lastUpdateId\":1,\"bids\":[[\"0\",\"1\"]],\"asks\":[]}",
                                      "{\"lastUpdateId\":1,\"bids\":[[\"1\",\"-1\"]],\"asks\":[]}",
                                      "{\"lastUpdateId\":1,\"bids\":[],\"asks\":[]}}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_INT(depth(bad[i], strlen(bad[i]), bids, &nb, asks, &na, 4, &id), -EBADMSG);
}

static const char error_text[] = "{\"code\":-1121,\"msg\":\"Invalid symbol.\",\"x\":[{}]}";
static const char time_text[] = "{\"serverTime\":1499827319559}";

/* What streams sent last: by kind, as the venue's documentation shows them. */
static const struct {
    enum market_kind kind;
    const char *text;
} latest_texts[] = {
    {MARKET_TRADE,
     "[{\"id\":28457,\"price\":\"4.00000100\",\"qty\":\"12.00000000\",\"quoteQty\":\"48.000012\","
     "\"time\":1499865549590,\"isBuyerMaker\":true,\"isBestMatch\":true},"
     "{\"id\":28458,\"price\":\"4.5\",\"qty\":\"1\",\"quoteQty\":\"4.5\",\"time\":1499865549600,"
     "\"isBuyerMaker\":false,\"isBestMatch\":true}]"},
    {MARKET_AGG_TRADE, "[{\"a\":26129,\"p\":\"0.01633102\",\"q\":\"4.70443515\",\"f\":27781,\"l\":27783,"
                       "\"T\":1498793709153,\"m\":true,\"M\":true}]"},
    {MARKET_QUOTE, "{\"symbol\":\"BTCUSDT\",\"bidPrice\":\"4.00000000\",\"bidQty\":\"431.00000000\","
                   "\"askPrice\":\"4.00000200\",\"askQty\":\"9.00000000\"}"},
    {MARKET_TICKER,
     "{\"symbol\":\"BTCUSDT\",\"priceChange\":\"-94.99999800\",\"lastPrice\":\"4.00000200\","
     "\"openPrice\":\"99.00000000\",\"highPrice\":\"100.00000000\",\"lowPrice\":\"0.10000000\","
     "\"volume\":\"8913.30000000\",\"openTime\":1499783499040,\"closeTime\":1499869899040}"},
};

static int latest(int which, const char *text, size_t len, struct market_event ret[static 2], size_t *ret_n)
{
    return binance_parse_latest(text, len, &btc, latest_texts[which].kind, ret, 2, ret_n);
}

static void test_latest(void)
{
    struct market_event reported[2];
    size_t n = 9;
    CHECK_INT(latest(0, latest_texts[0].text, strlen(latest_texts[0].text), reported, &n), 0);
    CHECK_INT(n, 2);
    CHECK(reported[0].kind == MARKET_TRADE && reported[0].trade.id == 28457 &&
          reported[0].trade.first_id == 28457);
    CHECK_INT(reported[0].trade.price, 400000100);
    CHECK_INT(reported[0].trade.qty, 12 * S);
    CHECK_INT(reported[0].trade.ts_ns, 1499865549590000000);
    CHECK_INT(reported[0].event_ns, 1499865549590000000);
    CHECK(reported[0].trade.buyer_maker && !reported[1].trade.buyer_maker && !reported[1].trade.odd);
    CHECK_INT(latest(1, latest_texts[1].text, strlen(latest_texts[1].text), reported, &n), 0);
    CHECK(n == 1 && reported[0].trade.id == 26129 && reported[0].trade.first_id == 27781 &&
          reported[0].trade.last_id == 27783);
    CHECK_INT(latest(2, latest_texts[2].text, strlen(latest_texts[2].text), reported, &n), 0);
    CHECK(n == 1 && reported[0].quote.bid == 4 * S && reported[0].quote.bid_qty == 431 * S &&
          reported[0].event_ns == 0);
    CHECK(reported[0].quote.ask == 4 * S + 200 && reported[0].quote.ask_qty == 9 * S);
    CHECK_INT(latest(3, latest_texts[3].text, strlen(latest_texts[3].text), reported, &n), 0);
    CHECK(n == 1 && reported[0].ticker.close == 4 * S + 200 && reported[0].ticker.open == 99 * S);
    CHECK(reported[0].ticker.high == 100 * S && reported[0].ticker.low == S / 10 &&
          reported[0].ticker.volume == 891330000000);
    CHECK_INT(reported[0].event_ns, 1499869899040000000);

    static const char none[] = "{\"bidPrice\":\"0\",\"bidQty\":\"0\",\"askPrice\":\"0\",\"askQty\":\"0\"}";
    CHECK_INT(latest(2, none, strlen(none), reported, &n), 0);
    CHECK_INT(n, 0);
    CHECK_INT(latest(0, "[]", 2, reported, &n), 0);
    CHECK_INT(n, 0);
    static const char crossed[] = "{\"bidPrice\":\"2\",\"bidQty\":\"1\",\"askPrice\":\"1\",\"askQty\":\"1\"}";
    CHECK_INT(latest(2, crossed, strlen(crossed), reported, &n), -EBADMSG);
    static const char falling[] =
        "[{\"id\":2,\"price\":\"1\",\"qty\":\"1\",\"time\":1,\"isBuyerMaker\":true},"
        "{\"id\":2,\"price\":\"1\",\"qty\":\"1\",\"time\":1,\"isBuyerMaker\":true}]";
    CHECK_INT(latest(0, falling, strlen(falling), reported, &n), -EBADMSG);
    static const char *const times[] = {"4102444800000", "4102444800001", "9223372036854"}; /* 2100; 2262 */
    for (int i = 0; i < 3; i++) {
        char text[128];
        snprintf(text, sizeof text,
                 "[{\"id\":1,\"price\":\"1\",\"qty\":\"1\",\"time\":%s,\"isBuyerMaker\":true}]", times[i]);
        CHECK_INT(latest(0, text, strlen(text), reported, &n), i == 0 ? 0 : -EBADMSG);
    }
    CHECK_INT(binance_parse_latest(latest_texts[0].text, strlen(latest_texts[0].text), &btc, MARKET_TRADE,
                                   reported, 1, &n),
              -EBADMSG); /* more than there is room for */
    CHECK_INT(binance_parse_latest("[]", 2, &btc, MARKET_KLINE, reported, 2, &n), -EBADMSG);
    for (int which = 0; which < 4; which++)
        for (size_t cut = 0, len = strlen(latest_texts[which].text); cut < len; cut++) {
            char *copy = exact(latest_texts[which].text, cut);
            CHECK(latest(which, copy, cut, reported, &n) < 0);
            free(copy);
            copy = exact(latest_texts[which].text, len);
            for (int m = 0; m < 128; m++) { /* whatever comes of it, nothing beyond the text is read */
                copy[cut] = (char)m;
                latest(which, copy, len, reported, &n);
            }
            free(copy);
        }
}

static void test_small(void)
{
    int64_t ns = 7, code = 7;
    struct json_text msg;
    CHECK_INT(binance_parse_time(time_text, sizeof(time_text) - 1, &ns), 0);
    CHECK_INT(ns, 1499827319559000000);
    CHECK_INT(binance_parse_time("{}", 2, &ns), -EBADMSG);
    CHECK_INT(binance_parse_time("{\"serverTime\":-1}", 17, &ns), -EBADMSG);
    CHECK_INT(binance_parse_time("{\"serverTime\":9223372036854775807}", 34, &ns), -EBADMSG);
    CHECK_INT(ns, 1499827319559000000);
    CHECK(binance_parse_error(error_text, sizeof(error_text) - 1, &code, &msg));
    CHECK_INT(code, -1121);
    CHECK(json_is(msg, "Invalid symbol."));
    CHECK(!binance_parse_error("<html>", 6, &code, &msg));
    CHECK(!binance_parse_error("", 0, &code, &msg));
    CHECK(!binance_parse_error("[]", 2, &code, &msg));
    CHECK(!binance_parse_error("{\"msg\":\"x\"}", 11, &code, &msg));
}

/* One parser of each kind over `len` bytes; what it says does not matter, that it returns does. */
static int parse_any(int which, const char *text, size_t len)
{
    struct venue_symbol wanted[2];
    struct binance_info info;
    struct bar bars[4];
    struct book_level bids[4], asks[4];
    struct json_text msg;
    uint32_t nb, na;
    uint64_t id;
    int64_t number;
    size_t n, closed;
    switch (which) {
    case 0:
        want(&wanted[0], "ETHUSDT");
        want(&wanted[1], "NOSUCH");
        return binance_parse_wanted(text, len, "binance", wanted, 2, &info);
    case 1:
        return klines(text, len, 1723075320000000000, bars, 4, &n, &closed);
    case 2:
        return depth(text, len, bids, &nb, asks, &na, 4, &id);
    case 3:
        return binance_parse_error(text, len, &number, &msg) ? 0 : -EBADMSG;
    default:
        return binance_parse_time(text, len, &number);
    }
}

static void test_damage(void)
{
    static const struct {
        const char *text;
        size_t len;
    } fixtures[] = {
        {info_text, sizeof(info_text) - 1},   {klines_text, sizeof(klines_text) - 1},
        {depth_text, sizeof(depth_text) - 1}, {error_text, sizeof(error_text) - 1},
        {time_text, sizeof(time_text) - 1},
    };
    static const char mutations[] = {'\0', '"',  '{', '}', '[', ']', ',',
                                     ':',  '\\', '-', '9', 'e', ' ', (char)0xff};
    unsigned long runs = 0;
    for (int which = 0; which < 5; which++) {
        const char *text = fixtures[which].text;
        size_t len = fixtures[which].len;
        CHECK_INT(parse_any(which, text, len), 0);
        for (size_t cut = 0; cut < len; cut++, runs++) {
            char *copy = exact(text, cut);
            CHECK(parse_any(which, copy, cut) < 0);
            free(copy);
        }
        char *copy = exact(text, len);
        for (size_t at = 0; at < len; at++) {
            for (size_t m = 0; m < sizeof(mutations); m++, runs++) {
                copy[at] = mutations[m];
                for (int other = 0; other < 5; other++)
                    parse_any(other, copy, len);
            }
            copy[at] = text[at];
        }
        free(copy);
    }
    printf("%lu damaged texts\n", runs);
}

/* The recorded files. */

static char *read_gz(const char *name, size_t *ret_len)
{
    const char *shared = getenv("PAPERTAPE_SHARED");
    char path[512];
    snprintf(path, sizeof(path), "%s/data/recorded/binance/%s", shared ? shared : "../shared", name);
    gzFile file = gzopen(path, "rb");
    size_t len = 0, cap = 16 << 20;
    char *text = file ? malloc(cap) : NULL;
    int n;
    while (text && (n = gzread(file, text + len, (unsigned)(cap - len - 1))) > 0)
        len += (size_t)n;
    if (file)
        gzclose(file);
    if (!text || len == 0) {
        printf("skipped: no %s\n", path);
        free(text);
        return NULL;
    }
    text[len] = '\0';
    *ret_len = len;
    return text;
}

struct sums {
    size_t n, trading;
    int128_t tick, step, market_qty_max, notional_min, qty_max, price_max;
    int64_t orders;
};

/* A quantity at the symbol's scale, at 8. */
static int128_t at_8(int64_t units, int scale)
{
    return (int128_t)units * decimal_pow10(8 - scale);
}

static void sum(void *user, const struct symbol *symbol)
{
    struct sums *sums = user;
    sums->n++;
    sums->trading += symbol->trading;
    sums->tick += symbol->filters.tick;
    sums->step += at_8(symbol->filters.step, symbol->qty_scale);
    sums->market_qty_max += at_8(symbol->filters.market_qty_max, symbol->qty_scale);
    sums->notional_min += at_8(symbol->filters.notional_min, symbol->quote_scale);
    sums->qty_max += at_8(symbol->filters.qty_max, symbol->qty_scale);
    sums->price_max += symbol->filters.price_max;
    sums->orders += symbol->filters.orders_max;
    CHECK(symbol->filters.tick > 0 && symbol->filters.step > 0 && symbol->filters.bid_up_e4 > 10000);
}

/* The sums were taken from the file with Python's json and decimal modules. */
static void test_recorded_info(void)
{
    size_t len;
    char *text = read_gz("exchangeInfo_2021-10.json.gz", &len);
    struct binance_info info;
    struct sums sums = {0};
    if (!text)
        return;
    CHECK_INT(binance_parse_info(text, len, "binance", sum, &sums, &info), 0);
    CHECK_INT(info.symbols, 1695);
    CHECK_INT(info.unusable, 0);
    CHECK_INT(info.weight_per_minute, 1200);
    CHECK_INT(info.server_ns, 1633998511098000000);
    CHECK_INT(sums.n, 1695);
    CHECK_INT(sums.trading, 1262);
    CHECK_INT(sums.orders, 339000);
    CHECK(sums.tick == 7585354812);
    CHECK(sums.step == 72496866900);
    CHECK(sums.price_max == 3994383617811442730);
    CHECK(sums.qty_max == (int128_t)5680596473690000000 * 10);
    CHECK(sums.notional_min == 60951284070000);
    CHECK(sums.market_qty_max == (int128_t)1992746286505864312 * 10 + 3);

    struct venue_symbol wanted[2];
    want(&wanted[0], "BTCUSDT");
    want(&wanted[1], "ETHUSTD");
    CHECK_INT(binance_parse_wanted(text, len, "binance", wanted, 2, &info), 0);
    CHECK(wanted[0].found && !wanted[1].found);
    CHECK_STR(wanted[1].nearest, "ETHUSDT");
    CHECK_INT(wanted[0].symbol.filters.market_qty_max, 10005381873);

    for (size_t cut = 1; cut < len; cut += len / 200) {
        char *copy = exact(text, cut);
        CHECK_INT(binance_parse_wanted(copy, cut, "binance", wanted, 2, &info), -EBADMSG);
        free(copy);
    }
    free(text);
}

static void test_recorded_depth(void)
{
    size_t len;
    int snapshots = 0;
    char *text = read_gz("book_sync_2021-10.http.gz", &len);
    if (!text)
        return;
    struct book_level *levels = malloc(2 * 1000 * sizeof(*levels));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *body = strstr(line, " -> ");
        body = body && strstr(line, "/depth?") ? strchr(body, '{') : NULL;
        if (!body)
            continue;
        uint32_t nb = 0, na = 0;
        uint64_t id = 0;
        CHECK_INT(depth(body, strlen(body), levels, &nb, levels + 1000, &na, 1000, &id), 0);
        CHECK(nb > 0 && na > 0 && id > 0);
        for (uint32_t i = 1; i < nb; i++)
            CHECK(levels[i].price < levels[i - 1].price);
        for (uint32_t i = 1; i < na; i++)
            CHECK(levels[1000 + i].price > levels[1000 + i - 1].price);
        CHECK(levels[0].price < levels[1000].price);
        snapshots++;
    }
    CHECK(snapshots == 4);
    free(levels);
    free(text);
}

int main(void)
{
    test_wanted();
    test_changes();
    test_klines();
    test_depth();
    test_small();
    test_latest();
    test_damage();
    test_recorded_info();
    test_recorded_depth();
    return check_done("binance REST replies");
}
