/* The REST client: pages, limits, refusals, tries. */
#include <errno.h>

#include "exchange/binance/format.h"
#include "exchange/binance/rest.h"
#include "exchange/clock.h"
#include "exchange/market.h"
#include "exchange/net/requests.h"
#include "tests/net/loop.h"
#include "tests/net/server.h"

static uv_loop_t loop;
static struct net_context *net;
static const struct venue *const venue = &binance_venue;
static struct venue_rest *rest;

enum { MINUTE_MS = 60000 };
#define MINUTE_NS (60 * 1000000000LL)

static const struct symbol btc = {.name = "BTCUSDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8};

struct seen {
    bool done;
    int replies, error, status;
    char text[256];
    int64_t server_ns;
    size_t bars, closed, missing;
    int64_t first_open_ns, last_open_ns;
    char nearest[SYMBOL_NAME_MAX];
    int64_t qty_step;
    uint64_t book_id;
    int64_t best_bid, best_ask;
    struct venue_call *call;
    struct market_event latest;
    size_t n_latest, trades;
    struct market_trade first_trade, last_trade;
    bool cancel_after_page, destroy_after_page;
};

static void on_reply(void *user, const struct venue_reply *reply)
{
    struct seen *seen = user;
    seen->replies++;
    seen->done = !reply->more;
    seen->error = reply->error;
    seen->status = reply->status;
    CHECK(reply->body);
    snprintf(seen->text, sizeof(seen->text), "%s", reply->text ? reply->text : "");
    if (reply->error)
        return;
    CHECK(reply->len > 0);
    switch (reply->kind) {
    case VENUE_REPLY_TIME:
        seen->server_ns = reply->server_ns;
        break;
    case VENUE_REPLY_SYMBOLS:
        seen->missing = reply->symbols.n_missing;
        for (size_t i = 0; i < reply->symbols.n; i++) {
            const struct venue_symbol *symbol = &reply->symbols.list[i];
            if (!symbol->found)
                snprintf(seen->nearest, sizeof(seen->nearest), "%s", symbol->nearest);
            else
                seen->qty_step = symbol->symbol.filters.step;
        }
        break;
    case VENUE_REPLY_BARS:
        if (seen->bars == 0 && reply->bars.n > 0)
            seen->first_open_ns = reply->bars.list[0].open_ns;
        if (reply->bars.n > 0)
            seen->last_open_ns = reply->bars.list[reply->bars.n - 1].open_ns;
        seen->bars += reply->bars.n;
        seen->closed += reply->bars.n_closed;
        break;
    case VENUE_REPLY_BOOK:
        seen->book_id = reply->book.last_id;
        CHECK(reply->book.n_bids == 1 && reply->book.n_asks == 1);
        seen->best_bid = reply->book.bids[0].price;
        seen->best_ask = reply->book.asks[0].price;
        break;
    case VENUE_REPLY_TRADES:
        for (size_t i = 0; i < reply->latest.n; i++) {
            const struct market_trade *trade = &reply->latest.list[i].trade;
            CHECK(seen->trades == 0 || trade->id == seen->last_trade.id + 1);
            seen->first_trade = seen->trades++ == 0 ? *trade : seen->first_trade;
            seen->last_trade = *trade;
        }
        break;
    case VENUE_REPLY_LATEST:
        seen->n_latest = reply->latest.n;
        seen->latest = reply->latest.list[0];
        break;
    default:
        break;
    }
    if (seen->cancel_after_page) {
        net_requests_cancel(rest, seen->call);
        seen->done = true;
    }
    if (seen->destroy_after_page) {
        net_requests_destroy(rest);
        seen->done = true;
    }
}

/* What the server says to the next request instead of a good reply; then it continues. */
static int64_t weight_sent; /* of what was asked for */
static const char *say_instead;
static int say_times;
static int requests;
static unsigned weight;
static char last_head[512];
static int64_t listed_from_ms, listed_bars; /* klines that exist */
static uint64_t limited_at_ns, after_limit_ns;

static void say(struct peer *peer, const char *status, const char *headers, const char *body)
{
    peer_print(peer, "HTTP/1.1 %s\r\nX-MBX-USED-WEIGHT-1M: %u\r\n%sContent-Length: %zu\r\n\r\n", status,
               weight, headers, strlen(body));
    peer_write(peer, body, strlen(body));
}

static int64_t parameter(const char *head, const char *name)
{
    const char *at = strstr(head, name);
    return at ? strtoll(at + strlen(name), NULL, 10) : -1;
}

static void say_klines(struct peer *peer, const char *head)
{
    static char body[200000];
    size_t len = 1;
    int64_t start = parameter(head, "startTime="), end = parameter(head, "endTime="),
            limit = parameter(head, "limit=");
    CHECK(strstr(head, "symbol=BTCUSDT&interval=1m"));
    CHECK(start >= 0 && end >= start && limit >= 1 && limit <= 1000);
    body[0] = '[';
    int64_t n = 0;
    for (int64_t i = 0; i < listed_bars && n < limit; i++) {
        int64_t open = listed_from_ms + i * MINUTE_MS;
        if (open < start || open > end)
            continue;
        len += (size_t)snprintf(
            body + len, sizeof(body) - len,
            "%s[%lld,\"1.5\",\"2.0\",\"1.0\",\"1.7\",\"3.0\",%lld,\"5.0\",4,\"1\",\"2\",\"0\"]", n ? "," : "",
            (long long)open, (long long)open + MINUTE_MS - 1);
        n++;
    }
    snprintf(body + len, sizeof(body) - len, "]");
    say(peer, "200 OK", "", body);
}

/* 3000 aggregates, of which 1500 have the same time: in the middle of a hundred to the millisecond. */
enum { TRADES = 3000, TRADES_FROM_ID = 7 };
#define TRADES_FROM_US (1735689600000000LL)

static int64_t trade_time_us(int64_t i)
{
    int64_t k = i < 400 ? i : i < 1900 ? 400 : i - 1499;
    return TRADES_FROM_US + k * 10;
}

static void say_trades(struct peer *peer, const char *head)
{
    static char body[200000];
    int64_t id = parameter(head, "fromId="), start = parameter(head, "startTime="),
            end = parameter(head, "endTime="), limit = parameter(head, "limit="), n = 0;
    size_t len = 1;
    CHECK(strstr(head, "symbol=BTCUSDT&") && strstr(head, "X-MBX-TIME-UNIT: MICROSECOND\r\n"));
    CHECK((id >= 0) != (start >= 0 && end >= start) && limit >= 1 && limit <= 1000);
    body[0] = '[';
    for (int64_t i = 0; i < TRADES && n < limit; i++) {
        int64_t us = trade_time_us(i);
        if (id >= 0 ? TRADES_FROM_ID + i < id : us < start * 1000 || us > end * 1000)
            continue;
        len += (size_t)snprintf(
            body + len, sizeof(body) - len,
            "%s{\"a\":%lld,\"p\":\"1.5\",\"q\":\"2\",\"f\":%lld,\"l\":%lld,\"T\":%lld,\"m\":true,\"M\":true}",
            n ? "," : "", (long long)(TRADES_FROM_ID + i), (long long)i, (long long)i, (long long)us);
        n++;
    }
    snprintf(body + len, sizeof(body) - len, "]");
    say(peer, "200 OK", "", body);
}

static const char info[] =
    "{\"serverTime\":1,\"rateLimits\":[{\"rateLimitType\":\"REQUEST_WEIGHT\",\"interval\":\"MINUTE\","
    "\"intervalNum\":1,\"limit\":6000}],\"symbols\":[{\"symbol\":\"BTCUSDT\",\"status\":\"TRADING\","
    "\"baseAsset\":\"BTC\",\"baseAssetPrecision\":8,\"quoteAsset\":\"USDT\",\"quoteAssetPrecision\":8,"
    "\"filters\":[{\"filterType\":\"LOT_SIZE\",\"minQty\":\"0.00001\",\"maxQty\":\"9000\","
    "\"stepSize\":\"0.00001\"}]}]}";

static void script(struct peer *peer, const char *head)
{
    requests++;
    weight_sent += !strstr(head, "/depth?") ? 1 : parameter(head, "limit=") / 20;
    snprintf(last_head, sizeof(last_head), "%s", head);
    if (limited_at_ns > 0 && after_limit_ns == 0)
        after_limit_ns = uv_hrtime();
    if (say_times > 0) {
        say_times--;
        if (strncmp(say_instead, "HTTP/1.1 429", 12) == 0)
            limited_at_ns = uv_hrtime();
        peer_print(peer, "%s", say_instead);
        if (strstr(say_instead, "Connection: close"))
            peer_drop(peer);
    } else if (strstr(head, "GET /api/v3/time ")) {
        say(peer, "200 OK", "", "{\"serverTime\":1499827319559}");
    } else if (strstr(head, "GET /api/v3/klines?")) {
        say_klines(peer, head);
    } else if (strstr(head, "GET /api/v3/depth?symbol=BTCUSDT&limit=")) {
        say(peer, "200 OK", "",
            "{\"lastUpdateId\":42,\"bids\":[[\"1.5\",\"2\"]],\"asks\":[[\"1.6\",\"2\"]]}");
    } else if (strstr(head, "GET /api/v3/ticker/bookTicker?symbol=BTCUSDT ")) {
        say(peer, "200 OK", "",
            "{\"symbol\":\"BTCUSDT\",\"bidPrice\":\"1.5\",\"bidQty\":\"2\",\"askPrice\":\"1.6\",\"askQty\":"
            "\"3\"}");
    } else if (strstr(head, "GET /api/v3/aggTrades?symbol=BTCUSDT&limit=500 ")) {
        say(peer, "200 OK", "",
            "[{\"a\":7,\"p\":\"1.5\",\"q\":\"2\",\"f\":7,\"l\":8,\"T\":1499827319559,\"m\":true,\"M\":true}"
            "]");
    } else if (strstr(head, "GET /api/v3/aggTrades?")) {
        say_trades(peer, head);
    } else if (strstr(head, "GET /api/v3/exchangeInfo")) {
        if (strstr(head, "BTCUSTD"))
            say(peer, "400 Bad Request", "", "{\"code\":-1121,\"msg\":\"Invalid symbol.\"}");
        else
            say(peer, "200 OK", "", info);
    } else {
        say(peer, "404 Not Found", "", "");
    }
}

static struct server *server;

static void open_rest(void)
{
    char url[64];
    snprintf(url, sizeof(url), "https://localhost:%u", server_port(server));
    const struct venue_rest_config config = {
        .net = net,
        .rest_url = url,
        .jitter_seed = 3,
        .attempts_max = 3,
        .backoff_min_ms = 1,
        .backoff_max_ms = 4,
        .timeout_ms = 30000,
    };
    CHECK_INT(venue->rest_create(&config, &rest), 0);
    requests = 0;
    weight_sent = 0;
    weight = 1;
    say_times = 0;
    limited_at_ns = after_limit_ns = 0;
}

static void close_rest(void)
{
    net_requests_destroy(rest);
    rest = NULL;
}

static struct seen ask_time(void)
{
    struct seen seen = {0};
    CHECK_INT(net_requests_time(rest, on_reply, &seen, NULL), 0);
    CHECK(!seen.done);
    CHECK(loop_until(&loop, &seen.done));
    return seen;
}

static void test_replies(void)
{
    open_rest();
    struct seen seen = ask_time();
    CHECK_INT(seen.error, 0);
    CHECK_INT(seen.server_ns, 1499827319559000000);
    CHECK_INT(net_requests_status(rest)->used_weight, 1);
    CHECK_INT(net_requests_status(rest)->weight_limit, BINANCE_WEIGHT_LIMIT_DEFAULT);

    static const char *const names[] = {"BTCUSDT"};
    seen = (struct seen){0};
    CHECK_INT(net_requests_symbols(rest, names, 1, on_reply, &seen, NULL), 0);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    CHECK_INT(seen.missing, 0);
    CHECK_INT(seen.qty_step, 1000);
    CHECK(strstr(last_head, "GET /api/v3/exchangeInfo?symbols=%5B%22BTCUSDT%22%5D "));
    CHECK_INT(net_requests_status(rest)->weight_limit, 6000);

    static const char *const wrong[] = {"BTCUSTD", "BTCUSDT"};
    seen = (struct seen){0};
    CHECK_INT(net_requests_symbols(rest, wrong, 2, on_reply, &seen, NULL), 0);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    CHECK_INT(seen.replies, 1);
    CHECK_INT(seen.missing, 1);
    CHECK_STR(seen.nearest, "BTCUSDT");
    CHECK(strstr(last_head, "GET /api/v3/exchangeInfo?showPermissionSets=false HTTP"));

    seen = (struct seen){0};
    CHECK_INT(net_requests_book(rest, &btc, on_reply, &seen, NULL), 0);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.book_id, 42);
    CHECK_INT(seen.best_bid, 150000000);
    CHECK_INT(seen.best_ask, 160000000);

    struct venue_latest_request latest = {.symbol = &btc, .kind = MARKET_QUOTE};
    seen = (struct seen){0};
    CHECK_INT(net_requests_latest(rest, &latest, on_reply, &seen, NULL), 0);
    CHECK(loop_until(&loop, &seen.done));
    CHECK(seen.error == 0 && seen.n_latest == 1 && seen.latest.quote.ask_qty == 300000000);
    latest.kind = MARKET_AGG_TRADE;
    seen = (struct seen){0};
    CHECK_INT(net_requests_latest(rest, &latest, on_reply, &seen, NULL), 0);
    CHECK(loop_until(&loop, &seen.done));
    CHECK(seen.error == 0 && seen.n_latest == 1 && seen.latest.trade.last_id == 8);
    latest.kind = MARKET_KLINE; /* bars have a call of their own */
    CHECK_INT(net_requests_latest(rest, &latest, on_reply, &seen, NULL), -EINVAL);
    CHECK_INT(net_requests_symbols(rest, names, 0, on_reply, &seen, NULL), -EINVAL);
    CHECK_INT(net_requests_status(rest)->queued, 0);
    CHECK_INT(net_requests_status(rest)->in_flight, 0);
    close_rest();

    struct venue_rest *none = NULL;
    CHECK_INT(venue->rest_create(&(struct venue_rest_config){.net = net, .rest_url = "http://x"}, &none),
              -EPROTONOSUPPORT);
    CHECK(!none);
}

