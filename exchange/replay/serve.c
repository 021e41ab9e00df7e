#include "exchange/replay/serve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exchange/replay/rest.h"
#include "exchange/replay/subscribe.h"

#define NS_PER_S 1000000000ull

enum {
    PING_EVERY_S = 20, /* as the venue */
    PONG_WITHIN_S = 60,
    BEAT_MS = 250,
    HEADER_BYTES = 65000, /* of a request: a URL of 1024 streams */
    BODY_CHUNK = 32 << 10,
    DEFERRED_STEPS_MAX = 4096,
    SETTLED_TURNS = 3,
};

/* A connection: REST until it is upgraded. */
struct session {
    struct client *client;
    struct text body;
    size_t body_sent;

    struct lws *wsi;
    struct session *next; /* deferred */
    char *path, *args;    /* of a request that is not answered yet */
    struct rest_request request;
};

void server_recount(struct server *server)
{
    server->n_behind = server->n_listening = 0;
    for (const struct client *c = server->clients; c; c = c->next) {
        server->n_behind += client_behind(c);
        server->n_listening += c->n_names > 0 && !c->close_code;
    }
    play_poke(&server->play);
}

static bool silent(const struct server *server)
{
    return fault_silent(server->faults, play_elapsed_ns(&server->play));
}

/* At full speed a reply about the position would otherwise tell how fast this machine is: it waits until the
 * play stands still, which it soon does for a client that stops reading until it has the reply, and always at
 * the same message. A client that reads on is answered after a while. */
static void answer_deferred(struct server *server)
{
    server->deferred_steps = 0;
    while (server->deferred) {
        struct session *session = server->deferred;
        server->deferred = session->next;
        lws_callback_on_writable(session->wsi);
    }
}

/* Once a turn of the loop, while replies are deferred: pongs that a client wrote before it asked are read by
 * then. */
static void on_settle(uv_idle_t *idle)
{
    struct server *server = idle->data;
    if (!server->deferred)
        uv_idle_stop(idle);
    else if (play_racing(&server->play))
        server->settled_turns = 0;
    else if (++server->settled_turns >= SETTLED_TURNS)
        answer_deferred(server);
}

static void forget_deferred(struct server *server, struct session *session)
{
    for (struct session **at = &server->deferred; *at; at = &(*at)->next) {
        if (*at == session) {
            *at = session->next;
            return;
        }
    }
}

static bool ready(void *user)
{
    struct server *server = user;
    if (server->deferred && ++server->deferred_steps > DEFERRED_STEPS_MAX)
        answer_deferred(server);
    return server->n_listening > 0 && server->n_behind == 0 && !silent(server);
}

/* One message to one client, and what full speed and faults add to it. */
static void send_data(struct server *server, struct client *client, struct message *message)
{
    client_push(client, message);
    client->sent++;
    if (client->paced && client->sent % CLIENT_WINDOW == 0) {
        bool was = client_behind(client);
        client_ping(client, ++client->ping_seq);
        server->n_behind += client_behind(client) - was;
    }
    if (server->faults->garbage && client->sent % FAULT_GARBAGE_EVERY == 0) {
        const char *frame = fault_garbage(client->sent / FAULT_GARBAGE_EVERY);
        client_say(client, frame, strlen(frame));
    }
    if (server->faults->close_after && !server->closed_one && client->sent >= server->faults->close_after)
        server->closed_one = client->close_after_queue = true;
}

static struct message *wrap(const struct stream *stream, const char *data, size_t len, bool combined)
{
    static const char begin[] = "{\"stream\":\"", middle[] = "\",\"data\":";
    if (!combined) {
        struct message *m = message_new(LWS_WRITE_TEXT, len);
        if (m)
            memcpy(message_text(m), data, len);
        return m;
    }
    struct message *m =
        message_new(LWS_WRITE_TEXT, sizeof(begin) - 1 + stream->name_len + sizeof(middle) - 1 + len + 1);
    if (m) {
        unsigned char *p = message_text(m);
        p = mempcpy(p, begin, sizeof(begin) - 1);
        p = mempcpy(p, stream->name, stream->name_len);
        p = mempcpy(p, middle, sizeof(middle) - 1);
        p = mempcpy(p, data, len);
        *p = '}';
    }
    return m;
}

