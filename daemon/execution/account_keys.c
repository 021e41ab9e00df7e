#include "daemon/execution/account_keys.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/credential.h"
#include "exchange/fail.h"
#include "exchange/net/secret.h"

#define PEM "-----BEGIN "

enum { TEXT_MAX = EXECUTION_KEY_ID_MAX + EXECUTION_KEY_SECRET_MAX };

/* A PEM text, to its end. */
static bool take_pem(const char *text, char *ret, size_t size)
{
    size_t n = strlen(text);
    if (strncmp(text, PEM, strlen(PEM)) != 0 || n >= size || !strstr(text, "-----END "))
        return false;
    memcpy(ret, text, n + 1);
    return true;
}

static int read_pem(char *text, struct execution_keys *ret, char *err, size_t err_size)
{
    static const struct credential_kind kind = {"execution_keys", "an Ed25519 private key, PEM, is",
                                                "a PEM file is"};
    char path[CREDENTIAL_PATH_MAX], name[EXECUTION_KEY_SECRET_MAX];
    memcpy(name, ret->secret, sizeof name);
    ssize_t n = daemon_credential_read(&kind, name, text, TEXT_MAX, path, err, err_size);
    if (n < 0)
        return (int)n;
    if ((size_t)n == strlen(text) && take_pem(text, ret->secret, sizeof ret->secret))
        return 0;
    return fail_with(-EINVAL, err, err_size, "execution_keys: %.300s: an Ed25519 private key, PEM, is needed",
                     path);
}

static int read_both(const char *name, char *text, struct execution_keys *ret, char *err, size_t err_size)
{
    static const struct credential_kind kind = {"execution_keys", "two lines, id and secret, are",
                                                "a file of two lines, id and secret, is"};
    char path[CREDENTIAL_PATH_MAX];
    ssize_t n = daemon_credential_read(&kind, name, text, TEXT_MAX, path, err, err_size);
    if (n < 0)
        return (int)n;
    const char *at =
        (size_t)n == strlen(text) ? daemon_credential_take_line(text, ret->id, sizeof ret->id) : NULL;
    if (at && take_pem(at, ret->secret, sizeof ret->secret))
        return 0;
    at = at ? daemon_credential_take_line(at, ret->secret, sizeof ret->secret) : NULL;
    if (at && *at == '\0')
        return ret->secret[0] == '/' ? read_pem(text, ret, err, err_size) : 0;
    return fail_with(-EINVAL, err, err_size,
                     "execution_keys: %.300s: two lines, id and secret, of at most %d characters are needed",
                     path, EXECUTION_KEY_ID_MAX - 1);
}

int daemon_execution_keys_read(const char *name, struct execution_keys *ret, char *err, size_t err_size)
{
    char *text = net_secret_alloc(TEXT_MAX);
    if (!text)
        return fail_with(-ENOMEM, err, err_size, "execution_keys: out of memory");
    *ret = (struct execution_keys){0};
    int r = read_both(name, text, ret, err, err_size);
    net_secret_free(text);
    if (r < 0)
        explicit_bzero(ret, sizeof *ret);
    return r;
}
