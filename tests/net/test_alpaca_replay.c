/* Alpaca's venue table against papertape-replay, a process of its own: everything that a daemon asks of a
 * venue, in both encodings; streamed bars equal REST's, and long ones what the minutes make.
 * Usage: test PAPERTAPE_REPLAY */
#include <errno.h>

#include "exchange/alpaca/format.h"
#include "exchange/bar_join.h"
#include "exchange/market.h"
#include "exchange/net/requests.h"
#include "tests/net/loop.h"
#include "tests/net/replay.h"

enum { SYMBOLS = 2, BARS_MAX = 4096, FRAMES = 3000 };

#define MINUTE_NS 60000000000LL
#define HOUR_NS   (60 * MINUTE_NS)
#define DAY_NS    (24 * HOUR_NS)

static const struct venue *const venue = &alpaca_venue;
static uv_loop_t loop;

static const char *const symbol_names[SYMBOLS] = {"AAPL", "BTC/USD"};
static const struct venue_keys keys = {"id", "secret"};

struct seen {
    bool done;
    int error;
    int64_t server_ns;
    struct symbol symbols[SYMBOLS];
    struct bar bars[BARS_MAX];
    size_t n_bars, closed, missing, pages;
    char nearest[SYMBOL_NAME_MAX], text[256], calendar[CALENDAR_NAME_MAX];
    uint32_t bids, asks;
    struct trading_day days[64];
    size_t n_days;
    struct venue_action actions[8];
    size_t n_actions;
    struct market_event latest;
    size_t n_latest;
};

static void on_reply(void *user, const struct venue_reply *reply)
{
    struct seen *seen = user;
    seen->done = !reply->more;
    seen->error = reply->error;
    seen->pages++;
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
        for (size_t i = 0; i < reply->bars.n && seen->n_bars < BARS_MAX; i++)
            seen->bars[seen->n_bars++] = reply->bars.list[i];
        seen->closed += reply->bars.n_closed;
        break;
    case VENUE_REPLY_BOOK:
        seen->bids = reply->book.n_bids;
        seen->asks = reply->book.n_asks;
        CHECK_INT(reply->book.last_id, 0);
        CHECK(seen->bids > 0 && seen->asks > 0 && reply->book.bids[0].price < reply->book.asks[0].price);
        for (uint32_t i = 1; i < seen->bids; i++)
            CHECK(reply->book.bids[i].price < reply->book.bids[i - 1].price);
        for (uint32_t i = 1; i < seen->asks; i++)
            CHECK(reply->book.asks[i].price > reply->book.asks[i - 1].price);
        break;
    case VENUE_REPLY_DAYS:
        snprintf(seen->calendar, sizeof(seen->calendar), "%s", reply->days.calendar);
        for (size_t i = 0; i < reply->days.n && i < 64; i++)
            seen->days[seen->n_days++] = reply->days.list[i];
        break;
    case VENUE_REPLY_ACTIONS:
        for (size_t i = 0; i < reply->actions.n && i < 8; i++)
            seen->actions[seen->n_actions++] = reply->actions.list[i];
        break;
    case VENUE_REPLY_LATEST:
        seen->n_latest = reply->latest.n;
        if (reply->latest.n > 0)
            seen->latest = reply->latest.list[reply->latest.n - 1];
        break;
    case VENUE_REPLY_TRADES: /* never asked for */
        break;
    }
}

static struct seen seen;

static void ask_bars(struct venue_rest *rest, const struct symbol *symbol, int64_t interval_ns,
                     int64_t start_ns, int64_t end_ns, int64_t now_ns, size_t max)
{
    const struct venue_bars_request request = {
        .symbol = symbol,
        .interval_ns = interval_ns,
        .start_ns = start_ns,
        .end_ns = end_ns,
        .now_ns = now_ns,
        .max = max,
        .adjustment = VENUE_SPLIT,
    };
    memset(&seen, 0, sizeof(seen));
    CHECK_INT(net_requests_bars(rest, &request, on_reply, &seen, NULL), 0);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    if (seen.error)
        fprintf(stderr, "  %s\n", seen.text);
    for (size_t i = 1; i < seen.n_bars; i++)
        CHECK(seen.bars[i].open_ns > seen.bars[i - 1].open_ns);
}

