/* The venue table against papertape-replay, a process of its own: everything that a daemon asks of a venue.
 * Usage: test PAPERTAPE_REPLAY */
#include "exchange/binance/format.h"
#include "exchange/market.h"
#include "exchange/net/requests.h"
#include "tests/net/loop.h"
#include "tests/net/replay.h"
#include <errno.h>

enum { SYMBOLS = 2, FRAMES = 20000 };
#define MINUTE_NS (60 * 1000000000LL)

static const struct venue *const venue = &binance_venue;
static uv_loop_t loop;

static const char *const symbol_names[] = {"BTCUSDT", "ETHUSDT"};

struct seen {
    bool done;
    int error;
    int64_t server_ns;
    struct symbol symbols[SYMBOLS];
    size_t bars, closed, missing;
    char nearest[SYMBOL_NAME_MAX], text[256];
    uint32_t bids, asks;
};

static void on_reply(void *user, const struct venue_reply *reply)
{
    struct seen *seen = user;
    seen->done = !reply->more;
    seen->error = reply->error;
    if (reply->error) {
        snprintf(seen->text, sizeof(seen->text), "%s", reply->text);
        return;
    }
    switch (reply->kind) {
    case VENUE_REPLY_TIME:
        seen->server_ns = reply->server_ns;
        break;
    case VENUE_REPLY_SYMBOLS:
        seen->missing = reply->symbols.n_missing;
        for (size_t i = 0; i < reply->symbols.n && i < SYMBOLS; i++) {
            seen->symbols[i] = reply->symbols.list[i].symbol;
            if (!reply->symbols.list[i].found)
                snprintf(seen->nearest, sizeof(seen->nearest), "%s", reply->symbols.list[i].nearest);
        }
        break;
    case VENUE_REPLY_BARS:
        seen->bars += reply->bars.n;
        seen->closed += reply->bars.n_closed;
        for (size_t i = 1; i < reply->bars.n; i++)
            CHECK_INT(reply->bars.list[i].open_ns - reply->bars.list[i - 1].open_ns, MINUTE_NS);
        break;
    case VENUE_REPLY_BOOK:
        seen->bids = reply->book.n_bids;
        seen->asks = reply->book.n_asks;
        CHECK(reply->book.bids[0].price < reply->book.asks[0].price);
        break;
    default:
        break;
    }
}

static void test_rest(struct net_context *net, const struct replay *replay, struct symbol *symbols)
{
    struct venue_rest *rest;
    const struct venue_rest_config config = {.net = net, .rest_url = replay->rest_url};
    CHECK_INT(venue->rest_create(&config, &rest), 0);
    struct seen seen = {0};
    net_requests_time(rest, on_reply, &seen, NULL);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    int64_t now_ns = seen.server_ns;
    CHECK(now_ns > 0);

    seen = (struct seen){0};
    net_requests_symbols(rest, symbol_names, SYMBOLS, on_reply, &seen, NULL);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    CHECK_INT(seen.missing, 0);
    memcpy(symbols, seen.symbols, sizeof(seen.symbols));
    CHECK_STR(symbols[0].name, "BTCUSDT");
    CHECK(symbols[0].trading && symbols[0].filters.tick > 0 && symbols[0].filters.step > 0);

    static const char *const wrong[] = {"BTCUSTD"};
    seen = (struct seen){0};
    net_requests_symbols(rest, wrong, 1, on_reply, &seen, NULL);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    CHECK_INT(seen.missing, 1);
    CHECK_STR(seen.nearest, "BTCUSDT");

    seen = (struct seen){0};
    const struct venue_bars_request request = {
        &symbols[0], MINUTE_NS, bar_open_time(now_ns, MINUTE_NS) - 1200 * MINUTE_NS, now_ns, now_ns, 0};
    net_requests_bars(rest, &request, on_reply, &seen, NULL);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    CHECK(seen.bars >= 1200 && seen.closed >= 1200);

    seen = (struct seen){0};
    net_requests_book(rest, &symbols[1], on_reply, &seen, NULL);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    CHECK(seen.bids > 0 && seen.asks > 0);

    struct symbol unknown = symbols[0];
    strcpy(unknown.name, "NOSUCH");
    seen = (struct seen){0};
    net_requests_book(rest, &unknown, on_reply, &seen, NULL);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, -ENOENT);
    printf("%s\n", seen.text);
    net_requests_destroy(rest);
}

