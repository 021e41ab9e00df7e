/* Signatures of requests: HMAC-SHA256 by a secret, or Ed25519 by a private key. Pure, except for the memory
 * of the keys, which is secret. */
#ifndef EXCHANGE_BINANCE_ACCOUNT_SIGN_H
#define EXCHANGE_BINANCE_ACCOUNT_SIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "exchange/venue.h"

enum {
    BINANCE_KEY_ID_MAX = 129,
    BINANCE_SIGNATURE_MAX = 89, /* base64 of 64 bytes; HMAC's 64 hexadecimal digits are shorter */
};

struct binance_signer;

/* 0; -EINVAL for keys that are none: no id, one with characters that no key has, no secret, a PEM that is not
 * an Ed25519 private key or needs a password; -ENOMEM. The keys are copied. */
int binance_signer_create(const struct venue_keys *keys, struct binance_signer **ret);
void binance_signer_destroy(struct binance_signer *signer); /* NULL is fine */

const char *binance_signer_id(const struct binance_signer *signer);
/* Ed25519: only such a key can log a session on. */
bool binance_signer_logs_on(const struct binance_signer *signer);

/* Of payload[0..len): 64 hexadecimal digits, or 88 characters of base64 that a URL needs encoded. False
 * without memory. */
bool binance_sign(const struct binance_signer *signer, const char *payload, size_t len,
                  char ret[static BINANCE_SIGNATURE_MAX]);

#endif