/* Long bars that REST gives equal those made of its minutes here. */
static void test_long_bars(struct venue_rest *rest, const struct symbol *symbol, int64_t interval_ns,
                           int64_t now_ns)
{
    static struct bar minutes[BARS_MAX];
    int64_t end_ns = bar_open_time(now_ns, interval_ns), start_ns = end_ns - 2 * interval_ns;
    ask_bars(rest, symbol, MINUTE_NS, start_ns, end_ns - MINUTE_NS, now_ns, 0);
    size_t n = seen.n_bars, at = 0;
    memcpy(minutes, seen.bars, n * sizeof(*minutes));
    CHECK(n > 0 && n < BARS_MAX);
    ask_bars(rest, symbol, interval_ns, start_ns, end_ns - interval_ns, now_ns, 0);
    CHECK(seen.n_bars >= 1 && seen.n_bars <= 2);
    CHECK_INT(seen.closed, seen.n_bars);
    for (size_t i = 0; i < seen.n_bars; i++) {
        struct bar made = {.open_ns = seen.bars[i].open_ns};
        bool first = true;
        CHECK_INT(made.open_ns % interval_ns, 0);
        for (; at < n && minutes[at].open_ns < made.open_ns + interval_ns; at++) {
            CHECK(minutes[at].open_ns >= made.open_ns);
            bar_join_merge(&made, &minutes[at], first);
            first = false;
        }
        CHECK_INT(seen.bars[i].open, made.open);
        CHECK_INT(seen.bars[i].high, made.high);
        CHECK_INT(seen.bars[i].low, made.low);
        CHECK_INT(seen.bars[i].close, made.close);
        /* A minute of odd lots alone has no bar, and yet its volume. */
        bool crypto = !symbol->calendar[0];
        CHECK(crypto ? seen.bars[i].volume == made.volume : seen.bars[i].volume >= made.volume);
        CHECK(crypto ? seen.bars[i].trades == made.trades : seen.bars[i].trades >= made.trades);
    }
    CHECK_INT(at, n);
}

