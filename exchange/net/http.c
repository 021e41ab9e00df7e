#include "exchange/net/http.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/net/certificate.h"
#include "exchange/net/internal.h"
#include "exchange/net/lazy_curl.h"
#include "exchange/net/resolver.h"
#include "exchange/net/retry_after.h"
#include "exchange/net/secret.h"
#include "exchange/net/url.h"

enum {
    CONNECT_TIMEOUT_MS = 10000,
    CONNECTIONS_KEPT = 4,
    METHOD_MAX = 8, /* with its NUL */
};

struct http_call {
    struct net_context *net;
    struct resolver_query *query; /* while the name is looked up */
    CURL *easy;
    bool added;                             /* to the multi handle */
    struct curl_slist *addresses, *headers; /* headers: in `lines` */
    void *lines;                            /* secret: keys are among them */
    char method[METHOD_MAX];
    bool sent; /* something of the request may have left */
    char *url_text;
    struct url url;
    int64_t timeout_ms, started_ms;
    char *body;
    size_t len, cap, max;
    bool too_long;
    char error[CURL_ERROR_SIZE];
    http_done *done;
    void *user;
};

/* One socket of libcurl. */
struct watch {
    uv_poll_t poll;
    struct net_context *net;
    curl_socket_t fd;
};

static void free_call(struct http_call *call)
{
    if (call->added)
        curl_multi_remove_handle(call->net->multi, call->easy);
    curl_easy_cleanup(call->easy);
    curl_slist_free_all(call->addresses);
    net_secret_free(call->lines);
    free(call->url_text);
    free(call->body);
    free(call);
}

static int64_t header_number(CURL *easy, const char *name)
{
    struct curl_header *header;
    if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
        return -1;
    char *end;
    errno = 0;
    long long value = strtoll(header->value, &end, 10);
    return errno || end == header->value || *end || value < 0 ? -1 : value;
}

