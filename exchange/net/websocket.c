#include "exchange/net/websocket.h"

#include <errno.h>
#include <openssl/x509_vfy.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/net/certificate.h"
#include "exchange/net/internal.h"
#include "exchange/net/read_ahead.h"
#include "exchange/net/resolver.h"
#include "exchange/net/retry_after.h"
#include "exchange/net/secret.h"
#include "exchange/net/url.h"

enum {
    RX_CHUNK = 64 << 10, /* bytes that lws reads at once */
    CLOSE_WAIT_S = 3,    /* for a destroyed socket's close frame to leave */
    CONFIRM_EVERY_MS = 1000,
    PAUSED_TICK_MS = 5000, /* between signs of life of a paused socket */
    BUFFER_START = 16 << 10,
    CLOSE_REASON_MAX = 123, /* RFC 6455 */
    CLOSE_NONE = 1006,      /* RFC 6455: no close frame was seen */
};

struct outgoing { /* secret: keys are sent so */
    struct outgoing *next;
    size_t len;
    enum lws_write_protocol kind;
    unsigned char bytes[]; /* LWS_PRE of head-room, then the payload */
};

struct websocket {
    struct net_context *net;
    const struct websocket_handler *handler;
    void *user;
    struct url url;
    char *url_text;
    char address[RESOLVER_ADDRESS_MAX];
    int64_t connect_timeout_ms;
    char *headers; /* "name:", "value", … each with its NUL; may be secret */
    size_t n_headers;
    uv_timer_t timer; /* start, connect timeout, then signs of life while paused */
    struct lws *wsi;  /* NULL: not yet, or no more */
    struct net_reader reader;
    bool opened, ended, destroyed, paused;
    bool refused; /* no more of what comes is taken: its close frame has yet to leave */

    char *buffer; /* fragments of one message */
    size_t len, cap, max;

    uint32_t ping, ping_answered; /* numbers of the last ping of websocket_ping(), and of its pong */

    struct outgoing *first, **last;
    unsigned queued;

    int64_t received_ms;
    int64_t confirmed_ms; /* when lws was last notified of a sign of life */
    int close_code;       /* ours to send; 0: none */
    int end_code;         /* seen or sent */
    char reason[NET_ERROR_MAX];
};

