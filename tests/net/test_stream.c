/* The stream manager: it comes back, within its budget, as the venue's refusals and announcements ask. */
#include <errno.h>

#include "exchange/binance/stream.h"
#include "exchange/clock.h"
#include "exchange/net/budget.h"
#include "tests/net/loop.h"
#include "tests/net/server.h"

static uv_loop_t loop;
static struct net_context *net;

struct seen {
    bool ready; /* what is waited for has come */
    enum venue_link until;
    unsigned until_frames;
    unsigned states, frames;
    bool were[6]; /* links entered */
    struct venue_status status;
    char last[128];
    struct venue_stream *stream;
    bool destroy_on_frame, destroy_on_up;
};

static void on_state(void *user, const struct venue_status *status)
{
    struct seen *seen = user;
    seen->states++;
    if (!seen->ready) /* as it was when it was waited for */
        seen->status = *status;
    seen->were[status->link] = true;
    if (seen->until_frames == 0 && status->link == seen->until)
        seen->ready = true;
    if (seen->destroy_on_up && status->link == VENUE_UP) {
        binance_stream_destroy(seen->stream);
        seen->ready = true;
    }
}

static void on_frame(void *user, const char *data, size_t len)
{
    struct seen *seen = user;
    snprintf(seen->last, sizeof(seen->last), "%.*s", (int)len, data);
    if (++seen->frames == seen->until_frames)
        seen->ready = true;
    if (seen->destroy_on_frame) {
        binance_stream_destroy(seen->stream);
        seen->ready = true;
    }
}

static const struct venue_stream_handler handler = {on_state, on_frame};
static const char *const names[] = {"btcusdt@trade", "ethusdt@kline_1m"};

static void open_stream(struct server *server, struct budget *budget, struct seen *seen)
{
    char url[64];
    snprintf(url, sizeof(url), "wss://localhost:%u", server_port(server));
    const struct venue_stream_config config = {
        .net = net,
        .ws_url = url,
        .streams = names,
        .n_streams = 2,
        .budget = budget,
        .jitter_seed = 5,
        .backoff_min_ms = 1,
        .backoff_max_ms = 4,
    };
    CHECK_INT(binance_stream_create(&binance_global, &config, &handler, seen, &seen->stream), 0);
    CHECK_INT(seen->states, 0);
}

static bool wait_for(struct seen *seen, enum venue_link link)
{
    seen->until = link;
    seen->until_frames = 0;
    seen->ready = false;
    return loop_until(&loop, &seen->ready);
}

static bool wait_frames(struct seen *seen, unsigned frames)
{
    seen->until_frames = frames;
    seen->ready = seen->frames >= frames;
    return loop_until(&loop, &seen->ready);
}

/* {"stream":"btcusdt@trade",…} with an id. */
static void send_trade(struct peer *peer, unsigned id)
{
    char text[96];
    snprintf(text, sizeof(text), "{\"stream\":\"btcusdt@trade\",\"data\":{\"e\":\"trade\",\"t\":%u}}", id);
    peer_text(peer, text);
}

static const char trade[] = "{\"stream\":\"btcusdt@trade\",\"data\":{\"e\":\"trade\"}}";

static void script_data(struct peer *peer, const char *head)
{
    CHECK(
        strstr(head, "GET /stream?streams=btcusdt@trade/ethusdt@kline_1m&timeUnit=MICROSECOND HTTP/1.1\r\n"));
    peer_upgrade(peer);
    peer_text(peer, trade);
}

