/* An artifact store: files that the trials of a study leave, kept where every machine that works on the study
 * finds them. It is a directory that they share (NFS), or a bucket of an S3-compatible store. An object is
 * whole or not there; its size and SHA-256, which the study's trial has (trainer/study/artifacts.h), are
 * checked whenever it is read.
 *
 * Calls block; one thread at a time may use a store. */
#ifndef TRAINER_ARTIFACTS_ARTIFACT_H
#define TRAINER_ARTIFACTS_ARTIFACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ARTIFACT_ERROR_MAX = 768,
    ARTIFACT_URL_MAX = 1024,
    ARTIFACT_KEY_MAX = 768,     /* S3 allows 1024 bytes of prefix and key together */
    ARTIFACT_DIGEST_MAX = 65,   /* 64 digits of a SHA-256 */
    ARTIFACT_FOLDER_MODE = 0777 /* less the umask */
};
/* The largest file. One PUT of S3 takes 5 GiB; returns of a million rows are 115 MB. */
#define ARTIFACT_BYTES_MAX (INT64_C(1) << 30)

struct artifact_digest {
    int64_t size; /* bytes */
    char sha256[ARTIFACT_DIGEST_MAX];
};

/* Of a file. 0; -errno with a sentence: -EFBIG above ARTIFACT_BYTES_MAX. */
int artifact_digest_file(const char *path, struct artifact_digest *ret, char err[static ARTIFACT_ERROR_MAX]);
bool artifact_digest_equal(const struct artifact_digest *a, const struct artifact_digest *b);

/* Is a call to end? Asked now and then while one waits or transfers. NULL: never. */
struct artifact_stop {
    bool (*stopped)(void *ctx);
    void *ctx;
};

struct artifact_store;

/* Opens "file:///DIR", a plain path, or "s3://BUCKET/PREFIX?endpoint=URL&region=R&path-style=true" (url.h).
 * Nothing is sent yet. 0, for artifact_store_close(); -EINVAL: no such URL; -EPROTONOSUPPORT: another scheme;
 * -ENOENT: no credentials; -EACCES, -EPERM: their file may be read by others; -ELIBACC: no libcurl; with a
 * sentence, in which no secret is ever. */
int artifact_store_open(const char *url, const struct artifact_stop *stop, struct artifact_store **ret,
                        char err[static ARTIFACT_ERROR_MAX]);
void artifact_store_close(struct artifact_store *store); /* NULL is fine */

/* The URL as others may open it: a plain path became absolute, with file://. */
const char *artifact_store_url(const struct artifact_store *store);

/* Keys are paths without a slash at either end, and without "", "." and ".." between two; -EINVAL.
 *
 * A store that does not answer, or says that it cannot now (5xx, SlowDown), is tried 5 times, between which
 * 0.1 to 5 s pass, at random and rising; so is what arrives damaged or cut off. After a call
 * that got no answer the next ones try once, until one gets it: a study whose store is down is not held up by
 * each file. Errors of all calls, with a sentence: -EHOSTDOWN: it did not answer, or could not, in all these
 * attempts: later it may; -EACCES: it refuses (signature, keys, rights); -ENOENT: no such object or bucket;
 * -EBADMSG: the object is another, or damaged; -EPROTO: another reply that is none of these; -ECANCELED:
 * stopped; -errno of the file. */

/* Stores the file, of which `digest` is checked on the way. An object of that key and content is left as it
 * is, or written again. -ESTALE: the file is another by now. */
int artifact_store_put(struct artifact_store *store, const char *key, const char *path,
                       const struct artifact_digest *digest, char err[static ARTIFACT_ERROR_MAX]);

/* Writes the object to `path`, whose folder exists, whole or not at all. */
int artifact_store_get(struct artifact_store *store, const char *key, const char *path,
                       const struct artifact_digest *digest, char err[static ARTIFACT_ERROR_MAX]);

/* Calls `found` for each object whose key begins with `prefix`, which may be "", in the order of S3: by
 * bytes. What it returns other than 0 ends it and is returned. */
int artifact_store_list(struct artifact_store *store, const char *prefix,
                        int (*found)(void *ctx, const char *key, int64_t size), void *ctx,
                        char err[static ARTIFACT_ERROR_MAX]);

/* 0 also where it is not there. */
int artifact_store_delete(struct artifact_store *store, const char *key, char err[static ARTIFACT_ERROR_MAX]);

#endif
