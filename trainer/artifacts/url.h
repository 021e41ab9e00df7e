/* Where an artifact store is. Pure, except that defaults come from the environment. */
#ifndef TRAINER_ARTIFACTS_URL_H
#define TRAINER_ARTIFACTS_URL_H

#include <limits.h>

#include "trainer/artifacts/artifact.h"

enum { ARTIFACT_BUCKET_MAX = 64, ARTIFACT_REGION_MAX = 64 };

struct artifact_url {
    char text[PATH_MAX + 16];         /* as others may open it */
    char folder[PATH_MAX];            /* of a directory, absolute; "": S3 */
    char bucket[ARTIFACT_BUCKET_MAX]; /* 3 to 63 of a-z 0-9 . - */
    char prefix[ARTIFACT_KEY_MAX];    /* "" or "a/b/": before every key */
    char endpoint[256];               /* "https://HOST[:PORT]", without a slash at the end */
    char region[ARTIFACT_REGION_MAX];
    bool path_style; /* ENDPOINT/BUCKET/KEY; else SCHEME://BUCKET.HOST/KEY */
};

/* Of S3: `endpoint` is $AWS_ENDPOINT_URL_S3, $AWS_ENDPOINT_URL or that of AWS in the region, where the URL
 * has none; `region` $AWS_REGION, $AWS_DEFAULT_REGION or us-east-1; `path-style` is true for an endpoint that
 * is not AWS'. Percent-encoding is decoded. -EINVAL, -EPROTONOSUPPORT, -ENAMETOOLONG with a sentence; a URL
 * with a user or password is refused, and not quoted. */
int artifact_url_parse(const char *text, struct artifact_url *ret, char err[static ARTIFACT_ERROR_MAX]);

/* Percent-encodes as Signature Version 4 wants it: all but A-Z a-z 0-9 - . _ ~, and "/" where `slashes`.
 * False: it does not fit. */
bool artifact_url_encode(const char *text, bool slashes, char *ret, size_t cap);

/* The reverse, in place; `plus`: "+" is a blank. False: no percent-encoding, or a NUL. */
bool artifact_url_decode(char *text, bool plus);

#endif
