/* What is asked for, and the answers. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/metrics.h"
#include "daemon/http/server_internal.h"
#include "db/equity_curve.h"
#include "db/position_list.h"

#define JSON_TYPE  "application/json"
#define WORDS_TYPE "text/plain; charset=utf-8"

enum { LIST_BLOCK = 32 * 1024 };

struct http_route {
    const char *path;
    const char *type;
    char *(*text)(const json_t *status, size_t *ret_n); /* of a status; malloc()ed, NULL without memory */
    daemon_http_list_write *write;                      /* or of the database */
    bool by_account;                                    /* ?account=NAME */
};

/* ---- texts ---- */

static char *metrics_text(const json_t *status, size_t *ret_n)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, ret_n);
    if (!to)
        return NULL;
    daemon_metrics_write(status, to);
    if (fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

/* As `papertape status --json` prints it. */
static char *status_text(const json_t *status, size_t *ret_n)
{
    char *text = decimal_json_text(status, 15);
    size_t n = text ? strlen(text) : 0;
    char *line = text ? realloc(text, n + 2) : NULL;
    if (!line) {
        free(text);
        return NULL;
    }
    memcpy(line + n, "\n", 2);
    *ret_n = n + 1;
    return line;
}

static int write_positions(struct db_reader *reader, const char *account,
                           int (*put)(void *ctx, const char *bytes, size_t n), void *ctx)
{
    (void)account;
    return db_position_list_write(reader, put, ctx);
}

static int write_equity(struct db_reader *reader, const char *account,
                        int (*put)(void *ctx, const char *bytes, size_t n), void *ctx)
{
    return db_equity_curve_write(reader, account, DB_CURVE_JSON, put, ctx);
}

static const struct http_route routes[] = {
    {"/metrics", DAEMON_METRICS_TYPE, .text = metrics_text},
    {"/status", JSON_TYPE, .text = status_text},
    {"/positions", JSON_TYPE, .write = write_positions},
    {"/equity", JSON_TYPE, .write = write_equity, .by_account = true},
};

#define ROUTES "/metrics, /status, /positions and /equity"
_Static_assert(sizeof routes / sizeof *routes == HTTP_ROUTES, "as server_internal.h says");

/* ---- answers ---- */

/* A page of another site gets nothing that it could read, frame or keep. */
static struct MHD_Response *with_headers(struct MHD_Response *response, const char *type)
{
    if (!response)
        return NULL;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, MHD_HTTP_HEADER_X_CONTENT_TYPE_OPTIONS, "nosniff");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    return response;
}

static void count(struct daemon_http_server *server, unsigned code)
{
    pthread_mutex_lock(&server->lock);
    if (code == MHD_HTTP_OK)
        server->view.requests++;
    else
        server->view.refused++;
    pthread_mutex_unlock(&server->lock);
}

