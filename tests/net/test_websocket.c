/* The websocket client against a scripted server, over real TLS. */
#include <errno.h>

#include "exchange/net/resolver.h"
#include "exchange/net/websocket.h"
#include "tests/net/loop.h"
#include "tests/net/server.h"

struct seen {
    bool opened, ended;
    int messages, pongs;
    char text[4][64];
    size_t longest;
    struct websocket_end end;
    char reason[256];
    struct websocket *websocket;
    bool destroy_on_message, destroy_on_open;
    bool enough; /* a message came, or it ended */
};

static void on_opened(void *user)
{
    struct seen *seen = user;
    seen->opened = true;
    if (seen->destroy_on_open) {
        websocket_destroy(seen->websocket);
        seen->enough = true;
    }
}

static void on_message(void *user, const char *data, size_t len)
{
    struct seen *seen = user;
    if (seen->messages < 4)
        snprintf(seen->text[seen->messages], sizeof(seen->text[0]), "%.*s", (int)len, data);
    if (len > seen->longest)
        seen->longest = len;
    seen->messages++;
    seen->enough = true;
    if (seen->destroy_on_message)
        websocket_destroy(seen->websocket);
}

static void on_pong(void *user)
{
    struct seen *seen = user;
    seen->pongs++;
}

static void on_ended(void *user, const struct websocket_end *end)
{
    struct seen *seen = user;
    CHECK(!seen->ended);
    seen->ended = seen->enough = true;
    seen->end = *end;
    snprintf(seen->reason, sizeof(seen->reason), "%s", end->reason);
    seen->end.reason = seen->reason;
}

static const struct websocket_handler handler = {on_opened, on_message, on_pong, on_ended};

static uv_loop_t loop;
static struct net_context *net;

static void open_to(struct server *server, const char *host, const struct websocket_config *extra,
                    struct seen *seen)
{
    char url[128];
    snprintf(url, sizeof(url), "wss://%s:%u/stream?streams=btcusdt@trade", host, server_port(server));
    struct websocket_config config = extra ? *extra : (struct websocket_config){0};
    config.url = url;
    config.address = "127.0.0.1";
    CHECK_INT(websocket_connect(net, &config, &handler, seen, &seen->websocket), 0);
    CHECK(!seen->opened && !seen->ended);
}

/* What the server does with an upgrade request. */
static void script_fragments(struct peer *peer, const char *head)
{
    CHECK(strstr(head, "GET /stream?streams=btcusdt@trade HTTP/1.1\r\n"));
    CHECK(strstr(head, "papertape/"));
    CHECK(!strstr(head, "permessage-deflate"));
    peer_upgrade(peer);
    peer_text(peer, "whole");
    peer_frame(peer, false, 1, "in ", 3);
    peer_frame(peer, true, 9, "ping", 4); /* control frames may stand between fragments */
    peer_frame(peer, false, 0, "three ", 6);
    peer_frame(peer, true, 0, "parts", 5);
    char *big = malloc(300000);
    memset(big, 'x', 300000);
    peer_frame(peer, true, 1, big, 300000); /* several TLS records and reads */
    free(big);
    peer_frame(peer, true, 2, "binary", 6);
}

static int pongs_back;

static void count_pongs(struct peer *peer, int opcode, const char *payload, size_t len)
{
    (void)peer;
    if (opcode == 10) {
        pongs_back++;
        CHECK(len == 4 && memcmp(payload, "ping", 4) == 0);
    }
}

static void test_messages(void)
{
    struct seen seen = {0};
    struct server *server =
        server_start(&loop, SERVER_GOOD, &(struct server_handler){script_fragments, count_pongs});
    open_to(server, "localhost", NULL, &seen);
    while (seen.messages < 4 && !seen.ended) {
        seen.enough = false;
        if (!loop_until(&loop, &seen.enough))
            break;
    }
    CHECK(seen.opened);
    CHECK_INT(seen.messages, 4);
    CHECK_STR(seen.text[0], "whole");
    CHECK_STR(seen.text[1], "in three parts");
    CHECK_STR(seen.text[3], "binary");
    CHECK_INT(seen.longest, 300000);
    peer_close_frame(server_peer(server), 1001, "going away");
    CHECK(loop_until(&loop, &seen.ended));
    CHECK(seen.end.opened);
    CHECK_INT(seen.end.code, 1001);
    CHECK_STR(seen.reason, "closed by the peer: 1001 going away");
    CHECK_INT(pongs_back, 1);
    websocket_destroy(seen.websocket);
    server_stop(server);
}

