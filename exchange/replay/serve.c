#include "exchange/replay/serve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exchange/decimal.h"
#include "exchange/replay/request.h"
#include "exchange/replay/transcript.h"

#define NS_PER_MS 1000000
#define NS_PER_S  1000000000ull

enum {
    PING_EVERY_S = 20, /* as venues do */
    PONG_WITHIN_S = 60,
    BEAT_MS = 250,
    SERVICE_BYTES = 32 << 10,
    DEFERRED_STEPS_MAX = 4096,
    SETTLED_TURNS = 3,
    SLOW_TURNS = 20, /* a second, of a slow answer */
    STUCK_S = 30,    /* an answer is ended of which nothing could be sent for so long */
};

/* A connection: REST until it is upgraded. */
struct replay_session {
    struct client *client;

    struct lws *wsi;
    struct replay_session *next;  /* deferred */
    struct request_copy *request; /* that is not answered yet */
    bool incomplete;              /* its body is still to come */
    struct response response;
    size_t body_sent;
    uint64_t began_ns; /* to answer */
    bool half;         /* fault half-answer: so much of the body is sent */
};

void replay_server_recount(struct server *server)
{
    server->n_behind = server->n_listening = 0;
    for (const struct client *c = server->clients; c; c = c->next) {
        server->n_behind += replay_client_behind(c);
        server->n_listening += c->listening && !c->close_code;
    }
    replay_play_poke(&server->play);
}

static bool silent(const struct server *server)
{
    return replay_fault_silent(server->faults, replay_play_elapsed_ns(&server->play));
}

/* Has the position reached the moment at which it stands still? */
static bool held(const struct server *server)
{
    struct replay_source *source = server->play.source;
    int64_t hold_ns = server->faults->hold_ns;
    return hold_ns > 0 && source->ops->due(source) - server->play.played_from_ns >= hold_ns;
}

/* At full speed a reply about the position would otherwise depend on how fast this machine is: it waits
 * until the play stands still, which is soon for a client that stops reading until it has the reply, and
 * always at the same message. A client that keeps reading is answered after a while. */
