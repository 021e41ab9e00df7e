#include "exchange/binance/account/sign.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>

#include "exchange/net/secret.h"

enum {
    SECRET_MAX = 4096,
    ED25519_BYTES = 64,
};

struct binance_signer {
    char id[BINANCE_KEY_ID_MAX];
    size_t len;
    char secret[SECRET_MAX]; /* HMAC's; of Ed25519 `pkey` has it */
    EVP_PKEY *pkey;
};

/* No prompt of OpenSSL's. */
static int no_password(char *buf, int size, int rwflag, void *user)
{
    (void)buf, (void)size, (void)rwflag, (void)user;
    return -1;
}

static EVP_PKEY *read_pem(const char *secret, size_t len)
{
    BIO *in = BIO_new_mem_buf(secret, (int)len);
    EVP_PKEY *pkey = in ? PEM_read_bio_PrivateKey(in, NULL, no_password, NULL) : NULL;
    BIO_free(in);
    if (pkey && EVP_PKEY_get_base_id(pkey) == EVP_PKEY_ED25519)
        return pkey;
    EVP_PKEY_free(pkey);
    return NULL;
}

static bool id_valid(const char *id)
{
    static const char legal[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t len = strlen(id);
    return len > 0 && len < BINANCE_KEY_ID_MAX && strspn(id, legal) == len;
}

int binance_signer_create(const struct venue_keys *keys, struct binance_signer **ret)
{
    static const char pem[] = "-----BEGIN";
    size_t len = keys->secret ? strlen(keys->secret) : 0;
    if (!keys->id || !id_valid(keys->id) || len == 0 || len >= SECRET_MAX)
        return -EINVAL;
    struct binance_signer *signer = net_secret_alloc(sizeof(*signer));
    if (!signer)
        return -ENOMEM;
    strcpy(signer->id, keys->id);
    if (strncmp(keys->secret, pem, sizeof(pem) - 1) == 0) {
        signer->pkey = read_pem(keys->secret, len);
        if (!signer->pkey) {
            binance_signer_destroy(signer);
            return -EINVAL;
        }
    } else {
        memcpy(signer->secret, keys->secret, len);
        signer->len = len;
    }
    *ret = signer;
    return 0;
}

void binance_signer_destroy(struct binance_signer *signer)
{
    if (signer)
        EVP_PKEY_free(signer->pkey);
    net_secret_free(signer);
}

const char *binance_signer_id(const struct binance_signer *signer)
{
    return signer->id;
}

bool binance_signer_logs_on(const struct binance_signer *signer)
{
    return signer->pkey != NULL;
}

static bool sign_hmac(const struct binance_signer *signer, const char *payload, size_t len,
                      char ret[static BINANCE_SIGNATURE_MAX])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (!HMAC(EVP_sha256(), signer->secret, (int)signer->len, (const unsigned char *)payload, len, sum, &n) ||
        2 * n >= BINANCE_SIGNATURE_MAX)
        return false;
    for (unsigned i = 0; i < n; i++)
        snprintf(ret + 2 * i, 3, "%02x", sum[i]);
    return true;
}

static bool sign_ed25519(const struct binance_signer *signer, const char *payload, size_t len,
                         char ret[static BINANCE_SIGNATURE_MAX])
{
    unsigned char raw[ED25519_BYTES];
    size_t n = sizeof(raw);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, signer->pkey) == 1 &&
                EVP_DigestSign(ctx, raw, &n, (const unsigned char *)payload, len) == 1 && n == sizeof(raw);
    EVP_MD_CTX_free(ctx);
    if (good)
        EVP_EncodeBlock((unsigned char *)ret, raw, (int)n);
    return good;
}

bool binance_sign(const struct binance_signer *signer, const char *payload, size_t len,
                  char ret[static BINANCE_SIGNATURE_MAX])
{
    return signer->pkey ? sign_ed25519(signer, payload, len, ret) : sign_hmac(signer, payload, len, ret);
}
