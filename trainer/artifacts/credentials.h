/* The keys of an S3-compatible store. They are in memory of their own (exchange/net/secret.h), and in no
 * sentence. */
#ifndef TRAINER_ARTIFACTS_CREDENTIALS_H
#define TRAINER_ARTIFACTS_CREDENTIALS_H

#include "trainer/artifacts/artifact.h"

enum { ARTIFACT_SECRET_MAX = 256, ARTIFACT_TOKEN_MAX = 4096 };

struct artifact_credentials {
    char key_id[ARTIFACT_SECRET_MAX], secret[ARTIFACT_SECRET_MAX];
    char token[ARTIFACT_TOKEN_MAX]; /* of a session; "": none */
};

/* The first of: $AWS_ACCESS_KEY_ID and $AWS_SECRET_ACCESS_KEY, with $AWS_SESSION_TOKEN; the file
 * $AWS_SHARED_CREDENTIALS_FILE; the systemd credential aws-credentials; ~/.aws/credentials. Files are as AWS'
 * tools write them, of which the section $AWS_PROFILE, else "default", counts. 0, for net_secret_free();
 * -ENOENT: there is none; -EPERM, -EACCES: the file is another user's, or others may read it; -EINVAL. */
int artifact_credentials_find(struct artifact_credentials **ret, char err[static ARTIFACT_ERROR_MAX]);

/* Reads such a file's text, which it overwrites. -ENOENT: no such section; -EINVAL: it lacks a key. */
int artifact_credentials_parse(char *text, const char *profile, struct artifact_credentials *ret);

#endif