static void answer_deferred(struct server *server)
{
    server->deferred_steps = 0;
    while (server->deferred) {
        struct replay_session *session = server->deferred;
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
    else if (replay_play_racing(&server->play))
        server->settled_turns = 0;
    else if (++server->settled_turns >= SETTLED_TURNS)
        answer_deferred(server);
}

static void forget_deferred(struct server *server, struct replay_session *session)
{
    for (struct replay_session **at = &server->deferred; *at; at = &(*at)->next) {
        if (*at == session) {
            *at = session->next;
            return;
        }
    }
}

static void ask_for(struct client *client)
{
    client->asked = client->sent;
    replay_client_ping(client, ++client->ping_seq);
}

/* Have all clients read what came before the protocol's stage? Else they are asked. */
static bool together(struct server *server)
{
    struct protocol *protocol = server->protocol;
    if (server->n_listening < 2 || !protocol->ops->stage)
        return true;
    int64_t stage = protocol->ops->stage(protocol);
    bool all = true;
    for (struct client *c = server->clients; c && stage != server->stage; c = c->next) {
        if (!c->paced || !c->listening || c->close_code || c->end_code || c->frozen)
            continue;
        if (c->asked != c->sent)
            ask_for(c);
        all &= c->ping_seq == c->pong_seq;
    }
    if (all)
        server->stage = stage;
    return all;
}

static bool ready(void *user)
{
    struct server *server = user;
    if (server->deferred && ++server->deferred_steps > DEFERRED_STEPS_MAX)
        answer_deferred(server);
    return server->n_listening > 0 && server->n_behind == 0 && !silent(server) && !held(server) &&
           together(server);
}

static struct fault_moment moment(const struct server *server)
{
    return (struct fault_moment){replay_play_elapsed_ns(&server->play), (int64_t)uv_hrtime()};
}

static void on_schedule_due(uv_timer_t *timer);

/* Faults that start or end by now do so, and the timer waits for the next of them. */
static void run_schedule(struct server *server)
{
    const struct fault_moment now = moment(server);
    const int64_t next_ns = replay_fault_schedule_run(server->schedule, &now);
    server->schedule_armed = server->play.started;
    if (server->schedule_armed && next_ns != INT64_MAX)
        uv_timer_start(&server->schedule_timer, on_schedule_due,
                       (uint64_t)(next_ns - now.elapsed_ns) / NS_PER_MS + 1, 0);
}

static void on_schedule_due(uv_timer_t *timer)
{
    struct server *server = timer->data;
    run_schedule(server);
    replay_server_recount(server); /* a silence may be over */
}

static void push_huge(struct client *client, size_t bytes)
{
    static const char begin[] = "{\"pad\":\"", end[] = "\"}";
    struct message *m = replay_message_new(LWS_WRITE_TEXT, bytes);
    if (!m)
        return;
    unsigned char *text = message_text(m);
    memset(text, '.', bytes);
    if (bytes >= sizeof(begin) + sizeof(end)) {
        memcpy(text, begin, sizeof(begin) - 1);
        memcpy(text + bytes - (sizeof(end) - 1), end, sizeof(end) - 1);
    }
    replay_client_push(client, m);
    replay_message_unref(m);
}

/* Sends a message, with the faults applied. */
static void push_data(struct client *client, struct message *message)
{
    const struct faults *faults = client->server->faults;
    uint64_t n = ++client->sent;
    if (faults->huge_bytes > 0 && n == FAULT_HUGE_AFTER)
        push_huge(client, faults->huge_bytes);
    if (faults->reorder && n % FAULT_REORDER_EVERY == 0 && !client->held) {
        message->refs++;
        client->held = message;
        return;
    }
    replay_client_push(client, message);
    if (client->held) {
        replay_client_push(client, client->held);
        replay_message_unref(client->held);
        client->held = NULL;
    }
    if (faults->dup && n % FAULT_DUP_EVERY == FAULT_DUP_EVERY / 2) /* not the one that is reordered */
        replay_client_push(client, message);
    if (faults->garbage && n % FAULT_GARBAGE_EVERY == 0) {
        const char *frame = replay_fault_garbage(n / FAULT_GARBAGE_EVERY);
        replay_client_say(client, frame, strlen(frame));
    }
    if (faults->deflate && n % FAULT_DEFLATE_EVERY == 0)
        replay_client_deflated(client);
}

void replay_server_send(struct client *client, struct message *message)
{
    struct server *server = client->server;
    const struct faults *faults = server->faults;
    if (faults->silent.to_ns > 0 && silent(server))
        return;
    push_data(client, message);
    if (client->paced && client->sent % CLIENT_WINDOW == 0) {
        bool was = replay_client_behind(client);
        ask_for(client);
        server->n_behind += replay_client_behind(client) - was;
    }
    if (faults->close_after && !server->closed_one && client->sent >= faults->close_after) {
        server->closed_one = true;
        replay_client_end(client, LWS_CLOSE_STATUS_NORMAL, "");
    }
    if (faults->half_frame && !server->cut_one && client->sent >= FAULT_HALF_AFTER)
        server->cut_one = client->cut = true;
}

/* An upgrade: the protocol may refuse it. As libwebsockets' filter returns: -1 closes. */
static int admit(struct server *server, struct lws *wsi)
{
    struct protocol *protocol = server->protocol;
    struct request_copy *copy = replay_request_read(wsi, protocol->ops->headers);
    struct response response;
    replay_response_init(&response);
    bool ok = copy && protocol->ops->admit(protocol, &copy->request, &response);
    if (copy && !ok) {
        replay_transcript_rest(server->transcript, &copy->request, &response);
        replay_response_refuse(&response, wsi);
    }
    replay_response_finish(&response);
    replay_request_free(copy);
    return ok ? 0 : -1;
}

static int begin_client(struct server *server, struct replay_session *session, struct lws *wsi)
{
    struct request_copy *copy = replay_request_read(wsi, server->protocol->ops->headers);
    struct client *client = calloc(1, sizeof(*client));
    if (!copy || !client || replay_client_init(client, server, wsi) < 0) {
        replay_request_free(copy);
        free(client);
        return -1;
    }
    client->paced = server->play.speed == 0;
    session->client = client;
    client->next = server->clients;
    server->clients = client;
    client->number = replay_transcript_enter(server->transcript, &copy->request);
    server->protocol->ops->enter(server->protocol, client, &copy->request);
    replay_request_free(copy);
    return 0;
}

static void end_client(struct server *server, struct replay_session *session)
{
    struct client *client = session->client;
    if (!client)
        return;
    session->client = NULL;
    struct client **at = &server->clients;
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    replay_transcript_leave(server->transcript, client->number);
    server->protocol->ops->leave(server->protocol, client);
    replay_client_finish(client);
    free(client);
    replay_server_recount(server);
}

/* Collects a message until it is whole. */
static void receive(struct client *client, const char *data, size_t len)
{
    struct text *received = &client->received;
    struct protocol *protocol = client->server->protocol;
    if (received->len + len > CLIENT_REQUEST_MAX) {
        replay_client_close(client, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "message too long");
        return;
    }
    if (lws_is_first_fragment(client->wsi))
        client->received_binary = lws_frame_is_binary(client->wsi);
    text_bytes(received, data, len);
    if (!lws_is_final_fragment(client->wsi) || lws_remaining_packet_payload(client->wsi) > 0)
        return;
    text_bytes(received, "", 1);
    if (text_ok(received) && !client->close_code)
        protocol->ops->receive(protocol, client, received->data, received->len - 1, client->received_binary);
    replay_play_poke(&client->server->play);
    text_clear(received);
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
        replay_server_recount(client->server);
    }
}