static int64_t header_wait(CURL *easy)
{
    char date[64] = "";
    struct curl_header *header; /* the next call replaces it */
    if (curl_easy_header(easy, "Date", 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
        snprintf(date, sizeof(date), "%s", header->value);
    if (curl_easy_header(easy, "Retry-After", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
        return -1;
    return net_retry_after_ms(header->value, date, clock_wall_ns() / 1000000000);
}

static int64_t header_date(CURL *easy)
{
    struct curl_header *header;
    if (curl_easy_header(easy, "Date", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
        return -1;
    return (int64_t)curl_getdate(header->value, NULL);
}

static void finish_call(struct http_call *call, struct http_reply *reply)
{
    reply->sent = call->sent;
    reply->elapsed_ms = (int64_t)uv_now(call->net->loop) - call->started_ms;
    call->done(call->user, reply);
    free_call(call);
}

static void fail_call(struct http_call *call, const char *what)
{
    struct http_reply reply = {
        .error = what,
        .retry_after_ms = -1,
        .used_weight = -1,
        .rate_limit = -1,
        .rate_left = -1,
        .rate_reset_s = -1,
        .date_s = -1,
    };
    finish_call(call, &reply);
}

static void complete(struct http_call *call, CURLcode code)
{
    char text[NET_ERROR_MAX + CURL_ERROR_SIZE];
    if (code != CURLE_OK) {
        if (call->too_long || code == CURLE_FILESIZE_EXCEEDED)
            snprintf(text, sizeof(text), "%s: the reply is longer than %zu bytes", call->url.host, call->max);
        else
            snprintf(text, sizeof(text), "%s: %s", call->url.host,
                     call->error[0] ? call->error : curl_easy_strerror(code));
        fail_call(call, text);
        return;
    }
    long status = 0;
    if (curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK || status == 0) {
        fail_call(call, "the reply has no status");
        return;
    }
    struct http_reply reply = {
        .status = (int)status,
        .body = call->body ? call->body : "",
        .len = call->len,
        .retry_after_ms = header_wait(call->easy),
        .used_weight = header_number(call->easy, "X-MBX-USED-WEIGHT-1M"),
        .rate_limit = header_number(call->easy, "X-RateLimit-Limit"),
        .rate_left = header_number(call->easy, "X-RateLimit-Remaining"),
        .rate_reset_s = header_number(call->easy, "X-RateLimit-Reset"),
        .date_s = header_date(call->easy),
    };
    finish_call(call, &reply);
}

static void drive(struct net_context *net, curl_socket_t fd, int events)
{
    int running, left;
    if (curl_multi_socket_action(net->multi, fd, events, &running) != CURLM_OK)
        return;
    for (CURLMsg *message; (message = curl_multi_info_read(net->multi, &left));) {
        struct http_call *call = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        if (curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call) == CURLE_OK && call)
            complete(call, code);
    }
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    int flags = 0;
    if (status < 0)
        flags = CURL_CSELECT_ERR;
    if (events & UV_READABLE)
        flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        flags |= CURL_CSELECT_OUT;
    drive(watch->net, watch->fd, flags);
}

static void on_timer(uv_timer_t *timer)
{
    drive(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int set_timer(CURLM *multi, long timeout_ms, void *user)
{
    struct net_context *net = user;
    (void)multi;
    if (timeout_ms < 0)
        return uv_timer_stop(&net->http_timer) < 0 ? -1 : 0;
    uv_update_time(net->loop);
    return uv_timer_start(&net->http_timer, on_timer, (uint64_t)timeout_ms, 0) < 0 ? -1 : 0;
}

static void on_watch_closed(uv_handle_t *handle)
{
    struct watch *watch = handle->data;
    watch->net->handles--;
    free(watch);
}

static struct watch *watch_create(struct net_context *net, curl_socket_t fd)
{
    struct watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return NULL;
    if (uv_poll_init_socket(net->loop, &watch->poll, fd) < 0) {
        free(watch);
        return NULL;
    }
    watch->poll.data = watch;
    watch->net = net;
    watch->fd = fd;
    net->handles++;
    return watch;
}

static int set_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *socket_user)
{
    struct net_context *net = user;
    struct watch *watch = socket_user;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (watch) {
            curl_multi_assign(net->multi, fd, NULL);
            uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
        }
        return 0;
    }
    if (!watch) {
        watch = watch_create(net, fd);
        if (!watch || curl_multi_assign(net->multi, fd, watch) != CURLM_OK)
            return -1;
    }
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    return uv_poll_start(&watch->poll, events, on_poll) < 0 ? -1 : 0;
}

static size_t on_body(char *data, size_t size, size_t n, void *user)
{
    struct http_call *call = user;
    size_t len = size * n;
    if (len > call->max - call->len) {
        call->too_long = true;
        return 0;
    }
    if (call->len + len + 1 > call->cap) {
        size_t cap = call->cap ? call->cap : 16384;
        while (cap < call->len + len + 1)
            cap *= 2;
        char *body = realloc(call->body, cap);
        if (!body)
            return 0;
        call->body = body;
        call->cap = cap;
    }
    memcpy(call->body + call->len, data, len);
    call->len += len;
    call->body[call->len] = '\0';
    return len;
}

/* Gives libcurl the addresses, so that it never looks up a name itself: its look-ups cannot be abandoned
 * without waiting for them. */
static bool give_addresses(struct http_call *call, const struct resolver_result *result)
{
    char line[URL_HOST_MAX + 16 + RESOLVER_ADDRESSES_MAX * (RESOLVER_ADDRESS_MAX + 3)];
    int len = snprintf(line, sizeof(line), "+%s:%u:", call->url.host, (unsigned)call->url.port);
    for (int i = 0; i < result->n; i++) {
        const char *address = result->addresses[i];
        len += snprintf(line + len, sizeof(line) - (size_t)len, strchr(address, ':') ? "%s[%s]" : "%s%s",
                        i > 0 ? "," : "", address);
    }
    call->addresses = curl_slist_append(NULL, line);
    return call->addresses && curl_easy_setopt(call->easy, CURLOPT_RESOLVE, call->addresses) == CURLE_OK;
}

/* libcurl's list of lines, made where keys may be. */
struct header_line {
    struct curl_slist node;
    char text[HTTP_HEADER_MAX + 3];
};

static int take_headers(struct http_call *call, const struct http_request *request)
{
    if (request->n_headers > HTTP_HEADERS_MAX)
        return -ENAMETOOLONG;
    struct header_line *lines =
        request->n_headers > 0 ? net_secret_alloc(request->n_headers * sizeof(*lines)) : NULL;
    if (request->n_headers > 0 && !lines)
        return -ENOMEM;
    call->lines = lines;
    for (size_t i = 0; i < request->n_headers; i++) {
        const char *name = request->headers[i].name, *value = request->headers[i].value;
        if (!*name || !*value || strpbrk(name, ": \t\r\n") || strpbrk(value, "\r\n"))
            return -EINVAL;
        int len = snprintf(lines[i].text, sizeof(lines[i].text), "%s: %s", name, value);
        if (len < 0 || len >= (int)sizeof(lines[i].text))
            return -ENAMETOOLONG;
        lines[i].node.data = lines[i].text;
        lines[i].node.next = i + 1 < request->n_headers ? &lines[i + 1].node : NULL;
    }
    call->headers = lines ? &lines[0].node : NULL;
    return 0;
}

/* Called before a connection of this call is made: OpenSSL itself compares the host, and trusts what the
 * context does by then. curl reads no certificates, and caches none: it would keep the context's for a day.
 */
static CURLcode insist_on_host(CURL *easy, void *tls, void *user)
{
    const struct http_call *call = user;
    (void)easy;
    net_context_give_trust(call->net, tls);
    return net_certificate_insist(tls, call->url.host) ? CURLE_OK : CURLE_OUT_OF_MEMORY;
}

static bool is_get(const struct http_call *call)
{
    return strcmp(call->method, "GET") == 0;
}

/* Called when there is a connection with TLS, before the first byte of the request, and again before libcurl
 * would send it once more. */
static int before_request(void *user, char *remote, char *local, int remote_port, int local_port)
{
    struct http_call *call = user;
    (void)remote, (void)local, (void)remote_port, (void)local_port;
    if (call->sent && !is_get(call))
        return CURL_PREREQFUNC_ABORT;
    call->sent = true;
    return CURL_PREREQFUNC_OK;
}

#define SET(option, value) (curl_easy_setopt(easy, option, value) == CURLE_OK)

static bool take_body(struct http_call *call, const struct http_request *request)
{
    CURL *easy = call->easy;
    bool has_length = strcmp(call->method, "POST") == 0 || strcmp(call->method, "PUT") == 0 ||
                      strcmp(call->method, "PATCH") == 0;
    if (is_get(call))
        return true;
    if ((request->body || has_length) &&
        !(SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(request->body ? request->body_len : 0)) &&
          SET(CURLOPT_COPYPOSTFIELDS, request->body ? request->body : "")))
        return false;
    return SET(CURLOPT_CUSTOMREQUEST, call->method) && SET(CURLOPT_FRESH_CONNECT, 1L);
}

static bool prepare(struct http_call *call)
{
    CURL *easy = call->easy = curl_easy_init();
    const struct net_context *net = call->net;
    return easy && SET(CURLOPT_URL, call->url_text) && SET(CURLOPT_PRIVATE, call) &&
           SET(CURLOPT_PROTOCOLS_STR, "https") && SET(CURLOPT_PROXY, "") && SET(CURLOPT_NOSIGNAL, 1L) &&
           SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) && SET(CURLOPT_ACCEPT_ENCODING, "gzip") &&
           SET(CURLOPT_USERAGENT, net->user_agent) &&
           (!call->headers || SET(CURLOPT_HTTPHEADER, call->headers)) && SET(CURLOPT_FOLLOWLOCATION, 0L) &&
           SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) && SET(CURLOPT_SSL_VERIFYPEER, 1L) &&
           SET(CURLOPT_SSL_VERIFYHOST, 2L) && SET(CURLOPT_SSL_CTX_FUNCTION, insist_on_host) &&
           SET(CURLOPT_SSL_CTX_DATA, call) && SET(CURLOPT_CAINFO, NULL) && SET(CURLOPT_CAPATH, NULL) &&
           SET(CURLOPT_CA_CACHE_TIMEOUT, 0L) && SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS) &&
           SET(CURLOPT_PREREQFUNCTION, before_request) && SET(CURLOPT_PREREQDATA, call) &&
           SET(CURLOPT_WRITEFUNCTION, on_body) && SET(CURLOPT_WRITEDATA, call) &&
           SET(CURLOPT_ERRORBUFFER, call->error) && SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)call->max);
}

