/* Mail: SMTP by libcurl, with STARTTLS (smtp://) or TLS from the start (smtps://). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/notify/send_curl.h"
#include "exchange/clock.h"

/* The message, as far as it is sent. */
struct upload {
    const char *at;
};

static size_t on_read(char *to, size_t size, size_t n, void *ctx)
{
    struct upload *upload = ctx;
    size_t left = strlen(upload->at), taken = size * n < left ? size * n : left;
    memcpy(to, upload->at, taken);
    upload->at += taken;
    return taken;
}

/* NULL without memory, or of an empty list. */
static struct curl_slist *recipients(const char *to)
{
    struct curl_slist *list = NULL;
    char one[NOTIFY_TO_MAX];
    for (const char *at = to + strspn(to, ", \t"); *at; at += strspn(at, ", \t")) {
        size_t n = strcspn(at, ", \t");
        snprintf(one, sizeof one, "<%.*s>", (int)n, at);
        if (!daemon_notify_curl_add(&list, one))
            return NULL;
        at += n;
    }
    return list;
}

static bool log_in(CURL *easy, const struct notify_sink *sink, const char *password)
{
    return !sink->user[0] || (curl_easy_setopt(easy, CURLOPT_USERNAME, sink->user) == CURLE_OK &&
                              curl_easy_setopt(easy, CURLOPT_PASSWORD, password) == CURLE_OK);
}

static bool prepare(CURL *easy, const struct notify_sink *sink, const char *from, struct curl_slist *to,
                    struct upload *upload)
{
    long tls = sink->tls == NOTIFY_TLS_OFF ? (long)CURLUSESSL_NONE : (long)CURLUSESSL_ALL;
    return curl_easy_setopt(easy, CURLOPT_URL, sink->target) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_USE_SSL, tls) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_MAIL_FROM, from) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, to) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_READDATA, upload) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read) == CURLE_OK;
}

static void perform(CURL *easy, const struct notify_attempt *attempt, const char *password,
                    struct curl_slist *to, struct upload *upload, const char *error,
                    struct notify_outcome *ret)
{
    char from[NOTIFY_WORD_MAX + 2];
    long status = 0;
    snprintf(from, sizeof from, "<%s>", attempt->sink->from);
    CURLcode code = prepare(easy, attempt->sink, from, to, upload) && log_in(easy, attempt->sink, password)
                        ? curl_easy_perform(easy)
                        : CURLE_OUT_OF_MEMORY;
    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    ret->accepted = code == CURLE_OK;
    if (ret->accepted)
        snprintf(ret->detail, sizeof ret->detail, "SMTP %ld", status);
    else
        snprintf(ret->detail, sizeof ret->detail, "%s", error[0] ? error : curl_easy_strerror(code));
}

void daemon_notify_send_mail(const struct notify_attempt *attempt, const char *password,
                             struct notify_outcome *ret)
{
    char error[CURL_ERROR_SIZE];
    char *message = daemon_notify_message(attempt->sink, attempt->notice, attempt->host, clock_wall_ns());
    struct upload upload = {message};
    struct curl_slist *to = recipients(attempt->sink->to);
    CURL *easy = daemon_notify_curl(attempt, NOTIFY_MAIL_MS, error);
    if (message && to && easy)
        perform(easy, attempt, password, to, &upload, error, ret);
    else
        snprintf(ret->detail, sizeof ret->detail, "out of memory");
    curl_easy_cleanup(easy);
    curl_slist_free_all(to);
    free(message);
}