static void heartbeat(struct client *client)
{
    struct protocol *protocol = client->server->protocol;
    if (protocol->ops->heartbeat)
        protocol->ops->heartbeat(protocol, client);
}

/* What the venue does not have changes nothing. */
static int add_fault(struct server *server, const char *spec, char error[static FAULT_ERROR_MAX])
{
    const struct protocol_ops *ops = server->protocol->ops;
    const struct fault_moment now = moment(server);
    struct fault_schedule with = *server->schedule;
    struct faults all;
    int rc = replay_fault_schedule_add(&with, spec, &now, error);
    replay_fault_schedule_all(&with, &all);
    if (rc == 0 && ops->check_faults)
        rc = ops->check_faults(&all, error);
    if (rc < 0)
        return rc;
    *server->schedule = with;
    run_schedule(server);
    return 0;
}

/* Not the venue's protocol: adds a fault, in the words of --fault. */
static void control(struct server *server, const struct replay_request *request, struct response *response)
{
    char error[FAULT_ERROR_MAX];
    response->type = "text/plain";
    if (strcmp(request->method, "POST") != 0) {
        response->status = 405;
        text_lit(&response->body, "POST the text of a fault\n");
    } else if (add_fault(server, request->body, error) < 0) {
        response->status = 400;
        text_str(&response->body, error);
    } else {
        text_lit(&response->body, "ok\n");
    }
}

static int answer_http(struct server *server, struct replay_session *session)
{
    struct response *response = &session->response;
    replay_response_clear(response);
    session->body_sent = 0;
    session->began_ns = uv_hrtime();
    replay_play_catch_up(&server->play);
    if (strcmp(session->request->request.path, "/_control") == 0)
        control(server, &session->request->request, response);
    else
        server->protocol->ops->answer(server->protocol, &session->request->request, response);
    replay_play_poke(&server->play);
    replay_transcript_rest(server->transcript, &session->request->request, response);
    replay_request_free(session->request);
    session->request = NULL;
    if (response->lost || !text_ok(&response->body) || !replay_response_write_head(response, session->wsi))
        return -1;
    if (response->body.len == 0)
        return lws_http_transaction_completed(session->wsi) ? -1 : 0;
    session->half = server->faults->half_answer && server->answers++ % FAULT_HALF_ANSWERS == 0;
    lws_callback_on_writable(session->wsi);
    return 0;
}