static void test_reconnects(void)
{
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_data});
    struct seen seen = {0};
    open_stream(server, NULL, &seen);
    CHECK_INT(binance_stream_status(seen.stream)->link, VENUE_DOWN);
    CHECK(wait_frames(&seen, 1));
    CHECK_STR(seen.last, trade);
    CHECK(seen.were[VENUE_RESOLVING] && seen.were[VENUE_CONNECTING] && seen.were[VENUE_UP]);
    const struct venue_status *status = binance_stream_status(seen.stream);
    CHECK_INT(status->connects, 1);
    CHECK_INT(status->reconnects, 0);
    CHECK_INT(status->frames, 1);
    CHECK_INT(status->bytes, sizeof(trade) - 1);
    CHECK(status->last_frame_ms > 0);

    for (unsigned i = 2; i <= 6; i++) { /* cut off again and again */
        if (i % 2)
            peer_reset(server_peer(server));
        else
            peer_close_frame(server_peer(server), 1001, "moving");
        CHECK(wait_frames(&seen, i));
    }
    CHECK_INT(status->connects, 6);
    CHECK_INT(status->reconnects, 5);
    CHECK(seen.were[VENUE_WAITING]);

    /* The daemon finds it silent: another is made beside it, and takes over with its first message. */
    CHECK_INT(binance_stream_connection(seen.stream, "btcusdt@trade"), 0);
    CHECK_INT(binance_stream_connection(seen.stream, "solusdt@trade"), -1);
    memset(seen.were, 0, sizeof(seen.were));
    binance_stream_replace(seen.stream, 0, "btcusdt@trade was silent for 60 s");
    CHECK_STR(status->detail, "btcusdt@trade was silent for 60 s");
    CHECK_INT(status->link, VENUE_UP);
    binance_stream_replace(seen.stream, 0, "again"); /* is under way: not twice */
    binance_stream_replace(seen.stream, 1, "there is none");
    CHECK(wait_frames(&seen, 7));
    CHECK_STR(status->detail, "");
    CHECK_INT(status->connects, 7);
    CHECK_INT(status->reconnects, 5); /* a renewal is none */
    CHECK_INT(status->renewals, 1);
    CHECK(!seen.were[VENUE_WAITING] && !seen.were[VENUE_DOWN]);
    binance_stream_destroy(seen.stream);
    server_stop(server);
}

/* A venue that refuses everybody costs no more than the budget. */
static void script_drop(struct peer *peer, const char *head)
{
    (void)head;
    peer_reset(peer);
}

static void test_budget(void)
{
    struct budget budget;
    net_budget_init(&budget, 7, 3600000);
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_drop});
    struct seen seen = {0};
    open_stream(server, &budget, &seen);
    while (!strstr(seen.status.detail, "used up"))
        if (!wait_for(&seen, VENUE_WAITING))
            break;
    printf("budget: %s\n", seen.status.detail);
    CHECK_INT(seen.status.attempts, 7);
    CHECK(server_accepted(server) <= 7);
    CHECK(seen.status.retry_ms - seen.status.since_ms > 3500000);
    CHECK_INT(seen.status.connects, 0);
    binance_stream_destroy(seen.stream);
    server_stop(server);
}

static const char *refusal;

static void script_refuse(struct peer *peer, const char *head)
{
    (void)head;
    peer_print(peer, "%s", refusal);
}

static void test_refusals(void)
{
    static const struct {
        const char *reply;
        enum venue_link link;
        int64_t least_ms, most_ms;
    } cases[] = {
        {"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", VENUE_WAITING, 7000,
         7100},
        {"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", VENUE_WAITING, 60000, 60100},
        {"HTTP/1.1 418 I'm a teapot\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n", VENUE_WAITING,
         3600000, 3600100},
        {"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", VENUE_FAILED, 900000, 900100},
        {"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", VENUE_FAILED, 900000, 900100},
        {"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", VENUE_WAITING, 1, 4},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        refusal = cases[i].reply;
        struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_refuse});
        struct seen seen = {0};
        int64_t before_ms = clock_now_ms(); /* the refusal comes between this and after_ms */
        open_stream(server, NULL, &seen);
        CHECK(wait_for(&seen, cases[i].link));
        int64_t after_ms = clock_now_ms(), retry_ms = seen.status.retry_ms;
        printf("refusal: %s\n", seen.status.detail);
        if (strstr(refusal, " 403 ") || strstr(refusal, " 400 "))
            CHECK(!strstr(seen.status.detail, strstr(refusal, " 403 ") ? "check the URL" : "firewall"));
        CHECK(retry_ms >= before_ms + cases[i].least_ms && retry_ms <= after_ms + cases[i].most_ms);
        CHECK_INT(seen.status.connects, 0);
        CHECK_INT(server_accepted(server), 1);
        binance_stream_destroy(seen.stream);
        server_stop(server);
    }

    struct server *server = server_start(&loop, SERVER_UNTRUSTED, &(struct server_handler){script_data});
    struct seen seen = {0};
    open_stream(server, NULL, &seen);
    CHECK(wait_for(&seen, VENUE_WAITING));
    printf("refusal: %s\n", seen.status.detail);
    CHECK(strstr(seen.status.detail, "certificate"));
    CHECK_INT(seen.status.connects, 0);
    binance_stream_destroy(seen.stream);
    server_stop(server);
}

/* The server that shuts down goes once its client has come back. */
static unsigned upgrades;
static struct peer *first_peer;

static void script_shutdown(struct peer *peer, const char *head)
{
    (void)head;
    peer_upgrade(peer);
    send_trade(peer, ++upgrades);
    if (upgrades == 2 && first_peer)
        peer_close_frame(first_peer, 1001, "shutdown");
    first_peer = peer;
    if (upgrades == 1)
        peer_text(peer,
                  "{\"stream\":\"!serverShutdown\",\"data\":{\"e\":\"serverShutdown\",\"E\":1770123456789}}");
}