/* Headers of the request; binary messages apart from texts, both ways, in fragments too. */
static int binaries, returned;

static void on_binary(void *user, const char *data, size_t len)
{
    struct seen *seen = user;
    static const char *const parts[] = {"\x00\x01\x02", "in parts"};
    static const size_t lens[] = {3, 8};
    CHECK(binaries < 2);
    if (binaries < 2)
        CHECK(len == lens[binaries] && memcmp(data, parts[binaries], len) == 0);
    binaries++;
    seen->enough = binaries == 2;
}

static void script_binary(struct peer *peer, const char *head)
{
    CHECK(strstr(head, "\r\nContent-Type: application/msgpack\r\n"));
    CHECK(strstr(head, "\r\nAPCA-API-KEY-ID: me\r\n"));
    peer_upgrade(peer);
    peer_frame(peer, true, 2, "\x00\x01\x02", 3);
    peer_text(peer, "text");
    peer_frame(peer, false, 2, "in ", 3);
    peer_frame(peer, true, 0, "parts", 5);
}

static void note_binary(struct peer *peer, int opcode, const char *payload, size_t len)
{
    if (opcode == 9) { /* the ping comes behind what was queued before it */
        CHECK_INT(returned, 1);
        peer_frame(peer, true, 10, payload, len);
    } else if (opcode == 2) {
        returned++;
        CHECK(len == 4 && memcmp(payload, "\xff\x00\xfe\x01", 4) == 0);
    }
}

static void test_binary(void)
{
    static const struct websocket_handler apart = {on_opened, on_message, on_pong, on_ended, on_binary};
    const struct net_header headers[] = {{"Content-Type", "application/msgpack"}, {"APCA-API-KEY-ID", "me"}};
    struct seen seen = {0};
    char url[64];
    struct server *server =
        server_start(&loop, SERVER_GOOD, &(struct server_handler){script_binary, note_binary});
    snprintf(url, sizeof(url), "wss://localhost:%u/v2/iex", server_port(server));
    struct websocket_config config = {.url = url, .address = "127.0.0.1", .headers = headers, .n_headers = 2};
    CHECK_INT(websocket_connect(net, &config, &apart, &seen, &seen.websocket), 0);
    while (binaries < 2 && !seen.ended) {
        seen.enough = false;
        if (!loop_until(&loop, &seen.enough))
            break;
    }
    CHECK_INT(binaries, 2);
    CHECK_INT(seen.messages, 1);
    CHECK_STR(seen.text[0], "text");
    CHECK_INT(websocket_send_binary(seen.websocket, "\xff\x00\xfe\x01", 4), 0);
    CHECK_INT(websocket_ping(seen.websocket), 0);
    CHECK(!websocket_pinged(seen.websocket));
    for (int turn = 0; turn < 100000 && seen.pongs == 0 && !seen.ended; turn++)
        uv_run(&loop, UV_RUN_ONCE);
    CHECK_INT(returned, 1);
    CHECK_INT(seen.pongs, 1);
    CHECK(websocket_pinged(seen.websocket));
    websocket_destroy(seen.websocket);
    CHECK_INT(seen.ended, false);

    static const struct net_header evil = {"A", "x\r\nB: y"}, nameless = {"", "x"};
    config.n_headers = 1;
    config.headers = &evil;
    CHECK_INT(websocket_connect(net, &config, &apart, &seen, &seen.websocket), -EINVAL);
    config.headers = &nameless;
    CHECK_INT(websocket_connect(net, &config, &apart, &seen, &seen.websocket), -EINVAL);
    config.n_headers = WEBSOCKET_HEADERS_MAX + 1;
    CHECK_INT(websocket_connect(net, &config, &apart, &seen, &seen.websocket), -ENAMETOOLONG);
    server_stop(server);
}

