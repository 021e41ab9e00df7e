/* HTTPS against a scripted server. */
#include <errno.h>
#include <zlib.h>

#include "exchange/net/http.h"
#include "tests/net/loop.h"
#include "tests/net/server.h"

struct seen {
    bool done;
    int replies;
    struct http_reply reply;
    char body[256], error[512];
    bool *all; /* set once `wanted` replies came */
    int *count, wanted;
};

static void on_done(void *user, const struct http_reply *reply)
{
    struct seen *seen = user;
    seen->replies++;
    seen->done = true;
    seen->reply = *reply;
    CHECK(!reply->body || reply->body[reply->len] == '\0');
    snprintf(seen->body, sizeof(seen->body), "%s", reply->body ? reply->body : "");
    snprintf(seen->error, sizeof(seen->error), "%s", reply->error ? reply->error : "");
    if (seen->count && ++*seen->count == seen->wanted)
        *seen->all = true;
}

static uv_loop_t loop;
static struct net_context *net;

static struct http_call *get(struct server *server, const char *host, const char *path,
                             const struct http_request *extra, struct seen *seen)
{
    char url[256];
    struct http_call *call = NULL;
    struct http_request request = extra ? *extra : (struct http_request){0};
    snprintf(url, sizeof(url), "https://%s:%u%s", host, server_port(server), path);
    request.url = url;
    CHECK_INT(http_send(net, &request, on_done, seen, &call), 0);
    CHECK(!seen->done);
    return call;
}

static int never_requests;
static int dying_requests; /* so many came; the first one's connection ends without an answer */

/* Answers with what came. */
static void echo(struct peer *peer, const char *head)
{
    char type[64] = "", length[16] = "", text[256];
    const char *at = strstr(head, "Content-Type: ");
    if (at)
        sscanf(at, "Content-Type: %63[^\r]", type);
    at = strstr(head, "Content-Length: ");
    if (at)
        sscanf(at, "Content-Length: %15[^\r]", length);
    int len = snprintf(text, sizeof(text), "%.*s|%s|%s|%s", (int)strcspn(head, " "), head, type, length,
                       strstr(head, "\r\n\r\n") + 4);
    peer_print(peer, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len, text);
}

