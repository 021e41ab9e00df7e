/* A webhook: one POST. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/notify/send_curl.h"
#include "exchange/clock.h"
#include "exchange/net/retry_after.h"
#include "exchange/net/secret.h"

enum { LINE_MAX_ = NOTIFY_SECRET_MAX + 64, REPLY_MAX = 160, REPLY_READ_MAX = 8 << 10 };

bool daemon_notify_curl_add(struct curl_slist **list, const char *line)
{
    struct curl_slist *grown = curl_slist_append(*list, line);
    if (grown) {
        *list = grown;
        return true;
    }
    curl_slist_free_all(*list);
    *list = NULL;
    return false;
}

static int on_progress(void *ctx, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent)
{
    const struct notify_attempt *attempt = ctx;
    (void)to_get;
    (void)got;
    (void)to_send;
    (void)sent;
    return atomic_load(attempt->stop);
}

CURL *daemon_notify_curl(const struct notify_attempt *attempt, long timeout_ms, char *error)
{
    CURL *easy = curl_easy_init();
    if (!easy)
        return NULL;
    error[0] = '\0';
    bool set = curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)NOTIFY_CONNECT_MS) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_XFERINFODATA, (void *)(uintptr_t)attempt) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK &&
               (!attempt->ca_file[0] || curl_easy_setopt(easy, CURLOPT_CAINFO, attempt->ca_file) == CURLE_OK);
    if (set)
        return easy;
    curl_easy_cleanup(easy);
    return NULL;
}

/* ---- its headers ---- */

static const char *priority(const struct db_notice *notice)
{
    if (notice->state == DB_NOTICE_RECOVERED || notice->severity == DB_INFO)
        return "default";
    return notice->severity == DB_ERROR ? "urgent" : "high";
}

static const char *tag(const struct db_notice *notice)
{
    if (notice->state == DB_NOTICE_RECOVERED)
        return "white_check_mark";
    return notice->severity == DB_ERROR     ? "rotating_light"
           : notice->severity == DB_WARNING ? "warning"
                                            : "information_source";
}

static bool add_ntfy(struct curl_slist **headers, const struct notify_attempt *attempt)
{
    char title[200], line[LINE_MAX_];
    daemon_notify_title(attempt->notice, attempt->host, title, sizeof title);
    snprintf(line, sizeof line, "Title: %s", title);
    if (!daemon_notify_curl_add(headers, line))
        return false;
    snprintf(line, sizeof line, "Priority: %s", priority(attempt->notice));
    if (!daemon_notify_curl_add(headers, line))
        return false;
    snprintf(line, sizeof line, "Tags: %s", tag(attempt->notice));
    return daemon_notify_curl_add(headers, line);
}

/* NULL without memory. A token without a place in the URL is a header; `line` is secret memory. */
static struct curl_slist *headers_of(const struct notify_attempt *attempt, const char *token, char *line)
{
    const struct notify_sink *sink = attempt->sink;
    bool text = sink->format == NOTIFY_NTFY;
    struct curl_slist *headers = NULL;
    snprintf(line, LINE_MAX_, "Idempotency-Key: %s", attempt->notice->key);
    if (!daemon_notify_curl_add(&headers, line) || !daemon_notify_curl_add(&headers, "Expect:") ||
        !daemon_notify_curl_add(&headers, text ? "Content-Type: text/plain; charset=utf-8"
                                               : "Content-Type: application/json"))
        return NULL;
    if (text && !add_ntfy(&headers, attempt))
        return NULL;
    if (!token[0] || strstr(sink->target, NOTIFY_TOKEN_PLACE))
        return headers;
    snprintf(line, LINE_MAX_, "Authorization: Bearer %s", token);
    return daemon_notify_curl_add(&headers, line) ? headers : NULL;
}

/* ---- its reply ---- */

struct reply {
    char text[REPLY_MAX];
    size_t n, got; /* n: of the text */
};

/* What the sink says is shown where it refuses; the rest is read and dropped, as far as it is no longer than
 * such replies are. (Of the headers, and of a mail server's lines, libcurl reads 300 KiB.) */
static size_t on_reply(char *data, size_t size, size_t n, void *ctx)
{
    struct reply *reply = ctx;
    size_t left = sizeof reply->text - 1 - reply->n, taken = size * n < left ? size * n : left;
    memcpy(reply->text + reply->n, data, taken);
    reply->n += taken;
    reply->text[reply->n] = '\0';
    reply->got += size * n;
    return reply->got <= REPLY_READ_MAX ? size * n : 0;
}

static int64_t retry_after_ns(CURL *easy)
{
    char date[64] = "";
    struct curl_header *header; /* the next call replaces it */
    if (curl_easy_header(easy, "Date", 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
        snprintf(date, sizeof date, "%s", header->value);
    if (curl_easy_header(easy, "Retry-After", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
        return -1;
    int64_t ms = net_retry_after_ms(header->value, date, clock_wall_ns() / 1000000000);
    return ms < 0 ? -1 : ms * 1000000;
}

static void take_status(CURL *easy, const struct reply *reply, struct notify_outcome *ret)
{
    long status = 0;
    if (curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK)
        status = 0;
    ret->accepted = status >= 200 && status <= 299;
    if (ret->accepted || reply->n == 0)
        snprintf(ret->detail, sizeof ret->detail, "HTTP %ld", status);
    else
        snprintf(ret->detail, sizeof ret->detail, "HTTP %ld: %s", status, reply->text);
    if (!ret->accepted)
        ret->retry_after_ns = retry_after_ns(easy);
}

/* ---- one attempt ---- */

/* Once a part of the body is there the status is all that counts, however the body ends. */
static void perform(CURL *easy, const char *url, const char *body, struct curl_slist *headers,
                    const char *error, struct notify_outcome *ret)
{
    struct reply reply = {.n = 0};
    bool set = curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_USERAGENT, "papertape/" PAPERTAPE_VERSION) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_WRITEDATA, &reply) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_reply) == CURLE_OK;
    CURLcode code = set ? curl_easy_perform(easy) : CURLE_OUT_OF_MEMORY;
    if (code == CURLE_OK || reply.got > 0)
        take_status(easy, &reply, ret);
    else
        snprintf(ret->detail, sizeof ret->detail, "%s", error[0] ? error : curl_easy_strerror(code));
}

void daemon_notify_send_webhook(const struct notify_attempt *attempt, const char *token,
                                struct notify_outcome *ret)
{
    enum { URL_MAX = NOTIFY_TARGET_MAX + NOTIFY_SECRET_MAX };
    char error[CURL_ERROR_SIZE];
    char *room = net_secret_alloc(URL_MAX + LINE_MAX_); /* the URL, a header */
    char *body = daemon_notify_body(attempt->sink, attempt->notice, attempt->host);
    CURL *easy = daemon_notify_curl(attempt, NOTIFY_HTTP_MS, error);
    struct curl_slist *headers = room ? headers_of(attempt, token, room + URL_MAX) : NULL;
    if (!body || !easy || !headers)
        snprintf(ret->detail, sizeof ret->detail, "out of memory");
    else if (daemon_notify_url(attempt->sink->target, token, room, URL_MAX) < 0)
        snprintf(ret->detail, sizeof ret->detail, "the URL is too long");
    else
        perform(easy, room, body, headers, error, ret);
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    net_secret_free(room);
    free(body);
}