struct received {
    bool enough;
    struct venue_stream *stream;
    struct venue_parser *parser;
    unsigned frames, kinds[MARKET_CHANNELS], unread, wrong;
};

static void on_state(void *user, const struct venue_status *status)
{
    (void)user;
    if (status->detail[0])
        printf("link %d: %s\n", status->link, status->detail);
}

static void on_frame(void *user, const char *data, size_t len)
{
    struct received *received = user;
    struct market_event event;
    size_t pos = 0;
    int r = venue->format->parse(received->parser, data, len, &pos, &event);
    if (r == 0)
        received->kinds[event.kind]++;
    else if (r == 1)
        received->unread++;
    else
        received->wrong++;
    received->frames++;
    if (received->frames % 5000 == 0) { /* back-pressure: off and on */
        venue->stream_pause(received->stream, true);
        venue->stream_pause(received->stream, false);
    }
    if (received->frames >= FRAMES)
        received->enough = true;
}

static const struct venue_stream_handler handler = {on_state, on_frame};

static void test_stream(struct net_context *net, const struct replay *replay, const struct symbol *symbols,
                        unsigned connects, unsigned wrong)
{
    static char names[SYMBOLS * MARKET_CHANNELS][VENUE_STREAM_NAME_MAX];
    static const char *streams[SYMBOLS * MARKET_CHANNELS];
    struct received received = {0};
    for (int i = 0; i < SYMBOLS * MARKET_CHANNELS; i++) {
        CHECK_INT(venue->stream_name(symbol_names[i % SYMBOLS], i / SYMBOLS, MINUTE_NS, names[i]), 0);
        streams[i] = names[i];
    }
    CHECK_INT(venue->format->parser_create(symbols, SYMBOLS, &received.parser), 0);
    const struct venue_stream_config config = {
        .net = net,
        .ws_url = replay->ws_url,
        .streams = streams,
        .n_streams = SYMBOLS * MARKET_CHANNELS,
        .backoff_min_ms = 1,
        .backoff_max_ms = 10,
    };
    CHECK_INT(venue->stream_create(&config, &handler, &received, &received.stream), 0);
    CHECK(loop_until(&loop, &received.enough));
    const struct venue_status *status = venue->stream_status(received.stream);
    printf("%u frames, %llu connections:", received.frames, (unsigned long long)status->connects);
    for (int kind = 0; kind < MARKET_CHANNELS; kind++) {
        printf(" %s %u", market_kind_name(kind), received.kinds[kind]);
        CHECK(received.kinds[kind] > 0);
    }
    printf(", not read %u, malformed %u\n", received.unread, received.wrong);
    CHECK(wrong ? received.wrong >= wrong : received.wrong == 0);
    CHECK(status->connects >= connects);
    venue->stream_destroy(received.stream);
    venue->format->parser_destroy(received.parser);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *fault;
        unsigned connects, wrong;
    } cases[] = {{NULL, 1, 0}, {"close@1000", 2, 0}, {"garbage", 1, 1}};
    if (argc != 2)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct symbol symbols[SYMBOLS];
        struct replay replay;
        const char *const options[] = {cases[i].fault ? "--fault" : NULL, cases[i].fault, NULL};
        start_replay(&replay, argv[1], options);
        uv_loop_init(&loop);
        struct net_context *net = loop_net(&loop, replay.ca_file, 0, 0);
        test_rest(net, &replay, symbols);
        test_stream(net, &replay, symbols, cases[i].connects, cases[i].wrong);
        loop_end(&loop, net);
        stop_replay(&replay);
    }
    return check_done("net against papertape-replay");
}