/* Nothing was agreed on: what claims to be compressed is an error of the peer, never handed out. */
static void script_deflated(struct peer *peer, const char *head)
{
    (void)head;
    peer_upgrade(peer);
    peer_text(peer, "plain");
    peer_frame(peer, true, 0x40 | 1, "\xca\x48\xcd\x01\x00", 5);
    peer_text(peer, "after");
}

static void test_deflated(void)
{
    struct seen seen = {0};
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_deflated});
    open_to(server, "localhost", NULL, &seen);
    CHECK(loop_until(&loop, &seen.ended));
    CHECK(seen.end.opened);
    CHECK_INT(seen.messages, 1);
    CHECK_STR(seen.text[0], "plain");
    printf("deflated: %d %s\n", seen.end.code, seen.reason);
    CHECK_STR(seen.reason, "a frame is marked as compressed, which was not agreed on");
    websocket_destroy(seen.websocket);
    server_stop(server);
}

static void script_half_message(struct peer *peer, const char *head)
{
    (void)head;
    peer_upgrade(peer);
    peer_frame(peer, false, 1, "start", 5);
    peer_write(peer, "\x80\x10half", 6); /* 16 bytes promised */
    peer_drop(peer);
}

static void script_half_then_close(struct peer *peer, const char *head)
{
    (void)head;
    peer_upgrade(peer);
    peer_frame(peer, false, 1, "start", 5);
    peer_close_frame(peer, 1001, "");
    peer_drop(peer);
}

static void script_reset(struct peer *peer, const char *head)
{
    (void)head;
    peer_upgrade(peer);
    peer_frame(peer, false, 1, "start", 5);
}

static void test_lost(void)
{
    static const struct {
        void (*script)(struct peer *, const char *);
        bool reset;
        int code;
    } cases[] = {{script_half_message, false, 1006},
                 {script_half_then_close, false, 1001},
                 {script_reset, true, 1006}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen seen = {0};
        struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){cases[i].script});
        open_to(server, "localhost", NULL, &seen);
        if (cases[i].reset) {
            CHECK(loop_until(&loop, &seen.opened));
            peer_reset(server_peer(server));
        }
        CHECK(loop_until(&loop, &seen.ended));
        CHECK(seen.end.opened);
        CHECK_INT(seen.messages, 0);
        CHECK_INT(seen.end.code, cases[i].code);
        printf("lost %zu: %s\n", i, seen.reason);
        CHECK_INT(websocket_send(seen.websocket, "x", 1), -ENOTCONN);
        websocket_destroy(seen.websocket);
        server_stop(server);
    }
}

static int close_seen;

static void note_close(struct peer *peer, int opcode, const char *payload, size_t len)
{
    if (opcode == 8 && len >= 2) {
        close_seen = (unsigned char)payload[0] << 8 | (unsigned char)payload[1];
        *(bool *)peer_user(peer) = true;
        peer_frame(peer, true, 8, payload, len);
        peer_drop(peer);
    }
}

static void script_oversize(struct peer *peer, const char *head)
{
    static const char chunk[4096];
    (void)head;
    peer_upgrade(peer);
    peer_text(peer, "fits");
    for (int i = 0; i < 8; i++)
        peer_frame(peer, i == 7, i == 0 ? 1 : 0, chunk, sizeof(chunk));
}

static void test_oversize(void)
{
    struct seen seen = {0};
    bool closed = false;
    struct server *server =
        server_start(&loop, SERVER_GOOD, &(struct server_handler){script_oversize, note_close, &closed});
    open_to(server, "localhost", &(struct websocket_config){.message_max = 10000}, &seen);
    CHECK(loop_until(&loop, &seen.ended));
    CHECK(loop_until(&loop, &closed));
    CHECK_INT(close_seen, 1009);
    CHECK_INT(seen.messages, 1);
    CHECK_INT(seen.end.code, 1009);
    CHECK_STR(seen.reason, "a message is longer than 10000 bytes");
    websocket_destroy(seen.websocket);
    server_stop(server);
}