static void transfer(struct http_call *call)
{
    uv_update_time(call->net->loop);
    int64_t left_ms = call->started_ms + call->timeout_ms - (int64_t)uv_now(call->net->loop);
    if (left_ms <= 0) {
        fail_call(call, "timed out");
        return;
    }
    if (curl_easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, (long)left_ms) != CURLE_OK ||
        curl_multi_add_handle(call->net->multi, call->easy) != CURLM_OK) {
        fail_call(call, "out of memory");
        return;
    }
    call->added = true;
}

static void on_resolved(void *user, const struct resolver_result *result)
{
    struct http_call *call = user;
    char text[NET_ERROR_MAX + URL_HOST_MAX];
    call->query = NULL;
    if (result->error) {
        snprintf(text, sizeof(text), "%s: the name has no address: %s", call->url.host,
                 uv_strerror(result->error));
        fail_call(call, text);
        return;
    }
    if (!give_addresses(call, result)) {
        fail_call(call, "out of memory");
        return;
    }
    transfer(call);
}

static int take_method(struct http_call *call, const struct http_request *request)
{
    const char *method = request->method ? request->method : "GET";
    size_t len = strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (len == 0 || method[len] || len >= sizeof(call->method))
        return -EINVAL;
    memcpy(call->method, method, len + 1);
    return is_get(call) && request->body ? -EINVAL : 0;
}

