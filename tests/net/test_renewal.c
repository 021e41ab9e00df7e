/* Binance's streams over several connections against a live server: connections renewed by overlap while the
 * market continues, names followed and dropped at run time, bans reported and obeyed. */
#include <errno.h>

#include "exchange/binance/stream.h"
#include "exchange/clock.h"
#include "exchange/net/budget.h"
#include "tests/net/loop.h"
#include "tests/net/server.h"
#include "tests/random.h"

enum { PEERS_MAX = 8, TRUTH_MAX = 200000, STREAMS = 3 };

static uv_loop_t loop;
static struct net_context *net;
static struct random random_state;

/* The market: one sequence of messages; each peer gets it from where it was when the peer came, as late as
 * chance will have it. */
struct customer {
    struct peer *peer;
    size_t next;
};

static struct {
    struct customer customers[PEERS_MAX];
    size_t n_customers;
    uint8_t stream[TRUTH_MAX];
    uint32_t number[TRUTH_MAX]; /* of the message in its stream */
    size_t n;
    uint32_t made[STREAMS];
} market;

static const char *const names[STREAMS] = {"btcusdt@trade", "btcusdt@bookTicker", "ethusdt@kline_1m"};

static void send_next(struct customer *customer)
{
    char text[200];
    size_t i = customer->next++;
    unsigned number = market.number[i];
    switch (market.stream[i]) {
    case 0:
        snprintf(text, sizeof text, "{\"stream\":\"%s\",\"data\":{\"e\":\"trade\",\"E\":1,\"t\":%u}}",
                 names[0], number);
        break;
    case 1: /* several with one id */
        snprintf(text, sizeof text, "{\"stream\":\"%s\",\"data\":{\"u\":%u,\"b\":\"%u\"}}", names[1],
                 number / 3, number);
        break;
    default:
        snprintf(text, sizeof text,
                 "{\"stream\":\"%s\",\"data\":{\"e\":\"kline\",\"E\":%u,\"k\":{\"n\":%u}}}", names[2],
                 number / 2, number);
    }
    peer_text(customer->peer, text);
}

static void on_peer(struct peer *peer, const char *head)
{
    CHECK(strstr(head,
                 "GET /stream?streams=btcusdt@trade/btcusdt@bookTicker/ethusdt@kline_1m&timeUnit=MICROSECOND "
                 "HTTP/1.1\r\n"));
    CHECK(market.n_customers < PEERS_MAX);
    peer_upgrade(peer);
    market.customers[market.n_customers++] = (struct customer){peer, market.n};
}

static void on_peer_gone(struct peer *peer)
{
    for (size_t i = 0; i < market.n_customers; i++)
        if (market.customers[i].peer == peer)
            market.customers[i--] = market.customers[--market.n_customers];
}

/* The pong comes behind all that was meant for this peer when the ping was read. */
static void on_peer_frame(struct peer *peer, int opcode, const char *payload, size_t len)
{
    if (opcode != 9)
        return;
    for (size_t i = 0; i < market.n_customers; i++)
        while (market.customers[i].peer == peer && market.customers[i].next < market.n)
            send_next(&market.customers[i]);
    peer_frame(peer, true, 10, payload, len);
}

struct seen {
    uint32_t next[STREAMS];
    bool first[STREAMS], wrong, done;
    uint64_t renewals;
    unsigned downs, frames;
    struct venue_stream *stream;
};

static struct seen *reader; /* whose reading continues with the next tick, if it was paused */

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
    if (random_chance(&random_state, 5))
        binance_stream_pause(reader->stream, false);
    for (int64_t n = random_between(&random_state, 0, 3); n > 0 && market.n < TRUTH_MAX; n--) {
        int stream = (int)random_between(&random_state, 0, STREAMS - 1);
        market.stream[market.n] = (uint8_t)stream;
        market.number[market.n++] = market.made[stream]++;
    }
    for (size_t i = 0; i < market.n_customers; i++) {
        struct customer *customer = &market.customers[i];
        for (int64_t n = random_between(&random_state, 0, 5); n > 0 && customer->next < market.n; n--)
            send_next(customer);
    }
}

static void on_state(void *user, const struct venue_status *status)
{
    struct seen *seen = user;
    seen->downs += status->connects > 0 && status->link != VENUE_UP;
}