static struct seen ask_trades(int64_t start_ns, int64_t end_ns, size_t max)
{
    struct seen seen = {0};
    const struct venue_trades_request request = {&btc, start_ns, end_ns, max};
    CHECK_INT(net_requests_trades(rest, &request, on_reply, &seen, &seen.call), 0);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    return seen;
}

static void test_trades(void)
{
    const int64_t from_ns = TRADES_FROM_US * 1000, all_ns = 3600 * INT64_C(1000000000);
    open_rest();
    struct seen seen = ask_trades(from_ns, from_ns + all_ns, 0);
    CHECK(seen.trades == TRADES && seen.replies == 4 && seen.first_trade.id == TRADES_FROM_ID);
    CHECK_INT(seen.last_trade.ts_ns, trade_time_us(TRADES - 1) * 1000);
    seen = ask_trades(0, from_ns + all_ns, 1); /* the first there is */
    CHECK(seen.trades == 1 && seen.replies == 1 && seen.first_trade.id == TRADES_FROM_ID);
    /* Both ends within a millisecond; the time that many have is its own, or the end. */
    seen = ask_trades(from_ns + 4000000, from_ns + 4000001, 0);
    CHECK(seen.trades == 1500 && seen.first_trade.id == TRADES_FROM_ID + 400 && seen.replies == 2);
    seen = ask_trades(from_ns + 50000, from_ns + 4000000, 0);
    CHECK(seen.trades == 395 && seen.first_trade.id == TRADES_FROM_ID + 5);
    seen = ask_trades(from_ns + 4005000, from_ns + 4010001, 0);
    CHECK(seen.trades == 1 && seen.last_trade.ts_ns == from_ns + 4010000);
    seen = ask_trades(from_ns - all_ns, from_ns, 0);
    CHECK(seen.trades == 0 && seen.replies == 1);
    const struct venue_trades_request odd = {&btc, from_ns, from_ns, 0};
    CHECK_INT(net_requests_trades(rest, &odd, on_reply, &seen, NULL), -EINVAL);
    close_rest();
}