/* The request is complete: answers it, or lets it wait. */
static int ask(struct server *server, struct replay_session *session)
{
    if (server->play.speed > 0 || !server->play.started)
        return answer_http(server, session);
    session->next = server->deferred;
    server->deferred = session;
    server->settled_turns = 0;
    uv_idle_start(&server->settle, on_settle);
    return 0;
}

static int begin_http(struct server *server, struct replay_session *session, struct lws *wsi)
{
    session->wsi = wsi;
    replay_request_free(session->request);
    session->request = replay_request_read(wsi, server->protocol->ops->headers);
    if (!session->request)
        return -1;
    session->incomplete = replay_request_body_expected(wsi) > 0;
    return session->incomplete ? 0 : ask(server, session);
}

static void end_http(struct server *server, struct replay_session *session)
{
    forget_deferred(server, session);
    replay_request_free(session->request);
    session->request = NULL;
    replay_response_finish(&session->response);
}

/* How much of the answer may have been sent by now, of `most`: by the time, since a turn may come late. */
static size_t slow_due(const struct server *server, const struct replay_session *session, size_t most)
{
    const uint64_t rate = (uint64_t)server->faults->slow_answer_bytes_s;
    const uint64_t us = (uv_hrtime() - session->began_ns) / 1000;
    if (rate == 0 || us > UINT64_MAX / rate)
        return most;
    const uint64_t due = us * rate / LWS_USEC_PER_SEC + rate / SLOW_TURNS + 1;
    return due < most ? (size_t)due : most;
}

static int write_http(struct server *server, struct replay_session *session)
{
    if (session->request)
        return answer_http(server, session);
    size_t most = session->half ? session->response.body.len / 2 : session->response.body.len;
    size_t due = slow_due(server, session, most), before = session->body_sent;
    int r = replay_response_write_some(&session->response, session->wsi, &session->body_sent,
                                       due > session->body_sent ? due - session->body_sent : 0);
    if (r != 0) /* the session is gone, or another's */
        return r < 0 ? -1 : 0;
    if (session->body_sent > before) /* libwebsockets gives a whole answer 5 s */
        lws_set_timeout(session->wsi, PENDING_TIMEOUT_HTTP_CONTENT, STUCK_S);
    if (session->half && session->body_sent == most)
        return -1;
    if (session->body_sent == session->response.body.len)
        return 0;
    if (session->body_sent >= due)
        lws_set_timer_usecs(session->wsi, LWS_USEC_PER_SEC / SLOW_TURNS);
    else
        lws_callback_on_writable(session->wsi);
    return 0;
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
    struct replay_session *session = user;
    struct server *server = lws_context_user(lws_get_context(wsi));
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return begin_http(server, session, wsi);
    case LWS_CALLBACK_HTTP_BODY:
        return !session->incomplete || replay_request_append(session->request, in, len) ? 0 : -1;
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        if (!session->incomplete) /* there was no body, and it is answered already */
            return 0;
        session->incomplete = false;
        return ask(server, session);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return write_http(server, session);
    case LWS_CALLBACK_TIMER: /* of a slow answer */
        lws_callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_CLOSED_HTTP:
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
        if (session)
            end_http(server, session);
        return 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return admit(server, wsi);
    case LWS_CALLBACK_ESTABLISHED:
        return begin_client(server, session, wsi);
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        if (!session->client || !replay_client_farewell(session->client, in, len))
            return 0;
        replay_server_recount(server);
        return -1;
    case LWS_CALLBACK_CLOSED:
        end_client(server, session);
        return 0;
    case LWS_CALLBACK_RECEIVE:
        receive(session->client, in, len);
        return 0;
    case LWS_CALLBACK_RECEIVE_PONG:
        receive_pong(session->client, in, len);
        heartbeat(session->client);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return session->client ? replay_client_write(session->client) : 0;
    default:
        return 0;
    }
}

