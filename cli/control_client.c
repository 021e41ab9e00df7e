#include "cli/control_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/text.h"
#include "db/backtest.h"
#include "db/state.h"
#include "exchange/clock.h"
#include "exchange/decimal_json.h"

enum { READ_BYTES = 64 << 10, CROWDED_PAUSE_MS = 20 };

void cli_control_init(struct control_client *client)
{
    *client = (struct control_client){.fd = -1, .next_id = 1};
}

void cli_control_close(struct control_client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
    client->in.len = client->in.searched = client->out.len = 0;
}

void cli_control_finish(struct control_client *client)
{
    cli_control_close(client);
    free(client->in.data);
    free(client->out.data);
    cli_control_init(client);
}

int cli_control_open(struct control_client *client, const char *path)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    size_t len = strlen(path);

    cli_control_close(client);
    if (len >= sizeof(sun.sun_path))
        return -ENAMETOOLONG;
    memcpy(sun.sun_path, path, len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    client->fd = fd;
    return 0;
}

static bool reserve(struct control_buffer *buffer, size_t more)
{
    if (buffer->size - buffer->len >= more)
        return true;
    size_t size = buffer->size ? buffer->size : 4096;
    while (size - buffer->len < more)
        size *= 2;
    char *data = realloc(buffer->data, size);
    if (!data)
        return false;
    buffer->data = data;
    buffer->size = size;
    return true;
}

int64_t cli_control_send(struct control_client *client, const char *cmd, json_t *args)
{
    if (client->fd < 0) {
        json_decref(args);
        return -ENOTCONN;
    }
    int64_t id = client->next_id;
    json_t *request =
        json_pack("{s:I, s:s, s:o}", "id", (json_int_t)id, "cmd", cmd, "args", args ? args : json_object());
    char *line = request ? json_dumps(request, JSON_COMPACT) : NULL;
    json_decref(request);
    size_t len = line ? strlen(line) : 0;
    if (!line || !reserve(&client->out, len + 1)) {
        free(line);
        return -ENOMEM;
    }
    memcpy(client->out.data + client->out.len, line, len);
    client->out.data[client->out.len + len] = '\n';
    client->out.len += len + 1;
    client->next_id++;
    free(line);
    return id;
}

short cli_control_events(const struct control_client *client)
{
    return (short)(POLLIN | (client->out.len ? POLLOUT : 0));
}

static int hang_up(struct control_client *client, int error)
{
    cli_control_close(client);
    return error;
}

int cli_control_io(struct control_client *client)
{
    if (client->fd < 0)
        return -ENOTCONN;
    while (client->out.len) {
        ssize_t n = send(client->fd, client->out.data, client->out.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0 && errno == EPIPE) { /* it closed: what it said before that is still to be read */
            client->out.len = 0;
            break;
        }
        if (n < 0)
            return hang_up(client, -errno);
        client->out.len -= (size_t)n;
        memmove(client->out.data, client->out.data + n, client->out.len);
    }
    for (;;) {
        if (client->in.len >= CONTROL_LINE_MAX)
            return memchr(client->in.data, '\n', client->in.len) ? 0 : hang_up(client, -EMSGSIZE);
        if (!reserve(&client->in, READ_BYTES))
            return hang_up(client, -ENOMEM);
        ssize_t n = recv(client->fd, client->in.data + client->in.len, client->in.size - client->in.len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n <= 0) {
            /* What was answered before the end still counts. */
            if (client->in.len && memchr(client->in.data, '\n', client->in.len))
                return 0;
            return hang_up(client, n < 0 ? -errno : -ECONNRESET);
        }
        client->in.len += (size_t)n;
    }
}

bool cli_control_next(struct control_client *client, json_t **ret_reply)
{
    json_t *reply = NULL;

    while (!reply && client->in.len) {
        struct control_buffer *in = &client->in;
        char *end = memchr(in->data + in->searched, '\n', in->len - in->searched);
        if (!end) {
            in->searched = in->len;
            return false;
        }
        in->searched = 0;
        size_t len = (size_t)(end - client->in.data);
        reply = decimal_json_parse(client->in.data, len);
        if (reply && !json_is_object(reply)) {
            json_decref(reply);
            reply = NULL;
        }
        client->in.len -= len + 1;
        memmove(client->in.data, end + 1, client->in.len);
    }
    if (!reply)
        return false;
    *ret_reply = reply;
    return true;
}

bool cli_control_reply(const json_t *reply, const json_t **ret_result, struct control_error *ret_error)
{
    if (json_is_true(json_object_get(reply, "ok"))) {
        *ret_result = json_object_get(reply, "result");
        return true;
    }
    const json_t *error = json_object_get(reply, "error");
    const char *code = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    *ret_error = (struct control_error){0};
    cli_text_clean(ret_error->code, sizeof(ret_error->code), code ? code : "");
    cli_text_clean(ret_error->message, sizeof(ret_error->message),
                   message && message[0] ? message : "no reason given");
    return false;
}

/* What a call waits for, and until when. In the middle of that time it asks whether the daemon is alive: if
 * so the time begins again. */
struct control_wait {
    int64_t id, ping;    /* of the requests; ping 0: it is not under way */
    int64_t deadline_ms; /* of a silent daemon */
    int64_t end_ms;      /* of any */
    int timeout_ms;
};

/* Is it the answer, or why the daemon closes? */
static bool is_answer(struct control_wait *waiting, const json_t *reply)
{
    const json_t *of = json_object_get(reply, "id");
    bool ok = json_is_true(json_object_get(reply, "ok"));
    if (json_integer_value(of) == waiting->id || (json_is_null(of) && !ok))
        return true;
    if (ok && waiting->ping > 0 && json_integer_value(of) == waiting->ping) {
        waiting->ping = 0;
        waiting->deadline_ms = clock_now_ms() + waiting->timeout_ms;
    }
    return false;
}