static void script(struct peer *peer, const char *head)
{
    if (strstr(head, " /echo ")) {
        echo(peer, head);
        return;
    }
    if (strstr(head, " /dying ") && ++dying_requests == 1) {
        peer_drop(peer);
        return;
    }
    if (strstr(head, "GET /limited ")) {
        peer_print(
            peer,
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: Mon, 11 Oct 2021 11:48:42 GMT\r\nX-MBX-USED-WEIGHT-1M: 1201\r\n"
            "Date: Mon, 11 Oct 2021 11:48:31 GMT\r\nContent-Length: 2\r\n\r\n{}");
    } else if (strstr(head, "GET /once ")) {
        peer_print(peer, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    } else if (strstr(head, "GET /keys ")) {
        CHECK(strstr(head, "APCA-API-KEY-ID: me\r\n") && strstr(head, "Accept: application/json\r\n"));
        peer_print(peer, "HTTP/1.1 200 OK\r\nX-RateLimit-Limit: 200\r\nX-Ratelimit-Remaining: 199\r\n"
                         "X-RateLimit-Reset: 1700000000\r\nContent-Length: 0\r\n\r\n");
    } else if (strstr(head, "GET /long ")) {
        peer_print(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (int i = 0; i < 10; i++)
            peer_print(peer, "64\r\n%0100d\r\n", 0);
        peer_print(peer, "0\r\n\r\n");
    } else if (strstr(head, "GET /announced ")) {
        peer_print(peer, "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
    } else if (strstr(head, "GET /never ")) {
        never_requests++;
        return;
    } else if (strstr(head, "GET /cut ")) {
        peer_print(peer, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        peer_drop(peer);
    } else if (strstr(head, "GET /garbage ")) {
        peer_print(peer, "\x01\x02\x03\r\n\r\n");
        peer_drop(peer);
    } else if (strstr(head, "GET /away ")) {
        peer_print(peer, "HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    } else if (strstr(head, "GET /zipped ")) {
        unsigned char zipped[256];
        z_stream z = {
            .next_in = (unsigned char *)"unzipped", .avail_in = 8, .next_out = zipped, .avail_out = 256};
        CHECK(strstr(head, "Accept-Encoding: gzip\r\n"));
        CHECK(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
        CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
        deflateEnd(&z);
        peer_print(peer, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %lu\r\n\r\n",
                   z.total_out);
        peer_write(peer, zipped, z.total_out);
    } else {
        CHECK(strstr(head, "User-Agent: papertape/"));
        peer_print(peer, "HTTP/1.1 200 OK\r\nx-mbx-used-weight-1m: 7\r\nContent-Length: 4\r\n\r\nbody");
    }
}

static void test_replies(void)
{
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script});
    struct seen seen = {0};
    get(server, "localhost", "/plain", NULL, &seen);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_STR(seen.error, "");
    CHECK_INT(seen.reply.status, 200);
    CHECK_STR(seen.body, "body");
    CHECK_INT(seen.reply.len, 4);
    CHECK_INT(seen.reply.used_weight, 7);
    CHECK_INT(seen.reply.retry_after_ms, -1);
    CHECK_INT(seen.reply.date_s, -1);

    seen = (struct seen){0};
    get(server, "localhost", "/limited", NULL, &seen);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.reply.status, 429);
    CHECK_INT(seen.reply.retry_after_ms, 11000);
    CHECK_INT(seen.reply.used_weight, 1201);
    CHECK_INT(seen.reply.date_s, 1633952911);

    seen = (struct seen){0};
    get(server, "localhost", "/zipped", NULL, &seen);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_STR(seen.body, "unzipped");

    seen = (struct seen){0};
    get(server, "localhost", "/away", NULL, &seen);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.reply.status, 302);
    CHECK_INT(server_accepted(server), 1); /* one connection served them all */

    /* By number: the certificate names the address too. */
    seen = (struct seen){0};
    get(server, "127.0.0.1", "/plain", NULL, &seen);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_STR(seen.body, "body");

    /* Many at once. */
    bool all = false;
    int count = 0;
    struct seen many[12] = {0};
    for (int i = 0; i < 12; i++) {
        many[i] = (struct seen){.all = &all, .count = &count, .wanted = 12};
        get(server, "localhost", "/plain", NULL, &many[i]);
    }
    CHECK(loop_until(&loop, &all));
    for (int i = 0; i < 12; i++)
        CHECK_STR(many[i].body, "body");
    server_stop(server);
}

static void test_headers(void)
{
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script});
    struct seen seen = {0};
    const struct net_header headers[] = {{"APCA-API-KEY-ID", "me"}, {"Accept", "application/json"}};
    get(server, "localhost", "/keys", &(struct http_request){.headers = headers, .n_headers = 2}, &seen);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_STR(seen.error, "");
    CHECK_INT(seen.reply.rate_limit, 200);
    CHECK_INT(seen.reply.rate_left, 199);
    CHECK_INT(seen.reply.rate_reset_s, 1700000000);

    static char longest[HTTP_HEADER_MAX + 2];
    static const struct {
        struct net_header header;
        int error;
    } cases[] = {
        {{"", "x"}, -EINVAL},    {{"A", "x\r\nB: y"}, -EINVAL},   {{"A: b", "x"}, -EINVAL},
        {{"A\n", "x"}, -EINVAL}, {{"A", longest}, -ENAMETOOLONG},
    };
    memset(longest, 'x', sizeof(longest) - 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_call *call;
        const struct http_request request = {
            .url = "https://localhost/", .headers = &cases[i].header, .n_headers = 1};
        CHECK_INT(http_send(net, &request, on_done, &seen, &call), cases[i].error);
    }
    server_stop(server);
}

