#include "exchange/net/control.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { CONTROL_QUEUE_MAX = 1 << 20 }; /* bytes of answers that a client has not read */

struct client {
    uv_pipe_t pipe;
    struct control *control; /* NULL once closing */
    struct client *next;
    struct control_peer peer;
    struct control_call *calls; /* unanswered */
    size_t n_calls;
    char *line;
    size_t len;
    bool closing;
    bool ended;  /* it will send no more; what it asked is still answered */
    bool paused; /* it does not read its answers: its requests wait */
    bool lost;   /* its lines cannot be told apart any more: what still comes is dropped */
};

struct control_call {
    struct client *client; /* NULL when it left */
    struct control_call *next;
    json_t *id;
};

struct control {
    uv_pipe_t listener;
    control_handler *handler;
    void *ctx;
    struct client *clients;
    size_t n_clients;
    bool closing, deaf; /* deaf: the listener is closed */
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
};

struct answer {
    uv_write_t request;
    char *text;
};

static void release(struct control *control)
{
    if (control->deaf && !control->clients)
        free(control);
}

static void client_closed(uv_handle_t *handle)
{
    struct client *client = handle->data;
    struct control *control = client->control;
    for (struct client **at = &control->clients; *at; at = &(*at)->next) {
        if (*at == client) {
            *at = client->next;
            break;
        }
    }
    control->n_clients--;
    free(client->line);
    free(client);
    release(control);
}

static void close_client(struct client *client)
{
    if (client->closing)
        return;
    client->closing = true;
    for (struct control_call *call = client->calls; call; call = call->next)
        call->client = NULL;
    client->calls = NULL;
    uv_close((uv_handle_t *)&client->pipe, client_closed);
}

static void handle_lines(struct client *client);
static void give_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buf);
static void have_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

static void close_when_answered(struct client *client)
{
    if (client->ended && !client->paused && !client->calls &&
        uv_stream_get_write_queue_size((uv_stream_t *)&client->pipe) == 0)
        close_client(client);
}

static void answer_sent(uv_write_t *request, int status)
{
    struct answer *answer = (struct answer *)request;
    struct client *client = request->handle->data;
    free(answer->text);
    free(answer);
    if (status < 0 && status != UV_ECANCELED)
        close_client(client);
    if (client->closing)
        return;
    if (client->paused &&
        uv_stream_get_write_queue_size((uv_stream_t *)&client->pipe) < CONTROL_QUEUE_MAX / 2) {
        client->paused = false;
        handle_lines(client);
        if (!client->closing && !client->paused && !client->ended &&
            uv_read_start((uv_stream_t *)&client->pipe, give_buffer, have_read) < 0)
            close_client(client);
    }
    if (!client->closing)
        close_when_answered(client);
}

static void send_text(struct client *client, const json_t *object)
{
    struct answer *answer = malloc(sizeof *answer);
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    size_t len = text ? strlen(text) : 0;
    char *line = text ? realloc(text, len + 2) : NULL;
    if (!answer || !line) {
        free(answer);
        free(line ? line : text);
        close_client(client);
        return;
    }
    line[len] = '\n';
    answer->text = line;
    uv_buf_t buf = uv_buf_init(line, (unsigned)len + 1);
    if (uv_write(&answer->request, (uv_stream_t *)&client->pipe, &buf, 1, answer_sent) < 0) {
        free(answer->text);
        free(answer);
        close_client(client);
    }
}

/* Takes the call off its client's list. Returns the client, or NULL when it left. */
static struct client *detach(struct control_call *call)
{
    struct client *client = call->client;
    if (!client)
        return NULL;
    for (struct control_call **at = &client->calls; *at; at = &(*at)->next) {
        if (*at == call) {
            *at = call->next;
            client->n_calls--;
            break;
        }
    }
    return client;
}

