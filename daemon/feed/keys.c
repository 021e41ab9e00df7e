#include "daemon/feed/keys.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/credential.h"
#include "exchange/fail.h"
#include "exchange/net/secret.h"

enum { TEXT_MAX = 2 * FEED_KEY_MAX + 8 };

void feed_keys_forget(struct feed_keys *keys)
{
    explicit_bzero(keys, sizeof *keys);
}

int feed_keys_read(const char *name, struct feed_keys *ret, char *err, size_t err_size)
{
    static const struct credential_kind kind = {"keys", "two lines, id and secret, are",
                                                "a file of two lines, id and secret, is"};
    char path[CREDENTIAL_PATH_MAX];
    char *text = net_secret_alloc(TEXT_MAX);
    if (!text)
        return fail_with(-ENOMEM, err, err_size, "keys: out of memory");
    ssize_t n = daemon_credential_read(&kind, name, text, TEXT_MAX, path, err, err_size);
    *ret = (struct feed_keys){0};
    const char *at = n >= 0 ? daemon_credential_take_line(text, ret->id, sizeof ret->id) : NULL;
    at = at ? daemon_credential_take_line(at, ret->secret, sizeof ret->secret) : NULL;
    bool good = at && at == text + n;
    net_secret_free(text);
    if (good)
        return 0;
    feed_keys_forget(ret);
    if (n < 0)
        return (int)n;
    return fail_with(-EINVAL, err, err_size,
                     "keys: %.300s: two lines, id and secret, of at most %d characters are needed", path,
                     FEED_KEY_MAX - 1);
}