static void deliver(void *user, struct stream *stream, const char *data, size_t len)
{
    struct server *server = user;
    struct message *made[2] = {NULL, NULL}; /* raw, combined: each rendered once */
    stream->sent++;
    if (server->faults->gap_book && (stream->kind == STREAM_DEPTH || stream->kind == STREAM_DEPTH_FAST) &&
        stream->sent % FAULT_GAP_EVERY == 0)
        return;
    if (server->faults->silence && silent(server))
        return;
    for (size_t i = 0; i < stream->n_listeners; i++) {
        const struct listener *listener = &stream->listeners[i];
        struct message **m = &made[listener->combined];
        if (!*m && !(*m = wrap(stream, data, len, listener->combined))) {
            server->tape->failed = true;
            break;
        }
        send_data(server, listener->client, *m);
    }
    message_unref(made[0]);
    message_unref(made[1]);
}

/* Ends at a '?' or at the end; the arguments are read apart. */
static bool copy_path(struct lws *wsi, char *path, size_t size)
{
    return lws_hdr_copy(wsi, path, (int)size, WSI_TOKEN_GET_URI) > 0;
}

static void begin_client(struct server *server, struct session *session, struct lws *wsi)
{
    char path[4096], *args = malloc(HEADER_BYTES);
    struct client *client = calloc(1, sizeof(*client));
    if (!client || !args || client_init(client, server, wsi) < 0) {
        free(client);
        free(args);
        return;
    }
    client->paced = server->play.speed == 0;
    session->client = client;
    client->next = server->clients;
    server->clients = client;
    if (!copy_path(wsi, path, sizeof(path)))
        path[0] = '\0';
    client->combined = strncmp(path, "/stream", 7) == 0;
    int rc = 0;
    for (int i = 0; lws_hdr_copy_fragment(wsi, args, HEADER_BYTES, WSI_TOKEN_HTTP_URI_ARGS, i) >= 0; i++) {
        if (client->combined && strncmp(args, "streams=", 8) == 0)
            rc = subscribe_list(client, args + 8);
        else if (strncasecmp(args, "timeUnit=MICROSECOND", 20) == 0)
            client_close(client, LWS_CLOSE_STATUS_POLICY_VIOLATION,
                         "timeUnit=MICROSECOND is not served: use milliseconds");
    }
    if (strncmp(path, "/ws/", 4) == 0)
        rc = subscribe_list(client, path + 4);
    if (rc == -E2BIG)
        client_close(client, LWS_CLOSE_STATUS_POLICY_VIOLATION, "more than 1024 streams on one connection");
    else if (rc < 0)
        client_close(client, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
    free(args);
}

static void end_client(struct server *server, struct session *session)
{
    struct client *client = session->client;
    if (!client)
        return;
    session->client = NULL;
    struct client **at = &server->clients;
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    subscribe_drop(client);
    client_finish(client);
    free(client);
}

/* Collects a request until it is whole. */
static void receive(struct client *client, const char *data, size_t len)
{
    struct text *request = &client->request;
    if (request->len + len > CLIENT_REQUEST_MAX) {
        client_close(client, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "request too long");
        return;
    }
    text_bytes(request, data, len);
    if (!lws_is_final_fragment(client->wsi) || lws_remaining_packet_payload(client->wsi) > 0)
        return;
    uint64_t now = uv_hrtime();
    if (now - client->second_ns >= NS_PER_S) {
        client->second_ns = now;
        client->requests = 0;
    }
    if (++client->requests > CLIENT_MESSAGES_PER_S)
        client_close(client, LWS_CLOSE_STATUS_POLICY_VIOLATION, "Too many requests");
    else if (text_ok(request))
        subscribe_request(client, request->data ? request->data : "", request->len);
    text_clear(request);
}

static void receive_pong(struct client *client, const char *data, size_t len)
{
    int64_t number;
    client->last_pong_ns = uv_hrtime();
    if (!client->paced || decimal_parse(data, len, 0, &number) != 0)
        return;
    /* A pong also answers the pings before it. */
    if ((uint64_t)number > client->pong_seq && (uint64_t)number <= client->ping_seq) {
        client->pong_seq = (uint64_t)number;
        server_recount(client->server);
    }
}

static int64_t count_weight(struct server *server, int weight)
{
    int64_t minute = (int64_t)(uv_hrtime() / (60 * NS_PER_S));
    if (minute != server->weight_minute) {
        server->weight_minute = minute;
        server->used_weight = 0;
    }
    return server->used_weight += weight;
}

static bool write_headers(struct server *server, struct lws *wsi, int status, size_t body_len, int weight)
{
    unsigned char buf[LWS_PRE + 2048], *start = buf + LWS_PRE, *p = start, *end = buf + sizeof(buf) - 1;
    char used[24];
    int len = snprintf(used, sizeof(used), "%lld", (long long)count_weight(server, weight));
    return lws_add_http_common_headers(wsi, (unsigned)status, "application/json;charset=UTF-8", body_len, &p,
                                       end) == 0 &&
           lws_add_http_header_by_name(
               wsi, (const unsigned char *)"x-mbx-used-weight:", (unsigned char *)used, len, &p, end) == 0 &&
           lws_add_http_header_by_name(wsi,
                                       (const unsigned char *)"x-mbx-used-weight-1m:", (unsigned char *)used,
                                       len, &p, end) == 0 &&
           lws_finalize_write_http_header(wsi, start, &p, end) == 0;
}

/* Takes the request off libwebsockets, which forgets it once this callback returns. */
static int take_request(struct session *session, struct lws *wsi)
{
    char path[512];
    size_t used = 0;
    int n;
    session->wsi = wsi;
    session->request = (struct rest_request){0};
    session->args = malloc(HEADER_BYTES);
    session->path = strdup(copy_path(wsi, path, sizeof(path)) ? path : "");
    if (!session->args || !session->path)
        return -1;
    struct rest_request *request = &session->request;
    request->path = session->path;
    while (request->n_args < REST_ARGS_MAX &&
           (n = lws_hdr_copy_fragment(wsi, session->args + used, (int)(HEADER_BYTES - used),
                                      WSI_TOKEN_HTTP_URI_ARGS, request->n_args)) >= 0) {
        request->args[request->n_args++] = session->args + used;
        used += (size_t)n + 1;
    }
    return 0;
}

static void drop_request(struct session *session)
{
    free(session->path);
    free(session->args);
    session->path = session->args = NULL;
}

static int answer_http(struct server *server, struct session *session, struct lws *wsi)
{
    int weight = 1, status = HTTP_STATUS_NOT_FOUND;
    text_clear(&session->body);
    session->body_sent = 0;
    if (session->path[0])
        status = rest_answer(server->source, &session->request, &session->body, &weight);
    else
        rest_error(&session->body, -1000, "Path not found: market data is read by GET.");
    drop_request(session);
    if (!text_ok(&session->body) || !write_headers(server, wsi, status, session->body.len, weight))
        return -1;
    lws_callback_on_writable(wsi);
    return 0;
}

static int begin_http(struct server *server, struct session *session, struct lws *wsi)
{
    if (take_request(session, wsi) < 0)
        return -1;
    if (server->play.speed > 0 || !server->play.started)
        return answer_http(server, session, wsi);
    session->next = server->deferred;
    server->deferred = session;
    server->settled_turns = 0;
    uv_idle_start(&server->settle, on_settle);
    return 0;
}

static void end_http(struct server *server, struct session *session)
{
    forget_deferred(server, session);
    drop_request(session);
    text_finish(&session->body);
}

static int write_body(struct session *session, struct lws *wsi)
{
    static unsigned char buf[LWS_PRE + BODY_CHUNK]; /* one loop, one owner */
    size_t left = session->body.len - session->body_sent;
    size_t n = left < BODY_CHUNK ? left : BODY_CHUNK;
    if (n == 0)
        return 0;
    memcpy(buf + LWS_PRE, session->body.data + session->body_sent, n);
    if (lws_write(wsi, buf + LWS_PRE, n, n == left ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < (int)n)
        return -1;
    session->body_sent += n;
    if (n < left) {
        lws_callback_on_writable(wsi);
        return 0;
    }
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
    struct session *session = user;
    struct server *server = lws_context_user(lws_get_context(wsi));
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return begin_http(server, session, wsi);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return session->path ? answer_http(server, session, wsi) : write_body(session, wsi);
    case LWS_CALLBACK_CLOSED_HTTP:
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
        if (session)
            end_http(server, session);
        return 0;
    case LWS_CALLBACK_ESTABLISHED:
        begin_client(server, session, wsi);
        return session->client ? 0 : -1;
    case LWS_CALLBACK_CLOSED:
        end_client(server, session);
        return 0;
    case LWS_CALLBACK_RECEIVE:
        receive(session->client, in, len);
        return 0;
    case LWS_CALLBACK_RECEIVE_PONG:
        receive_pong(session->client, in, len);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return session->client ? client_write(session->client) : 0;
    default:
        return 0;
    }
}

static void on_beat(uv_timer_t *timer)
{
    struct server *server = timer->data;
    uint64_t now = uv_hrtime();
    for (struct client *c = server->clients; c; c = c->next) {
        if (now - c->last_pong_ns > PONG_WITHIN_S * NS_PER_S)
            client_close(c, LWS_CLOSE_STATUS_POLICY_VIOLATION, "no pong");
        else if (client_behind(c) && now - c->last_ping_ns > NS_PER_S)
            client_ping(c, c->ping_seq); /* the answer was left out, or lost: ask again */
        else if (now - c->last_ping_ns > PING_EVERY_S * NS_PER_S)
            client_ping(c, c->paced ? c->ping_seq : (uint64_t)server->tape->now_ns / 1000000);
    }
    server_recount(server);
}

static void on_turn(uv_prepare_t *prepare)
{
    struct server *server = prepare->data;
    for (struct client *c = server->clients, *next; c; c = next) {
        next = c->next;
        client_turn(c);
    }
}

/* Can the address be bound? libwebsockets would try again and again where it cannot. */
static int try_address(const struct server_options *options)
{
    struct sockaddr_storage address = {0};
    bool ipv6 = strchr(options->host, ':') != NULL;
    int on = 1, rc = ipv6 ? uv_ip6_addr(options->host, options->port, (struct sockaddr_in6 *)&address)
                          : uv_ip4_addr(options->host, options->port, (struct sockaddr_in *)&address);
    if (rc < 0)
        return -EINVAL;
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    socklen_t len = ipv6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    rc = bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, 1) == 0 ? 0 : -errno;
    close(fd);
    return rc;
}

