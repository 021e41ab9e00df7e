#include "trainer/artifacts/s3_request.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "exchange/net/retry_after.h"
#include "exchange/net/secret.h"

#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

enum { LINE_MAX_ = ARTIFACT_TOKEN_MAX + 64 };

struct transfer {
    const struct artifact_store *store;
    const struct s3_request *request;
    struct s3_reply *reply;
    CURL *easy;
    int64_t sent;
    int local; /* -errno of the file */
};

/* ---- What passes. ---- */

static int64_t status_of(CURL *easy)
{
    long status = 0;
    return curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

/* An error's text is cut; that of a list must be whole. */
static size_t keep_text(struct transfer *transfer, const char *bytes, size_t n, bool good)
{
    struct s3_reply *reply = transfer->reply;
    size_t most = good ? S3_TEXT_MAX : S3_TEXT_ERROR_MAX;
    if (reply->n + n > most) {
        if (good)
            transfer->local = -EFBIG;
        return good ? 0 : n;
    }
    char *grown = realloc(reply->text, reply->n + n + 1);
    if (!grown) {
        transfer->local = -ENOMEM;
        return 0;
    }
    memcpy(grown + reply->n, bytes, n);
    reply->text = grown;
    reply->text[reply->n += n] = '\0';
    return n;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx)
{
    struct transfer *transfer = ctx;
    const int64_t status = status_of(transfer->easy);
    const bool good = status >= 200 && status <= 299;
    n *= size;
    if (!good || !transfer->request->take)
        return keep_text(transfer, bytes, n, good);
    transfer->local = transfer->request->take(transfer->request->ctx, bytes, n);
    return transfer->local < 0 ? 0 : n;
}

static size_t on_upload(char *bytes, size_t size, size_t n, void *ctx)
{
    struct transfer *transfer = ctx;
    ssize_t done;
    do
        done = pread(transfer->request->upload, bytes, size * n, transfer->sent);
    while (done < 0 && errno == EINTR);
    if (done < 0) {
        transfer->local = -errno;
        return CURL_READFUNC_ABORT;
    }
    transfer->sent += done;
    return (size_t)done;
}

/* libcurl sends a body again where a kept connection turned out to be closed. */
static int on_seek(void *ctx, curl_off_t offset, int origin)
{
    struct transfer *transfer = ctx;
    if (origin != SEEK_SET)
        return CURL_SEEKFUNC_FAIL;
    transfer->sent = offset;
    return CURL_SEEKFUNC_OK;
}

static int on_progress(void *ctx, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent)
{
    const struct transfer *transfer = ctx;
    (void)to_get, (void)got, (void)to_send, (void)sent;
    return artifact_stopped(transfer->store);
}

/* ---- The request. ---- */

static bool add(struct curl_slist **list, const char *line)
{
    struct curl_slist *grown = curl_slist_append(*list, line);
    if (grown)
        *list = grown;
    return grown != NULL;
}

/* False: out of memory. `line`[LINE_MAX_] is secret memory. */
static bool add_headers(const struct s3_request *request, const struct artifact_credentials *credentials,
                        char *line, struct curl_slist **ret)
{
    const bool put = request->method == S3_PUT;
    snprintf(line, LINE_MAX_, "x-amz-content-sha256: %s", put ? request->digest->sha256 : EMPTY_SHA256);
    bool good = add(ret, line);
    if (put)
        snprintf(line, LINE_MAX_, "x-amz-checksum-sha256: %s", request->checksum);
    else
        snprintf(line, LINE_MAX_, "x-amz-checksum-mode: ENABLED");
    if (request->method != S3_DELETE)
        good = good && add(ret, line);
    if (credentials->token[0]) {
        snprintf(line, LINE_MAX_, "x-amz-security-token: %s", credentials->token);
        good = good && add(ret, line);
    }
    return good;
}

static bool set_common(struct transfer *transfer, char *error)
{
    CURL *easy = transfer->easy;
    const char *ca = getenv("AWS_CA_BUNDLE");
    return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)S3_CONNECT_MS) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)S3_SLOW_S) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_USERAGENT, "papertape/" PAPERTAPE_VERSION) == CURLE_OK &&
           (!ca || !*ca || curl_easy_setopt(easy, CURLOPT_CAINFO, ca) == CURLE_OK);
}

static bool set_method(struct transfer *transfer)
{
    CURL *easy = transfer->easy;
    switch (transfer->request->method) {
    case S3_GET:
        return curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L) == CURLE_OK;
    case S3_DELETE:
        return curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE") == CURLE_OK;
    case S3_PUT:
        return curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
                                (curl_off_t)transfer->request->digest->size) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_READDATA, transfer) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_upload) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_SEEKDATA, transfer) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek) == CURLE_OK;
    }
    return false;
}