/* Milliseconds until there is something to do; 0: the time is over; -errno. */
static int64_t next_look(struct control_client *client, struct control_wait *waiting)
{
    int64_t now_ms = clock_now_ms(), end_ms = waiting->deadline_ms;
    int64_t ping_ms = waiting->deadline_ms - waiting->timeout_ms / 2;
    if (end_ms > waiting->end_ms)
        end_ms = waiting->end_ms;
    if (end_ms <= now_ms)
        return 0;
    if (waiting->ping == 0 && ping_ms <= now_ms) {
        waiting->ping = cli_control_send(client, "ping", NULL);
        if (waiting->ping < 0)
            return waiting->ping;
    }
    return waiting->ping == 0 && ping_ms < end_ms ? ping_ms - now_ms : end_ms - now_ms;
}

static int wait_for(struct control_client *client, struct control_wait *waiting, json_t **ret_reply)
{
    for (;;) {
        while (cli_control_next(client, ret_reply)) {
            if (is_answer(waiting, *ret_reply))
                return 0;
            json_decref(*ret_reply);
            *ret_reply = NULL;
        }
        int64_t left = next_look(client, waiting);
        if (left <= 0)
            return left < 0 ? (int)left : -ETIMEDOUT;
        struct pollfd pfd = {.fd = client->fd, .events = cli_control_events(client)};
        if (poll(&pfd, 1, (int)left) < 0 && errno != EINTR)
            return -errno;
        int r = cli_control_io(client);
        if (r < 0)
            return r;
    }
}

/* Is there a saved backtest where the socket would be? */
static bool is_saved(const char *path)
{
    char database[STATE_PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n =
        snprintf(database, sizeof(database), "%.*spapertape.db", slash ? (int)(slash + 1 - path) : 0, path);
    return n > 0 && n < (int)sizeof(database) && db_backtest_is(database);
}

static void explain(struct control_error *error, const char *path, int r, int timeout_ms)
{
    char shown[160];

    cli_text_clean(shown, sizeof(shown), path);
    error->code[0] = '\0';
    if (r == -ENOENT && is_saved(path))
        snprintf(error->message, sizeof(error->message),
                 "%s: a saved backtest has no daemon: its lists (fills, orders, account list, …), ledger "
                 "verify and the dashboard read it",
                 shown);
    else if (r == -ENOENT || r == -ECONNREFUSED)
        snprintf(error->message, sizeof(error->message),
                 "%s: " CLI_NO_DAEMON ": start papertaped, or name its state with --state", shown);
    else if (r == -ETIMEDOUT)
        snprintf(error->message, sizeof(error->message), "%s: the daemon did not answer in %.3g s", shown,
                 timeout_ms / 1000.0);
    else
        snprintf(error->message, sizeof(error->message), "%s: %s", shown, strerror(-r));
}

static int try_call(struct control_client *client, const char *path, const char *cmd, json_t *args,
                    int64_t deadline_ms, int timeout_ms, json_t **ret_reply)
{
    struct control_wait waiting = {.deadline_ms = deadline_ms,
                                   .end_ms = deadline_ms - timeout_ms + CONTROL_BUSY_MS,
                                   .timeout_ms = timeout_ms};
    int r = cli_control_open(client, path);
    if (r < 0)
        return r;
    waiting.id = cli_control_send(client, cmd, json_incref(args));
    return waiting.id < 0 ? (int)waiting.id : wait_for(client, &waiting, ret_reply);
}

/* Was the connection refused, or closed without a command carried out, because there are too many? */
static bool is_crowded(int r, const json_t *reply)
{
    const json_t *error = json_object_get(reply, "error");
    const char *code = json_string_value(json_object_get(error, "code"));
    return r == -EAGAIN ||
           (r == 0 && json_is_null(json_object_get(reply, "id")) && code && strcmp(code, "EBUSY") == 0);
}

bool cli_control_turned_away(const json_t *reply)
{
    const char *code = json_string_value(json_object_get(json_object_get(reply, "error"), "code"));
    return json_is_null(json_object_get(reply, "id")) && code && strcmp(code, "EACCES") == 0;
}

int cli_control_ask(const char *path, const char *cmd, json_t *args, int timeout_ms, json_t **ret_reply,
                    struct control_error *ret_error)
{
    int64_t deadline_ms = clock_now_ms() + timeout_ms;
    struct control_client client;
    json_t *reply = NULL;
    int r;

    args = args ? args : json_object();
    cli_control_init(&client);
    for (;;) {
        r = try_call(&client, path, cmd, args, deadline_ms, timeout_ms, &reply);
        if (!is_crowded(r, reply) || clock_now_ms() + CROWDED_PAUSE_MS >= deadline_ms)
            break;
        json_decref(reply);
        reply = NULL;
        cli_control_finish(&client);
        poll(NULL, 0, CROWDED_PAUSE_MS);
    }
    json_decref(args);
    if (r < 0)
        explain(ret_error, path, r, timeout_ms);
    else
        *ret_reply = json_incref(reply);
    json_decref(reply);
    cli_control_finish(&client);
    return r;
}

int cli_control_call(const char *path, const char *cmd, json_t *args, int timeout_ms, json_t **ret_result,
                     struct control_error *ret_error)
{
    const json_t *result;
    json_t *reply = NULL;
    int r = cli_control_ask(path, cmd, args, timeout_ms, &reply, ret_error);

    if (r == 0 && !cli_control_reply(reply, &result, ret_error))
        r = -EREMOTEIO;
    else if (r == 0)
        *ret_result = result ? json_deep_copy(result) : json_object();
    json_decref(reply);
    return r;
}
