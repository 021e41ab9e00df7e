/* Between the files of artifacts/: the kinds of stores. */
#ifndef TRAINER_ARTIFACTS_INTERNAL_H
#define TRAINER_ARTIFACTS_INTERNAL_H

#include <openssl/evp.h>

#include "exchange/fail.h"
#include "trainer/artifacts/artifact.h"
#include "trainer/artifacts/url.h"

#define artifact_fail(err, code, ...) fail_line(code, err, ARTIFACT_ERROR_MAX, NULL, __VA_ARGS__)

/* The functions of a kind; their contracts are those of artifact_store_…(), and keys are good. */
struct artifact_ops {
    int (*open)(struct artifact_store *store, char *err);
    void (*close)(struct artifact_store *store); /* also after a failed open() */
    int (*put)(struct artifact_store *store, const char *key, const char *path,
               const struct artifact_digest *digest, char *err);
    int (*get)(struct artifact_store *store, const char *key, const char *path,
               const struct artifact_digest *digest, char *err);
    int (*list)(struct artifact_store *store, const char *prefix,
                int (*found)(void *ctx, const char *key, int64_t size), void *ctx, char *err);
    int (*remove)(struct artifact_store *store, const char *key, char *err);
};
extern const struct artifact_ops artifact_directory_ops, artifact_s3_ops;

struct artifact_s3; /* s3.c */
struct artifact_store {
    const struct artifact_ops *ops;
    struct artifact_url url;
    struct artifact_stop stop;
    struct artifact_s3 *s3;
};

bool artifact_stopped(const struct artifact_store *store);
bool artifact_key_is_good(const char *key);

/* The ending of files that are being written, before a point and their digits (exchange/whole_file.h). */
#define ARTIFACT_TEMPORARY ".part"

/* A digest of bytes as they come: artifact_hash_begin() makes hash->md, artifact_hash_end() frees it. */
struct artifact_hash {
    EVP_MD_CTX *md;
    int64_t size;
};
bool artifact_hash_begin(struct artifact_hash *hash); /* false: out of memory */
bool artifact_hash_add(struct artifact_hash *hash, const void *bytes, size_t n);
void artifact_hash_end(struct artifact_hash *hash, struct artifact_digest *ret); /* NULL: only frees */

/* A sentence for what was read in place of `wanted`; -EBADMSG. */
int artifact_differs(const char *what, const struct artifact_digest *wanted,
                     const struct artifact_digest *found, char *err);

#endif
