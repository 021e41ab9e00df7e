/* The keys of an account at a venue: two lines, id and secret, of a systemd credential or a file that only
 * its owner may read. In place of the secret stands an Ed25519 private key: its PEM text from the second line
 * on, or the path of a file with it. */
#ifndef DAEMON_EXECUTION_ACCOUNT_KEYS_H
#define DAEMON_EXECUTION_ACCOUNT_KEYS_H

#include <stddef.h>

enum { EXECUTION_KEY_ID_MAX = 256, EXECUTION_KEY_SECRET_MAX = 1024 };

/* In memory of net_secret_alloc() (exchange/net/secret.h), the caller's. */
struct execution_keys {
    char id[EXECUTION_KEY_ID_MAX], secret[EXECUTION_KEY_SECRET_MAX];
};

/* 0; or -errno as feed_keys_read(), with one line that quotes nothing of a file. */
int daemon_execution_keys_read(const char *name, struct execution_keys *ret, char *err, size_t err_size);

#endif