static int listen_on(struct server *server, const struct ca *ca, const struct server_options *options)
{
    static const struct lws_protocols protocols[] = {
        {.name = "binance",
         .callback = callback,
         .per_session_data_size = sizeof(struct session),
         .rx_buffer_size = 4096},
        {0},
    };
    void *loops[1] = {server->loop};
    bool ipv6 = strchr(options->host, ':') != NULL;
    struct lws_context_creation_info info = {
        .options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT |
                   LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS |
                   (ipv6 ? 0 : LWS_SERVER_OPTION_DISABLE_IPV6),
        .foreign_loops = loops,
        .user = server,
        .port = options->port,
        .iface = options->host,
        .protocols = protocols,
        .vhost_name = "papertape-replay",
        .server_ssl_cert_mem = ca->server_pem,
        .server_ssl_cert_mem_len = (unsigned)ca->server_len,
        .server_ssl_private_key_mem = ca->key_pem,
        .server_ssl_private_key_mem_len = (unsigned)ca->key_len,
        .alpn = "http/1.1",
        .max_http_header_data2 = HEADER_BYTES,
        .max_http_header_pool2 = 64,
        .pt_serv_buf_size = BODY_CHUNK,
    };
    int rc = try_address(options);
    if (rc < 0)
        return rc;
    lws_set_log_level(0, NULL); /* what fails is told by return codes */
    server->context = lws_create_context(&info);
    if (!server->context)
        return -EIO;
    struct lws_vhost *vhost = lws_create_vhost(server->context, &info);
    if (!vhost)
        return -EADDRINUSE;
    server->port = lws_get_vhost_listen_port(vhost);
    return server->port > 0 ? 0 : -EADDRINUSE;
}