/* Frames whose header names more than a message may have: alone, or behind a fragment of one. */
enum { FRAME_MAX = 1 << 20, PAYLOAD = 4 << 20 };

struct too_long {
    uint64_t fragment, length; /* bytes of a fragment before it; what the header names */
    int code;                  /* with a length of 2^63 and more it is lws that ends: no code */
    bool closed;
};

static void peer_bytes(struct peer *peer, size_t n)
{
    static const char zeros[1 << 16];
    for (; n > 0; n -= n < sizeof(zeros) ? n : sizeof(zeros))
        peer_write(peer, zeros, n < sizeof(zeros) ? n : sizeof(zeros));
}

static void peer_head(struct peer *peer, unsigned char first, uint64_t length)
{
    unsigned char head[10] = {first, 127};
    for (int i = 0; i < 8; i++)
        head[2 + i] = (unsigned char)(length >> (56 - 8 * i));
    peer_write(peer, head, sizeof(head));
}

static void script_too_long(struct peer *peer, const char *head)
{
    const struct too_long *it = peer_user(peer);
    (void)head;
    peer_upgrade(peer);
    peer_text(peer, "fits");
    if (it->fragment > 0)
        peer_head(peer, 1, it->fragment); /* FIN is not set */
    peer_bytes(peer, it->fragment);
    peer_head(peer, it->fragment > 0 ? 0x80 : 0x82, it->length);
    peer_bytes(peer, PAYLOAD);
}

static void note_too_long(struct peer *peer, int opcode, const char *payload, size_t len)
{
    struct too_long *it = peer_user(peer);
    if (opcode == 8 && len >= 2) {
        it->closed = true;
        CHECK_INT((unsigned char)payload[0] << 8 | (unsigned char)payload[1], it->code);
    }
}

static void test_too_long(void)
{
    struct too_long cases[] = {
        {0, FRAME_MAX + 1, 1009, false},
        {0, (uint64_t)1 << 31, 1009, false},
        {0, UINT32_MAX, 1009, false},
        {0, (uint64_t)1 << 32, 1009, false},
        {0, (uint64_t)1 << 62, 1009, false},
        {0, INT64_MAX, 1009, false},
        {0, (uint64_t)1 << 63, 1006, false},
        {0, UINT64_MAX, 1006, false},
        {1, FRAME_MAX, 1009, false},
        {FRAME_MAX - 1, 2, 1009, false},
        {FRAME_MAX / 2, FRAME_MAX, 1009, false},
        {FRAME_MAX, 1, 1009, false},
        {100000, INT64_MAX, 1009, false},
        {100000, (uint64_t)1 << 63, 1006, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen seen = {0};
        struct server *server = server_start(
            &loop, SERVER_GOOD, &(struct server_handler){script_too_long, note_too_long, &cases[i]});
        open_to(server, "localhost", &(struct websocket_config){.message_max = FRAME_MAX}, &seen);
        CHECK(loop_until(&loop, &seen.ended));
        CHECK(cases[i].code != 1009 || loop_until(&loop, &cases[i].closed));
        CHECK_INT(seen.messages, 1);
        CHECK_STR(seen.text[0], "fits");
        CHECK_INT(seen.end.code, cases[i].code);
        if (cases[i].code == 1009)
            CHECK_STR(seen.reason, "a message is longer than 1048576 bytes");
        CHECK_INT(websocket_send(seen.websocket, "x", 1), -ENOTCONN);
        websocket_destroy(seen.websocket);
        server_stop(server);
    }
}

static void script_upgrade(struct peer *peer, const char *head)
{
    (void)head;
    peer_upgrade(peer);
}

static void test_certificates(void)
{
    static const struct {
        enum server_kind kind;
        const char *host, *said;
    } cases[] = {
        {SERVER_OTHER, "localhost", "ostname mismatch"},
        {SERVER_OTHER, "127.0.0.1", "IP address mismatch"},
        {SERVER_NAMELESS, "localhost", "the host is not among its alternative names"},
        {SERVER_NAMELESS, "127.0.0.1", "IP address mismatch"},
        {SERVER_UNTRUSTED, "localhost", "issuer"},
        {SERVER_EXPIRED, "localhost", "expired"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen seen = {0};
        struct server *server = server_start(&loop, cases[i].kind, &(struct server_handler){script_upgrade});
        open_to(server, cases[i].host, NULL, &seen);
        CHECK(loop_until(&loop, &seen.ended));
        CHECK(!seen.opened && !seen.end.opened && !seen.end.timed_out);
        printf("certificate %zu: %s\n", i, seen.reason);
        CHECK(strstr(seen.reason, cases[i].said));
        websocket_destroy(seen.websocket);
        server_stop(server);
    }
    struct seen seen = {0};
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_upgrade});
    open_to(server, "127.0.0.1", NULL, &seen);
    CHECK(loop_until(&loop, &seen.opened));
    websocket_destroy(seen.websocket);
    server_stop(server);
}

