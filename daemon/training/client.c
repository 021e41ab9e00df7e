#include "daemon/training/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/training/training.h"

enum { BUFFER_FIRST = 16 << 10, CMD_MAX = 16, WHY_MAX = 200 };

struct waiting_answer {
    struct waiting_answer *next;
    json_int_t id;
    char cmd[CMD_MAX];
    uint64_t due_ms;
    training_answer *answer;
    void *ctx;
};

struct training_client {
    uv_pipe_t pipe;
    uv_timer_t timer; /* the oldest request's deadline */
    uv_connect_t connect;
    struct training_client_hooks hooks;
    char *buffer; /* of answers */
    size_t len, size, looked;
    struct waiting_answer *waiting; /* in the order in which they are due */
    size_t n_waiting;
    json_int_t last_id;
    bool silent;              /* something is unanswered … */
    uint64_t silent_since_ms; /* … since then */
    uint64_t received_ms;
    bool connected, closed;
    int open_handles;
};

struct sending {
    uv_write_t request;
    char *line;
};

json_t *daemon_training_failure(const char *code, const char *words)
{
    return json_pack("{s:{s:s, s:s}}", "error", "code", code, "message", words);
}

void daemon_training_fail(training_answer *answer, void *ctx, const char *code, const char *words)
{
    json_t *object = daemon_training_failure(code, words);
    answer(ctx, object);
    json_decref(object);
}

/* ---- the end ---- */

static void handle_closed(uv_handle_t *handle)
{
    struct training_client *client = handle->data;
    if (--client->open_handles > 0)
        return;
    free(client->buffer);
    free(client);
}

static void answer_all(struct training_client *client, const char *code, const char *words)
{
    while (client->waiting) {
        struct waiting_answer *waiting = client->waiting;
        client->waiting = waiting->next;
        client->n_waiting--;
        daemon_training_fail(waiting->answer, waiting->ctx, code, words);
        free(waiting);
    }
}

static void shut(struct training_client *client, const char *words)
{
    client->closed = true;
    uv_timer_stop(&client->timer);
    answer_all(client, "ECONNRESET", words);
    uv_close((uv_handle_t *)&client->pipe, handle_closed);
    uv_close((uv_handle_t *)&client->timer, handle_closed);
}

static void end(struct training_client *client, int error, const char *why)
{
    if (client->closed)
        return;
    struct training_client_hooks hooks = client->hooks;
    shut(client, why);
    hooks.closed(hooks.ctx, error, why);
}

void daemon_training_client_destroy(struct training_client *client)
{
    if (client && !client->closed)
        shut(client, "the daemon closed its connection to the co-process");
}

/* ---- answers ---- */

static void await_next(struct training_client *client);

static void on_due(uv_timer_t *timer)
{
    struct training_client *client = timer->data;
    uint64_t now = uv_now(timer->loop);
    while (!client->closed && client->waiting && client->waiting->due_ms <= now) {
        struct waiting_answer *waiting = client->waiting;
        client->waiting = waiting->next;
        client->n_waiting--;
        daemon_training_fail(waiting->answer, waiting->ctx, "ETIMEDOUT", "the co-process does not answer");
        free(waiting);
    }
    if (!client->closed)
        await_next(client);
}

static void await_next(struct training_client *client)
{
    uint64_t now = uv_now(client->timer.loop);
    if (client->waiting)
        uv_timer_start(&client->timer, on_due,
                       client->waiting->due_ms > now ? client->waiting->due_ms - now : 0, 0);
    else
        uv_timer_stop(&client->timer);
}

static struct waiting_answer *take_waiting(struct training_client *client, json_int_t id)
{
    for (struct waiting_answer **at = &client->waiting; *at; at = &(*at)->next) {
        struct waiting_answer *waiting = *at;
        if (waiting->id != id)
            continue;
        *at = waiting->next;
        client->n_waiting--;
        return waiting;
    }
    return NULL;
}

/* {"id":1,"ok":true,"result":{}} or {"id":1,"ok":false,"error":{"code":"…","message":"…"}} */
static bool is_answer(const json_t *object)
{
    const json_t *ok = json_object_get(object, "ok"), *error = json_object_get(object, "error");
    if (json_is_true(ok))
        return json_is_object(json_object_get(object, "result"));
    return json_is_false(ok) && json_is_string(json_object_get(error, "code")) &&
           json_is_string(json_object_get(error, "message"));
}

static bool is_control(char c)
{
    return ((unsigned char)c < ' ' && c != '\t' && c != '\n') || c == 127;
}