int http_send(struct net_context *net, const struct http_request *request, http_done *done, void *user,
              struct http_call **ret)
{
    struct url url;
    int r = net_url_parse_as(request->url, "https", &url);
    if (r < 0)
        return r;
    struct http_call *call = calloc(1, sizeof(*call));
    if (!call)
        return -ENOMEM;
    uv_update_time(net->loop);
    call->net = net;
    call->url = url;
    call->started_ms = (int64_t)uv_now(net->loop);
    call->timeout_ms = request->timeout_ms > 0 ? request->timeout_ms : HTTP_TIMEOUT_MS_DEFAULT;
    call->max = request->body_max > 0 ? request->body_max : HTTP_BODY_MAX_DEFAULT;
    call->done = done;
    call->user = user;
    call->url_text = strdup(request->url);
    r = take_method(call, request);
    if (r == 0)
        r = take_headers(call, request);
    if (r == 0)
        r = call->url_text && prepare(call) && take_body(call, request) ? 0 : -ENOMEM;
    if (r == 0)
        r = net_resolver_start(net->loop, url.host, on_resolved, call, &call->query);
    if (r < 0) {
        free_call(call);
        return r;
    }
    *ret = call;
    return 0;
}

void http_cancel(struct http_call *call)
{
    if (!call)
        return;
    net_resolver_cancel(call->query);
    free_call(call);
}

static int start_multi(struct net_context *net)
{
    if (uv_timer_init(net->loop, &net->http_timer) < 0)
        return -ENOMEM;
    net->http_timer.data = net;
    net->handles++;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return -ENOMEM;
    net->multi = curl_multi_init();
    if (!net->multi) {
        curl_global_cleanup();
        return -ENOMEM;
    }
    if (curl_multi_setopt(net->multi, CURLMOPT_SOCKETFUNCTION, set_socket) != CURLM_OK ||
        curl_multi_setopt(net->multi, CURLMOPT_SOCKETDATA, net) != CURLM_OK ||
        curl_multi_setopt(net->multi, CURLMOPT_TIMERFUNCTION, set_timer) != CURLM_OK ||
        curl_multi_setopt(net->multi, CURLMOPT_TIMERDATA, net) != CURLM_OK ||
        curl_multi_setopt(net->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT) != CURLM_OK)
        return -EINVAL;
    return 0;
}

int http_init(struct net_context *net, char error[static NET_ERROR_MAX])
{
    int r = net_curl_load(error, NET_ERROR_MAX);
    if (r < 0)
        return r;
    r = start_multi(net);
    return r < 0 ? fail_with(r, error, NET_ERROR_MAX, "libcurl: %s", strerror(-r)) : 0;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct net_context *net = handle->data;
    net->handles--;
}

void http_finish(struct net_context *net)
{
    if (net->multi) {
        curl_multi_cleanup(net->multi);
        net->multi = NULL;
        curl_global_cleanup();
    }
    if (net->http_timer.data)
        uv_close((uv_handle_t *)&net->http_timer, on_timer_closed);
}