/* Fault freeze: of the connections that are there when it starts; later ones are not affected. */
static void freeze(struct server *server)
{
    bool frozen =
        replay_fault_frozen(server->faults, replay_play_elapsed_ns(&server->play)) && server->play.started;
    if (frozen == server->frozen)
        return;
    server->frozen = frozen;
    for (struct client *c = server->clients; c; c = c->next) {
        c->frozen = frozen;
        lws_rx_flow_control(c->wsi, !frozen);
    }
}

static void on_beat(uv_timer_t *timer)
{
    struct server *server = timer->data;
    uint64_t now = uv_hrtime();
    freeze(server);
    for (struct client *c = server->clients; c; c = c->next) {
        replay_client_allow(c, server->faults->slow_bytes_s * BEAT_MS / 1000); /* 0: what waited is sent */
        if (c->frozen)
            continue;
        if (now - c->last_pong_ns > PONG_WITHIN_S * NS_PER_S)
            replay_client_close(c, LWS_CLOSE_STATUS_POLICY_VIOLATION, "no pong");
        else if (replay_client_behind(c) && now - c->last_ping_ns > NS_PER_S)
            replay_client_ping(c, c->ping_seq); /* the answer was left out, or lost: ask again */
        else if (now - c->last_ping_ns > PING_EVERY_S * NS_PER_S)
            replay_client_ping(c, c->paced
                                      ? c->ping_seq
                                      : (uint64_t)server->protocol->ops->now_ns(server->protocol) / 1000000);
    }
    if (server->protocol->ops->beat)
        server->protocol->ops->beat(server->protocol);
    replay_server_recount(server);
}

static void on_turn(uv_prepare_t *prepare)
{
    struct server *server = prepare->data;
    if (server->play.started && !server->schedule_armed)
        run_schedule(server);
    for (struct client *c = server->clients, *next; c; c = next) {
        next = c->next;
        replay_client_turn(c);
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
        {.name = "market",
         .callback = callback,
         .per_session_data_size = sizeof(struct replay_session),
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
        .max_http_header_data2 = REQUEST_HEAD_MAX,
        .max_http_header_pool2 = 64,
        .pt_serv_buf_size = SERVICE_BYTES,
    };
    int rc = try_address(options);
    if (rc < 0)
        return rc;
    lws_set_log_level(0, NULL); /* errors are reported by return codes */
    server->context = lws_create_context(&info);
    if (!server->context)
        return -EIO;
    struct lws_vhost *vhost = lws_create_vhost(server->context, &info);
    if (!vhost)
        return -EADDRINUSE;
    server->port = lws_get_vhost_listen_port(vhost);
    return server->port > 0 ? 0 : -EADDRINUSE;
}

int replay_server_init(struct server *server, uv_loop_t *loop, struct protocol *protocol, const struct ca *ca,
                       const struct server_options *options)
{
    *server = (struct server){
        .loop = loop, .protocol = protocol, .schedule = options->schedule, .transcript = options->transcript};
    server->faults = &server->schedule->now;
    protocol->server = server;
    int rc = replay_play_init(&server->play, loop, protocol->source, options->speed, ready, server);
    if (rc < 0)
        return rc;
    uv_timer_init(loop, &server->beat);
    uv_timer_init(loop, &server->schedule_timer);
    uv_prepare_init(loop, &server->turn);
    uv_idle_init(loop, &server->settle);
    server->beat.data = server->schedule_timer.data = server->turn.data = server->settle.data = server;
    if ((rc = listen_on(server, ca, options)) < 0) {
        replay_server_finish(server);
        return rc;
    }
    uv_timer_start(&server->beat, on_beat, BEAT_MS, BEAT_MS);
    uv_prepare_start(&server->turn, on_turn);
    if (options->live)
        replay_play_live(&server->play);
    return 0;
}

void replay_server_finish(struct server *server)
{
    replay_play_finish(&server->play);
    uv_close((uv_handle_t *)&server->beat, NULL);
    uv_close((uv_handle_t *)&server->schedule_timer, NULL);
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