static void test_rest(struct net_context *net, const struct replay *replay, struct symbol *symbols)
{
    struct venue_rest *rest;
    const struct venue_rest_config config = {.net = net, .rest_url = replay->rest_url, .keys = keys};
    CHECK_INT(venue->rest_create(&config, &rest), 0);
    net_requests_time(rest, on_reply, &seen, NULL);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    int64_t now_ns = seen.server_ns;
    CHECK_INT(now_ns / MINUTE_NS, 1741787880000000000 / MINUTE_NS); /* --from */

    memset(&seen, 0, sizeof(seen));
    net_requests_symbols(rest, symbol_names, SYMBOLS, on_reply, &seen, NULL);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    CHECK_INT(seen.missing, 0);
    memcpy(symbols, seen.symbols, sizeof(seen.symbols));
    for (int i = 0; i < SYMBOLS; i++) {
        CHECK_STR(symbols[i].name, symbol_names[i]);
        CHECK_STR(symbols[i].calendar, i == 0 ? "us-equity" : "");
        CHECK_STR(symbols[i].venue, "alpaca");
        CHECK_STR(symbols[i].base, i == 0 ? "AAPL" : "BTC");
        CHECK_STR(symbols[i].quote, "USD");
        CHECK_INT(symbols[i].qty_scale, 9);
        CHECK(symbols[i].trading && !symbols[i].gone && symbols[i].loose_ids);
        CHECK(symbols[i].filters.tick > 0 && symbols[i].filters.step > 0);
    }

    static const char *const wrong[] = {"AALP"};
    memset(&seen, 0, sizeof(seen));
    net_requests_symbols(rest, wrong, 1, on_reply, &seen, NULL);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    CHECK_INT(seen.missing, 1);
    CHECK_STR(seen.nearest, "AAPL");

    int64_t minute_ns = bar_open_time(now_ns, MINUTE_NS);
    ask_bars(rest, &symbols[1], MINUTE_NS, minute_ns - 1200 * MINUTE_NS, minute_ns, now_ns, 0);
    CHECK(seen.n_bars >= 1200 && seen.closed >= 1200 && seen.closed <= seen.n_bars);
    ask_bars(rest, &symbols[0], MINUTE_NS, minute_ns - 1200 * MINUTE_NS, minute_ns, now_ns, 7);
    CHECK_INT(seen.n_bars, 7);
    for (int i = 0; i < SYMBOLS; i++) {
        test_long_bars(rest, &symbols[i], 5 * MINUTE_NS, now_ns);
        test_long_bars(rest, &symbols[i], HOUR_NS, now_ns);
        test_long_bars(rest, &symbols[i], 4 * HOUR_NS, now_ns);
        test_long_bars(rest, &symbols[i], DAY_NS, now_ns);
    }

    memset(&seen, 0, sizeof(seen));
    static const enum market_kind kinds[] = {MARKET_TRADE, MARKET_QUOTE, MARKET_TICKER};
    for (int i = 0; i < 6; i++) { /* what their streams sent last */
        const struct venue_latest_request latest = {.symbol = &symbols[i % 2], .kind = kinds[i / 2]};
        memset(&seen, 0, sizeof(seen));
        CHECK_INT(net_requests_latest(rest, &latest, on_reply, &seen, NULL), 0);
        CHECK(loop_until(&loop, &seen.done));
        CHECK_INT(seen.error, 0);
        CHECK(seen.n_latest == 1 && seen.latest.kind == latest.kind && seen.latest.event_ns > 0);
    }
    memset(&seen, 0, sizeof(seen));
    CHECK_INT(net_requests_book(rest, &symbols[0], on_reply, &seen, NULL), -EINVAL);
    net_requests_book(rest, &symbols[1], on_reply, &seen, NULL);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);

    /* 2025-03-03 to 2025-03-14: ten sessions, the clock changes between; 14:30Z and then 13:30Z. */
    memset(&seen, 0, sizeof(seen));
    net_requests_days(rest, 1740978000000000000, 1741928400000000000, on_reply, &seen, NULL);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    CHECK_STR(seen.calendar, "us-equity");
    CHECK_INT(seen.n_days, 10);
    CHECK_INT(seen.days[0].open_ns, 1741012200000000000);
    CHECK_INT(seen.days[9].open_ns, 1741959000000000000);
    CHECK_INT(seen.days[0].close_ns - seen.days[0].open_ns, 390 * MINUTE_NS);

    memset(&seen, 0, sizeof(seen));
    net_requests_actions(rest, symbol_names, SYMBOLS, now_ns - 30 * DAY_NS, now_ns + 30 * DAY_NS, on_reply,
                         &seen, NULL);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.error, 0);
    CHECK_INT(seen.n_actions, 2);
    CHECK_STR(seen.actions[0].symbol, "AAPL");
    CHECK_INT(seen.actions[0].action.kind, ACTION_SPLIT);
    CHECK_INT(seen.actions[0].action.shares, 4);
    CHECK_INT(seen.actions[0].action.per, 1);
    CHECK_INT(seen.actions[0].action.ex_ns, 1741680000000000000); /* 2025-03-11 04:00 in New York */
    CHECK(seen.actions[0].action.id[0]);
    CHECK_INT(seen.actions[1].action.kind, ACTION_DIVIDEND);
    CHECK_INT(seen.actions[1].action.cash, 250000000);

    const struct venue_rest_status *status = net_requests_status(rest);
    CHECK_INT(status->weight_limit, 200);
    CHECK(status->used_weight > 0 && status->queued == 0 && status->in_flight == 0);
    net_requests_destroy(rest);
}

struct received {
    bool enough, listed;
    struct venue_stream *stream;
    struct venue_parser *parser;
    struct book book;
    unsigned frames, kinds[MARKET_KINDS], unread, wrong, long_bars;
    struct bar minutes[SYMBOLS][64]; /* as streamed and not revised since */
    size_t n_minutes[SYMBOLS];
    int64_t last_ns;
    char detail[VENUE_DETAIL_MAX];
    size_t n_listed;
};

static void on_state(void *user, const struct venue_status *status)
{
    struct received *received = user;
    snprintf(received->detail, sizeof(received->detail), "%s", status->detail);
    if (status->detail[0])
        printf("link %d: %s\n", status->link, status->detail);
}

static void keep_bar(struct received *received, const struct market_event *event)
{
    size_t *n = &received->n_minutes[event->symbol];
    struct bar *minutes = received->minutes[event->symbol];
    for (size_t i = 0; i < *n; i++)
        if (minutes[i].open_ns == event->kline.bar.open_ns) {
            minutes[i] = event->kline.bar;
            return;
        }
    if (*n < 64)
        minutes[(*n)++] = event->kline.bar;
}