static void test_shutdown(void)
{
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_shutdown});
    struct seen seen = {0};
    upgrades = 0;
    open_stream(server, NULL, &seen);
    CHECK(wait_frames(&seen, 3)); /* the announcement is a frame as well */
    CHECK_STR(seen.last, "{\"stream\":\"btcusdt@trade\",\"data\":{\"e\":\"trade\",\"t\":2}}");
    CHECK_INT(binance_stream_status(seen.stream)->link, VENUE_UP);
    CHECK_INT(binance_stream_status(seen.stream)->connects, 2);
    CHECK(!seen.were[VENUE_WAITING]); /* at once */
    binance_stream_destroy(seen.stream);
    server_stop(server);
}

/* One that says so before it has taken the place of the one before is renewed once it has. */
static void script_shutdown_twice(struct peer *peer, const char *head)
{
    (void)head;
    peer_upgrade(peer);
    if (++upgrades <= 2)
        peer_text(peer, "{\"e\":\"serverShutdown\",\"E\":1770123456789}");
    else
        send_trade(peer, upgrades);
}

static void answer_ping(struct peer *peer, int opcode, const char *payload, size_t len)
{
    if (opcode == 9)
        peer_frame(peer, true, 10, payload, len);
}

static void test_shutdown_of_next(void)
{
    struct server *server = server_start(
        &loop, SERVER_GOOD, &(struct server_handler){.request = script_shutdown_twice, .frame = answer_ping});
    struct seen seen = {0};
    upgrades = 0;
    open_stream(server, NULL, &seen);
    CHECK(wait_frames(&seen, 3)); /* both announcements, and what the third one says */
    CHECK_STR(seen.last, "{\"stream\":\"btcusdt@trade\",\"data\":{\"e\":\"trade\",\"t\":3}}");
    CHECK(!seen.were[VENUE_WAITING]);
    binance_stream_destroy(seen.stream);
    server_stop(server);
}

static void test_pause(void)
{
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_data});
    struct seen seen = {0};
    open_stream(server, NULL, &seen);
    binance_stream_pause(seen.stream, true); /* before there is a connection */
    CHECK(wait_for(&seen, VENUE_UP));
    for (int turn = 0; turn < 100; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_INT(seen.frames, 0);
    binance_stream_pause(seen.stream, false);
    CHECK(wait_frames(&seen, 1));
    binance_stream_destroy(seen.stream);
    server_stop(server);
}

static void test_destroy(void)
{
    for (int i = 0; i < 4; i++) {
        struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_shutdown});
        struct seen seen = {.destroy_on_frame = i == 0, .destroy_on_up = i == 1};
        upgrades = 1; /* no shutdown */
        first_peer = NULL;
        open_stream(server, NULL, &seen);
        if (i == 2)
            CHECK(wait_for(&seen, VENUE_RESOLVING));
        else if (i == 3)
            CHECK(wait_for(&seen, VENUE_CONNECTING));
        else
            CHECK(loop_until(&loop, &seen.ready));
        if (i >= 2)
            binance_stream_destroy(seen.stream);
        unsigned states = seen.states, frames = seen.frames;
        for (int turn = 0; turn < 50; turn++)
            uv_run(&loop, UV_RUN_NOWAIT);
        CHECK_INT(seen.states, states);
        CHECK_INT(seen.frames, frames);
        server_stop(server);
    }
}

/* More streams than an URL can carry: the others are subscribed to. */
static unsigned in_url, subscribed, requests;

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

static void script_many(struct peer *peer, const char *head)
{
    in_url = count(head, "@depth@100ms");
    CHECK(strstr(head, "@depth@100ms&timeUnit=MICROSECOND HTTP/1.1\r\n"));
    CHECK(strstr(head, "Host: localhost:"));
    peer_upgrade(peer);
    peer_text(peer, trade);
}

static void note_subscription(struct peer *peer, int opcode, const char *payload, size_t len)
{
    char text[8192];
    if (opcode != 1)
        return;
    snprintf(text, sizeof(text), "%.*s", (int)len, payload);
    CHECK(strstr(text, "{\"method\":\"SUBSCRIBE\",\"params\":[\"symbol") == text);
    CHECK(strstr(text, "usdt@depth@100ms\"],\"id\":"));
    requests++;
    subscribed += count(text, "@depth@100ms");
    peer_text(peer, requests == 1 ? "{\"error\":{\"code\":2,\"msg\":\"no\"},\"id\":1}"
                                  : "{\"result\":null,\"id\":1}");
}