/* A sentence as an answer. */
static void refuse(struct http_client *client, unsigned code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void refuse(struct http_client *client, unsigned code, const char *format, ...)
{
    char words[HTTP_WORDS_MAX + LIST_WORDS_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(words, sizeof words - 1, format, args);
    va_end(args);
    n = n < (int)sizeof words - 2 ? n : (int)sizeof words - 2;
    words[n++] = '\n';
    client->code = code;
    client->response =
        with_headers(MHD_create_response_from_buffer((size_t)n, words, MHD_RESPMEM_MUST_COPY), WORDS_TYPE);
    if (client->response && code == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(client->response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (client->response && code == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(client->response, MHD_HTTP_HEADER_RETRY_AFTER, "5");
}

/* ---- lists ---- */

/* MHD's: some bytes of the list, or none yet. */
static ssize_t list_bytes(void *ctx, uint64_t at, char *to, size_t max)
{
    struct http_client *client = ctx;
    (void)at;
    if (client->cut)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    ssize_t n = daemon_http_list_take(client->list, to, max);
    if (n == 0) {
        client->suspended = true;
        MHD_suspend_connection(client->connection);
    }
    return n == -ENODATA ? MHD_CONTENT_READER_END_OF_STREAM : n < 0 ? MHD_CONTENT_READER_END_WITH_ERROR : n;
}

static void flow(struct http_client *client)
{
    client->code = MHD_HTTP_OK;
    client->response = with_headers(
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, LIST_BLOCK, list_bytes, client, NULL),
        client->route->type);
}

/* What it waits for is there, or failed. */
static void look_at_list(struct daemon_http_server *server, struct http_client *client)
{
    char words[LIST_WORDS_MAX];
    switch (daemon_http_list_look(client->list, words)) {
    case LIST_WAITS:
        return;
    case LIST_FLOWS:
        flow(client);
        break;
    case LIST_UNKNOWN:
        refuse(client, MHD_HTTP_NOT_FOUND, "%s", words);
        break;
    case LIST_FAILED:
        refuse(client, MHD_HTTP_SERVICE_UNAVAILABLE, "%s", words);
        break;
    }
    daemon_http_client_resume(server, client);
}

void daemon_http_clients_look(struct daemon_http_server *server)
{
    for (struct http_client *client = server->clients; client; client = client->next) {
        if (!client->list || !client->suspended)
            continue;
        if (client->state == CLIENT_WAITS)
            look_at_list(server, client);
        else
            daemon_http_client_resume(server, client);
    }
}

/* ---- those that wait ---- */

static void wait_for_answer(struct http_client *client)
{
    client->state = CLIENT_WAITS;
    client->suspended = true;
    MHD_suspend_connection(client->connection);
}

void daemon_http_client_resume(struct daemon_http_server *server, struct http_client *client)
{
    client->suspended = false;
    server->resumed = true;
    MHD_resume_connection(client->connection);
}

void daemon_http_client_give_up(struct daemon_http_server *server, struct http_client *client)
{
    refuse(client, MHD_HTTP_SERVICE_UNAVAILABLE, "%s: what answers this is busy: try again later",
           client->route->path);
    daemon_http_client_resume(server, client);
}

static struct MHD_Response *text_response(const struct http_route *route, const json_t *status)
{
    size_t n = 0;
    char *text = route->text(status, &n);
    struct MHD_Response *response =
        text ? MHD_create_response_from_buffer(n, text, MHD_RESPMEM_MUST_FREE) : NULL;
    if (!response)
        free(text);
    return with_headers(response, route->type);
}

void daemon_http_texts_drop(struct daemon_http_server *server)
{
    for (size_t i = 0; i < HTTP_ROUTES; i++) {
        if (server->texts[i])
            MHD_destroy_response(server->texts[i]); /* those who are being sent it have it still */
        server->texts[i] = NULL;
    }
}

void daemon_http_clients_take(struct daemon_http_server *server, const json_t *status, uint64_t asked)
{
    daemon_http_texts_drop(server);
    for (struct http_client *client = server->clients; client; client = client->next) {
        if (client->state != CLIENT_WAITS || client->list || !client->suspended || client->asked > asked)
            continue;
        struct MHD_Response **text = &server->texts[client->route - routes];
        if (!*text && status)
            *text = text_response(client->route, status);
        if (!*text)
            refuse(client, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
        daemon_http_client_resume(server, client);
    }
}

void daemon_http_client_finish(struct http_client *client)
{
    daemon_http_list_release(client->list);
    if (client->response)
        MHD_destroy_response(client->response);
}

/* ---- requests ---- */

static const struct http_route *route_of(const char *path)
{
    for (size_t i = 0; i < HTTP_ROUTES; i++)
        if (strcmp(routes[i].path, path) == 0)
            return &routes[i];
    return NULL;
}

static bool has_body(struct MHD_Connection *connection)
{
    const char *length =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return (length && strcmp(length, "0") != 0) ||
           MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static void ask_list(struct daemon_http_server *server, struct http_client *client)
{
    const char *account =
        client->route->by_account
            ? MHD_lookup_connection_value(client->connection, MHD_GET_ARGUMENT_KIND, "account")
            : NULL;
    int lists = 0;
    for (const struct http_client *other = server->clients; other; other = other->next)
        lists += other->list != NULL;
    if (lists < HTTP_LISTS_MAX)
        client->list = daemon_http_list_ask(server->lists, client->route->write, account ? account : "");
    if (client->list)
        wait_for_answer(client);
    else
        refuse(client, MHD_HTTP_SERVICE_UNAVAILABLE, "%s: %d lists are being read already",
               client->route->path, lists);
}

static void ask_status(struct daemon_http_server *server, struct http_client *client)
{
    pthread_mutex_lock(&server->lock);
    client->asked = ++server->asked;
    pthread_mutex_unlock(&server->lock);
    wait_for_answer(client);
    server->options.want(server->options.ctx);
}

/* Is each parameter one that is known, with a value? MHD's: NO ends it. */
static enum MHD_Result is_right(void *ctx, enum MHD_ValueKind kind, const char *key, const char *value)
{
    struct http_client *client = ctx;
    (void)kind;
    if (client->route->by_account && strcmp(key, "account") == 0 && value && value[0])
        return MHD_YES;
    refuse(client, MHD_HTTP_BAD_REQUEST, "%s: %s is right", client->route->path,
           client->route->by_account ? "nothing or ?account=NAME behind it" : "nothing behind it");
    return MHD_NO;
}

static void begin(struct daemon_http_server *server, struct http_client *client, const char *url,
                  const char *method)
{
    const char *host = MHD_lookup_connection_value(client->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    client->route = route_of(url);
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        refuse(client, MHD_HTTP_METHOD_NOT_ALLOWED, "it only reads: GET and HEAD are answered");
    else if (!client->local && !daemon_http_host_is_local(host))
        refuse(client, MHD_HTTP_FORBIDDEN,
               "Host: an address of this machine's loopback, or localhost, is needed");
    else if (has_body(client->connection))
        refuse(client, MHD_HTTP_CONTENT_TOO_LARGE, "a request without a body is needed");
    else if (!client->route)
        refuse(client, MHD_HTTP_NOT_FOUND, "there are " ROUTES);
    else
        MHD_get_connection_values(client->connection, MHD_GET_ARGUMENT_KIND, is_right, client);
    if (client->response)
        return;
    if (client->route->write)
        ask_list(server, client);
    else
        ask_status(server, client);
}

static enum MHD_Result answer(struct daemon_http_server *server, struct http_client *client)
{
    bool of_status = !client->response && client->route && client->route->text;
    struct MHD_Response *response = of_status ? server->texts[client->route - routes] : client->response;
    unsigned code = of_status ? MHD_HTTP_OK : client->code;
    if (client->cut || (!response && !of_status))
        return MHD_NO;
    if (!response) { /* the next status came before it was sent this one */
        ask_status(server, client);
        return MHD_YES;
    }
    client->state = CLIENT_ANSWERED;
    count(server, code);
    return MHD_queue_response(client->connection, code, response);
}

enum MHD_Result daemon_http_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *data, size_t *size,
                                    void **request)
{
    struct daemon_http_server *server = ctx;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_client *client = info ? info->socket_context : NULL;
    (void)version, (void)data;
    if (!client)
        return MHD_NO;
    *size = 0;
    if (!*request) {
        *request = client;
        begin(server, client, url, method);
    }
    return client->suspended ? MHD_YES : answer(server, client);
}