static bool set_signed(struct transfer *transfer, const struct artifact_credentials *credentials,
                       struct curl_slist *headers)
{
    CURL *easy = transfer->easy;
    char signs[ARTIFACT_REGION_MAX + 32];
    snprintf(signs, sizeof signs, "aws:amz:%s:s3", transfer->store->url.region);
    return curl_easy_setopt(easy, CURLOPT_URL, transfer->request->url) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, signs) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_USERNAME, credentials->key_id) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PASSWORD, credentials->secret) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) == CURLE_OK;
}

/* ---- The reply. ---- */

static void copy_header(CURL *easy, const char *name, char *ret, size_t cap)
{
    struct curl_header *header;
    if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
        snprintf(ret, cap, "%s", header->value);
}

static void take_headers(CURL *easy, struct s3_reply *reply)
{
    char date[64] = "", after[64] = "";
    copy_header(easy, "x-amz-checksum-sha256", reply->checksum, sizeof reply->checksum);
    copy_header(easy, "x-amz-bucket-region", reply->region, sizeof reply->region);
    copy_header(easy, "Date", date, sizeof date);
    copy_header(easy, "Retry-After", after, sizeof after);
    if (after[0])
        reply->retry_after_ms = net_retry_after_ms(after, date, clock_wall_ns() / 1000000000);
}

/* A body that was damaged on the way is sent again, too. */
static bool is_transient(const struct s3_reply *reply)
{
    static const char *const codes[] = {"SlowDown",           "RequestTimeout", "InternalError",
                                        "ServiceUnavailable", "BadDigest",      "XAmzContentSHA256Mismatch",
                                        "Throttling"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(reply->code, codes[i]) == 0)
            return true;
    return reply->status >= 500 || reply->status == 429 || reply->status == 408;
}

static void take_status(struct transfer *transfer)
{
    struct s3_reply *reply = transfer->reply;
    reply->status = (int)status_of(transfer->easy);
    take_headers(transfer->easy, reply);
    if (reply->status <= 299 || !reply->text)
        reply->code[0] = reply->message[0] = '\0';
    else if (!artifact_s3_element(reply->text, "Code", reply->code, sizeof reply->code) ||
             !artifact_s3_element(reply->text, "Message", reply->message, sizeof reply->message))
        reply->message[0] = '\0';
    reply->transient = is_transient(reply);
}

/* What is wrong with a certificate, an address or this machine stays wrong. */
static bool may_pass(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_WEIRD_SERVER_REPLY:
        return true;
    default:
        return false;
    }
}

static void take_failure(struct transfer *transfer, CURLcode code, const char *error)
{
    struct s3_reply *reply = transfer->reply;
    reply->transient = false;
    snprintf(reply->message, sizeof reply->message, "%s", error[0] ? error : curl_easy_strerror(code));
    if (code == CURLE_ABORTED_BY_CALLBACK && transfer->local == 0)
        reply->error = -ECANCELED;
    else if (transfer->local < 0)
        reply->error = transfer->local;
    else if (code == CURLE_OUT_OF_MEMORY)
        reply->error = -ENOMEM;
    else
        reply->error = (reply->transient = may_pass(code)) ? -EHOSTDOWN : -EPROTO;
}

/* A token is overwritten. */
static void drop_headers(struct curl_slist *headers)
{
    for (struct curl_slist *one = headers; one; one = one->next)
        explicit_bzero(one->data, strlen(one->data));
    if (headers)
        curl_slist_free_all(headers);
}

void artifact_s3_perform(const struct artifact_store *store, const struct artifact_credentials *credentials,
                         void *easy, const struct s3_request *request, struct s3_reply *ret)
{
    char error[CURL_ERROR_SIZE] = "", *line = net_secret_alloc(LINE_MAX_);
    struct curl_slist *headers = NULL;
    struct transfer transfer = {store, request, ret, easy, 0, 0};
    *ret = (struct s3_reply){.retry_after_ms = -1};
    bool good = line && easy && add_headers(request, credentials, line, &headers) &&
                set_common(&transfer, error) && set_method(&transfer) &&
                set_signed(&transfer, credentials, headers);
    CURLcode code = good ? curl_easy_perform(easy) : CURLE_OUT_OF_MEMORY;
    if (code == CURLE_OK)
        take_status(&transfer);
    else
        take_failure(&transfer, code, error);
    if (easy)
        curl_easy_reset(easy); /* what it refers to ends here; its connections stay */
    drop_headers(headers);
    net_secret_free(line);
}
