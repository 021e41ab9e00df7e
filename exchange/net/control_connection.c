/* The bytes of one client. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exchange/net/control_internal.h"

enum {
    SENT_AT_ONCE = 64, /* texts */
    OUTPUT_COST = 64,  /* bytes that a queued text costs beside its own */
};

static struct control_place *place_of(const struct control_connection *connection)
{
    return &connection->control->places.place[connection->place];
}

/* ---- create and close ---- */

static void have_event(uv_poll_t *poll, int status, int events)
{
    struct control_connection *connection = poll->data;
    connection->readable |= status < 0 || events & UV_READABLE;
    connection->writable |= status < 0 || events & UV_WRITABLE;
    connection->events = 0; /* until its turn has come */
    uv_poll_stop(poll);
    control_wake(connection);
}

struct control_connection *control_connection_create(struct control *control, int place, int fd,
                                                     const struct control_peer *peer)
{
    struct control_connection *connection = calloc(1, sizeof *connection);
    char *line = malloc(CONTROL_LINE_MAX);
    if (!connection || !line || uv_poll_init(control->loop, &connection->poll, fd) < 0) {
        free(connection);
        free(line);
        close(fd);
        return NULL;
    }
    connection->poll.data = connection;
    connection->control = control;
    connection->place = place;
    connection->fd = fd;
    connection->peer = *peer;
    connection->line = line;
    connection->output_end = &connection->output;
    connection->readable = connection->writable = true; /* assumed: its first step finds out */
    return connection;
}

static void handle_closed(uv_handle_t *handle)
{
    struct control_connection *connection = handle->data;
    free(connection->line);
    free(connection);
}

static void drop_output(struct control_connection *connection)
{
    while (connection->output) {
        struct control_output *output = connection->output;
        connection->output = output->next;
        control_text_unref(output->text);
        free(output);
    }
}

void control_connection_close(struct control_connection *connection)
{
    struct control *control = connection->control;
    if (!control)
        return;
    for (struct control_call *call = connection->calls, *next; call; call = next) {
        next = call->next;
        call->connection = NULL;
        if (call->shared) /* the others are the handler's */
            control_call_free(call);
    }
    connection->calls = NULL;
    drop_output(connection);
    connection->control = NULL;
    control->connections[connection->place] = NULL;
    control->ready &= ~(UINT64_C(1) << connection->place);
    control->n_connections--;
    control_places_leave(&control->places, connection->place);
    uv_close((uv_handle_t *)&connection->poll, handle_closed);
    close(connection->fd);
    control_end_if_closed(control);
}

void control_connection_refuse(struct control_connection *connection, const char *code, const char *message)
{
    struct control_text *text = connection->output ? NULL : control_refusal(code, message);
    if (text) {
        control_connection_put(connection, text);
        control_connection_flush(connection);
    }
    control_text_unref(text);
    control_connection_close(connection);
}

/* ---- what it is sent ---- */

void control_connection_put(struct control_connection *connection, struct control_text *text)
{
    struct control_output *output = connection->control ? malloc(sizeof *output) : NULL;
    if (!output) {
        control_connection_close(connection);
        return;
    }
    text->refs++;
    *output = (struct control_output){.text = text};
    if (!connection->output)
        connection->output_end = &connection->output;
    *connection->output_end = output;
    connection->output_end = &output->next;
    connection->n_shared += text->shared;
    connection->output_bytes += text->len + OUTPUT_COST;
    connection->paused |= connection->output_bytes > CONTROL_OUTPUT_MAX;
}

static void drop_sent(struct control_connection *connection, size_t n)
{
    connection->output_at += n;
    while (connection->output && connection->output_at >= connection->output->text->len) {
        struct control_output *output = connection->output;
        connection->output_at -= output->text->len;
        connection->output_bytes -= output->text->len + OUTPUT_COST;
        connection->output = output->next;
        connection->n_shared -= output->text->shared;
        control_text_unref(output->text);
        free(output);
    }
    if (connection->output_bytes <= CONTROL_OUTPUT_MAX / 2)
        connection->paused = false;
}

void control_connection_flush(struct control_connection *connection)
{
    struct iovec parts[SENT_AT_ONCE];
    size_t n_parts = 0, at = connection->output_at;
    if (!connection->control || !connection->output || !connection->writable)
        return;
    for (struct control_output *output = connection->output; output && n_parts < SENT_AT_ONCE;
         output = output->next, at = 0)
        parts[n_parts++] = (struct iovec){output->text->bytes + at, output->text->len - at};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = n_parts};
    ssize_t n = sendmsg(connection->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
        place_of(connection)->active_ns = control_now_ns();
        drop_sent(connection, (size_t)n);
    } else if (n < 0 && (errno == EAGAIN || errno == ENOBUFS)) {
        connection->writable = false;
    } else if (n < 0 && errno != EINTR) {
        control_connection_close(connection);
    }
}

/* ---- what it requests ---- */

/* The whole line that begins at `at`: its length without the end, or -1. */
static ssize_t whole_line(const struct control_connection *connection)
{
    const char *start = connection->line + connection->at;
    const char *end = memchr(start, '\n', connection->len - connection->at);
    return end ? end - start : -1;
}

static void skip(struct control_connection *connection)
{
    ssize_t n = whole_line(connection);
    connection->at = n < 0 ? connection->len : connection->at + (size_t)n + 1;
    connection->skipping = n < 0;
}