static void on_event(struct received *received, const struct market_event *event)
{
    received->kinds[event->kind]++;
    if (event->event_ns > received->last_ns)
        received->last_ns = event->event_ns;
    if (event->kind == MARKET_KLINE && event->kline.interval_ns != MINUTE_NS)
        received->long_bars++;
    else if (event->kind == MARKET_KLINE || event->kind == MARKET_REVISION)
        keep_bar(received, event);
    const struct market_depth *depth = &event->depth;
    int r = BOOK_APPLIED;
    if (event->kind == MARKET_BOOK)
        r = book_replace(&received->book, depth->last_id, depth->bids, depth->n_bids, depth->asks,
                         depth->n_asks);
    else if (event->kind == MARKET_DEPTH)
        r = book_diff(&received->book, depth->first_id, depth->last_id, depth->bids, depth->n_bids,
                      depth->asks, depth->n_asks);
    CHECK_INT(r, BOOK_APPLIED);
}

static void on_frame(void *user, const char *data, size_t len)
{
    struct received *received = user;
    for (size_t pos = 0; pos < len;) {
        struct market_event event;
        int r = venue->format->parse(received->parser, data, len, &pos, &event);
        if (r == 0)
            on_event(received, &event);
        else if (r == 1)
            received->unread++;
        else
            received->wrong++;
    }
    if (++received->frames % 500 == 0) { /* back-pressure: off and on */
        venue->stream_pause(received->stream, true);
        venue->stream_pause(received->stream, false);
    }
    if (received->frames >= FRAMES && received->kinds[MARKET_REVISION] > 0 && received->n_minutes[0] > 8)
        received->enough = true;
}

static void on_listed(void *user, const char *const *names, size_t n, const char *error)
{
    struct received *received = user;
    CHECK(!error);
    for (size_t i = 0; i < n; i++)
        CHECK(strchr(names[i], ':') != NULL);
    received->n_listed = n;
    received->listed = true;
}

static const struct venue_stream_handler handler = {on_state, on_frame};