static void script_refuse(struct peer *peer, const char *head)
{
    (void)head;
    peer_print(peer, "HTTP/1.1 429 Too Many Requests\r\nRetry-After: Mon, 11 Oct 2021 11:48:07 GMT\r\n"
                     "Date: Mon, 11 Oct 2021 11:48:00 GMT\r\nContent-Length: 0\r\n\r\n");
}

static void script_redirect(struct peer *peer, const char *head)
{
    (void)head;
    peer_print(peer, "HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
}

static void script_garbage(struct peer *peer, const char *head)
{
    (void)head;
    peer_print(peer, "\x01\x02 no HTTP at all\r\n\r\n\r\n");
    peer_drop(peer);
}

static void script_wrong_accept(struct peer *peer, const char *head)
{
    (void)head;
    peer_print(peer, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n");
}

static void test_refusals(void)
{
    static const struct {
        void (*script)(struct peer *, const char *);
        int status;
        int64_t retry_after_ms;
    } cases[] = {{script_refuse, 429, 7000},
                 {script_redirect, 302, -1},
                 {script_garbage, 0, -1},
                 {script_wrong_accept, 0, -1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen seen = {0};
        struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){cases[i].script});
        open_to(server, "localhost", NULL, &seen);
        CHECK(loop_until(&loop, &seen.ended));
        CHECK(!seen.opened);
        printf("refusal %zu: %s\n", i, seen.reason);
        CHECK_INT(seen.end.http_status, cases[i].status);
        CHECK_INT(seen.end.retry_after_ms, cases[i].retry_after_ms);
        websocket_destroy(seen.websocket);
        server_stop(server);
    }

    /* No listener. */
    struct seen seen = {0};
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_upgrade});
    open_to(server, "localhost", NULL, &seen);
    server_stop(server);
    CHECK(loop_until(&loop, &seen.ended));
    printf("no listener: %s\n", seen.reason);
    CHECK(!seen.opened && seen.end.code == 1006);
    websocket_destroy(seen.websocket);

    /* Somebody listens, and never speaks. */
    seen = (struct seen){0};
    server = server_start(&loop, SERVER_MUTE, &(struct server_handler){script_upgrade});
    open_to(server, "localhost", &(struct websocket_config){.connect_timeout_ms = 100}, &seen);
    CHECK(loop_until(&loop, &seen.ended));
    CHECK(seen.end.timed_out);
    printf("mute: %s\n", seen.reason);
    websocket_destroy(seen.websocket);
    server_stop(server);

    seen = (struct seen){0};
    struct websocket_config config = {.url = "ws://localhost/", .address = "127.0.0.1"};
    CHECK_INT(websocket_connect(net, &config, &handler, &seen, &seen.websocket), -EPROTONOSUPPORT);
    config.url = "https://localhost/";
    CHECK_INT(websocket_connect(net, &config, &handler, &seen, &seen.websocket), -EPROTONOSUPPORT);
    config.url = "wss://[::1]/";
    CHECK_INT(websocket_connect(net, &config, &handler, &seen, &seen.websocket), -EINVAL);
}

static void script_burst(struct peer *peer, const char *head)
{
    (void)head;
    peer_upgrade(peer);
    peer_text(peer, "one");
    peer_text(peer, "two");
    peer_text(peer, "three");
}