static void answer(struct control_call *call, bool ok, const char *member, json_t *value)
{
    struct client *client = detach(call);
    if (client && !client->closing) {
        json_t *object = json_pack("{s:O, s:b, s:O}", "id", call->id, "ok", ok, member, value);
        if (object)
            send_text(client, object);
        else
            close_client(client);
        json_decref(object);
    }
    json_decref(value);
    json_decref(call->id);
    free(call);
}

void control_ok(struct control_call *call, json_t *result)
{
    answer(call, true, "result", result ? result : json_object());
}

__attribute__((format(printf, 2, 0))) static json_t *error_json(const char *code, const char *format,
                                                                va_list args)
{
    char message[512];
    vsnprintf(message, sizeof message, format, args);
    /* %s of bytes that are not UTF-8 would make no JSON at all. */
    json_t *text = json_string(message);
    if (!text)
        text = json_string("the request holds text that is not UTF-8");
    return json_pack("{s:s, s:o}", "code", code, "message", text);
}

void control_error(struct control_call *call, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_t *error = error_json(code, format, args);
    va_end(args);
    answer(call, false, "error", error);
}

void control_error_with(struct control_call *call, const char *code, const char *member, json_t *value,
                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_t *error = error_json(code, format, args);
    va_end(args);
    json_object_set_new(error, member, value);
    answer(call, false, "error", error);
}

size_t control_clients(const struct control *control)
{
    return control->n_clients;
}

static void handle_line(struct client *client, const char *line, size_t len)
{
    json_error_t error;
    struct control_call *call = calloc(1, sizeof *call);
    if (!call) {
        close_client(client);
        return;
    }
    json_t *request = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
    json_t *id = json_object_get(request, "id");
    call->id = id ? json_incref(id) : json_null();
    call->client = client;
    call->next = client->calls;
    client->calls = call;
    client->n_calls++;

    const char *cmd = json_string_value(json_object_get(request, "cmd"));
    json_t *args = json_object_get(request, "args");
    json_t *none = json_object();
    if (client->n_calls > CONTROL_CALLS_MAX)
        control_error(call, "EBUSY", "%d requests wait for an answer already", CONTROL_CALLS_MAX);
    else if (!request)
        control_error(call, "EINVAL", "not JSON at column %d: %s", error.column, error.text);
    else if (!json_is_object(request) || !cmd || (id && !json_is_integer(id) && !json_is_string(id)))
        control_error(
            call, "EINVAL",
            "a request is {\"id\":1,\"cmd\":\"status\",\"args\":{}}: id a number or a string, cmd a string");
    else if (args && !json_is_object(args))
        control_error(call, "EINVAL", "args: an object is needed");
    else
        client->control->handler(client->control->ctx, call, cmd, args ? args : none, &client->peer);
    json_decref(none);
    json_decref(request);
}

static void give_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct client *client = handle->data;
    (void)suggested;
    *buf = uv_buf_init(client->line + client->len, (unsigned)(CONTROL_LINE_MAX - client->len));
}

/* Takes whole lines out of the buffer, until one is missing or the answers pile up. */
static void handle_lines(struct client *client)
{
    char *start = client->line, *end;
    size_t left = client->len;
    while (!client->closing && !client->paused && (end = memchr(start, '\n', left))) {
        size_t len = (size_t)(end - start);
        if (len > 0)
            handle_line(client, start, len);
        left -= len + 1;
        start = end + 1;
        client->paused = uv_stream_get_write_queue_size((uv_stream_t *)&client->pipe) > CONTROL_QUEUE_MAX;
    }
    if (client->closing)
        return;
    memmove(client->line, start, left);
    client->len = left;
    if (client->paused) {
        uv_read_stop((uv_stream_t *)&client->pipe);
    } else if (client->ended && left > 0) { /* a last line without its end */
        client->len = 0;
        handle_line(client, client->line, left);
    } else if (left == CONTROL_LINE_MAX) {
        json_t *object = json_pack("{s:n, s:b, s:{s:s, s:s}}", "id", "ok", 0, "error", "code", "EMSGSIZE",
                                   "message", "a line is longer than 65536 bytes");
        if (object)
            send_text(client, object);
        json_decref(object);
        client->lost = true;
        client->len = 0;
    }
}

