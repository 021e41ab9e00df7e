#include "exchange/replay/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD_BYTES = 2048,         /* of a response */
    BODY_CHUNK = 32 << 10,     /* of a response, in one turn */
    HEADER_VALUE_MAX = 4096,   /* of a request */
    PATH_MAX_BYTES = 32 << 10, /* "/ws/a/b/c": names of streams may be in the path */
};

const char *replay_request_arg(const struct replay_request *request, const char *name)
{
    size_t len = strlen(name);
    for (int i = 0; i < request->n_args; i++)
        if (strncmp(request->args[i], name, len) == 0 && request->args[i][len] == '=')
            return request->args[i] + len + 1;
    return NULL;
}

static const struct {
    enum lws_token_indexes token;
    const char *name;
} methods[] = {
    {WSI_TOKEN_GET_URI, "GET"},         {WSI_TOKEN_POST_URI, "POST"},     {WSI_TOKEN_PUT_URI, "PUT"},
    {WSI_TOKEN_PATCH_URI, "PATCH"},     {WSI_TOKEN_DELETE_URI, "DELETE"}, {WSI_TOKEN_HEAD_URI, "HEAD"},
    {WSI_TOKEN_OPTIONS_URI, "OPTIONS"},
};

/* Headers that libwebsockets knows have a token; others are found by name. */
static int copy_header(struct lws *wsi, const char *name, char *to, size_t size)
{
    enum lws_token_indexes token = WSI_TOKEN_COUNT;
    if (strcmp(name, "content-type:") == 0)
        token = WSI_TOKEN_HTTP_CONTENT_TYPE;
    else if (strcmp(name, "authorization:") == 0)
        token = WSI_TOKEN_HTTP_AUTHORIZATION;
    else if (strcmp(name, "accept:") == 0)
        token = WSI_TOKEN_HTTP_ACCEPT;
    if (token != WSI_TOKEN_COUNT)
        return lws_hdr_total_length(wsi, token) > 0 ? lws_hdr_copy(wsi, to, (int)size, token) : -1;
    int len = (int)strlen(name);
    return lws_hdr_custom_length(wsi, name, len) > 0 ? lws_hdr_custom_copy(wsi, to, (int)size, name, len)
                                                     : -1;
}

static void read_texts(struct request_copy *copy, struct lws *wsi, const char *const *headers)
{
    struct replay_request *r = &copy->request;
    size_t used = 0, size = REQUEST_HEAD_MAX + PATH_MAX_BYTES;
    int n;
    r->method = "";
    r->path = r->body = "";
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        if (lws_hdr_total_length(wsi, methods[i].token) == 0)
            continue;
        r->method = methods[i].name;
        if (lws_hdr_copy(wsi, copy->space, PATH_MAX_BYTES, methods[i].token) > 0) {
            r->path = copy->space;
            used = strlen(copy->space) + 1;
        }
        break;
    }
    while (r->n_args < REQUEST_ARGS_MAX &&
           (n = lws_hdr_copy_fragment(wsi, copy->space + used, (int)(size - used), WSI_TOKEN_HTTP_URI_ARGS,
                                      r->n_args)) >= 0) {
        r->args[r->n_args++] = copy->space + used;
        used += (size_t)n + 1;
    }
    for (int i = 0; i < REQUEST_HEADERS_MAX && headers && headers[i]; i++) {
        size_t room = size - used < HEADER_VALUE_MAX ? size - used : HEADER_VALUE_MAX;
        n = room > 1 ? copy_header(wsi, headers[i], copy->space + used, room) : -1;
        if (n < 0)
            continue;
        r->headers[i] = copy->space + used;
        used += (size_t)n + 1;
    }
}

struct request_copy *replay_request_read(struct lws *wsi, const char *const *headers)
{
    struct request_copy *copy = calloc(1, sizeof(*copy));
    if (!copy || !(copy->space = malloc(REQUEST_HEAD_MAX + PATH_MAX_BYTES))) {
        free(copy);
        return NULL;
    }
    read_texts(copy, wsi, headers);
    return copy;
}

