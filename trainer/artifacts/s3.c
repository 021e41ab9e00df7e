/* An S3-compatible store. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "exchange/net/backoff.h"
#include "exchange/net/lazy_curl.h"
#include "exchange/net/secret.h"
#include "exchange/whole_file.h"
#include "trainer/artifacts/s3_attempt.h"

enum { FILE_MODE = 0644 };

static int open_s3(struct artifact_store *store, char *err)
{
    struct artifact_s3 *s3 = store->s3 = calloc(1, sizeof *s3);
    if (!s3)
        return artifact_fail(err, -ENOMEM, "out of memory: an artifact store");
    net_backoff_init(&s3->backoff, S3_WAIT_MIN_MS, S3_WAIT_MAX_MS,
                     (uint64_t)clock_wall_ns() ^ (uint64_t)getpid());
    int r = net_curl_load(err, ARTIFACT_ERROR_MAX);
    if (r == 0 && !(s3->easy = curl_easy_init()))
        r = artifact_fail(err, -ENOMEM, "out of memory: an artifact store");
    return r < 0 ? r : artifact_credentials_find(&s3->credentials, err);
}

static void close_s3(struct artifact_store *store)
{
    if (store->s3) {
        if (store->s3->easy)
            curl_easy_cleanup(store->s3->easy);
        net_secret_free(store->s3->credentials);
    }
    free(store->s3);
}

/* ---- A file there. ---- */

/* What the store computed is what was sent. Stores that do not say are not asked. */
static int check_stored(void *ctx, const struct s3_reply *reply, char *err)
{
    const struct s3_request *request = ctx;
    if (!reply->checksum[0] || strcmp(reply->checksum, request->checksum) == 0)
        return 0;
    return artifact_fail(err, 1, "%s: it was damaged on the way: the store has another checksum",
                         request->url);
}

static int put_s3(struct artifact_store *store, const char *key, const char *path,
                  const struct artifact_digest *digest, char *err)
{
    struct artifact_digest now;
    struct s3_request request = {.method = S3_PUT, .digest = digest};
    struct s3_reply reply = {0};
    int r = artifact_digest_file(path, &now, err);
    if (r == 0 && !artifact_digest_equal(&now, digest))
        r = artifact_fail(err, -ESTALE, "%.400s: it has changed", path);
    if (r == 0)
        r = artifact_s3_url(store, key, NULL, &request, err);
    if (r < 0)
        return r;
    request.upload = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (request.upload < 0)
        return artifact_fail(err, -errno, "%.400s: %s", path, strerror(errno));
    artifact_s3_checksum(digest, request.checksum);
    const struct s3_attempts attempts = {NULL, check_stored, &request};
    r = artifact_s3_attempt(store, &request, &attempts, &reply, err);
    close(request.upload);
    if (r == 0)
        free(reply.text);
    return r;
}

/* ---- A file here. ---- */

struct download {
    const char *path, *url;
    const struct artifact_digest *digest;
    struct whole_file file;
    struct artifact_hash hash;
    bool open;
};

static void drop(struct download *download, int r)
{
    if (!download->open)
        return;
    download->open = false;
    artifact_hash_end(&download->hash, NULL);
    (void)whole_file_close(&download->file, r);
}

static int begin_download(void *ctx, char *err)
{
    struct download *download = ctx;
    drop(download, -ECANCELED);
    if (!artifact_hash_begin(&download->hash))
        return artifact_fail(err, -ENOMEM, "out of memory: %.300s", download->path);
    int r = whole_file_open(download->path, ARTIFACT_TEMPORARY, FILE_MODE, &download->file);
    download->open = r == 0;
    if (r == 0)
        return 0;
    artifact_hash_end(&download->hash, NULL);
    return artifact_fail(err, r, "%.400s: %s", download->path, strerror(-r));
}

/* Bytes behind the end are counted and not kept: the digest is another then. */
static int take_download(void *ctx, const void *bytes, size_t n)
{
    struct download *download = ctx;
    if (download->hash.size > download->digest->size)
        return 0;
    if (!artifact_hash_add(&download->hash, bytes, n))
        return -ENOMEM;
    return whole_file_put(&download->file, bytes, n);
}

/* 0: it is whole, with its name. The store's own checksum must be of these bytes too, unless it is of parts,
 * with a "-". */
static int check_download(void *ctx, const struct s3_reply *reply, char *err)
{
    struct download *download = ctx;
    struct artifact_digest found;
    char checksum[S3_CHECKSUM_MAX];
    artifact_hash_end(&download->hash, &found);
    download->open = false;
    artifact_s3_checksum(download->digest, checksum);
    const bool same = artifact_digest_equal(&found, download->digest);
    const bool differs =
        reply->checksum[0] && !strchr(reply->checksum, '-') && strcmp(reply->checksum, checksum) != 0;
    int r = whole_file_close(&download->file, same && !differs ? 0 : -EBADMSG);
    if (!same)
        return artifact_differs(download->url, download->digest, &found, err) < 0;
    if (differs)
        return artifact_fail(err, 1, "%s: damaged in the store: x-amz-checksum-sha256 is of other bytes",
                             download->url);
    return r < 0 ? artifact_fail(err, r, "%.400s: %s", download->path, strerror(-r)) : 0;
}

static int get_s3(struct artifact_store *store, const char *key, const char *path,
                  const struct artifact_digest *digest, char *err)
{
    struct s3_request request = {.method = S3_GET, .take = take_download};
    struct download download = {.path = path, .url = request.url, .digest = digest};
    const struct s3_attempts attempts = {begin_download, check_download, &download};
    struct s3_reply reply = {0};
    int r = artifact_s3_url(store, key, NULL, &request, err);
    request.ctx = &download;
    if (r == 0)
        r = artifact_s3_attempt(store, &request, &attempts, &reply, err);
    drop(&download, -ECANCELED);
    if (r == 0)
        free(reply.text);
    return r;
}

static int remove_s3(struct artifact_store *store, const char *key, char *err)
{
    struct s3_request request = {.method = S3_DELETE};
    struct s3_reply reply = {0};
    int r = artifact_s3_url(store, key, NULL, &request, err);
    if (r == 0)
        r = artifact_s3_attempt(store, &request, NULL, &reply, err);
    if (r == 0)
        free(reply.text);
    return r == -ENOENT && strcmp(reply.code, "NoSuchBucket") != 0 ? 0 : r;
}

const struct artifact_ops artifact_s3_ops = {
    .open = open_s3,
    .close = close_s3,
    .put = put_s3,
    .get = get_s3,
    .list = artifact_s3_list,
    .remove = remove_s3,
};