/* The buffer is full and has no line's end. */
static void refuse_long_line(struct control_connection *connection)
{
    struct control_text *text = control_refusal(
        "EMSGSIZE", "a line is longer than 65536 bytes: it is skipped, the next line is answered");
    connection->at = connection->len = 0;
    connection->skipping = true;
    if (text)
        control_connection_put(connection, text);
    else
        control_connection_close(connection);
    control_text_unref(text);
}

/* Closed on its side, not only for writing? */
static bool hung_up(int fd)
{
    struct pollfd look = {.fd = fd};
    return poll(&look, 1, 0) == 1 && look.revents & (POLLHUP | POLLERR);
}

static enum control_step receive(struct control_connection *connection)
{
    memmove(connection->line, connection->line + connection->at, connection->len - connection->at);
    connection->len -= connection->at;
    connection->at = 0;
    ssize_t n = recv(connection->fd, connection->line + connection->len, CONTROL_LINE_MAX - connection->len,
                     MSG_DONTWAIT);
    if (n > 0) {
        connection->len += (size_t)n;
        if (connection->skipping)
            skip(connection);
        else if (connection->len == CONTROL_LINE_MAX && whole_line(connection) < 0)
            refuse_long_line(connection);
        return CONTROL_STEP_MOVED;
    }
    connection->readable = false;
    if (n == 0) {
        connection->ended = true;
        connection->gone = hung_up(connection->fd);
    } else if (errno == EINTR) {
        connection->readable = true;
    } else if (errno != EAGAIN) {
        control_connection_close(connection);
    }
    return n == 0 || connection->readable ? CONTROL_STEP_MOVED : CONTROL_STEP_NONE;
}

/* `n` bytes at `at`, and `end` bytes of its end. */
static enum control_step take_line(struct control_connection *connection, size_t n, size_t end)
{
    const char *line = connection->line + connection->at;
    connection->at += n + end;
    if (n == 0)
        return CONTROL_STEP_MOVED;
    struct control_place *place = place_of(connection);
    place->spoke = true;
    place->active_ns = control_now_ns();
    control_line(connection, line, n);
    return CONTROL_STEP_REQUEST;
}

/* May its next request be taken? */
static bool is_served(const struct control_connection *connection)
{
    return !connection->paused && connection->n_calls < CONTROL_CALLS_MAX && !connection->control->closing;
}

enum control_step control_connection_step(struct control_connection *connection)
{
    if (connection->paused && connection->writable) {
        control_connection_flush(connection);
        return CONTROL_STEP_MOVED;
    }
    if (!is_served(connection))
        return CONTROL_STEP_NONE;
    ssize_t n = connection->skipping ? -1 : whole_line(connection);
    if (n >= 0)
        return take_line(connection, (size_t)n, 1);
    size_t left = connection->len - connection->at;
    if (connection->ended && !connection->skipping && left > 0) /* a last line without its end */
        return take_line(connection, left, 0);
    return connection->readable ? receive(connection) : CONTROL_STEP_NONE;
}

bool control_connection_urgent(struct control_connection *connection)
{
    if (!is_served(connection))
        return false;
    ssize_t n = connection->skipping ? -1 : whole_line(connection);
    if (n < 0 && connection->readable) {
        receive(connection);
        n = connection->control && !connection->skipping ? whole_line(connection) : -1;
    }
    if (n <= 0 || !control_line_urgent(connection->control, connection->line + connection->at, (size_t)n))
        return false;
    take_line(connection, (size_t)n, 1);
    return true;
}

/* ---- between its turns ---- */

static bool has_request(const struct control_connection *connection)
{
    size_t left = connection->len - connection->at;
    return !connection->skipping && left > 0 && (connection->ended || whole_line(connection) >= 0);
}

bool control_connection_has_line(struct control_connection *connection)
{
    if (!has_request(connection) && !connection->ended && connection->len - connection->at < CONTROL_LINE_MAX)
        receive(connection);
    if (!connection->control)
        return false;
    while (!connection->skipping && connection->at < connection->len &&
           connection->line[connection->at] == '\n')
        connection->at++;
    return has_request(connection);
}

bool control_connection_busy(const struct control_connection *connection)
{
    int unread = 0;
    if (connection->paused || (connection->n_shared > 0 && !connection->writable)) /* it does not read */
        return false;
    return connection->n_calls > 0 || has_request(connection) ||
           (!connection->ended && ioctl(connection->fd, FIONREAD, &unread) == 0 && unread > 0);
}

static void watch(struct control_connection *connection)
{
    int events = 0;
    if (is_served(connection) && !connection->readable && !connection->ended)
        events |= UV_READABLE;
    if (connection->output && !connection->writable)
        events |= UV_WRITABLE;
    if (events == connection->events)
        return;
    connection->events = events;
    if (events == 0)
        uv_poll_stop(&connection->poll);
    else if (uv_poll_start(&connection->poll, events, have_event) < 0)
        control_connection_close(connection);
}

void control_connection_leave(struct control_connection *connection)
{
    control_connection_flush(connection);
    if (!connection->control)
        return;
    bool asked_all = connection->ended && !has_request(connection);
    bool answered = asked_all && connection->n_calls == 0;
    if ((asked_all && connection->gone) ||
        (!connection->output && (answered || connection->control->closing))) {
        control_connection_close(connection);
        return;
    }
    bool takes = is_served(connection) && (has_request(connection) || connection->readable);
    if (takes || (connection->output && connection->writable))
        control_wake(connection);
    watch(connection);
}