static struct seen ask_bars(int64_t start_ns, int64_t end_ns, int64_t now_ns, size_t max, struct seen seen)
{
    const struct venue_bars_request request = {&btc, MINUTE_NS, start_ns, end_ns, now_ns, max};
    CHECK_INT(net_requests_bars(rest, &request, on_reply, &seen, &seen.call), 0);
    CHECK(loop_until(&loop, &seen.done));
    return seen;
}

static void test_bars(void)
{
    int64_t from = 1723075200000, from_ns = from * 1000000;
    listed_from_ms = from;
    listed_bars = 2500;
    open_rest();
    /* Three pages, the last bar still forming. */
    struct seen seen =
        ask_bars(from_ns, from_ns + 2499 * MINUTE_NS, from_ns + 2499 * MINUTE_NS + 1, 0, (struct seen){0});
    CHECK_INT(seen.error, 0);
    CHECK_INT(seen.replies, 3);
    CHECK_INT(seen.bars, 2500);
    CHECK_INT(seen.closed, 2499);
    CHECK_INT(seen.first_open_ns, from_ns);
    CHECK_INT(seen.last_open_ns, from_ns + 2499 * MINUTE_NS);
    /* Exactly one page; a bound; a bound over two pages; a range without bars. */
    seen = ask_bars(from_ns, from_ns + 999 * MINUTE_NS, INT64_MAX, 0, (struct seen){0});
    CHECK(seen.replies == 1 && seen.bars == 1000 && seen.closed == 1000);
    seen = ask_bars(from_ns, from_ns + 2499 * MINUTE_NS, INT64_MAX, 500, (struct seen){0});
    CHECK(seen.replies == 1 && seen.bars == 500);
    seen = ask_bars(from_ns, from_ns + 2499 * MINUTE_NS, INT64_MAX, 1500, (struct seen){0});
    CHECK(seen.replies == 2 && seen.bars == 1500);
    seen = ask_bars(0, MINUTE_NS, INT64_MAX, 0, (struct seen){0});
    CHECK(seen.replies == 1 && seen.bars == 0 && seen.error == 0);
    /* Cancelled by its own callback. */
    seen =
        ask_bars(from_ns, from_ns + 2499 * MINUTE_NS, INT64_MAX, 0, (struct seen){.cancel_after_page = true});
    for (int turn = 0; turn < 50; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_INT(seen.replies, 1);
    CHECK_INT(net_requests_status(rest)->queued, 0);
    const struct venue_bars_request odd = {&btc, 7, 0, 1, 0, 0};
    CHECK_INT(net_requests_bars(rest, &odd, on_reply, &seen, NULL), -EINVAL);
    /* The client destroyed by it. */
    seen = ask_bars(from_ns, from_ns + 2499 * MINUTE_NS, INT64_MAX, 0,
                    (struct seen){.destroy_after_page = true});
    CHECK_INT(seen.replies, 1);
    rest = NULL;
}

static void test_refusals(void)
{
    static const struct {
        const char *reply;
        int times, error, requests;
        const char *said;
    } cases[] = {
        {"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", 2, 0, 3, ""},
        {"HTTP/1.1 500 Oops\r\nContent-Length: 29\r\n\r\n{\"code\":-1007,\"msg\":\"Timeout\"", 9, -EIO, 3,
         "time: HTTP 500 (3 attempts)"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\ncut", 9, -EIO, 3,
         "(3 attempts)"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", 9, -EBADMSG, 1, "time: the reply is malformed"},
        {"HTTP/1.1 400 Bad Request\r\nContent-Length: 36\r\n\r\n{\"code\":-1121,\"msg\":\"Invalid symbol\"",
         9, -EPROTO, 1, "time: HTTP 400"},
        {"HTTP/1.1 400 Bad Request\r\nContent-Length: 37\r\n\r\n{\"code\":-1121,\"msg\":\"Invalid symbol\"}",
         9, -ENOENT, 1, "time: HTTP 400: -1121 Invalid symbol"},
        {"HTTP/1.1 403 Forbidden\r\nContent-Length: 6\r\n\r\n<html>", 9, -EACCES, 1, "time: HTTP 403"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_rest();
        say_instead = cases[i].reply;
        say_times = cases[i].times;
        struct seen seen = ask_time();
        if (seen.error)
            printf("refusal: %s\n", seen.text);
        CHECK_INT(seen.error, cases[i].error);
        CHECK_INT(requests, cases[i].requests);
        CHECK(strstr(seen.text, cases[i].said));
        CHECK(net_requests_status(rest)->failures > 0);
        if (cases[i].error == -EACCES)
            CHECK(net_requests_status(rest)->paused_until_ms > 0);
        close_rest();
    }
}

/* After a 429 nothing is sent until Retry-After is over. */
static void test_limited(void)
{
    open_rest();
    say_instead = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
    say_times = 1;
    struct seen first = {0}, second = {0};
    CHECK_INT(net_requests_time(rest, on_reply, &first, NULL), 0);
    while (limited_at_ns == 0)
        uv_run(&loop, UV_RUN_ONCE);
    while (net_requests_status(rest)->paused_until_ms == 0)
        uv_run(&loop, UV_RUN_ONCE);
    CHECK_INT(net_requests_time(rest, on_reply, &second, NULL), 0); /* waits as well */
    CHECK(loop_until(&loop, &second.done));
    CHECK(loop_until(&loop, &first.done));
    CHECK_INT(first.error, 0);
    CHECK_INT(second.error, 0);
    CHECK_INT(requests, 3);
    CHECK(after_limit_ns - limited_at_ns >= 990000000);
    CHECK_INT(net_requests_status(rest)->paused_until_ms, 0);
    close_rest();

    /* Near the limit of weight everything waits for the next minute, before the venue has to say so. */
    open_rest();
    weight = BINANCE_WEIGHT_LIMIT_DEFAULT / 5 * 4 - 1;
    ask_time();
    struct seen book = {0};
    CHECK_INT(net_requests_book(rest, &btc, on_reply, &book, NULL), 0);
    for (int turn = 0; turn < 100; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_INT(book.replies, 0);
    CHECK_INT(requests, 1);
    CHECK_INT(net_requests_status(rest)->paused_until_ms, 0);
    weight++;
    ask_time(); /* what weighs little still goes, and does not wait behind the book */
    CHECK_INT(requests, 2);
    CHECK_INT(net_requests_time(rest, on_reply, &second, NULL), 0);
    for (int turn = 0; turn < 100; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_INT(requests, 2);
    int64_t paused_ms = net_requests_status(rest)->paused_until_ms - (int64_t)(uv_hrtime() / 1000000);
    CHECK(paused_ms > 50000 && paused_ms < 62000);
    close_rest(); /* with a request waiting */
    CHECK_INT(book.replies, 0);
}

static int tapped;

static void on_tap(void *user, const char *path, const char *body, size_t len)
{
    (void)user, (void)body, (void)len;
    CHECK(!strstr(path, "klines"));
    tapped++;
}

/* Bars of the background come behind all else, and only while the venue's weight is used by less than their
 * share, by whomever; others do not wait for them, and no tap gets them. */
static void test_background(void)
{
    struct seen bars = {0}, others[4] = {{0}};
    struct venue_bars_request request = {.symbol = &btc,
                                         .interval_ns = MINUTE_NS,
                                         .end_ns = MINUTE_NS,
                                         .now_ns = 5 * MINUTE_NS,
                                         .background = true};
    open_rest();
    weight = BINANCE_WEIGHT_LIMIT_DEFAULT * VENUE_BACKGROUND_PERCENT / 100 - 1;
    ask_time();
    CHECK_INT(net_requests_bars(rest, &request, on_reply, &bars, NULL), 0);
    for (int turn = 0; turn < 100; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_INT(bars.replies, 0);
    CHECK_INT(requests, 1);
    ask_time();
    CHECK_INT(requests, 2);
    CHECK_INT(net_requests_status(rest)->paused_until_ms, 0);
    close_rest();
    CHECK_INT(bars.replies, 0);

    open_rest();
    rest->tap = on_tap;
    tapped = 0;
    struct venue_call *call;
    CHECK_INT(net_requests_bars(rest, &request, on_reply, &bars, &call), 0);
    for (int i = 0; i < 4; i++) /* as many as are on their way at once */
        CHECK_INT(net_requests_time(rest, on_reply, &others[i], NULL), 0);
    while (net_requests_status(rest)->in_flight == 0)
        uv_run(&loop, UV_RUN_ONCE);
    CHECK_INT(net_requests_status(rest)->in_flight, 4);
    CHECK(!call->http);
    CHECK(loop_until(&loop, &bars.done));
    for (int i = 0; i < 4; i++)
        CHECK(loop_until(&loop, &others[i].done));
    CHECK_INT(bars.error, 0);
    CHECK_INT(tapped, 4);
    close_rest();
}

/* Many books: each with fewer levels, and what weighs little goes first. */
static void test_many_books(void)
{
    enum { BOOKS = 150 };
    static struct seen books[BOOKS];
    open_rest();
    for (int i = 0; i < BOOKS; i++) {
        books[i] = (struct seen){0};
        CHECK_INT(net_requests_book(rest, &btc, on_reply, &books[i], NULL), 0);
    }
    struct seen time = ask_time();
    CHECK_INT(time.error, 0);
    CHECK(requests <= 8);
    int answered = 0;
    for (int64_t end_ms = clock_now_ms() + DEADLINE_MS; answered < 100 && clock_now_ms() < end_ms;) {
        uv_run(&loop, UV_RUN_ONCE);
        answered = 0;
        for (int i = 0; i < BOOKS; i++)
            answered += books[i].replies == 1 && books[i].error == 0;
    }
    CHECK(answered >= 100);
    time = ask_time(); /* with books that wait for the next minute */
    CHECK_INT(time.error, 0);
    close_rest();
}

/* A venue that reports less than what was sent is not believed. */
static void test_weight_untrue(void)
{
    enum { BOOKS = 60 };
    static struct seen books[BOOKS];
    open_rest(); /* which reports 1 */
    for (int i = 0; i < BOOKS; i++) {
        books[i] = (struct seen){0};
        CHECK_INT(net_requests_book(rest, &btc, on_reply, &books[i], NULL), 0);
    }
    int64_t end_ms = clock_now_ms() + DEADLINE_MS;
    int before = -1;
    while (requests != before && clock_now_ms() < end_ms) { /* until nothing is sent any more */
        before = requests;
        for (int64_t until_ms = clock_now_ms() + 200; clock_now_ms() < until_ms;)
            uv_run(&loop, UV_RUN_NOWAIT);
    }
    CHECK(requests > 0 && weight_sent <= BINANCE_WEIGHT_LIMIT_DEFAULT * 4 / 5);
    close_rest();
}

/* A ban is reported to its keeper, holds every request, and is known to the next one from the start. */
static int64_t ban_until_ns;

static void on_ban(void *user, int64_t until_ns, const char *why)
{
    (void)user;
    ban_until_ns = until_ns;
    CHECK_STR(why, "the venue has banned this address (HTTP 418)");
}

static bool held(struct venue_rest *who)
{
    struct seen seen = {0};
    int before = requests;
    CHECK_INT(net_requests_time(who, on_reply, &seen, NULL), 0);
    for (int turn = 0; turn < 100; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    return requests == before && net_requests_status(who)->paused_until_ms > clock_now_ms() + 3500000;
}

static void test_ban(void)
{
    char url[64];
    snprintf(url, sizeof(url), "https://localhost:%u", server_port(server));
    struct venue_rest_config config = {.net = net, .rest_url = url, .ban = {.reported = on_ban}};
    struct venue_rest *banned, *later, *other;
    int64_t now_ns = clock_wall_ns();
    CHECK_INT(venue->rest_create(&config, &banned), 0);
    say_instead = "HTTP/1.1 418 I'm a teapot\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n";
    say_times = 1;
    struct seen seen = {0};
    CHECK_INT(net_requests_time(banned, on_reply, &seen, NULL), 0);
    for (int64_t end = clock_now_ms() + DEADLINE_MS; ban_until_ns == 0 && clock_now_ms() < end;)
        uv_run(&loop, UV_RUN_ONCE);
    CHECK(ban_until_ns >= now_ns + 3600000000000 && ban_until_ns < now_ns + 3700000000000);
    CHECK(held(banned));
    CHECK_INT(seen.replies, 0);

    CHECK_INT(venue->rest_create(&config, &other), 0);
    net_requests_hold(other, now_ns - 1, "long ago");
    CHECK_INT(net_requests_status(other)->paused_until_ms, 0);
    net_requests_hold(other, ban_until_ns, "the stream was banned");
    CHECK_STR(net_requests_status(other)->detail, "the stream was banned");
    CHECK(held(other));
    config.ban.until_ns = ban_until_ns;
    CHECK_INT(venue->rest_create(&config, &later), 0);
    CHECK(held(later));
    CHECK_STR(net_requests_status(later)->detail, BINANCE_BANNED_BEFORE);
    net_requests_destroy(banned);
    net_requests_destroy(other);
    net_requests_destroy(later);
}

/* A ban whose Retry-After says nothing is as long as one without. */
static void test_ban_unsaid(void)
{
    static const char *const values[] = {"soon", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        char url[64], text[128];
        snprintf(url, sizeof(url), "https://localhost:%u", server_port(server));
        struct venue_rest_config config = {.net = net, .rest_url = url, .ban = {.reported = on_ban}};
        struct venue_rest *banned;
        int64_t now_ns = clock_wall_ns();
        ban_until_ns = 0;
        CHECK_INT(venue->rest_create(&config, &banned), 0);
        snprintf(text, sizeof(text),
                 "HTTP/1.1 418 I'm a teapot\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n", values[i]);
        say_instead = text;
        say_times = 1;
        struct seen seen = {0};
        CHECK_INT(net_requests_time(banned, on_reply, &seen, NULL), 0);
        for (int64_t end = clock_now_ms() + DEADLINE_MS; ban_until_ns == 0 && clock_now_ms() < end;)
            uv_run(&loop, UV_RUN_ONCE);
        CHECK(ban_until_ns >= now_ns + 300000000000 && ban_until_ns < now_ns + 400000000000);
        CHECK_INT(seen.replies, 0);
        net_requests_destroy(banned);
        say_instead = NULL;
    }
}

static void test_cancel(void)
{
    open_rest();
    struct seen seen = {0};
    struct venue_call *call[8];
    for (int i = 0; i < 8; i++)
        CHECK_INT(net_requests_time(rest, on_reply, &seen, &call[i]), 0);
    net_requests_cancel(rest, call[7]);
    net_requests_cancel(rest, call[0]);
    while (requests == 0)
        uv_run(&loop, UV_RUN_ONCE);
    CHECK(net_requests_status(rest)->in_flight <= 4);
    for (int i = 1; i < 7; i++)
        if (seen.replies == 0)
            net_requests_cancel(rest, call[i]);
    net_requests_cancel(rest, NULL);
    close_rest();
    int replies = seen.replies;
    for (int turn = 0; turn < 50; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_INT(seen.replies, replies);
}

int main(void)
{
    uv_loop_init(&loop);
    net = loop_net(&loop, server_ca_file(), 0, 0);
    server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script});
    test_replies();
    test_bars();
    test_trades();
    test_refusals();
    test_limited();
    test_background();
    test_many_books();
    test_weight_untrue();
    test_ban();
    test_ban_unsaid();
    test_cancel();
    server_stop(server);
    loop_end(&loop, net);
    server_forget_ca();
    return check_done("binance REST");
}