static void test_destroy(void)
{
    /* In its own callbacks, before it starts, while it connects. */
    for (int i = 0; i < 4; i++) {
        struct seen seen = {.destroy_on_open = i == 0, .destroy_on_message = i == 1};
        struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_burst});
        open_to(server, "localhost", NULL, &seen);
        if (i == 2)
            websocket_destroy(seen.websocket);
        else if (i == 3) {
            while (server_accepted(server) == 0)
                uv_run(&loop, UV_RUN_ONCE);
            websocket_destroy(seen.websocket);
        } else {
            CHECK(loop_until(&loop, &seen.enough));
        }
        for (int turn = 0; turn < 50; turn++)
            uv_run(&loop, UV_RUN_NOWAIT);
        CHECK(!seen.ended);
        CHECK_INT(seen.messages, i == 1 ? 1 : 0);
        server_stop(server);
    }
}

static char echoed[4][64];
static int n_echoed;

static void note_text(struct peer *peer, int opcode, const char *payload, size_t len)
{
    if (opcode == 1 && n_echoed < 4)
        snprintf(echoed[n_echoed++], 64, "%.*s", (int)len, payload);
    if (n_echoed == 3)
        peer_text(peer, "thanks");
    note_close(peer, opcode, payload, len);
}

static void test_send(void)
{
    struct seen seen = {0};
    bool closed = false;
    struct server *server =
        server_start(&loop, SERVER_GOOD, &(struct server_handler){script_upgrade, note_text, &closed});
    open_to(server, "localhost", NULL, &seen);
    CHECK_INT(websocket_send(seen.websocket, "early", 5), -ENOTCONN);
    CHECK(loop_until(&loop, &seen.opened));
    CHECK_INT(websocket_send(seen.websocket, "first", 5), 0);
    CHECK_INT(websocket_send(seen.websocket, "second", 6), 0);
    CHECK_INT(websocket_send(seen.websocket, "third", 5), 0);
    CHECK(loop_until(&loop, &seen.enough));
    CHECK_STR(echoed[0], "first");
    CHECK_STR(echoed[1], "second");
    CHECK_STR(echoed[2], "third");
    CHECK_STR(seen.text[0], "thanks");
    for (int i = 0; i < WEBSOCKET_QUEUE_MAX; i++)
        CHECK_INT(websocket_send(seen.websocket, "x", 1), 0);
    CHECK_INT(websocket_send(seen.websocket, "x", 1), -ENOBUFS);
    close_seen = 0;
    websocket_close(seen.websocket, 1000, "done");
    CHECK(loop_until(&loop, &closed));
    CHECK_INT(close_seen, 1000);
    CHECK(loop_until(&loop, &seen.ended));
    CHECK_INT(seen.end.code, 1000);
    CHECK_STR(seen.reason, "done");
    websocket_destroy(seen.websocket);
    server_stop(server);

    /* A destroyed one says good-bye. */
    seen = (struct seen){0};
    closed = false;
    close_seen = 0;
    server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_upgrade, note_close, &closed});
    open_to(server, "localhost", NULL, &seen);
    CHECK(loop_until(&loop, &seen.opened));
    websocket_destroy(seen.websocket);
    CHECK(loop_until(&loop, &closed));
    CHECK_INT(close_seen, 1001);
    CHECK(!seen.ended);
    server_stop(server);
}

static void test_pause(void)
{
    struct seen seen = {0};
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_upgrade});
    open_to(server, "localhost", NULL, &seen);
    CHECK(loop_until(&loop, &seen.opened));
    websocket_pause(seen.websocket, true);
    for (int i = 0; i < 3; i++)
        peer_text(server_peer(server), "later");
    for (int turn = 0; turn < 200; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_INT(seen.messages, 0);
    websocket_pause(seen.websocket, false);
    while (seen.messages < 3 && !seen.ended) {
        seen.enough = false;
        if (!loop_until(&loop, &seen.enough))
            break;
    }
    CHECK_INT(seen.messages, 3);
    websocket_destroy(seen.websocket);
    server_stop(server);
}

static bool resolved;
static struct resolver_result result;