static void on_frame(void *user, const char *data, size_t len)
{
    struct seen *seen = user;
    char text[200];
    unsigned number = 0;
    int stream = -1;
    snprintf(text, sizeof text, "%.*s", (int)len, data);
    for (int s = 0; s < STREAMS; s++)
        if (strstr(text, names[s]))
            stream = s;
    const char *at = strstr(text, stream == 0 ? "\"t\":" : stream == 1 ? "\"b\":\"" : "\"n\":");
    if (stream < 0 || !at ||
        sscanf(at,
               stream == 1   ? "\"b\":\"%u"
               : stream == 0 ? "\"t\":%u"
                             : "\"n\":%u",
               &number) != 1) {
        seen->wrong = true;
        return;
    }
    if (seen->first[stream] && number != seen->next[stream]) {
        if (!seen->wrong)
            fprintf(stderr, "%s: %u, not %u\n", names[stream], number, seen->next[stream]);
        seen->wrong = true;
    }
    seen->first[stream] = true;
    seen->next[stream] = number + 1;
    if (++seen->frames % 100 == 0) { /* back-pressure: off and on */
        binance_stream_pause(seen->stream, true);
        if (seen->frames % 500 != 0)
            binance_stream_pause(seen->stream, false);
    }
    seen->done = seen->wrong || binance_stream_status(seen->stream)->renewals >= seen->renewals;
}

static void test_live(void)
{
    static const struct venue_stream_handler handler = {on_state, on_frame};
    struct server *server = server_start(
        &loop, SERVER_GOOD,
        &(struct server_handler){.request = on_peer, .frame = on_peer_frame, .closed = on_peer_gone});
    struct seen seen = {.renewals = getenv("PAPERTAPE_LONG") ? 100 : 3};
    struct budget budget;
    char url[64];
    net_budget_init(&budget, BUDGET_ATTEMPTS_MAX, 60000);
    snprintf(url, sizeof url, "wss://localhost:%u", server_port(server));
    const struct venue_stream_config config = {
        .net = net,
        .ws_url = url,
        .streams = names,
        .n_streams = STREAMS,
        .budget = &budget,
        .age_max_ms = 100,
    };
    uv_timer_t timer;
    CHECK_INT(binance_stream_create(&binance_global, &config, &handler, &seen, &seen.stream), 0);
    reader = &seen;
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, on_tick, 1, 1);
    for (int i = 0; i < 20 && !seen.done; i++)
        loop_until(&loop, &seen.done);
    const struct venue_status *status = binance_stream_status(seen.stream);
    printf("live: %zu messages made, %u + %u + %u reported, %llu renewals, %llu left out\n", market.n,
           seen.next[0], seen.next[1], seen.next[2], (unsigned long long)status->renewals,
           (unsigned long long)status->doubled);
    CHECK(!seen.wrong);
    CHECK(status->renewals >= seen.renewals);
    CHECK(status->doubled > 0);
    CHECK_INT(status->link, VENUE_UP);
    CHECK_INT(seen.downs, 0);
    for (int s = 0; s < STREAMS; s++) {
        CHECK(seen.first[s]);
        CHECK(seen.next[s] + 1000 > market.made[s]);
    }
    binance_stream_destroy(seen.stream);
    server_stop(server);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&loop, UV_RUN_NOWAIT); /* the timer is ours until then */
}

/* What each of the connections was asked for. */
struct subscriber {
    struct peer *peer;
    unsigned names, requests;
    int64_t first_ms, last_ms;
};

static struct subscriber subscribers[PEERS_MAX];
static unsigned n_subscribers;

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

static char last_head[4096];

static void on_subscriber(struct peer *peer, const char *head)
{
    CHECK(n_subscribers < PEERS_MAX);
    snprintf(last_head, sizeof last_head, "%s", head);
    subscribers[n_subscribers++] = (struct subscriber){.peer = peer, .names = count(head, "@trade")};
    peer_upgrade(peer);
}