/* What the other side reads of each method. */
static void test_bodies(void)
{
    static const struct net_header json[] = {{"Content-Type", "application/json"}};
    static const struct {
        struct http_request request;
        const char *body; /* what comes back: the request line, Content-Type, Content-Length, body */
    } cases[] = {
        {{.method = "GET"}, "GET|||"},
        {{.method = "POST", .body = "a=1&b=2", .body_len = 7},
         "POST|application/x-www-form-urlencoded|7|a=1&b=2"},
        {{.method = "POST", .body = "{}", .body_len = 2, .headers = json, .n_headers = 1},
         "POST|application/json|2|{}"},
        {{.method = "POST", .headers = json, .n_headers = 1}, "POST|application/json|0|"},
        {{.method = "DELETE"}, "DELETE|||"},
        {{.method = "DELETE", .body = "x", .body_len = 1, .headers = json, .n_headers = 1},
         "DELETE|application/json|1|x"},
    };
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script});
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen seen = {0};
        get(server, "localhost", "/echo", &cases[i].request, &seen);
        CHECK(loop_until(&loop, &seen.done));
        CHECK_STR(seen.error, "");
        CHECK_STR(seen.body, cases[i].body);
        CHECK(seen.reply.sent);
    }
    struct seen seen = {0};
    struct http_call *call;
    static const struct http_request none[] = {
        {.method = ""},
        {.method = "get"},
        {.method = "GET / HTTP/1.1\r\nHost: x"},
        {.method = "TOOLONGTOBE"},
        {.body = "x", .body_len = 1},
    };
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        struct http_request request = none[i];
        request.url = "https://localhost/";
        CHECK_INT(http_send(net, &request, on_done, &seen, &call), -EINVAL);
    }
    server_stop(server);
}

/* A connection that dies between the request and its answer: over a kept connection a GET comes again, an
 * order never. */
static void test_once(void)
{
    static const struct {
        const char *method;
        int requests, status;
    } cases[] = {{"GET", 2, 200}, {"POST", 1, 0}, {"DELETE", 1, 0}, {"PATCH", 1, 0}};
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script});
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen seen = {0};
        get(server, "localhost", "/plain", NULL, &seen);
        CHECK(loop_until(&loop, &seen.done)); /* and the connection is kept */
        seen = (struct seen){0};
        dying_requests = 0;
        get(server, "localhost", "/dying", &(struct http_request){.method = cases[i].method}, &seen);
        CHECK(loop_until(&loop, &seen.done));
        CHECK_INT(dying_requests, cases[i].requests);
        CHECK_INT(seen.reply.status, cases[i].status);
        CHECK(seen.reply.sent);
    }
    server_stop(server);
}

static void test_failures(void)
{
    static const struct {
        const char *path;
        struct http_request request;
        const char *said;
    } cases[] = {
        {"/long", {.body_max = 500}, "longer than 500 bytes"},
        {"/announced", {0}, "longer than"},
        {"/never", {.timeout_ms = 200}, "timed out"},
        {"/cut", {0}, "localhost: "},
        {"/garbage", {0}, "localhost: "},
    };
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script});
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen seen = {0};
        get(server, "localhost", cases[i].path, &cases[i].request, &seen);
        CHECK(loop_until(&loop, &seen.done));
        printf("%s: %s\n", cases[i].path, seen.error);
        CHECK_INT(seen.reply.status, 0);
        CHECK(strstr(seen.error, cases[i].said));
        CHECK_INT(seen.replies, 1);
        /* A slow machine may not have sent it in time. */
        CHECK(seen.reply.sent || (cases[i].request.timeout_ms > 0 && never_requests == 0));
    }
    server_stop(server);

    static const struct {
        enum server_kind kind;
        const char *said;
    } kinds[] = {{SERVER_OTHER, "hostname mismatch"},
                 {SERVER_NAMELESS, "hostname mismatch"},
                 {SERVER_UNTRUSTED, "certificate"},
                 {SERVER_EXPIRED, "expired"}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct seen seen = {0};
        server = server_start(&loop, kinds[i].kind, &(struct server_handler){script});
        get(server, "localhost", "/plain", NULL, &seen);
        CHECK(loop_until(&loop, &seen.done));
        printf("certificate: %s\n", seen.error);
        CHECK_INT(seen.reply.status, 0);
        CHECK(strstr(seen.error, kinds[i].said));
        CHECK(!seen.reply.sent);
        server_stop(server);
    }

    struct seen seen = {0};
    struct http_call *call;
    server = server_start(&loop, SERVER_MUTE, &(struct server_handler){script});
    get(server, "localhost", "/plain", &(struct http_request){.timeout_ms = 100}, &seen);
    CHECK(loop_until(&loop, &seen.done));
    printf("mute: %s\n", seen.error);
    CHECK(!seen.reply.sent);
    seen = (struct seen){0};
    char closed[64];
    snprintf(closed, sizeof(closed), "https://127.0.0.1:%u/", server_port(server));
    server_stop(server);
    for (int turn = 0; turn < 20; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_INT(http_send(net, &(struct http_request){.url = closed}, on_done, &seen, &call), 0);
    CHECK(loop_until(&loop, &seen.done));
    printf("closed: %s\n", seen.error);
    CHECK(*seen.error && !seen.reply.sent);

    CHECK_INT(http_send(net, &(struct http_request){.url = "http://localhost/"}, on_done, &seen, &call),
              -EPROTONOSUPPORT);
    CHECK_INT(http_send(net, &(struct http_request){.url = "wss://localhost/"}, on_done, &seen, &call),
              -EPROTONOSUPPORT);
    CHECK_INT(http_send(net, &(struct http_request){.url = "https://local host/"}, on_done, &seen, &call),
              -EINVAL);

    char url[128] = "https://";
    memset(url + 8, 'a', 80);
    seen = (struct seen){0};
    CHECK_INT(http_send(net, &(struct http_request){.url = url}, on_done, &seen, &call), 0);
    CHECK(loop_until(&loop, &seen.done));
    printf("name: %s\n", seen.error);
    CHECK(strstr(seen.error, "the name has no address"));
    CHECK(!seen.reply.sent);
}