static void say(struct websocket *websocket, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first reason is kept: later ones are its consequence. */
static void say(struct websocket *websocket, const char *format, ...)
{
    va_list arguments;
    if (websocket->reason[0])
        return;
    va_start(arguments, format);
    vsnprintf(websocket->reason, sizeof(websocket->reason), format, arguments);
    va_end(arguments);
    for (char *p = websocket->reason; *p; p++) /* one line, whatever the peer sent */
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
}

static void end(struct websocket *websocket, struct websocket_end *end)
{
    if (websocket->ended)
        return;
    websocket->ended = true;
    uv_timer_stop(&websocket->timer);
    end->opened = websocket->opened;
    end->code = websocket->end_code ? websocket->end_code : CLOSE_NONE;
    end->reason = websocket->reason;
    websocket->handler->ended(websocket->user, end);
}

static void end_plainly(struct websocket *websocket)
{
    struct websocket_end how = {.retry_after_ms = -1};
    end(websocket, &how);
}

/* `text` is lws's reason (may be NULL), and lws may still have the reply's headers. */
static void connection_failed(struct websocket *websocket, struct lws *wsi, const char *text, size_t len)
{
    struct websocket_end how = {.retry_after_ms = -1, .http_status = (int)lws_http_client_http_response(wsi)};
    if (how.http_status == 101)
        how.http_status = 0; /* accepted, and then broken */
    char value[64], date[64];
    if (lws_hdr_copy(wsi, date, sizeof(date), WSI_TOKEN_HTTP_DATE) <= 0)
        date[0] = '\0';
    if (how.http_status > 0 && lws_hdr_copy(wsi, value, sizeof(value), WSI_TOKEN_HTTP_RETRY_AFTER) > 0)
        how.retry_after_ms = net_retry_after_ms(value, date, clock_wall_ns() / 1000000000);
    if (how.http_status > 0)
        say(websocket, "the upgrade was refused with HTTP %d", how.http_status);
    else if (text && len > 0)
        say(websocket, "no connection to %s port %u: %.*s", websocket->address, (unsigned)websocket->url.port,
            (int)len, text);
    else
        say(websocket, "no connection to %s port %u", websocket->address, (unsigned)websocket->url.port);
    websocket->wsi = NULL;
    end(websocket, &how);
}

static void connection_closed(struct websocket *websocket, struct lws *wsi)
{
    int64_t silence_ms = (int64_t)uv_now(websocket->net->loop) - websocket->received_ms;
    int64_t hangup_ms = websocket->net->liveness.secs_since_valid_hangup * 1000;
    if (silence_ms > hangup_ms - CONFIRM_EVERY_MS && !websocket->paused)
        say(websocket, "no data and no answer to pings for %.1f s", (double)silence_ms / 1000);
    else if (wsi && lws_get_reserved_bits(wsi) != 0)
        say(websocket, "a frame is marked as compressed, which was not agreed on");
    else if (websocket->len > 0)
        say(websocket, "the connection was lost in the middle of a message");
    else
        say(websocket, "the connection was lost");
    websocket->wsi = NULL;
    end_plainly(websocket);
}

static void peer_closes(struct websocket *websocket, const unsigned char *payload, size_t len)
{
    websocket->received_ms = (int64_t)uv_now(websocket->net->loop);
    if (len < 2) {
        say(websocket, "closed by the peer, no code given");
        return;
    }
    websocket->end_code = payload[0] << 8 | payload[1];
    say(websocket, "closed by the peer: %d%s%.*s", websocket->end_code, len > 2 ? " " : "", (int)(len - 2),
        (const char *)payload + 2);
}

static bool reserve(struct websocket *websocket, size_t size)
{
    if (size <= websocket->cap)
        return true;
    size_t cap = websocket->cap ? websocket->cap : BUFFER_START;
    while (cap < size)
        cap *= 2;
    char *buffer = realloc(websocket->buffer, cap);
    if (!buffer)
        return false;
    websocket->buffer = buffer;
    websocket->cap = cap;
    return true;
}

static void hand_over(struct websocket *websocket, struct lws *wsi, const char *data, size_t len)
{
    const struct websocket_handler *handler = websocket->handler;
    if (handler->binary && lws_frame_is_binary(wsi))
        handler->binary(websocket->user, data, len);
    else
        handler->message(websocket->user, data, len);
}

/* The close frame leaves, and lws ends the rest without reading. */
static void on_refused(uv_timer_t *timer)
{
    struct websocket *websocket = timer->data;
    struct lws *wsi = websocket->wsi;
    size_t len = strnlen(websocket->reason, CLOSE_REASON_MAX);
    unsigned char text[CLOSE_REASON_MAX];
    if (!wsi || websocket->ended)
        return;
    memcpy(text, websocket->reason, len);
    websocket->wsi = NULL;
    lws_set_opaque_user_data(wsi, NULL); /* no owner any more */
    lws_close_reason(wsi, (enum lws_close_status)websocket->end_code, text, len);
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
    end_plainly(websocket);
}

/* Ends a connection from the callback of received bytes. Not by its result: with a non-zero one the lws of
 * Debian 12 keeps its count of the bytes that the callback was given, and what it reads while it closes is
 * written behind the end of its buffer. */
static void refuse(struct websocket *websocket, struct lws *wsi, int code)
{
    websocket->refused = websocket->reader.held = true;
    websocket->end_code = code;
    lws_rx_flow_control(wsi, 0);
    uv_timer_start(&websocket->timer, on_refused, 0, 0);
}

/* One piece of a message: a frame may come in several reads, a message in several frames. The first piece of
 * a frame has the length that the frame's header names: a message that is too long is refused by that. */
static void receive(struct websocket *websocket, struct lws *wsi, const char *data, size_t len)
{
    size_t left = lws_remaining_packet_payload(wsi);
    bool whole = lws_is_final_fragment(wsi) && left == 0;
    if (websocket->refused)
        return;
    websocket->received_ms = (int64_t)uv_now(websocket->net->loop);
    if (websocket->received_ms - websocket->confirmed_ms >= CONFIRM_EVERY_MS) {
        /* To lws only a pong is; but behind much data a pong can be later than the time to hang up. */
        websocket->confirmed_ms = websocket->received_ms;
        lws_validity_confirmed(wsi);
    }
    if (len > websocket->max - websocket->len || left > websocket->max - websocket->len - len) {
        say(websocket, "a message is longer than %zu bytes", websocket->max);
        refuse(websocket, wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE);
        return;
    }
    if (whole && websocket->len == 0) {
        hand_over(websocket, wsi, data, len);
        return;
    }
    if (!reserve(websocket, websocket->len + len)) {
        say(websocket, "out of memory for a message");
        refuse(websocket, wsi, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION);
        return;
    }
    memcpy(websocket->buffer + websocket->len, data, len);
    websocket->len += len;
    if (whole) {
        len = websocket->len;
        websocket->len = 0;
        hand_over(websocket, wsi, websocket->buffer, len);
    }
}

static void drop_first(struct websocket *websocket)
{
    struct outgoing *outgoing = websocket->first;
    websocket->first = outgoing->next;
    if (!websocket->first)
        websocket->last = &websocket->first;
    websocket->queued--;
    net_secret_free(outgoing);
}

/* Sends a close frame and lets lws end the rest. Only for the loop's own callbacks, as a timer's: a close
 * from the WRITEABLE callback is closed twice by the libuv plug-in of Debian 12, and sends nothing. */
static void close_politely(struct websocket *websocket, int code, const char *reason)
{
    unsigned char text[CLOSE_REASON_MAX + 1];
    size_t len = strnlen(reason, CLOSE_REASON_MAX);
    memcpy(text, reason, len);
    lws_rx_flow_control(websocket->wsi, 1); /* the answer must be read */
    lws_close_reason(websocket->wsi, (enum lws_close_status)code, text, len);
    lws_set_timeout(websocket->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
}

static void on_close_timer(uv_timer_t *timer)
{
    struct websocket *websocket = timer->data;
    if (!websocket->wsi || websocket->ended)
        return;
    websocket->end_code = websocket->close_code;
    close_politely(websocket, websocket->close_code, websocket->reason);
}

/* One frame a turn. Non-zero closes. */
static int send_next(struct websocket *websocket, struct lws *wsi)
{
    struct outgoing *outgoing = websocket->first;
    if (outgoing) {
        int written = lws_write(wsi, outgoing->bytes + LWS_PRE, outgoing->len, outgoing->kind);
        if (written < (int)outgoing->len) {
            say(websocket, "the connection broke while sending");
            return -1;
        }
        drop_first(websocket);
    }
    if (websocket->first)
        lws_callback_on_writable(wsi);
    else if (websocket->close_code && !websocket->end_code)
        uv_timer_start(&websocket->timer, on_close_timer, 0, 0);
    return 0;
}

static int add_headers(struct websocket *websocket, struct lws *wsi, unsigned char **p, size_t len)
{
    const char *agent = websocket->net->user_agent, *name = websocket->headers;
    unsigned char *end = *p + len;
    int r = lws_add_http_header_by_token(wsi, WSI_TOKEN_HTTP_USER_AGENT, (const unsigned char *)agent,
                                         (int)strlen(agent), p, end);
    for (size_t i = 0; r == 0 && i < websocket->n_headers; i++) {
        const char *value = name + strlen(name) + 1;
        r = lws_add_http_header_by_name(wsi, (const unsigned char *)name, (const unsigned char *)value,
                                        (int)strlen(value), p, end);
        name = value + strlen(value) + 1;
    }
    return r;
}

/* The owner has destroyed its handle: handles the callbacks that still come. */
static int after_the_end(struct websocket *websocket, enum lws_callback_reasons what)
{
    switch (what) {
    case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION: /* never accepted for want of a listener */
        return -1;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
    case LWS_CALLBACK_CLIENT_CLOSED:
    case LWS_CALLBACK_WSI_DESTROY:
        if (websocket)
            websocket->wsi = NULL;
        return 0;
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
    case LWS_CALLBACK_CLIENT_HTTP_REDIRECT:
        return -1;
    default:
        return 0;
    }
}

/* libwebsockets takes a common name where there are no alternative ones. */
static bool is_of_host(struct websocket *websocket, X509_STORE_CTX *chain)
{
    if (X509_STORE_CTX_get_error_depth(chain) > 0 ||
        net_certificate_names(X509_STORE_CTX_get_current_cert(chain), websocket->url.host))
        return true;
    say(websocket, "the certificate of %s was refused: the host is not among its alternative names",
        websocket->url.host);
    return false;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons what, void *session, void *in, size_t len)
{
    switch (what) {
    case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
    case LWS_CALLBACK_CLIENT_HTTP_REDIRECT:
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
    case LWS_CALLBACK_CLIENT_RECEIVE:
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
    case LWS_CALLBACK_CLIENT_WRITEABLE:
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
    case LWS_CALLBACK_CLIENT_CLOSED:
    case LWS_CALLBACK_WSI_DESTROY:
        break;
    default:
        return 0; /* of the context, not of a connection */
    }
    struct websocket *websocket = lws_get_opaque_user_data(wsi);
    if (!websocket || websocket->destroyed || websocket->ended)
        return after_the_end(websocket, what);

    int r = 0;
    switch (what) {
    case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION: /* len: did OpenSSL accept? */
        if (!len)
            say(websocket, "the certificate of %s was refused: %s", websocket->url.host,
                X509_verify_cert_error_string(X509_STORE_CTX_get_error(session)));
        return !len || !is_of_host(websocket, session);
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
        return add_headers(websocket, wsi, in, len);
    case LWS_CALLBACK_CLIENT_HTTP_REDIRECT:
        return -1;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        connection_failed(websocket, wsi, in, len);
        return 0;
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        uv_timer_stop(&websocket->timer);
        websocket->opened = true;
        net_reader_start(websocket->net, &websocket->reader, &websocket->wsi);
        websocket->received_ms = (int64_t)uv_now(websocket->net->loop);
        websocket->handler->opened(websocket->user);
        break;
    case LWS_CALLBACK_CLIENT_RECEIVE:
        websocket->reader.received++;
        receive(websocket, wsi, in, len);
        break;
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
        websocket->received_ms = (int64_t)uv_now(websocket->net->loop);
        if (len == sizeof(websocket->ping) && memcmp(in, &websocket->ping, len) == 0)
            websocket->ping_answered = websocket->ping;
        if (websocket->handler->pong)
            websocket->handler->pong(websocket->user);
        break;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        r = send_next(websocket, wsi);
        break;
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        peer_closes(websocket, in, len);
        break;
    default: /* CLIENT_CLOSED, or WSI_DESTROY without it */
        connection_closed(websocket, wsi);
        return 0;
    }
    return r;
}

const struct lws_protocols websocket_protocols[] = {
    {.name = "papertape", .callback = on_event, .rx_buffer_size = RX_CHUNK},
    {.name = NULL},
};

/* Ends lws's side from any callback; its later callbacks find no owner. */
static void abandon(struct websocket *websocket)
{
    struct lws *wsi = websocket->wsi;
    if (!wsi)
        return;
    websocket->wsi = NULL;
    lws_set_opaque_user_data(wsi, NULL);
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

static void on_connect_timeout(uv_timer_t *timer)
{
    struct websocket *websocket = timer->data;
    struct websocket_end how = {.retry_after_ms = -1, .timed_out = true};
    say(websocket, "no connection to %s port %u within %.3g s", websocket->address,
        (unsigned)websocket->url.port, (double)websocket->connect_timeout_ms / 1000);
    abandon(websocket);
    end(websocket, &how);
}

static void on_start(uv_timer_t *timer)
{
    struct websocket *websocket = timer->data;
    char host[URL_HOST_MAX + 8]; /* the port is no part of what the certificate is compared with */
    snprintf(host, sizeof(host), websocket->url.port == 443 ? "%s" : "%s:%u", websocket->url.host,
             (unsigned)websocket->url.port);
    const struct lws_client_connect_info info = {
        .context = websocket->net->lws,
        .address = websocket->address,
        .port = websocket->url.port,
        .ssl_connection = LCCSCF_USE_SSL | LCCSCF_HTTP_NO_FOLLOW_REDIRECT,
        .path = websocket->url.path,
        .host = host,
        .ietf_version_or_minus_one = -1,
        .local_protocol_name = websocket_protocols[0].name,
        .alpn = "http/1.1",
        .pwsi = &websocket->wsi,
        .opaque_user_data = websocket,
        .retry_and_idle_policy = &websocket->net->liveness,
    };
    uv_timer_start(timer, on_connect_timeout, (uint64_t)websocket->connect_timeout_ms, 0);
    if (!lws_client_connect_via_info(&info)) {
        websocket->wsi = NULL;
        say(websocket, "no connection to %s port %u", websocket->address, (unsigned)websocket->url.port);
        end_plainly(websocket);
    }
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* Copies the headers as "name:\0value\0…". */
static int take_headers(struct websocket *websocket, const struct websocket_config *config)
{
    size_t size = 1;
    if (config->n_headers > WEBSOCKET_HEADERS_MAX)
        return -ENAMETOOLONG;
    for (size_t i = 0; i < config->n_headers; i++) {
        const char *name = config->headers[i].name, *value = config->headers[i].value;
        if (!*name || strpbrk(name, ": \t\r\n") || strpbrk(value, "\r\n"))
            return -EINVAL;
        if (strlen(name) > WEBSOCKET_HEADER_MAX || strlen(value) > WEBSOCKET_HEADER_MAX)
            return -ENAMETOOLONG;
        size += strlen(name) + strlen(value) + 3;
    }
    websocket->headers = net_secret_alloc(size);
    if (!websocket->headers)
        return -ENOMEM;
    char *p = websocket->headers;
    for (size_t i = 0; i < config->n_headers; i++)
        p += sprintf(p, "%s:%c%s", config->headers[i].name, '\0', config->headers[i].value) + 1;
    websocket->n_headers = config->n_headers;
    return 0;
}

static void free_texts(struct websocket *websocket)
{
    net_secret_free(websocket->headers);
    free(websocket->url_text);
    websocket->headers = websocket->url_text = NULL;
    websocket->n_headers = 0;
}

int websocket_connect(struct net_context *net, const struct websocket_config *config,
                      const struct websocket_handler *handler, void *user, struct websocket **ret)
{
    struct url url;
    int r = net_url_parse_as(config->url, "wss", &url);
    if (r < 0)
        return r;
    if (strlen(url.path) > WEBSOCKET_PATH_MAX || strlen(config->address) >= RESOLVER_ADDRESS_MAX)
        return -ENAMETOOLONG;
    struct websocket *websocket = calloc(1, sizeof(*websocket));
    if (!websocket)
        return -ENOMEM;
    websocket->url_text = strdup(config->url);
    r = websocket->url_text ? take_headers(websocket, config) : -ENOMEM;
    if (r == 0 && uv_timer_init(net->loop, &websocket->timer) < 0)
        r = -ENOMEM;
    if (r < 0) {
        free_texts(websocket);
        free(websocket);
        return r;
    }
    websocket->net = net;
    websocket->handler = handler;
    websocket->user = user;
    websocket->url = url;
    websocket->url.path = url.path[1] ? websocket->url_text + (url.path - config->url) : "/";
    memcpy(websocket->address, config->address, strlen(config->address) + 1);
    websocket->connect_timeout_ms =
        config->connect_timeout_ms > 0 ? config->connect_timeout_ms : WEBSOCKET_CONNECT_TIMEOUT_MS_DEFAULT;
    websocket->max = config->message_max > 0 ? config->message_max : WEBSOCKET_MESSAGE_MAX_DEFAULT;
    websocket->last = &websocket->first;
    websocket->timer.data = websocket;
    uv_timer_start(&websocket->timer, on_start, 0, 0);
    *ret = websocket;
    return 0;
}

static bool is_open(const struct websocket *websocket)
{
    return websocket->opened && !websocket->ended && !websocket->refused && websocket->wsi;
}

static int queue(struct websocket *websocket, enum lws_write_protocol kind, const void *data, size_t len)
{
    if (!is_open(websocket) || websocket->close_code)
        return -ENOTCONN;
    if (websocket->queued == WEBSOCKET_QUEUE_MAX)
        return -ENOBUFS;
    struct outgoing *outgoing = net_secret_alloc(sizeof(*outgoing) + LWS_PRE + len);
    if (!outgoing)
        return -ENOMEM;
    outgoing->next = NULL;
    outgoing->len = len;
    outgoing->kind = kind;
    if (len > 0)
        memcpy(outgoing->bytes + LWS_PRE, data, len);
    *websocket->last = outgoing;
    websocket->last = &outgoing->next;
    websocket->queued++;
    lws_callback_on_writable(websocket->wsi);
    return 0;
}

int websocket_send(struct websocket *websocket, const char *text, size_t len)
{
    return queue(websocket, LWS_WRITE_TEXT, text, len);
}

int websocket_send_binary(struct websocket *websocket, const void *data, size_t len)
{
    return queue(websocket, LWS_WRITE_BINARY, data, len);
}

int websocket_ping(struct websocket *websocket)
{
    uint32_t number = websocket->ping + 1;
    int r = queue(websocket, LWS_WRITE_PING, &number, sizeof(number));
    if (r == 0)
        websocket->ping = number;
    return r;
}

bool websocket_pinged(const struct websocket *websocket)
{
    return websocket->ping != 0 && websocket->ping == websocket->ping_answered;
}

/* Pongs are not read while paused: without this, lws would give the connection up. */
static void on_paused_tick(uv_timer_t *timer)
{
    struct websocket *websocket = timer->data;
    if (is_open(websocket))
        lws_validity_confirmed(websocket->wsi);
}

void websocket_pause(struct websocket *websocket, bool paused)
{
    if (!is_open(websocket) || paused == websocket->paused)
        return;
    websocket->paused = websocket->reader.held = paused;
    websocket->received_ms = (int64_t)uv_now(websocket->net->loop);
    if (paused)
        uv_timer_start(&websocket->timer, on_paused_tick, PAUSED_TICK_MS, PAUSED_TICK_MS);
    else
        uv_timer_stop(&websocket->timer);
    lws_rx_flow_control(websocket->wsi, !paused);
}

void websocket_close(struct websocket *websocket, int code, const char *reason)
{
    if (!is_open(websocket) || websocket->close_code)
        return;
    websocket->close_code = code;
    say(websocket, "%s", reason);
    lws_callback_on_writable(websocket->wsi);
}

static void on_goodbye(uv_timer_t *timer)
{
    struct websocket *websocket = timer->data;
    if (websocket->wsi) {
        lws_set_opaque_user_data(websocket->wsi, NULL);
        close_politely(websocket, LWS_CLOSE_STATUS_GOINGAWAY, "");
    }
    uv_close((uv_handle_t *)timer, on_timer_closed);
}

void websocket_destroy(struct websocket *websocket)
{
    if (!websocket || websocket->destroyed)
        return;
    bool goodbye = is_open(websocket);
    websocket->destroyed = true;
    net_reader_stop(&websocket->reader);
    while (websocket->first)
        drop_first(websocket);
    free(websocket->buffer);
    free_texts(websocket);
    if (goodbye) {
        uv_timer_start(&websocket->timer, on_goodbye, 0, 0);
    } else {
        abandon(websocket);
        uv_close((uv_handle_t *)&websocket->timer, on_timer_closed);
    }
}