void replay_request_free(struct request_copy *copy)
{
    if (!copy)
        return;
    text_finish(&copy->body);
    free(copy->space);
    free(copy);
}

bool replay_request_append(struct request_copy *copy, const char *data, size_t len)
{
    if (copy->body.len + len > REQUEST_BODY_MAX)
        return false;
    text_bytes(&copy->body, data, len);
    text_bytes(&copy->body, "", 1);
    if (!text_ok(&copy->body))
        return false;
    copy->body.len--;
    copy->request.body = copy->body.data;
    copy->request.body_len = copy->body.len;
    return true;
}

size_t replay_request_body_expected(struct lws *wsi)
{
    char text[24];
    if (lws_hdr_copy(wsi, text, sizeof(text), WSI_TOKEN_HTTP_CONTENT_LENGTH) <= 0)
        return 0;
    return (size_t)strtoull(text, NULL, 10);
}

void replay_response_init(struct response *response)
{
    *response = (struct response){0};
    replay_response_clear(response);
}

void replay_response_clear(struct response *response)
{
    text_clear(&response->body);
    response->status = HTTP_STATUS_OK;
    response->type = "application/json;charset=UTF-8";
    response->n_headers = 0;
    response->lost = false;
}

void replay_response_finish(struct response *response)
{
    text_finish(&response->body);
}

static void replay_response_header(struct response *response, const char *name, const char *value)
{
    if (response->n_headers == RESPONSE_HEADERS_MAX)
        return;
    response->headers[response->n_headers].name = name;
    snprintf(response->headers[response->n_headers].value, sizeof(response->headers[0].value), "%s", value);
    response->n_headers++;
}

void replay_response_header_int(struct response *response, const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, value);
    replay_response_header(response, name, text);
}

bool replay_response_write_head(const struct response *response, struct lws *wsi)
{
    unsigned char buf[LWS_PRE + HEAD_BYTES], *start = buf + LWS_PRE, *p = start, *end = buf + sizeof(buf) - 1;
    if (lws_add_http_common_headers(wsi, (unsigned)response->status, response->type, response->body.len, &p,
                                    end) != 0)
        return false;
    for (int i = 0; i < response->n_headers; i++) {
        const char *value = response->headers[i].value;
        if (lws_add_http_header_by_name(wsi, (const unsigned char *)response->headers[i].name,
                                        (const unsigned char *)value, (int)strlen(value), &p, end) != 0)
            return false;
    }
    return lws_finalize_write_http_header(wsi, start, &p, end) == 0;
}

int replay_response_write_some(const struct response *response, struct lws *wsi, size_t *sent, size_t most)
{
    static unsigned char buf[LWS_PRE + BODY_CHUNK]; /* one loop, one owner */
    size_t left = response->body.len - *sent, n = left < BODY_CHUNK ? left : BODY_CHUNK;
    n = n < most ? n : most;
    if (n == 0)
        return 0;
    memcpy(buf + LWS_PRE, response->body.data + *sent, n);
    if (lws_write(wsi, buf + LWS_PRE, n, n == left ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < (int)n)
        return -1;
    *sent += n;
    if (n < left)
        return 0;
    return lws_http_transaction_completed(wsi) ? -1 : 1;
}

void replay_response_refuse(const struct response *response, struct lws *wsi)
{
    unsigned char buf[LWS_PRE + HEAD_BYTES];
    size_t n = response->body.len < HEAD_BYTES ? response->body.len : HEAD_BYTES;
    if (!replay_response_write_head(response, wsi) || n == 0)
        return;
    memcpy(buf + LWS_PRE, response->body.data, n);
    lws_write(wsi, buf + LWS_PRE, n, LWS_WRITE_HTTP_FINAL);
}