static void clean_text(json_t *value)
{
    size_t n = json_string_length(value), bad = 0;
    const char *text = json_string_value(value);
    for (size_t i = 0; i < n; i++)
        bad += is_control(text[i]);
    char *clean = bad > 0 ? malloc(n) : NULL;
    if (!clean) /* nothing to be done; or no memory: then it ends at its first NUL for who reads it */
        return;
    for (size_t i = 0; i < n; i++)
        clean[i] = is_control(text[i]) ? '?' : text[i];
    json_string_setn(value, clean, n);
    free(clean);
}

/* Depth is the parser's. */
static void clean(json_t *value)
{
    size_t i;
    const char *key;
    json_t *member;
    if (json_is_string(value))
        clean_text(value);
    json_array_foreach(value, i, member) clean(member);
    json_object_foreach(value, key, member) clean(member);
}

/* A bad answer is reported only to its caller, if that still waits. */
static void take_bad(struct training_client *client, struct waiting_answer *waiting, const char *line)
{
    char why[WHY_MAX];
    snprintf(why, sizeof why, "what the co-process answers%s%s is none of docs/serve.md: %.60s",
             waiting ? " to " : "", waiting ? waiting->cmd : "", line);
    daemon_training_clean(why);
    client->hooks.bad(client->hooks.ctx, why);
    if (waiting)
        daemon_training_fail(waiting->answer, waiting->ctx, "EBADMSG", why);
}

static void take_line(struct training_client *client, const char *line, size_t len)
{
    char why[WHY_MAX];
    json_t *object = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
    if (!json_is_integer(json_object_get(object, "id"))) {
        json_decref(object);
        snprintf(why, sizeof why, "what the co-process answers is none of docs/serve.md: %.60s", line);
        daemon_training_clean(why);
        end(client, -EPROTO, why);
        return;
    }
    /* Any answer shows that it is alive; a request that was given up may still be answered. */
    client->received_ms = client->silent_since_ms = uv_now(client->timer.loop);
    struct waiting_answer *waiting = take_waiting(client, json_integer_value(json_object_get(object, "id")));
    client->silent = client->waiting != NULL;
    if (!is_answer(object)) {
        take_bad(client, waiting, line);
    } else if (waiting) {
        clean(object);
        waiting->answer(waiting->ctx, object);
    }
    free(waiting);
    json_decref(object);
    if (!client->closed)
        await_next(client);
}

static void take_lines(struct training_client *client)
{
    size_t start = 0;
    char *newline;
    while (!client->closed &&
           (newline = memchr(client->buffer + client->looked, '\n', client->len - client->looked))) {
        *newline = '\0';
        size_t at = (size_t)(newline - client->buffer);
        client->looked = at + 1;
        take_line(client, client->buffer + start, at - start);
        start = at + 1;
    }
    if (client->closed)
        return;
    memmove(client->buffer, client->buffer + start, client->len - start);
    client->looked = client->len -= start;
    if (client->len >= CLIENT_LINE_MAX)
        end(client, -EPROTO, "a line of the co-process is longer than 16 MiB");
}

static void give_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct training_client *client = handle->data;
    (void)suggested;
    if (client->len == client->size) {
        size_t size = client->size ? 2 * client->size : BUFFER_FIRST;
        char *buffer = realloc(client->buffer, size);
        if (!buffer) {
            *buf = uv_buf_init(NULL, 0); /* have_read() gets UV_ENOBUFS */
            return;
        }
        client->buffer = buffer;
        client->size = size;
    }
    *buf = uv_buf_init(client->buffer + client->len, (unsigned)(client->size - client->len));
}

static void have_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct training_client *client = stream->data;
    char why[120];
    (void)buf;
    if (n == UV_EOF) {
        end(client, -ECONNRESET, "the co-process left");
    } else if (n < 0) {
        snprintf(why, sizeof why, "the co-process: %s", uv_strerror((int)n));
        end(client, (int)n, why);
    } else {
        client->len += (size_t)n;
        take_lines(client);
    }
}

/* ---- requests ---- */

static void sent(uv_write_t *request, int status)
{
    struct sending *sending = (struct sending *)request;
    struct training_client *client = request->handle->data;
    free(sending->line);
    free(sending);
    if (status < 0 && status != UV_ECANCELED && !client->closed)
        end(client, status, "the co-process left");
}

static int send_line(struct training_client *client, char *line, size_t len)
{
    struct sending *sending = malloc(sizeof *sending);
    if (!sending)
        return -ENOMEM;
    sending->line = line;
    uv_buf_t buf = uv_buf_init(line, (unsigned)len);
    int r = uv_write(&sending->request, (uv_stream_t *)&client->pipe, &buf, 1, sent);
    if (r < 0)
        free(sending);
    return r;
}

