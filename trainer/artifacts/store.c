#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/artifacts/internal.h"

bool artifact_stopped(const struct artifact_store *store)
{
    return store->stop.stopped && store->stop.stopped(store->stop.ctx);
}

bool artifact_key_is_good(const char *key)
{
    if (!*key || strlen(key) >= ARTIFACT_KEY_MAX / 2)
        return false;
    for (const char *at = key;; at++) {
        size_t n = strcspn(at, "/");
        if (n == 0 || n > NAME_MAX - sizeof ARTIFACT_TEMPORARY - 9 || (n == 1 && at[0] == '.') ||
            (n == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += n;
        if (!*at)
            return true;
    }
}

static int check_key(const char *key, char *err)
{
    return artifact_key_is_good(key)
               ? 0
               : artifact_fail(err, -EINVAL, "key \"%.100s\": a path as a/b, without . and .., is right",
                               key);
}

int artifact_store_open(const char *url, const struct artifact_stop *stop, struct artifact_store **ret,
                        char err[static ARTIFACT_ERROR_MAX])
{
    struct artifact_store *store = calloc(1, sizeof *store);
    if (!store)
        return artifact_fail(err, -ENOMEM, "out of memory: an artifact store");
    if (stop)
        store->stop = *stop;
    int r = artifact_url_parse(url, &store->url, err);
    if (r == 0) {
        store->ops = store->url.folder[0] ? &artifact_directory_ops : &artifact_s3_ops;
        r = store->ops->open(store, err);
    }
    if (r < 0)
        artifact_store_close(store);
    else
        *ret = store;
    return r;
}

void artifact_store_close(struct artifact_store *store)
{
    if (store && store->ops)
        store->ops->close(store);
    free(store);
}

const char *artifact_store_url(const struct artifact_store *store)
{
    return store->url.text;
}

int artifact_store_put(struct artifact_store *store, const char *key, const char *path,
                       const struct artifact_digest *digest, char err[static ARTIFACT_ERROR_MAX])
{
    int r = check_key(key, err);
    return r < 0 ? r : store->ops->put(store, key, path, digest, err);
}

int artifact_store_get(struct artifact_store *store, const char *key, const char *path,
                       const struct artifact_digest *digest, char err[static ARTIFACT_ERROR_MAX])
{
    int r = check_key(key, err);
    return r < 0 ? r : store->ops->get(store, key, path, digest, err);
}

int artifact_store_list(struct artifact_store *store, const char *prefix,
                        int (*found)(void *ctx, const char *key, int64_t size), void *ctx,
                        char err[static ARTIFACT_ERROR_MAX])
{
    if (strlen(prefix) >= ARTIFACT_KEY_MAX / 2)
        return artifact_fail(err, -EINVAL, "prefix \"%.100s\": a shorter one is right", prefix);
    return store->ops->list(store, prefix, found, ctx, err);
}

int artifact_store_delete(struct artifact_store *store, const char *key, char err[static ARTIFACT_ERROR_MAX])
{
    int r = check_key(key, err);
    return r < 0 ? r : store->ops->remove(store, key, err);
}
