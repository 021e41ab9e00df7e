/* API keys that a replay knows, from the file of --keys: who may trade, and what a signature is checked
 * with. */
#ifndef EXCHANGE_REPLAY_BROKER_KEYS_H
#define EXCHANGE_REPLAY_BROKER_KEYS_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>

enum { KEYS_MAX = 64, KEYS_NAME_MAX = 80, KEYS_SECRET_MAX = 160, KEYS_ERROR_MAX = 512 };

struct replay_key {
    char name[KEYS_NAME_MAX];
    char secret[KEYS_SECRET_MAX]; /* HMAC; "" with `public` */
    EVP_PKEY *public;             /* Ed25519 */
    bool trades;                  /* else it only reads */
};

struct replay_keys {
    struct replay_key keys[KEYS_MAX];
    size_t n; /* 0: no file: every key is known, and nothing that it signs is checked */
};

/* A key a line, `#` begins a comment:
 *     KEY hmac SECRET [read-only]
 *     KEY ed25519 FILE.pem [read-only]      the public key
 * 0, or -EINVAL, -ENOENT … with "FILE:LINE: what is wrong: what would be right". */
int replay_keys_read(const char *path, struct replay_keys *ret, char error[static KEYS_ERROR_MAX]);
void replay_keys_finish(struct replay_keys *keys);

/* NULL: it is not known. */
const struct replay_key *replay_keys_find(const struct replay_keys *keys, const char *name);

/* Is `signature` the key's of the payload: HMAC-SHA256 in hexadecimal digits of either case, or Ed25519's 64
 * bytes in base64? */
bool replay_key_has_signed(const struct replay_key *key, const char *payload, size_t len,
                           const char *signature);

#endif