static void queue_waiting(struct training_client *client, struct waiting_answer *waiting)
{
    struct waiting_answer **at = &client->waiting;
    while (*at && (*at)->due_ms <= waiting->due_ms)
        at = &(*at)->next;
    waiting->next = *at;
    *at = waiting;
    client->n_waiting++;
    if (!client->silent)
        client->silent_since_ms = uv_now(client->timer.loop);
    client->silent = true;
    await_next(client);
}

void daemon_training_client_ask(struct training_client *client, const char *cmd, json_t *args,
                                uint64_t timeout_ms, training_answer *answer, void *ctx)
{
    json_t *object = json_pack("{s:I, s:s, s:o}", "id", client->last_id + 1, "cmd", cmd, "args",
                               args ? args : json_object());
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    size_t len = text ? strlen(text) : 0;
    char *line = text ? realloc(text, len + 2) : NULL;
    struct waiting_answer *waiting = calloc(1, sizeof *waiting);
    const char *code = NULL, *words = NULL;
    json_decref(object);
    if (!line || !waiting)
        code = "ENOMEM", words = "out of memory";
    else if (client->closed || !client->connected)
        code = "ECONNRESET", words = "the co-process left";
    else if (len + 1 >= CLIENT_REQUEST_MAX)
        code = "EMSGSIZE", words = "longer than the co-process takes: a request has at most 64 KiB";
    else if (client->n_waiting >= CLIENT_WAITING_MAX)
        code = "EBUSY", words = "too many requests wait for the co-process already";
    if (!code) {
        strcpy(line + len, "\n");
        if (send_line(client, line, len + 1) < 0)
            code = "ECONNRESET", words = "the co-process left";
    }
    if (code) {
        free(line ? line : text);
        free(waiting);
        daemon_training_fail(answer, ctx, code, words);
        return;
    }
    *waiting = (struct waiting_answer){.id = ++client->last_id,
                                       .due_ms = uv_now(client->timer.loop) + timeout_ms,
                                       .answer = answer,
                                       .ctx = ctx};
    snprintf(waiting->cmd, sizeof waiting->cmd, "%s", cmd);
    queue_waiting(client, waiting);
}

uint64_t daemon_training_client_silent_ms(const struct training_client *client)
{
    return client->silent ? uv_now(client->timer.loop) - client->silent_since_ms : 0;
}

uint64_t daemon_training_client_age_ms(const struct training_client *client)
{
    return uv_now(client->timer.loop) - client->received_ms;
}

/* ---- the connection ---- */

/* Checks whose process listens: ours or root's. */
static int look_at_peer(struct training_client *client, struct ucred *ret)
{
    uv_os_fd_t fd;
    socklen_t size = sizeof *ret;
    if (uv_fileno((uv_handle_t *)&client->pipe, &fd) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret, &size) < 0)
        return -errno;
    return ret->uid == geteuid() || ret->uid == 0 ? 0 : -EPERM;
}

static void have_connected(uv_connect_t *request, int status)
{
    struct training_client *client = request->data;
    struct ucred peer = {0};
    char why[160];
    if (client->closed)
        return;
    if (status == UV_ENOENT || status == UV_ECONNREFUSED) {
        end(client, status, "no process listens");
        return;
    }
    if (status < 0) {
        snprintf(why, sizeof why, "its socket: %s", uv_strerror(status));
        end(client, status, why);
        return;
    }
    int r = look_at_peer(client, &peer);
    if (r < 0) {
        snprintf(why, sizeof why,
                 "the process that listens belongs to user %u: the daemon's own user, %u, or root is needed",
                 (unsigned)peer.uid, (unsigned)geteuid());
        end(client, r, why);
        return;
    }
    r = uv_read_start((uv_stream_t *)&client->pipe, give_buffer, have_read);
    if (r < 0) {
        end(client, r, uv_strerror(r));
        return;
    }
    client->connected = true;
    client->received_ms = uv_now(client->timer.loop);
    client->hooks.connected(client->hooks.ctx, peer.pid);
}

struct training_client *daemon_training_client_create(uv_loop_t *loop, const char *path,
                                                      const struct training_client_hooks *hooks)
{
    struct training_client *client = calloc(1, sizeof *client);
    if (!client)
        return NULL;
    client->hooks = *hooks;
    uv_pipe_init(loop, &client->pipe, 0);
    uv_timer_init(loop, &client->timer);
    client->pipe.data = client->timer.data = client->connect.data = client;
    client->open_handles = 2;
    uv_pipe_connect(&client->connect, &client->pipe, path, have_connected);
    return client;
}
