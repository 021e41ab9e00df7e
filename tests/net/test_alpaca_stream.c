/* Alpaca's streams against a scripted venue: keys, subscriptions in both encodings, each error of its table,
 * refusals before the upgrade; no reconnect storms, final errors stay. */
#include <errno.h>

#include "exchange/alpaca/channel.h"
#include "exchange/alpaca/endpoint.h"
#include "exchange/alpaca/stream.h"
#include "exchange/net/budget.h"
#include "tests/exchange/packed.h"
#include "tests/net/loop.h"
#include "tests/net/server.h"

static uv_loop_t loop;
static struct net_context *net;

/* What the venue does. */
static struct script {
    bool packed;
    const char *refusal;          /* HTTP, instead of the upgrade */
    const char *welcome, *answer; /* after the upgrade; to the keys */
    unsigned upgrades, auths, subscribes, unsubscribes;
    char paths[4][64], requests[8][2048];
    unsigned n_requests;
    bool hang_up;              /* after the answer to a subscription */
    const char *stocks_answer; /* to the keys of stocks, where it differs */
    const char *later_answer;  /* to the keys, from the second time on; NULL: the same */
    struct peer *stocks;
    size_t most; /* symbols that a request may name; 0: any number */
} script;

static const char connected[] = "[{\"T\":\"success\",\"msg\":\"connected\"}]";
static const char authenticated[] = "[{\"T\":\"success\",\"msg\":\"authenticated\"}]";
static const char listing[] = "[{\"T\":\"subscription\",\"trades\":[\"AAPL\",\"MSFT\"],\"quotes\":[],"
                              "\"updatedBars\":[\"AAPL\"],\"bars\":[\"AAPL\"]}]";
static const char symbol_limit[] = "[{\"T\":\"error\",\"code\":405,\"msg\":\"symbol limit exceeded\"}]";
static const char trade[] = "[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":1,\"x\":\"D\",\"p\":1.5,\"s\":1,"
                            "\"t\":\"2021-02-22T15:51:44Z\",\"c\":[\"@\"],\"z\":\"C\"}]";

static void send_json(struct peer *peer, const char *json)
{
    static struct packed packed;
    if (!script.packed) {
        peer_text(peer, json);
        return;
    }
    packed_from_json(&packed, json);
    peer_frame(peer, true, 2, packed.data, packed.len);
}

static void on_request(struct peer *peer, const char *head)
{
    if (script.refusal) {
        peer_print(peer, "%s", script.refusal);
        return;
    }
    CHECK(!!strstr(head, "application/msgpack") == script.packed);
    if (script.upgrades < 4)
        sscanf(head, "GET %63s", script.paths[script.upgrades]);
    script.upgrades++;
    if (strstr(head, "GET /v2/"))
        script.stocks = peer;
    peer_upgrade(peer);
    if (script.welcome)
        send_json(peer, script.welcome);
}

static bool mentions(const char *data, size_t len, const char *word)
{
    return memmem(data, len, word, strlen(word)) != NULL;
}

static void on_peer_frame(struct peer *peer, int opcode, const char *payload, size_t len)
{
    if (opcode != 1 && opcode != 2)
        return;
    CHECK_INT(opcode, script.packed ? 2 : 1);
    CHECK_INT((unsigned char)payload[0] >= 0x80, script.packed);
    if (mentions(payload, len, "auth")) {
        CHECK(mentions(payload, len, "the-id") && mentions(payload, len, "the-secret"));
        script.auths++;
        if (script.later_answer && script.auths > 1)
            send_json(peer, script.later_answer);
        else if (script.stocks_answer && peer == script.stocks)
            send_json(peer, script.stocks_answer);
        else if (script.answer)
            send_json(peer, script.answer);
        return;
    }
    if (script.n_requests < 8)
        snprintf(script.requests[script.n_requests++], 2048, "%.*s", (int)len, payload);
    if (mentions(payload, len, "unsubscribe"))
        script.unsubscribes++;
    else
        script.subscribes++;
    size_t symbols = 0;
    for (const char *at = payload;
         script.most > 0 && (at = memmem(at, len - (size_t)(at - payload), "\"S0", 3)); at++)
        symbols++;
    if (symbols > script.most) {
        send_json(peer, symbol_limit);
        return;
    }
    send_json(peer, listing);
    send_json(peer, script.hang_up ? "[{\"T\":\"error\",\"code\":407,\"msg\":\"slow client\"}]" : trade);
}