static void test_stream(struct net_context *net, const struct replay *replay, const struct symbol *symbols,
                        const char *encoding)
{
    static struct received received;
    char names[2 * SYMBOLS * 5][VENUE_STREAM_NAME_MAX];
    const char *list[2 * SYMBOLS * 5];
    size_t n = 0;
    for (int i = 0; i < SYMBOLS; i++)
        for (int kind = 0; kind < MARKET_CHANNELS; kind++)
            if (venue->stream_name(symbol_names[i], (enum market_kind)kind, 5 * MINUTE_NS, names[n]) == 0) {
                list[n] = names[n];
                n++;
            }
    CHECK_INT(n, 9); /* no order book of a stock, aggregated trades of neither */
    memset(&received, 0, sizeof(received));
    book_init(&received.book);
    const struct venue_setting settings[] = {{"encoding", encoding}, {"feed", "sip"}};
    const struct venue_stream_config config = {
        .net = net,
        .ws_url = replay->ws_url,
        .streams = list,
        .n_streams = n - 1, /* the last one is followed later */
        .keys = keys,
        .settings = settings,
        .n_settings = 2,
        .backoff_min_ms = 1,
        .backoff_max_ms = 10,
    };
    CHECK_INT(venue->format->parser_create(symbols, SYMBOLS, &received.parser), 0);
    CHECK_INT(venue->stream_create(&config, &handler, &received, &received.stream), 0);
    CHECK_INT(venue->stream_follow(received.stream, &list[n - 1], 1), 0);
    CHECK(loop_until(&loop, &received.enough));
    const struct venue_status *status = venue->stream_status(received.stream);
    CHECK_INT(status->link, VENUE_UP);
    CHECK_INT(status->connections, 2);
    CHECK_INT(status->up, 2);
    CHECK_INT(status->connects, 2);
    CHECK_STR(received.detail, "");
    CHECK_INT(received.wrong, 0);
    printf("%s: %u frames", encoding, received.frames);
    for (int kind = 0; kind < MARKET_KINDS; kind++)
        printf(", %u %s", received.kinds[kind], market_kind_name((enum market_kind)kind));
    printf(", %u long bars\n", received.long_bars);
    static const enum market_kind must[] = {MARKET_TRADE, MARKET_KLINE,  MARKET_QUOTE,    MARKET_DEPTH,
                                            MARKET_BOOK,  MARKET_TICKER, MARKET_REVISION, MARKET_BANDS};
    for (size_t i = 0; i < sizeof(must) / sizeof(*must); i++)
        CHECK(received.kinds[must[i]] > 0);
    CHECK(received.long_bars > 0);
    CHECK(received.book.state == BOOK_SYNCED && book_valid(&received.book));

    /* What the stream carries can be asked for, and changed. */
    CHECK_INT(venue->stream_list(received.stream, on_listed, &received), 0);
    CHECK_INT(venue->stream_list(received.stream, on_listed, &received), -EBUSY);
    CHECK(loop_until(&loop, &received.listed));
    CHECK_INT(received.n_listed, n);
    CHECK_INT(venue->stream_unfollow(received.stream, list, 4), 0);
    received.listed = received.enough = false;
    received.frames = 0;
    CHECK(loop_until(&loop, &received.enough)); /* sent before the list is asked for */
    CHECK_INT(venue->stream_list(received.stream, on_listed, &received), 0);
    CHECK(loop_until(&loop, &received.listed));
    CHECK_INT(received.n_listed, n - 4);
    venue->stream_pause(received.stream, true);
    CHECK_INT(venue->stream_follow(received.stream, (const char *const[]){"candles:AAPL"}, 1), -EINVAL);

    /* The minutes that were streamed, revisions included, are what REST gives for them. */
    struct venue_rest *rest;
    const struct venue_rest_config rest_config = {
        .net = net, .rest_url = replay->rest_url, .keys = keys, .settings = settings, .n_settings = 2};
    CHECK_INT(venue->rest_create(&rest_config, &rest), 0);
    unsigned compared = 0;
    for (int s = 0; s < SYMBOLS; s++) {
        if (received.n_minutes[s] == 0)
            continue;
        const struct bar *bars = received.minutes[s];
        ask_bars(rest, &symbols[s], MINUTE_NS, bars[0].open_ns, bars[received.n_minutes[s] - 1].open_ns,
                 received.last_ns, 0);
        for (size_t i = 0; i < received.n_minutes[s]; i++)
            for (size_t k = 0; k < seen.n_bars; k++) {
                if (seen.bars[k].open_ns != bars[i].open_ns ||
                    bars[i].open_ns + 2 * MINUTE_NS > received.last_ns)
                    continue; /* a revision may come yet */
                CHECK_INT(bars[i].open, seen.bars[k].open);
                CHECK_INT(bars[i].high, seen.bars[k].high);
                CHECK_INT(bars[i].low, seen.bars[k].low);
                CHECK_INT(bars[i].close, seen.bars[k].close);
                CHECK(bars[i].volume == seen.bars[k].volume);
                CHECK(bars[i].quote_volume == seen.bars[k].quote_volume);
                CHECK_INT(bars[i].trades, seen.bars[k].trades);
                compared++;
            }
    }
    CHECK(compared > 10);
    net_requests_destroy(rest);
    venue->stream_destroy(received.stream);
    venue->format->parser_destroy(received.parser);
    book_finish(&received.book);
}

static const char *const options[] = {"--venue",  "alpaca",
                                      "--from",   "2025-03-12T13:58:00Z",
                                      "--action", "split:AAPL:4:1:2025-03-11",
                                      "--action", "dividend:AAPL:0.25:2025-03-12",
                                      NULL};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct replay replay = {0};
    struct symbol symbols[SYMBOLS];
    if (argc != 2) {
        fprintf(stderr, "usage: %s PAPERTAPE_REPLAY\n", argv[0]);
        return 2;
    }
    start_replay(&replay, argv[1], options);
    uv_loop_init(&loop);
    struct net_context *net = loop_net(&loop, replay.ca_file, 0, 0);
    test_rest(net, &replay, symbols);
    test_stream(net, &replay, symbols, "msgpack");
    test_stream(net, &replay, symbols, "json");
    loop_end(&loop, net);
    stop_replay(&replay);
    return check_done("alpaca_replay");
}