enum { MANY = 300 };

static void test_many(void)
{
    static char text[MANY][32];
    static const char *many[MANY];
    char url[64];
    struct seen seen = {0};
    for (int i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof(text[i]), "symbol%dusdt@depth@100ms", i);
        many[i] = text[i];
    }
    struct server *server =
        server_start(&loop, SERVER_GOOD, &(struct server_handler){script_many, note_subscription});
    snprintf(url, sizeof(url), "wss://localhost:%u/", server_port(server));
    struct venue_stream_config config = {.net = net, .ws_url = url, .streams = many, .n_streams = MANY};
    CHECK_INT(binance_stream_create(&binance_global, &config, &handler, &seen, &seen.stream), 0);
    while (in_url + subscribed < MANY && wait_frames(&seen, seen.frames + 1))
        ;
    CHECK(wait_frames(&seen, 1 + requests)); /* all answers */
    CHECK_INT(in_url + subscribed, MANY);
    CHECK_INT(server_accepted(server), 1);
    printf("many: %u in the URL; %s\n", in_url, binance_stream_status(seen.stream)->detail);
    CHECK_STR(binance_stream_status(seen.stream)->detail,
              "the venue refused a request: {\"error\":{\"code\":2,\"msg\":\"no\"},\"id\":1}");
    CHECK_INT(binance_stream_status(seen.stream)->sent, requests);
    binance_stream_destroy(seen.stream);
    server_stop(server);

    config.n_streams = 0;
    CHECK_INT(binance_stream_create(&binance_global, &config, &handler, &seen, &seen.stream), -EINVAL);
    config.n_streams = 1;
    config.ws_url = "ws://localhost";
    CHECK_INT(binance_stream_create(&binance_global, &config, &handler, &seen, &seen.stream),
              -EPROTONOSUPPORT);
    config.ws_url = "nonsense";
    CHECK_INT(binance_stream_create(&binance_global, &config, &handler, &seen, &seen.stream), -EINVAL);
    config.ws_url = url;
    static const char *const evil[] = {"btcusdt@trade HTTP/1.1\r\nHost: x"};
    config.streams = evil;
    CHECK_INT(binance_stream_create(&binance_global, &config, &handler, &seen, &seen.stream), -EINVAL);
    config.streams = many;
    const struct venue_setting unknown[] = {{"feed", "iex"}}, wrong[] = {{"time_unit", "year"}};
    config.settings = unknown;
    config.n_settings = 1;
    CHECK_INT(binance_stream_create(&binance_global, &config, &handler, &seen, &seen.stream), -EINVAL);
    config.settings = wrong;
    CHECK_INT(binance_stream_create(&binance_global, &config, &handler, &seen, &seen.stream), -EINVAL);
}

static void test_names(void)
{
    char name[VENUE_STREAM_NAME_MAX];
    static const struct {
        enum market_kind kind;
        int64_t interval_ns;
        const char *name;
    } cases[] = {
        {MARKET_TRADE, 0, "btcusdt@trade"},
        {MARKET_AGG_TRADE, 0, "btcusdt@aggTrade"},
        {MARKET_KLINE, 60000000000, "btcusdt@kline_1m"},
        {MARKET_KLINE, 86400000000000, "btcusdt@kline_1d"},
        {MARKET_QUOTE, 0, "btcusdt@bookTicker"},
        {MARKET_DEPTH, 0, "btcusdt@depth@100ms"},
        {MARKET_TICKER, 0, "btcusdt@miniTicker"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_INT(binance_stream_name("BTCUSDT", cases[i].kind, cases[i].interval_ns, name), 0);
        CHECK_STR(name, cases[i].name);
    }
    CHECK_INT(binance_stream_name("BTCUSDT", MARKET_KLINE, 7, name), -EINVAL);
    CHECK_INT(binance_stream_name("BTCUSDT", MARKET_KLINE, BAR_MONTH_NS, name), -EINVAL);
    CHECK_INT(binance_stream_name("", MARKET_TRADE, 0, name), -EINVAL);
    CHECK_INT(binance_stream_name("ANAMEOFFARMORETHANTWENTYFOURCHARACTERS", MARKET_TRADE, 0, name),
              -ENAMETOOLONG);
}

int main(void)
{
    uv_loop_init(&loop);
    net = loop_net(&loop, server_ca_file(), 0, 0);
    test_names();
    test_reconnects();
    test_budget();
    test_refusals();
    test_shutdown();
    test_shutdown_of_next();
    test_pause();
    test_destroy();
    test_many();
    loop_end(&loop, net);
    server_forget_ca();
    return check_done("binance stream");
}