struct seen {
    bool ready;
    enum venue_link until;
    const char *until_detail;
    unsigned until_frames, frames, states;
    struct venue_status status;
    struct venue_stream *stream;
    bool destroy_on_frame;
    bool listed;
    size_t n_listed;
    char list_error[128];
};

static void on_state(void *user, const struct venue_status *status)
{
    struct seen *seen = user;
    seen->states++;
    seen->status = *status;
    if (!seen->until_frames && status->link == seen->until &&
        (!seen->until_detail || strstr(status->detail, seen->until_detail)))
        seen->ready = true;
}

static void on_frame(void *user, const char *data, size_t len)
{
    struct seen *seen = user;
    CHECK(len > 0 && data);
    if (++seen->frames == seen->until_frames)
        seen->ready = true;
    if (seen->destroy_on_frame) {
        alpaca_stream_destroy(seen->stream);
        seen->stream = NULL;
        seen->ready = true;
    }
}

static const struct venue_stream_handler handler = {on_state, on_frame};
static const char *const names[] = {"trades:AAPL", "bars:AAPL", "trades:MSFT", "quotes:BTC/USD"};
static struct venue_keys keys = {"the-id", "the-secret"};

static struct server *open_stream(struct seen *seen, size_t n, struct budget *budget, bool packed)
{
    static char url[64];
    static const struct server_handler server_handler = {on_request, on_peer_frame, NULL};
    struct server *server = server_start(&loop, SERVER_GOOD, &server_handler);
    snprintf(url, sizeof(url), "wss://localhost:%u", server_port(server));
    const struct venue_setting settings[] = {{"encoding", packed ? "msgpack" : "json"}, {"feed", "sip"}};
    const struct venue_stream_config config = {
        .net = net,
        .ws_url = url,
        .streams = names,
        .n_streams = n,
        .budget = budget,
        .backoff_min_ms = 1,
        .backoff_max_ms = 4,
        .keys = keys,
        .settings = settings,
        .n_settings = 2,
    };
    CHECK_INT(alpaca_stream_create(&config, &handler, seen, &seen->stream), 0);
    CHECK_INT(seen->states, 0);
    return server;
}

static void play(bool packed, const char *refusal, const char *welcome, const char *answer)
{
    memset(&script, 0, sizeof(script));
    script.packed = packed;
    script.refusal = refusal;
    script.welcome = welcome;
    script.answer = answer;
}

