/* A request to an S3-compatible store, repeated while that may help. Used by s3.c and s3_list.c alone. */
#ifndef TRAINER_ARTIFACTS_S3_ATTEMPT_H
#define TRAINER_ARTIFACTS_S3_ATTEMPT_H

#include "exchange/net/backoff.h"
#include "trainer/artifacts/s3_request.h"

enum { S3_ATTEMPTS = 5, S3_WAIT_MIN_MS = 100, S3_WAIT_MAX_MS = 5000 };

struct artifact_s3 {
    struct artifact_credentials *credentials;
    struct backoff backoff;
    void *easy; /* libcurl's handle */
    bool down;  /* the last call got no answer: the next ones try once, until one does */
};

/* Sets request->url, of the object, or with `key` NULL of the bucket. `query`: encoded, with its keys sorted,
 * as libcurl's signature needs it; NULL: none. -ENAMETOOLONG with a sentence. */
int artifact_s3_url(const struct artifact_store *store, const char *key, const char *query,
                    struct s3_request *request, char *err);

struct s3_attempts {
    int (*begin)(void *ctx, char *err); /* before each; NULL: nothing. 0 or -errno, which ends it */
    int (*check)(void *ctx, const struct s3_reply *reply,
                 char *err); /* after one that succeeded; NULL: nothing. 1, with a sentence: another attempt
                                may be better, and -EBADMSG after the last; 0 or -errno, which ends it */
    void *ctx;
};

/* 0 and the reply, whose text is for free(); errors of artifact.h, where reply->code is what the store
 * said and there is no text. `attempts` NULL: zeroed. */
int artifact_s3_attempt(struct artifact_store *store, const struct s3_request *request,
                        const struct s3_attempts *attempts, struct s3_reply *reply, char *err);

/* artifact_store_list(). */
int artifact_s3_list(struct artifact_store *store, const char *prefix,
                     int (*found)(void *ctx, const char *key, int64_t size), void *ctx, char *err);

#endif
