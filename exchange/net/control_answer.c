/* Passes a line to the handler, and its answer to the client. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal_json.h"
#include "exchange/net/control_internal.h"

enum { ID_MAX = 1024 }; /* bytes of a request's id */

/* ---- texts ---- */

struct control_text *control_text_of(const char *bytes, size_t len)
{
    struct control_text *text = malloc(sizeof *text + len);
    if (text) {
        *text = (struct control_text){.refs = 1, .len = len};
        memcpy(text->bytes, bytes, len);
    }
    return text;
}

void control_text_unref(struct control_text *text)
{
    if (text && --text->refs == 0)
        free(text);
}

/* What follows the id in an answer: `,"ok":…,"MEMBER":VALUE}` and the line's end. */
static struct control_text *answer_text(bool ok, const char *member, const json_t *value)
{
    char head[64];
    int n = snprintf(head, sizeof head, ",\"ok\":%s,\"%s\":", ok ? "true" : "false", member);
    char *body = decimal_json_text(value, 17);
    size_t len = body ? strlen(body) : 0;
    struct control_text *text = body ? malloc(sizeof *text + (size_t)n + len + 2) : NULL;
    if (text) {
        *text = (struct control_text){.refs = 1, .len = (size_t)n + len + 2};
        memcpy(text->bytes, head, (size_t)n);
        memcpy(text->bytes + n, body, len);
        memcpy(text->bytes + (size_t)n + len, "}\n", 2);
    }
    free(body);
    return text;
}

struct control_text *control_text_create(json_t *result)
{
    struct control_text *text = answer_text(true, "result", result);
    json_decref(result);
    return text;
}

struct control_text *control_refusal(const char *code, const char *message)
{
    json_t *object =
        json_pack("{s:n, s:b, s:{s:s, s:s}}", "id", "ok", 0, "error", "code", code, "message", message);
    char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
    size_t len = line ? strlen(line) : 0;
    if (line)
        line[len] = '\n'; /* in the place of its end */
    struct control_text *text = line ? control_text_of(line, len + 1) : NULL;
    free(line);
    json_decref(object);
    return text;
}

/* ---- answers ---- */

/* Takes the call off its client's list. Returns the client, or NULL when it left. */
static struct control_connection *detach(struct control_call *call)
{
    struct control_connection *connection = call->connection;
    if (!connection)
        return NULL;
    for (struct control_call **at = &connection->calls; *at; at = &(*at)->next) {
        if (*at == call) {
            *at = call->next;
            connection->n_calls--;
            break;
        }
    }
    return connection;
}

/* {"id":ID */
static struct control_text *id_text(const json_t *id)
{
    char head[ID_MAX + 8] = "{\"id\":";
    size_t n = strlen(head);
    size_t len = json_dumpb(id, head + n, sizeof head - n, JSON_COMPACT | JSON_ENCODE_ANY);
    return len > 0 && len <= sizeof head - n ? control_text_of(head, n + len) : NULL;
}

/* For a client that has requested more than it reads, only so much is kept. */
static bool too_much(const struct control_connection *connection, const struct control_text *text)
{
    return connection->output_bytes > CONTROL_OUTPUT_MAX && text->len > CONTROL_UNREAD_ANSWER_MAX;
}

static struct control_text *too_much_text(size_t len)
{
    char message[128];
    snprintf(message, sizeof message, "the answer of %zu bytes is not sent: those before it are not read",
             len);
    json_t *error = json_pack("{s:s, s:s}", "code", "EBUSY", "message", message);
    struct control_text *text = answer_text(false, "error", error);
    json_decref(error);
    return text;
}

void control_call_free(struct control_call *call)
{
    json_decref(call->id);
    free(call);
}

/* `text` is borrowed; NULL without memory. */
static void answer(struct control_call *call, struct control_text *text)
{
    struct control_connection *connection = detach(call);
    if (connection) {
        struct control_text *id = id_text(call->id), *error = NULL;
        if (text && too_much(connection, text))
            text = error = too_much_text(text->len);
        if (id && text) {
            control_connection_put(connection, id);
            control_connection_put(connection, text);
        } else {
            control_connection_close(connection);
        }
        control_text_unref(id);
        control_text_unref(error);
        if (connection->control && !connection->control->in_turn)
            control_connection_leave(connection);
    }
    control_call_free(call);
}