static bool wait_for(struct seen *seen, enum venue_link link, const char *detail)
{
    seen->until = link;
    seen->until_detail = detail;
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

static void end_stream(struct seen *seen, struct server *server)
{
    alpaca_stream_destroy(seen->stream);
    server_stop(server);
}

static void on_list(void *user, const char *const *list, size_t n, const char *error)
{
    struct seen *seen = user;
    seen->listed = true;
    seen->n_listed = n;
    snprintf(seen->list_error, sizeof(seen->list_error), "%s", error ? error : "");
    for (size_t i = 0; i < n; i++)
        CHECK(strcmp(list[i], "trades:AAPL") == 0 || strcmp(list[i], "trades:MSFT") == 0 ||
              strcmp(list[i], "bars:AAPL") == 0);
}

static void test_subscribes(bool packed)
{
    struct seen seen = {0};
    play(packed, NULL, connected, authenticated);
    struct server *server = open_stream(&seen, 3, NULL, packed);
    CHECK(wait_frames(&seen, 4)); /* welcome, authenticated, listing, trade */
    CHECK_STR(script.paths[0], "/v2/sip");
    CHECK_INT(script.auths, 1);
    CHECK_INT(script.subscribes, 1); /* all in one */
    const struct venue_status *status = alpaca_stream_status(seen.stream);
    CHECK_INT(status->link, VENUE_UP);
    CHECK_INT(status->connections, 1); /* no crypto is asked for */
    CHECK_INT(status->frames, 4);
    if (!packed)
        CHECK_STR(script.requests[0],
                  "{\"action\":\"subscribe\",\"trades\":[\"AAPL\",\"MSFT\"],\"bars\":[\"AAPL\"],"
                  "\"updatedBars\":[\"AAPL\"],\"statuses\":[\"AAPL\",\"MSFT\"],\"lulds\":[\"AAPL\",\"MSFT\"],"
                  "\"imbalances\":[\"AAPL\",\"MSFT\"]}");

    /* Crypto is another endpoint; more names are added, others taken away, each once. */
    CHECK_INT(alpaca_stream_follow(seen.stream, &names[3], 1), 0);
    CHECK(wait_frames(&seen, 8));
    CHECK_STR(script.paths[1], "/v1beta3/crypto/us");
    CHECK_INT(alpaca_stream_status(seen.stream)->link, VENUE_UP);
    if (!packed)
        CHECK_STR(script.requests[1], "{\"action\":\"subscribe\",\"quotes\":[\"BTC/USD\"]}");
    CHECK_INT(alpaca_stream_follow(seen.stream, names, 3), 0); /* there already */
    CHECK_INT(alpaca_stream_unfollow(seen.stream, &names[1], 1), 0);
    CHECK(wait_frames(&seen, 10));
    CHECK_INT(script.unsubscribes, 1);
    CHECK_INT(script.subscribes, 2);
    CHECK_INT(alpaca_stream_status(seen.stream)->sent, 5); /* with the keys of both */
    CHECK_INT(alpaca_stream_status(seen.stream)->frames, seen.frames);
    if (!packed)
        CHECK_STR(script.requests[2],
                  "{\"action\":\"unsubscribe\",\"bars\":[\"AAPL\"],\"updatedBars\":[\"AAPL\"]}");
    CHECK_INT(alpaca_stream_follow(seen.stream, (const char *const[]){"trades:AAPL", "orderbooks:AAPL"}, 2),
              -EINVAL);
    CHECK_INT(alpaca_stream_follow(seen.stream, (const char *const[]){"trades"}, 1), -EINVAL);
    CHECK_INT(alpaca_stream_follow(seen.stream, (const char *const[]){"trades:A\"B"}, 1), -EINVAL);

    CHECK_INT(alpaca_stream_list(seen.stream, on_list, &seen), 0);
    CHECK_INT(alpaca_stream_list(seen.stream, on_list, &seen), -EBUSY);
    CHECK(loop_until(&loop, &seen.listed));
    CHECK_INT(seen.n_listed, 6); /* both endpoints say the same here */
    CHECK_STR(seen.list_error, "");

    /* A connection that ends: everything is asked for again, and the list in flight is reported. */
    seen.listed = false;
    CHECK_INT(alpaca_stream_list(seen.stream, on_list, &seen), 0);
    CHECK_INT(alpaca_stream_connection(NULL, "trades:AAPL"), 0);
    CHECK_INT(alpaca_stream_connection(NULL, "quotes:BTC/USD"), 1);
    CHECK_INT(alpaca_stream_connection(NULL, "AAPL"), -1);
    alpaca_stream_replace(seen.stream, 0, "AAPL was silent for 60 s");
    CHECK_STR(alpaca_stream_status(seen.stream)->detail, "AAPL was silent for 60 s");
    CHECK_INT(alpaca_stream_status(seen.stream)->link, VENUE_WAITING);
    CHECK(!seen.listed); /* not from within the call */
    CHECK(loop_until(&loop, &seen.listed));
    CHECK(seen.list_error[0]);
    CHECK(wait_for(&seen, VENUE_UP, NULL));
    CHECK_INT(script.auths, 3); /* crypto was left alone */

    /* Nothing is asked for any more: nothing is connected. */
    CHECK_INT(alpaca_stream_unfollow(seen.stream, names, 4), 0);
    CHECK(wait_for(&seen, VENUE_DOWN, NULL));
    CHECK_INT(alpaca_stream_status(seen.stream)->connections, 0);
    CHECK_INT(alpaca_stream_list(seen.stream, on_list, &seen), -ENOTCONN);
    end_stream(&seen, server);
}

/* What the venue answers to the keys, and the stream's state then. */
static void test_errors(bool packed)
{
    static const struct {
        const char *answer;
        enum venue_link link;
        int64_t least_ms, most_ms; /* until the next attempt; 0: never */
        const char *detail;
    } cases[] = {
        {"[{\"T\":\"error\",\"code\":402,\"msg\":\"auth failed\"}]", VENUE_FINAL, 0, 0, "402 auth failed"},
        {"[{\"T\":\"error\",\"code\":408,\"msg\":\"v2 not enabled\"}]", VENUE_FAILED, 890000, 901000, "408"},
        {"[{\"T\":\"error\",\"code\":409,\"msg\":\"insufficient subscription\"}]", VENUE_FAILED, 890000,
         901000, "409"},
        {"[{\"T\":\"error\",\"code\":410,\"msg\":\"invalid subscribe action\"}]", VENUE_FAILED, 890000,
         901000, "410"},
        {"[{\"T\":\"error\",\"code\":411,\"msg\":\"insufficient scope\"}]", VENUE_FAILED, 890000, 901000,
         "411"},
        {"[{\"T\":\"error\",\"code\":406,\"msg\":\"connection limit exceeded\"}]", VENUE_WAITING, 290000,
         301000, "406"},
        {"[{\"T\":\"error\",\"code\":400,\"msg\":\"invalid syntax\"}]", VENUE_FAILED, 890000, 901000, "400"},
        {"[{\"T\":\"error\",\"code\":404,\"msg\":\"auth timeout\"}]", VENUE_WAITING, 0, 60, "404"},
        {"[{\"T\":\"error\",\"code\":407,\"msg\":\"slow client\"}]", VENUE_WAITING, 0, 60, "too slow"},
        {"[{\"T\":\"error\",\"code\":500,\"msg\":\"internal error\"}]", VENUE_WAITING, 0, 60, "500"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen seen = {0};
        play(packed, NULL, connected, cases[i].answer);
        struct server *server = open_stream(&seen, 3, NULL, packed);
        CHECK(wait_for(&seen, cases[i].link, cases[i].detail));
        if (i == 0)
            printf("%s\n", seen.status.detail);
        CHECK(!strstr(seen.status.detail, "the-secret") && !strchr(seen.status.detail, '\n'));
        if (cases[i].most_ms > 60) {
            int64_t wait_ms = seen.status.retry_ms - seen.status.since_ms;
            CHECK(wait_ms >= cases[i].least_ms && wait_ms <= cases[i].most_ms);
        }
        if (cases[i].link == VENUE_FINAL) {
            CHECK_INT(seen.status.retry_ms, 0);
            CHECK_INT(seen.status.attempts, 1);
            CHECK_INT(server_accepted(server), 1);
            alpaca_stream_replace(seen.stream, 0, "again"); /* it stays */
            CHECK_INT(alpaca_stream_status(seen.stream)->link, VENUE_FINAL);
        }
        end_stream(&seen, server);
    }
}

/* 406 right after a connection of our own was lost: it is that one which the venue still has, and it is tried
 * again with the backoff of any other loss. */
static void test_own_connection(void)
{
    struct seen seen = {0};
    play(false, NULL, connected, authenticated);
    script.hang_up = true;
    script.later_answer = "[{\"T\":\"error\",\"code\":406,\"msg\":\"connection limit exceeded\"}]";
    struct server *server = open_stream(&seen, 3, NULL, false);
    CHECK(wait_for(&seen, VENUE_WAITING, "still there for the venue (406 connection limit exceeded)"));
    printf("%s\n", seen.status.detail);
    CHECK(seen.status.retry_ms - seen.status.since_ms < 60000);
    script.hang_up = false;
    script.later_answer = NULL;
    CHECK(wait_for(&seen, VENUE_UP, NULL));
    end_stream(&seen, server);
}

/* 405: the first symbols that were asked for stay, within what the plan takes, and the rest is refused until
 * there is room. */
static void test_symbol_limit(void)
{
    struct seen seen = {0};
    play(false, NULL, connected, authenticated);
    struct server *server = open_stream(&seen, 3, NULL, false);
    CHECK(wait_frames(&seen, 4));
    send_json(server_peer(server), symbol_limit);
    CHECK(wait_for(&seen, VENUE_UP, "405 symbol limit exceeded"));
    printf("%s\n", seen.status.detail);
    CHECK(!alpaca_stream_refuses(seen.stream, "trades:AAPL") &&
          alpaca_stream_refuses(seen.stream, "trades:MSFT"));
    CHECK(wait_frames(&seen, 7)); /* the error, and the answer to what is asked for again */
    CHECK(strstr(script.requests[1], "AAPL") && !strstr(script.requests[1], "MSFT"));
    CHECK_INT(alpaca_stream_status(seen.stream)->link, VENUE_UP);
    CHECK_INT(server_accepted(server), 1);
    CHECK_INT(alpaca_stream_unfollow(seen.stream, names, 2), 0);
    CHECK(wait_for(&seen, VENUE_UP, NULL));
    CHECK(!alpaca_stream_refuses(seen.stream, "trades:MSFT") && !seen.status.detail[0]);
    CHECK(wait_frames(&seen, 11));
    CHECK(strstr(script.requests[3], "MSFT"));
    end_stream(&seen, server);
}

/* More symbols than one request takes, on a plan of 30, and of 8. */
static void test_plan(size_t most)
{
    enum { MANY = 3000 };
    static char text[MANY][VENUE_STREAM_NAME_MAX];
    static const char *list[MANY];
    struct seen seen = {0};
    play(false, NULL, connected, authenticated);
    script.most = most;
    for (int i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof(text[i]), "quotes:S%05d", i);
        list[i] = text[i];
    }
    struct server *server = open_stream(&seen, 3, NULL, false);
    CHECK_INT(alpaca_stream_unfollow(seen.stream, names, 3), 0);
    CHECK_INT(alpaca_stream_follow(seen.stream, list, MANY), 0);
    size_t taken = most == 8 ? 7 : most;
    char said[64];
    snprintf(said, sizeof(said), "takes %zu of 3000 symbols", taken);
    CHECK(wait_for(&seen, VENUE_UP, said));
    for (size_t i = 0; i < MANY; i++)
        CHECK_INT(alpaca_stream_refuses(seen.stream, list[i]), i >= taken);
    seen.frames = 0;
    CHECK(wait_frames(&seen, 2)); /* the answer, and a trade: what was asked for again is not refused */
    CHECK_INT(server_accepted(server), 1);
    end_stream(&seen, server);
}

/* One endpoint that is refused leaves the other as it is, and is tried again rarely. */
static void test_one_refused(void)
{
    struct seen seen = {0};
    play(false, NULL, connected, authenticated);
    script.stocks_answer = "[{\"T\":\"error\",\"code\":409,\"msg\":\"insufficient subscription\"}]";
    struct server *server = open_stream(&seen, 4, NULL, false);
    CHECK(wait_for(&seen, VENUE_FAILED, "409 insufficient subscription"));
    while (seen.status.up == 0)
        CHECK(wait_for(&seen, VENUE_FAILED, NULL));
    printf("%s\n", seen.status.detail);
    CHECK(strstr(seen.status.detail, "feed = iex"));
    CHECK(seen.status.connections == 2 && seen.status.retry_ms - seen.status.since_ms >= 890000);
    CHECK(!alpaca_stream_connection_up(seen.stream, 0) && alpaca_stream_connection_up(seen.stream, 1));
    CHECK_INT(alpaca_stream_unfollow(seen.stream, &names[3], 1), 0);
    while (seen.status.connections == 2)
        CHECK(wait_for(&seen, VENUE_FAILED, NULL)); /* nothing else is left */
    CHECK_INT(server_accepted(server), 2);
    end_stream(&seen, server);
}

/* 410 for a stream that was not requested by name: the connection is made again without it. For what was
 * asked for it is final. */
static void test_bare(void)
{
    struct seen seen = {0};
    static const char refusal[] =
        "[{\"T\":\"error\",\"code\":410,\"msg\":\"invalid subscribe action for this feed\"}]";
    play(false, NULL, connected, authenticated);
    struct server *server = open_stream(&seen, 3, NULL, false);
    CHECK(wait_frames(&seen, 4));
    CHECK(strstr(script.requests[0], "imbalances"));
    send_json(server_peer(server), refusal);
    CHECK(wait_frames(&seen, 9));
    CHECK_INT(script.auths, 2);
    CHECK_STR(script.requests[1],
              "{\"action\":\"subscribe\",\"trades\":[\"AAPL\",\"MSFT\"],\"bars\":[\"AAPL\"],"
              "\"updatedBars\":[\"AAPL\"]}");
    send_json(server_peer(server), refusal);
    CHECK(wait_for(&seen, VENUE_FAILED, "410"));
    CHECK_INT(server_accepted(server), 2);
    end_stream(&seen, server);
}

static int64_t ban_reported_ns;

static void on_ban(void *user, int64_t until_ns, const char *why)
{
    (void)user;
    CHECK(why[0]);
    ban_reported_ns = until_ns;
}

static void test_refusals(void)
{
    static const struct {
        const char *reply;
        enum venue_link link;
        bool ban;
    } cases[] = {
        {"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", VENUE_FINAL, false},
        {"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", VENUE_FINAL, false},
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", VENUE_FINAL, false},
        {"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", VENUE_WAITING,
         true},
        {"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", VENUE_WAITING, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen seen = {0};
        play(true, cases[i].reply, NULL, NULL);
        struct server *server =
            server_start(&loop, SERVER_GOOD, &(struct server_handler){on_request, NULL, NULL});
        char url[64];
        snprintf(url, sizeof(url), "wss://localhost:%u", server_port(server));
        ban_reported_ns = 0;
        const struct venue_stream_config config = {.net = net,
                                                   .ws_url = url,
                                                   .streams = names,
                                                   .n_streams = 1,
                                                   .keys = keys,
                                                   .ban = {0, on_ban, NULL}};
        CHECK_INT(alpaca_stream_create(&config, &handler, &seen, &seen.stream), 0);
        CHECK(wait_for(&seen, cases[i].link, "HTTP"));
        CHECK((ban_reported_ns > 0) == cases[i].ban);
        if (cases[i].ban)
            CHECK(seen.status.retry_ms - seen.status.since_ms >= 7000);
        CHECK_INT(server_accepted(server), 1);
        end_stream(&seen, server);
    }
}

/* No keys: final without a single attempt, in one line. */
static void test_no_keys(void)
{
    struct seen seen = {0};
    const struct venue_stream_config config = {
        .net = net, .ws_url = "wss://localhost:1", .streams = names, .n_streams = 4};
    CHECK_INT(alpaca_stream_create(&config, &handler, &seen, &seen.stream), 0);
    CHECK(wait_for(&seen, VENUE_FINAL, "keys"));
    printf("%s\n", seen.status.detail);
    CHECK_INT(seen.status.attempts, 0);
    alpaca_stream_destroy(seen.stream);
}

/* A venue that drops everybody costs no more than the budget, shared by both endpoints. */
static void test_budget(void)
{
    struct seen seen = {0};
    struct budget budget;
    net_budget_init(&budget, 7, 3600000);
    play(true, NULL, connected, "[{\"T\":\"error\",\"code\":500,\"msg\":\"internal error\"}]");
    struct server *server = open_stream(&seen, 4, &budget, true);
    while (seen.status.budget_used < 7 || seen.status.link != VENUE_WAITING ||
           seen.status.retry_ms - seen.status.since_ms < 3000000)
        if (!wait_for(&seen, VENUE_WAITING, NULL))
            break;
    CHECK_INT(seen.status.attempts, 7);
    CHECK_INT(seen.status.budget, 7);
    CHECK(server_accepted(server) <= 7); /* the last one may be on its way */
    end_stream(&seen, server);
}

/* An answer to a subscription is no data: a venue that gives it and hangs up is asked ever more slowly. */
static bool ended;
static unsigned n_received;

static void on_changed(void *user, struct endpoint *endpoint)
{
    (void)user;
    (void)endpoint;
}

static void on_endpoint_frame(void *user, struct endpoint *endpoint, const char *data, size_t len)
{
    (void)user;
    n_received += endpoint->connection.link.received;
    ended |= mentions(data, len, "slow client") && endpoint->connection.link.connects == 5;
}

static void on_endpoint_closed(void *user, struct endpoint *endpoint)
{
    (void)endpoint;
    *(bool *)user = true;
}

static void test_storm(void)
{
    static char url[64];
    static const struct server_handler server_handler = {on_request, on_peer_frame, NULL};
    bool closed = false;
    const struct endpoint_owner owner = {
        .changed = on_changed, .frame = on_endpoint_frame, .closed = on_endpoint_closed, .user = &closed};
    struct budget budget;
    struct endpoint endpoint = {0};
    net_budget_init(&budget, 100, 3600000);
    play(false, NULL, connected, authenticated);
    script.hang_up = true;
    struct server *server = server_start(&loop, SERVER_GOOD, &server_handler);
    snprintf(url, sizeof(url), "wss://localhost:%u", server_port(server));
    const struct venue_stream_config config = {
        .net = net, .keys = keys, .backoff_min_ms = 1, .backoff_max_ms = 4};
    CHECK_INT(alpaca_endpoint_init(&endpoint, &owner, &config, url, "stocks", "/v2/sip", false, &budget, 7),
              0);
    CHECK_INT(alpaca_endpoint_reserve(&endpoint, 1), 0);
    alpaca_endpoint_ask(&endpoint, CHANNEL_TRADES, "AAPL", true);
    alpaca_endpoint_touch(&endpoint);
    CHECK(loop_until(&loop, &ended));
    CHECK_INT(n_received, 0);
    CHECK(endpoint.connection.link.backoff.failures >= 4);
    alpaca_endpoint_close(&endpoint);
    CHECK(loop_until(&loop, &closed));
    server_stop(server);
}

/* Destroyed from within a callback; held before the first attempt; wrong URLs. */
static void test_edges(void)
{
    struct seen seen = {.destroy_on_frame = true};
    play(true, NULL, connected, authenticated);
    struct server *server = open_stream(&seen, 4, NULL, true);
    CHECK(loop_until(&loop, &seen.ready));
    CHECK_INT(seen.frames, 1);
    server_stop(server);

    seen = (struct seen){0};
    play(true, NULL, connected, authenticated);
    server = open_stream(&seen, 3, NULL, true);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    alpaca_stream_hold(seen.stream, ((int64_t)now.tv_sec + 3600) * 1000000000,
                       "the venue limits this address");
    CHECK(wait_for(&seen, VENUE_WAITING, "limits"));
    CHECK(seen.status.retry_ms - seen.status.since_ms > 3500000);
    CHECK_INT(server_accepted(server), 0);
    end_stream(&seen, server);

    struct venue_stream *stream;
    struct venue_stream_config config = {
        .net = net, .ws_url = "ws://localhost", .streams = names, .n_streams = 1, .keys = keys};
    CHECK_INT(alpaca_stream_create(&config, &handler, &seen, &stream), -EPROTONOSUPPORT);
    config.ws_url = "wss://";
    CHECK_INT(alpaca_stream_create(&config, &handler, &seen, &stream), -EINVAL);
    config.ws_url = NULL;
    config.streams = (const char *const[]){"btcusdt@trade"};
    CHECK_INT(alpaca_stream_create(&config, &handler, &seen, &stream), -EINVAL);
}

/* Requests for thousands of names are several, none longer than the venue takes, and nothing is left out. */
static void test_many(bool packed)
{
    enum { MANY = 4000 };
    static struct subscription list[MANY];
    static struct alpaca_request request;
    size_t at = 0, requests = 0, found = 0;
    for (int i = 0; i < MANY; i++) {
        list[i] = (struct subscription){.asked = 1u << CHANNEL_TRADES | 1u << CHANNEL_BARS};
        snprintf(list[i].symbol, sizeof(list[i].symbol), "S%05d", i);
    }
    while (at < MANY)
        if (alpaca_request_channels(&request, packed, true, list, MANY, &at)) {
            CHECK(!request.overflow && request.len <= ALPACA_REQUEST_MAX);
            requests++;
            for (const char *p = request.data;
                 (p = memmem(p, request.len - (size_t)(p - request.data), "S0", 2)); p++)
                found++;
        }
    CHECK_INT(found, MANY * 6); /* trades, bars, late bars, halts, bands, imbalances */
    CHECK(requests > 5);
    at = 0;
    CHECK(!alpaca_request_channels(&request, packed, true, list, 10, &at));
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    uv_loop_init(&loop);
    net = loop_net(&loop, server_ca_file(), 0, 0);
    for (int packed = 0; packed < 2; packed++) {
        test_subscribes(packed);
        test_errors(packed);
        test_many(packed);
    }
    test_own_connection();
    test_symbol_limit();
    test_plan(30);
    test_plan(8);
    test_one_refused();
    test_bare();
    test_refusals();
    test_no_keys();
    test_budget();
    test_storm();
    test_edges();
    loop_end(&loop, net);
    server_forget_ca();
    return check_done("alpaca_stream");
}
