#include "trainer/artifacts/s3_attempt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAP_MS = 20, SHOWN_MAX = 240 /* of a URL, in a sentence */ };

int artifact_s3_url(const struct artifact_store *store, const char *key, const char *query,
                    struct s3_request *request, char *err)
{
    const struct artifact_url *url = &store->url;
    char whole[2 * ARTIFACT_KEY_MAX], path[3 * sizeof whole];
    const char *host = strstr(url->endpoint, "://") + 3;
    snprintf(whole, sizeof whole, "%s%s", key ? url->prefix : "", key ? key : "");
    int n = artifact_url_encode(whole, true, path, sizeof path)
                ? url->path_style
                      ? snprintf(request->url, sizeof request->url, "%s/%s%s%s%s%s", url->endpoint,
                                 url->bucket, key ? "/" : "", path, query ? "?" : "", query ? query : "")
                      : snprintf(request->url, sizeof request->url, "%.*s%s.%s/%s%s%s",
                                 (int)(host - url->endpoint), url->endpoint, url->bucket, host, path,
                                 query ? "?" : "", query ? query : "")
                : -1;
    return n > 0 && n < (int)sizeof request->url
               ? 0
               : artifact_fail(err, -ENAMETOOLONG, "key %.100s…: a shorter one is right", key ? key : "");
}

/* ---- Until it answers. ---- */

/* False: stopped. */
static bool nap(const struct artifact_store *store, int64_t ms)
{
    for (; ms > 0; ms -= NAP_MS) {
        const struct timespec time = {0, (ms < NAP_MS ? ms : NAP_MS) * 1000000};
        if (artifact_stopped(store))
            return false;
        nanosleep(&time, NULL);
    }
    return !artifact_stopped(store);
}

static bool wait_again(struct artifact_store *store, int64_t retry_after_ms)
{
    int64_t ms = net_backoff_next(&store->s3->backoff);
    if (retry_after_ms > ms)
        ms = retry_after_ms < S3_WAIT_MAX_MS ? retry_after_ms : S3_WAIT_MAX_MS;
    return nap(store, ms);
}

/* The sentence of a reply that is no success. */
static int refuse(const struct artifact_store *store, const struct s3_request *request,
                  const struct s3_reply *reply, char *err)
{
    const struct artifact_url *url = &store->url;
    char said[S3_CODE_MAX + S3_MESSAGE_MAX + 32];
    const char *hint = "";
    int r = reply->status == 404                           ? -ENOENT
            : reply->status == 401 || reply->status == 403 ? -EACCES
            : reply->error < 0                             ? reply->error
            : reply->transient                             ? -EHOSTDOWN
                                                           : -EPROTO;
    if (reply->error < 0)
        snprintf(said, sizeof said, "%s", reply->message);
    else
        snprintf(said, sizeof said, "HTTP %d%s%s%s%s", reply->status, reply->code[0] ? " " : "", reply->code,
                 reply->message[0] ? ": " : "", reply->message);
    if (r == -ECANCELED)
        return artifact_fail(err, r, "stopped");
    if (reply->region[0] && reply->status >= 300 && strcmp(reply->region, url->region) != 0)
        return artifact_fail(err, -EPROTO, "s3://%s: %s: the bucket's region is %s, not %s: region=%s",
                             url->bucket, said, reply->region, url->region, reply->region);
    if (r == -EACCES)
        hint = ": keys, their rights to this bucket, the region and the clock should be checked";
    if (r == -EHOSTDOWN)
        hint = ": no answer now: later there may be one";
    int shown = (int)strcspn(request->url, "?");
    return artifact_fail(err, r, "%.*s: %s%s", shown < SHOWN_MAX ? shown : SHOWN_MAX, request->url, said,
                         hint);
}

int artifact_s3_attempt(struct artifact_store *store, const struct s3_request *request,
                        const struct s3_attempts *attempts, struct s3_reply *reply, char *err)
{
    struct artifact_s3 *s3 = store->s3;
    const int most = s3->down ? 1 : S3_ATTEMPTS;
    net_backoff_reset(&s3->backoff);
    for (int i = 0;; i++) {
        int r = attempts && attempts->begin ? attempts->begin(attempts->ctx, err) : 0;
        if (r < 0)
            return r;
        artifact_s3_perform(store, s3->credentials, s3->easy, request, reply);
        s3->down = s3->down && reply->transient;
        const bool good = reply->error == 0 && reply->status >= 200 && reply->status <= 299;
        r = good && attempts && attempts->check ? attempts->check(attempts->ctx, reply, err) : 0;
        if (good && r == 0)
            return 0;
        const bool again = good ? r == 1 : reply->transient;
        if (!good)
            r = refuse(store, request, reply, err);
        else if (r == 1)
            r = -EBADMSG;
        free(reply->text);
        reply->text = NULL;
        if (!again || i + 1 >= most) {
            s3->down = reply->transient;
            return r;
        }
        if (!wait_again(store, reply->retry_after_ms))
            return artifact_fail(err, -ECANCELED, "stopped");
    }
}