static void have_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct client *client = stream->data;
    (void)buf;
    if (n == UV_EOF) {
        client->ended = true;
        uv_read_stop(stream);
    } else if (n < 0) {
        close_client(client);
        return;
    } else if (!client->lost) {
        client->len += (size_t)n;
    }
    handle_lines(client);
    if (!client->closing)
        close_when_answered(client);
}

/* The daemon's own user, root, and members of the daemon's group. */
static bool admitted(int fd, struct control_peer *ret)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return false;
    *ret = (struct control_peer){peer.uid, peer.pid};
    if (peer.uid == geteuid() || peer.uid == 0 || peer.gid == getegid())
        return true;
    gid_t groups[256];
    size = sizeof groups;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
        return false;
    for (size_t i = 0; i < size / sizeof *groups; i++)
        if (groups[i] == getegid())
            return true;
    return false;
}

static void have_client(uv_stream_t *listener, int status)
{
    struct control *control = listener->data;
    struct client *client = status < 0 ? NULL : calloc(1, sizeof *client);
    if (!client)
        return;
    client->line = malloc(CONTROL_LINE_MAX);
    client->control = control;
    client->pipe.data = client;
    client->next = control->clients;
    control->clients = client;
    control->n_clients++;
    uv_os_fd_t fd;
    uv_pipe_init(listener->loop, &client->pipe, 0);
    client->pipe.data = client;
    if (uv_accept(listener, (uv_stream_t *)&client->pipe) < 0 || !client->line ||
        control->n_clients > CONTROL_CLIENTS_MAX || uv_fileno((uv_handle_t *)&client->pipe, &fd) < 0 ||
        !admitted(fd, &client->peer) ||
        uv_read_start((uv_stream_t *)&client->pipe, give_buffer, have_read) < 0)
        close_client(client);
}

int control_open(uv_loop_t *loop, const char *path, control_handler *handler, void *ctx, struct control **ret,
                 char *err, size_t err_size)
{
    struct control *control = calloc(1, sizeof *control);
    if (!control)
        return -ENOMEM;
    if (strlen(path) >= sizeof control->path) {
        snprintf(err, err_size, "%s: longer than a socket's path may be (%zu bytes)", path,
                 sizeof control->path - 1);
        free(control);
        return -ENAMETOOLONG;
    }
    strcpy(control->path, path);
    control->handler = handler;
    control->ctx = ctx;
    unlink(path); /* the state directory's lock is ours: whoever made it is gone */
    int r = uv_pipe_init(loop, &control->listener, 0);
    control->listener.data = control;
    mode_t mask = umask(0117);
    if (r == 0)
        r = uv_pipe_bind(&control->listener, path);
    umask(mask);
    if (r == 0)
        r = uv_listen((uv_stream_t *)&control->listener, CONTROL_CLIENTS_MAX, have_client);
    if (r < 0) {
        snprintf(err, err_size, "%s: %s", path, uv_strerror(r));
        control_close(control);
        return r;
    }
    *ret = control;
    return 0;
}

static void listener_closed(uv_handle_t *handle)
{
    struct control *control = handle->data;
    control->deaf = true;
    release(control);
}

static void flushed(uv_shutdown_t *request, int status)
{
    (void)status;
    close_client(request->handle->data);
    free(request);
}

void control_close(struct control *control)
{
    if (!control || control->closing)
        return;
    control->closing = true;
    unlink(control->path);
    uv_close((uv_handle_t *)&control->listener, listener_closed);
    for (struct client *client = control->clients, *next; client; client = next) {
        next = client->next;
        uv_shutdown_t *request = client->closing ? NULL : malloc(sizeof *request);
        if (request && uv_shutdown(request, (uv_stream_t *)&client->pipe, flushed) < 0) {
            free(request);
            request = NULL;
        }
        if (!request)
            close_client(client);
    }
}