static void on_request(struct peer *peer, int opcode, const char *payload, size_t len)
{
    static char text[1 << 16];
    if (opcode != 1)
        return;
    snprintf(text, sizeof text, "%.*s", (int)len, payload);
    struct subscriber *subscriber = subscribers;
    while (subscriber->peer != peer)
        subscriber++;
    const char *id = strstr(text, "\"id\":");
    CHECK(id);
    if (subscriber->requests++ == 0)
        subscriber->first_ms = clock_now_ms();
    subscriber->last_ms = clock_now_ms();
    if (strstr(text, "\"UNSUBSCRIBE\""))
        subscriber->names -= count(text, "@trade");
    else if (strstr(text, "\"SUBSCRIBE\""))
        subscriber->names += count(text, "@trade");
    CHECK(subscriber->names <= 1024);
    char answer[80];
    snprintf(answer, sizeof answer, "{\"result\":%s,%s",
             strstr(text, "LIST") ? subscriber == subscribers ? "[\"a@trade\",\"b@trade\"]" : "[\"c@trade\"]"
                                  : "null",
             id);
    peer_text(peer, answer);
}

static void on_any_frame(void *user, const char *data, size_t len)
{
    (void)user;
    (void)data;
    (void)len;
}

static void on_any_state(void *user, const struct venue_status *status)
{
    (void)user;
    (void)status;
}

static const struct venue_stream_handler quiet = {on_any_state, on_any_frame};

static bool names_are(unsigned first, unsigned second)
{
    return subscribers[0].names == first && subscribers[1].names == second;
}

/* Of the first connection and of the second, or, in any order, of either. */
static bool wait_names(unsigned first, unsigned second, bool any_order)
{
    for (int64_t end = clock_now_ms() + DEADLINE_MS; clock_now_ms() < end;) {
        if (names_are(first, second) || (any_order && names_are(second, first)))
            return true;
        uv_run(&loop, UV_RUN_ONCE);
    }
    fprintf(stderr, "names: %u and %u, not %u and %u\n", subscribers[0].names, subscribers[1].names, first,
            second);
    return false;
}

static char listed[64];

static void on_listed(void *user, const char *const *list, size_t n, const char *error)
{
    CHECK(!error);
    for (size_t i = 0; i < n; i++)
        snprintf(listed + strlen(listed), sizeof listed - strlen(listed), "%s ", list[i]);
    *(bool *)user = true;
}

static void test_shards(void)
{
    enum { MANY = 1024 + 40 };
    static char text[MANY][32];
    static const char *many[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof text[i], "s%dusdt@trade", i);
        many[i] = text[i];
    }
    struct server *server =
        server_start(&loop, SERVER_GOOD, &(struct server_handler){on_subscriber, on_request, NULL, NULL});
    char url[64];
    snprintf(url, sizeof url, "wss://localhost:%u", server_port(server));
    static const struct venue_setting setting = {"time_unit", "millisecond"};
    const struct venue_stream_config config = {
        .net = net, .ws_url = url, .streams = many, .n_streams = MANY, .settings = &setting, .n_settings = 1};
    struct venue_stream *stream;
    CHECK_INT(binance_stream_create(&binance_global, &config, &quiet, NULL, &stream), 0);
    const struct venue_status *status = binance_stream_status(stream);
    CHECK_INT(status->connections, 2);
    CHECK(wait_names(1024, 40, true)); /* the server accepts them as they come */
    CHECK_INT(status->link, VENUE_UP);
    CHECK_INT(status->up, 2);
    CHECK_INT(status->attempts, 2);
    CHECK_INT(status->budget_used, 2);
    CHECK(!strstr(last_head, "timeUnit"));
    unsigned full = subscribers[0].names == 1024 ? 0 : 1;
    int64_t took_ms = subscribers[full].last_ms - subscribers[full].first_ms;
    printf("shards: %u requests in %lld ms\n", subscribers[full].requests, (long long)took_ms);
    CHECK(subscribers[full].requests >= 9 && took_ms >= (int64_t)(subscribers[full].requests - 1) * 200);

    /* A new name goes where there is room; a known name and an invalid one change nothing. */
    unsigned before[2] = {subscribers[0].names, subscribers[1].names};
    const char *more[] = {"new@trade", "s1usdt@trade", "newer@trade"}, *evil[] = {"good@trade", "a b"};
    CHECK_INT(binance_stream_follow(stream, more, 3), 0);
    CHECK_INT(binance_stream_follow(stream, evil, 2), -EINVAL);
    before[!full] += 2;
    CHECK(wait_names(before[0], before[1], false));
    const char *gone[] = {"s0usdt@trade", "s2usdt@trade", "unknown@trade", "newer@trade"};
    CHECK_INT(binance_stream_unfollow(stream, gone, 4), 0);
    CHECK_INT(binance_stream_unfollow(stream, evil, 2), -EINVAL);
    before[full] -= 2;
    before[!full] -= 1;
    CHECK(wait_names(before[0], before[1], false));
    CHECK_INT(binance_stream_follow(stream, gone, 1), 0); /* there is room in the first again */
    before[full] += 1;
    CHECK(wait_names(before[0], before[1], false));

    bool done = false;
    CHECK_INT(binance_stream_list(stream, on_listed, &done), 0);
    CHECK_INT(binance_stream_list(stream, on_listed, &done), -EBUSY);
    CHECK(loop_until(&loop, &done));
    CHECK(strcmp(listed, "a@trade b@trade c@trade ") == 0 || strcmp(listed, "c@trade a@trade b@trade ") == 0);

    /* The last connection goes with its last name. */
    CHECK_INT(binance_stream_unfollow(stream, many + 1024, 40), 0);
    CHECK_INT(binance_stream_unfollow(stream, more, 1), 0);
    for (int64_t end = clock_now_ms() + DEADLINE_MS; status->connections > 1 && clock_now_ms() < end;)
        uv_run(&loop, UV_RUN_ONCE);
    CHECK_INT(status->connections, 1);
    CHECK_INT(status->link, VENUE_UP);
    binance_stream_destroy(stream);
    server_stop(server);
}