void control_answer_shared(struct control_connection *connection, struct control_text *text)
{
    struct control_call *waiting = NULL; /* in the order that they were asked in */
    for (struct control_call **at = &connection->calls; *at;) {
        struct control_call *call = *at;
        if (call->shared) {
            *at = call->next;
            call->next = waiting;
            waiting = call;
            connection->n_calls--;
        } else {
            at = &call->next;
        }
    }
    while (waiting) {
        struct control_call *call = waiting;
        struct control_text *id = id_text(call->id);
        waiting = call->next;
        if (id && text) {
            control_connection_put(connection, id);
            control_connection_put(connection, text);
        } else {
            control_connection_close(connection);
        }
        control_text_unref(id);
        control_call_free(call);
    }
}

static void answer_value(struct control_call *call, bool ok, const char *member, json_t *value)
{
    struct control_text *text = answer_text(ok, member, value);
    answer(call, text);
    control_text_unref(text);
    json_decref(value);
}

void control_ok(struct control_call *call, json_t *result)
{
    answer_value(call, true, "result", result ? result : json_object());
}

__attribute__((format(printf, 2, 0))) static json_t *error_json(const char *code, const char *format,
                                                                va_list args)
{
    char message[512];
    vsnprintf(message, sizeof message, format, args);
    /* %s of bytes that are not UTF-8 would make invalid JSON. */
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
    answer_value(call, false, "error", error);
}

void control_error_with(struct control_call *call, const char *code, const char *member, json_t *value,
                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_t *error = error_json(code, format, args);
    va_end(args);
    json_object_set_new(error, member, value);
    answer_value(call, false, "error", error);
}

/* ---- requests ---- */

static bool good_id(const json_t *id)
{
    return !id || json_is_integer(id) || (json_is_string(id) && json_string_length(id) < ID_MAX / 6);
}

static bool in_reserve(const struct control_connection *connection)
{
    return connection->control->places.place[connection->place].kind == CONTROL_RESERVE;
}

static bool reserve_answers(const struct control *control, const char *cmd)
{
    const char *const *known = control->options.reserve_commands;
    while (*known && strcmp(*known, cmd) != 0)
        known++;
    return *known;
}

bool control_line_urgent(const struct control *control, const char *line, size_t len)
{
    if (len > CONTROL_URGENT_LINE_MAX)
        return false;
    json_t *request = json_loadb(line, len, 0, NULL);
    const char *cmd = json_string_value(json_object_get(request, "cmd"));
    const char *shared = control->options.shared_command;
    bool urgent = cmd && reserve_answers(control, cmd) && !(shared && strcmp(cmd, shared) == 0);
    json_decref(request);
    return urgent;
}

static void refuse_in_reserve(struct control *control, struct control_call *call, const char *cmd)
{
    char known[160] = "";
    control->seen.refused++;
    for (const char *const *at = control->options.reserve_commands; *at; at++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "", *at);
    control_error(call, "EBUSY",
                  "%.40s: all ordinary connections are taken: this reserve answers %s alone; again later",
                  cmd, known);
}

void control_line(struct control_connection *connection, const char *line, size_t len)
{
    struct control *control = connection->control;
    json_error_t error;
    struct control_call *call = calloc(1, sizeof *call);
    if (!call) {
        control_connection_close(connection);
        return;
    }
    json_t *request = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
    json_t *id = json_object_get(request, "id");
    call->id = id && good_id(id) ? json_incref(id) : json_null();
    call->connection = connection;
    call->next = connection->calls;
    connection->calls = call;
    connection->n_calls++;
    control->seen.requests++;

    const char *cmd = json_string_value(json_object_get(request, "cmd"));
    json_t *args = json_object_get(request, "args");
    json_t *none = json_object();
    if (!request)
        control_error(call, "EINVAL", "not JSON at column %d: %s", error.column, error.text);
    else if (!json_is_object(request) || !cmd || !good_id(id))
        control_error(
            call, "EINVAL",
            "a request is {\"id\":1,\"cmd\":\"status\",\"args\":{}}: id a number or a short string, "
            "cmd a string");
    else if (args && !json_is_object(args))
        control_error(call, "EINVAL", "args: an object is needed");
    else if (in_reserve(connection) && !reserve_answers(control, cmd) && !control_make_ordinary(connection))
        refuse_in_reserve(control, call, cmd);
    else
        control->options.handler(control->options.ctx, call, cmd, args ? args : none, &connection->peer);
    json_decref(none);
    json_decref(request);
}