static void on_resolved(void *user, const struct resolver_result *r)
{
    CHECK(user == &result);
    result = *r;
    resolved = true;
}

static void test_resolver(void)
{
    struct resolver_query *query;
    CHECK_INT(net_resolver_start(&loop, "localhost", on_resolved, &result, &query), 0);
    CHECK(!resolved);
    CHECK(loop_until(&loop, &resolved));
    CHECK_INT(result.error, 0);
    CHECK(result.n >= 1);
    bool loopback = false;
    for (int i = 0; i < result.n; i++)
        loopback |= strcmp(result.addresses[i], "127.0.0.1") == 0 || strcmp(result.addresses[i], "::1") == 0;
    CHECK(loopback);

    char too_long[80]; /* a label that no name may have: refused without asking anybody */
    memset(too_long, 'a', sizeof(too_long));
    too_long[sizeof(too_long) - 1] = '\0';
    resolved = false;
    CHECK_INT(net_resolver_start(&loop, too_long, on_resolved, &result, &query), 0);
    CHECK(loop_until(&loop, &resolved));
    CHECK(result.error != 0 && result.n == 0);

    resolved = false;
    CHECK_INT(net_resolver_start(&loop, "127.0.0.1", on_resolved, &result, &query), 0);
    net_resolver_cancel(query);
    for (int turn = 0; turn < 50; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK(!resolved);
}

/* Data for longer than the time to hang up, and no answer to pings; then silence. */
enum { TICKS = 15 };

static struct server *ticking;
static int ticks;

static void on_tick(uv_timer_t *timer)
{
    if (server_peer(ticking))
        peer_text(server_peer(ticking), "tick");
    if (++ticks == TICKS)
        uv_close((uv_handle_t *)timer, NULL);
}

static void test_silence(void)
{
    uv_loop_t other;
    uv_timer_t timer;
    struct net_context *previous_net = net;
    struct seen seen = {0};
    uv_loop_init(&other);
    net = loop_net(&other, server_ca_file(), 1, 2);
    ticking = server_start(&other, SERVER_GOOD, &(struct server_handler){script_upgrade});
    open_to(ticking, "localhost", NULL, &seen);
    CHECK(loop_until(&other, &seen.opened));
    uv_timer_init(&other, &timer);
    uv_timer_start(&timer, on_tick, 0, 250);
    CHECK(loop_until(&other, &seen.ended));
    printf("silence: %s\n", seen.reason);
    CHECK_INT(seen.messages, TICKS); /* data counts as life */
    CHECK(strstr(seen.reason, "no data and no answer to pings"));
    websocket_destroy(seen.websocket);
    server_stop(ticking);
    loop_end(&other, net);
    net = previous_net;
}

static void test_context_errors(void)
{
    char error[NET_ERROR_MAX];
    struct net_context *none = NULL;
    struct net_config config = {.loop = &loop, .ca_file = "/nonexistent/ca.pem"};
    CHECK_INT(net_context_create(&config, &none, error), -ENOENT);
    CHECK_STR(error,
              "/nonexistent/ca.pem: No such file or directory: a file of certificates in PEM form is needed");
    config.ca_file = "/dev/null";
    CHECK_INT(net_context_create(&config, &none, error), -EINVAL);
    CHECK_STR(error, "/dev/null: is a device: a file of certificates in PEM form is needed");
    CHECK(!none);
}

int main(void)
{
    uv_loop_init(&loop);
    test_context_errors();
    net = loop_net(&loop, server_ca_file(), 0, 0);
    test_resolver();
    test_messages();
    test_binary();
    test_deflated();
    test_lost();
    test_oversize();
    test_too_long();
    test_certificates();
    test_refusals();
    test_destroy();
    test_send();
    test_pause();
    test_silence();

    /* Stopping with a connection open. */
    struct seen seen = {0};
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script_upgrade});
    open_to(server, "localhost", NULL, &seen);
    CHECK(loop_until(&loop, &seen.opened));
    websocket_destroy(seen.websocket);
    server_stop(server);
    loop_end(&loop, net);
    server_forget_ca();
    return check_done("net websocket");
}