static int64_t ban_until_ns;
static unsigned bans;

static void on_ban(void *user, int64_t until_ns, const char *why)
{
    (void)user;
    ban_until_ns = until_ns;
    bans++;
    CHECK_STR(why, "the venue has banned this address (HTTP 418)");
}

static void script_ban(struct peer *peer, const char *head)
{
    (void)head;
    peer_print(peer, "HTTP/1.1 418 I'm a teapot\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n");
}

static void test_ban(void)
{
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){.request = script_ban});
    char url[64];
    snprintf(url, sizeof url, "wss://localhost:%u", server_port(server));
    struct venue_stream_config config = {
        .net = net, .ws_url = url, .streams = names, .n_streams = STREAMS, .ban = {.reported = on_ban}};
    struct venue_stream *stream, *other;
    int64_t now_ns = clock_wall_ns();
    CHECK_INT(binance_stream_create(&binance_us, &config, &quiet, NULL, &stream), 0);
    for (int64_t end = clock_now_ms() + DEADLINE_MS; bans == 0 && clock_now_ms() < end;)
        uv_run(&loop, UV_RUN_ONCE);
    CHECK_INT(bans, 1);
    CHECK(ban_until_ns >= now_ns + 3600000000000 && ban_until_ns < now_ns + 3700000000000);
    CHECK_INT(server_accepted(server), 1);
    CHECK_INT(binance_stream_status(stream)->link, VENUE_WAITING);
    binance_stream_destroy(stream);

    /* Known from before: nothing is tried. Nor when somebody else hears of one meanwhile. */
    config.ban.until_ns = ban_until_ns;
    CHECK_INT(binance_stream_create(&binance_us, &config, &quiet, NULL, &stream), 0);
    config.ban.until_ns = 0;
    CHECK_INT(binance_stream_create(&binance_us, &config, &quiet, NULL, &other), 0);
    binance_stream_hold(other, ban_until_ns, "REST was banned");
    binance_stream_hold(other, now_ns - 1, "long ago");
    for (int turn = 0; turn < 50; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_INT(server_accepted(server), 1);
    CHECK_INT(binance_stream_status(stream)->link, VENUE_WAITING);
    CHECK_INT(binance_stream_status(stream)->attempts, 0);
    CHECK_STR(binance_stream_status(stream)->detail, BINANCE_BANNED_BEFORE);
    CHECK_INT(binance_stream_status(other)->attempts, 0);
    CHECK_STR(binance_stream_status(other)->detail, "REST was banned");
    CHECK(binance_stream_status(other)->retry_ms > clock_now_ms() + 3500000);
    binance_stream_destroy(stream);
    binance_stream_destroy(other);
    server_stop(server);
}

int main(void)
{
    random_state = random_seeded("renewal", 20261122);
    uv_loop_init(&loop);
    net = loop_net(&loop, server_ca_file(), 0, 0);
    test_ban();
    test_shards();
    test_live();
    loop_end(&loop, net);
    server_forget_ca();
    return check_done("binance renewal");
}
