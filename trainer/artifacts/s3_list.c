/* ListObjectsV2, page by page. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/artifacts/s3_attempt.h"

/* The query of the next page; `token` "": the first. */
static bool list_query(const struct artifact_store *store, const char *prefix, const char *token, char *ret,
                       size_t cap)
{
    char whole[2 * ARTIFACT_KEY_MAX], encoded[3 * sizeof whole], from[2048] = "";
    snprintf(whole, sizeof whole, "%s%s", store->url.prefix, prefix);
    if (!artifact_url_encode(whole, false, encoded, sizeof encoded) ||
        !artifact_url_encode(token, false, from, sizeof from))
        return false;
    return snprintf(ret, cap, "%s%s%sencoding-type=url&list-type=2&prefix=%s",
                    token[0] ? "continuation-token=" : "", from, token[0] ? "&" : "", encoded) < (int)cap;
}

/* The keys of one page. */
static int take_page(const struct artifact_store *store, const char *text,
                     int (*found)(void *ctx, const char *key, int64_t size), void *ctx)
{
    char key[3 * ARTIFACT_KEY_MAX], size[32];
    const size_t n = strlen(store->url.prefix);
    int r = 0;
    for (const char *at = text; r == 0 && (at = strstr(at, "<Contents>")); at++)
        if (artifact_s3_element(at, "Key", key, sizeof key) &&
            artifact_s3_element(at, "Size", size, sizeof size) && artifact_url_decode(key, true) &&
            strncmp(key, store->url.prefix, n) == 0)
            r = found(ctx, key + n, strtoll(size, NULL, 10));
    return r;
}

int artifact_s3_list(struct artifact_store *store, const char *prefix,
                     int (*found)(void *ctx, const char *key, int64_t size), void *ctx, char *err)
{
    struct s3_request request = {.method = S3_GET};
    struct s3_reply reply = {0};
    char query[S3_URL_MAX], token[1024] = "", before[1024], more[8];
    int r;
    do {
        if (!list_query(store, prefix, token, query, sizeof query))
            return artifact_fail(err, -ENAMETOOLONG, "prefix %.100s…: a shorter one is right", prefix);
        r = artifact_s3_url(store, NULL, query, &request, err);
        if (r == 0)
            r = artifact_s3_attempt(store, &request, NULL, &reply, err);
        if (r < 0)
            return r;
        const char *text = reply.text ? reply.text : "";
        memcpy(before, token, sizeof before);
        if (!artifact_s3_element(text, "IsTruncated", more, sizeof more) ||
            (strcmp(more, "true") == 0 &&
             (!artifact_s3_element(text, "NextContinuationToken", token, sizeof token) ||
              strcmp(before, token) == 0)))
            r = artifact_fail(err, -EPROTO, "s3://%s: its list is none of S3's", store->url.bucket);
        else
            r = take_page(store, text, found, ctx);
        free(reply.text);
    } while (r == 0 && strcmp(more, "true") == 0);
    return r;
}