static void test_cancel(void)
{
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script});
    struct seen seen = {0};
    http_cancel(get(server, "localhost", "/plain", NULL, &seen)); /* while the name is looked up */
    struct http_call *call = get(server, "localhost", "/never", NULL, &seen);
    while (server_accepted(server) == 0)
        uv_run(&loop, UV_RUN_ONCE);
    http_cancel(call); /* while it connects */
    call = get(server, "localhost", "/never", NULL, &seen);
    for (int turn = 0; turn < 200; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    http_cancel(call); /* while it waits */
    http_cancel(NULL);
    for (int turn = 0; turn < 50; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK_INT(seen.replies, 0);
    server_stop(server);
}

/* The system's certificates are trusted from now on, or this file's, which becomes the system's. */
static void trust_system(const char *ca_file)
{
    char error[NET_ERROR_MAX];
    struct net_trust *trust = NULL;
    setenv("SSL_CERT_FILE", ca_file, 1);
    CHECK_INT(net_trust_read(NULL, &trust, error), 0);
    unsetenv("SSL_CERT_FILE");
    net_context_trust(net, trust);
}

static void trust_file(const char *ca_file)
{
    char error[NET_ERROR_MAX];
    struct net_trust *trust = NULL;
    CHECK_INT(net_trust_read(ca_file, &trust, error), 0);
    net_context_trust(net, trust);
}

/* A connection is checked by what is trusted when it is made, and no former one stands in for that. */
static void test_trust(void)
{
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){script});
    struct seen seen = {0};
    get(server, "localhost", "/once", NULL, &seen);
    trust_system(server_ca_file()); /* while the name is looked up */
    CHECK(loop_until(&loop, &seen.done));
    CHECK_STR(seen.error, "");
    CHECK_INT(seen.reply.status, 200);
    trust_file(server_ca_file());
    seen = (struct seen){0};
    get(server, "localhost", "/once", NULL, &seen);
    CHECK(loop_until(&loop, &seen.done));
    CHECK_INT(seen.reply.status, 200);
    seen = (struct seen){0};
    get(server, "localhost", "/once", NULL, &seen);
    trust_system("/nonexistent");
    CHECK(loop_until(&loop, &seen.done));
    printf("trust: %s\n", seen.error);
    CHECK(strstr(seen.error, "certificate"));
    server_stop(server);
    trust_file(server_ca_file());
}

int main(void)
{
    uv_loop_init(&loop);
    net = loop_net(&loop, server_ca_file(), 0, 0);
    test_replies();
    test_headers();
    test_bodies();
    test_once();
    test_failures();
    test_cancel();
    test_trust();
    loop_end(&loop, net);
    server_forget_ca();
    return check_done("net http");
}
