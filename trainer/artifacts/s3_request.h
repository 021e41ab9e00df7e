/* One request to an S3-compatible store, signed by libcurl (Signature Version 4). Used by the files s3_…
 * alone. */
#ifndef TRAINER_ARTIFACTS_S3_REQUEST_H
#define TRAINER_ARTIFACTS_S3_REQUEST_H

#include "trainer/artifacts/credentials.h"
#include "trainer/artifacts/internal.h"

enum {
    S3_URL_MAX = 4096,
    S3_CODE_MAX = 64,
    S3_MESSAGE_MAX = 320,
    S3_CHECKSUM_MAX = 48,     /* base64 of a SHA-256, with the NUL */
    S3_TEXT_MAX = 8 << 20,    /* of a list's reply: 1,000 keys are some 500 KB */
    S3_TEXT_ERROR_MAX = 8192, /* of an error's reply; the rest is dropped */
    S3_CONNECT_MS = 10000,
    S3_SLOW_S = 30, /* without a byte for so long it is broken off */
};

enum s3_method { S3_GET, S3_PUT, S3_DELETE };

struct s3_request {
    enum s3_method method;
    char url[S3_URL_MAX];
    int upload;                                          /* PUT: descriptor of the file, at its start */
    const struct artifact_digest *digest;                /* PUT: of the file */
    char checksum[S3_CHECKSUM_MAX];                      /* likewise in base64 */
    int (*take)(void *ctx, const void *bytes, size_t n); /* GET: its body, with a status 2xx; 0 or -errno,
                                                            which ends it; NULL: into reply.text */
    void *ctx;
};

struct s3_reply {
    int error;      /* 0: there is a status; -errno: there is none, in `message` */
    bool transient; /* another attempt may succeed */
    int status;
    char code[S3_CODE_MAX], message[S3_MESSAGE_MAX]; /* what the store says, or libcurl */
    char checksum[S3_CHECKSUM_MAX];                  /* x-amz-checksum-sha256; "": none */
    char region[ARTIFACT_REGION_MAX];                /* x-amz-bucket-region; likewise */
    int64_t retry_after_ms;                          /* -1: not said */
    char *text;                                      /* of a list or an error, with a NUL: for free() */
    size_t n;
};

/* base64 of a digest's SHA-256. */
void artifact_s3_checksum(const struct artifact_digest *digest, char ret[static S3_CHECKSUM_MAX]);

/* The text of <NAME>…</NAME> behind `at`, with its entities decoded; NULL: there is none. */
const char *artifact_s3_element(const char *at, const char *name, char *ret, size_t cap);

/* Never redirected, never by a proxy; TLS 1.2 or newer, verified. x-amz-content-sha256 is always sent and
 * signed: libcurl 7.88 does not by itself. `easy`: libcurl's handle, of curl_easy_init(), which keeps
 * connections for the next request; NULL: out of memory. */
void artifact_s3_perform(const struct artifact_store *store, const struct artifact_credentials *credentials,
                         void *easy, const struct s3_request *request, struct s3_reply *ret);

#endif