int server_init(struct server *server, uv_loop_t *loop, struct source *source, const struct ca *ca,
                const struct server_options *options)
{
    *server =
        (struct server){.loop = loop, .source = source, .tape = source->tape, .faults = options->faults};
    source->tape->deliver = deliver;
    source->tape->user = server;
    int rc = play_init(&server->play, loop, source, options->speed, ready, server);
    if (rc < 0)
        return rc;
    uv_timer_init(loop, &server->beat);
    uv_prepare_init(loop, &server->turn);
    uv_idle_init(loop, &server->settle);
    server->beat.data = server->turn.data = server->settle.data = server;
    if ((rc = listen_on(server, ca, options)) < 0) {
        server_finish(server);
        return rc;
    }
    uv_timer_start(&server->beat, on_beat, BEAT_MS, BEAT_MS);
    uv_prepare_start(&server->turn, on_turn);
    return 0;
}

void server_finish(struct server *server)
{
    play_finish(&server->play);
    uv_close((uv_handle_t *)&server->beat, NULL);
    uv_close((uv_handle_t *)&server->turn, NULL);
    uv_close((uv_handle_t *)&server->settle, NULL);
    /* On a loop that is not its own, libwebsockets closes its handles first and frees itself when it is asked
     * again after they are closed. */
    if (server->context)
        lws_context_destroy(server->context);
    uv_run(server->loop, UV_RUN_DEFAULT);
    if (server->context)
        lws_context_destroy(server->context);
    server->context = NULL;
}
