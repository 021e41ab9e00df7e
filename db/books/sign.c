#include "db/books/sign.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "exchange/net/secret.h"

enum { PEM_MAX = 16 << 10, SIGNATURE_SIZE = 64 };
#define SIGNATURE "signature"

struct db_sign_key {
    EVP_PKEY *pkey;
};

/* ---- keys ---- */

/* No password is asked for. */
static int no_password(char *buf, int size, int writing, void *ctx)
{
    (void)buf;
    (void)size;
    (void)writing;
    (void)ctx;
    return -1;
}

int db_sign_key_parse(const char *pem, size_t len, bool public_, struct db_sign_key **ret, char *err,
                      size_t err_size)
{
    struct db_sign_key *key = calloc(1, sizeof *key);
    BIO *bio = key ? BIO_new_mem_buf(pem, (int)len) : NULL;
    if (!bio) {
        free(key);
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    }
    key->pkey = public_ ? PEM_read_bio_PUBKEY(bio, NULL, no_password, NULL)
                        : PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
    BIO_free(bio);
    if (key->pkey && EVP_PKEY_get_base_id(key->pkey) == EVP_PKEY_ED25519) {
        *ret = key;
        return 0;
    }
    db_sign_key_free(key);
    return fail_with(-EINVAL, err, err_size, "%s",
                     public_
                         ? "an Ed25519 public key in PEM is needed: openssl pkey -in KEY -pubout"
                         : "an Ed25519 private key in PEM, without a password, is needed: openssl genpkey "
                           "-algorithm ed25519");
}

static int check_file(const char *what, const char *path, int fd, bool public_, char *err, size_t err_size)
{
    struct stat file;
    if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode))
        return fail_with(-EINVAL, err, err_size, "%s: %.300s: is no file", what, path);
    return public_ ? 0 : net_secret_check_file(&file, what, path, err, err_size);
}

int db_sign_key_read(const char *what, const char *path, bool public_, struct db_sign_key **ret, char *err,
                     size_t err_size)
{
    char words[256], *pem = net_secret_alloc(PEM_MAX);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r = fd < 0 ? -errno : 0;
    if (r < 0)
        snprintf(err, err_size, "%s: %.300s: %s", what, path, strerror(-r));
    else if (!pem)
        r = fail_with(-ENOMEM, err, err_size, "out of memory");
    else
        r = check_file(what, path, fd, public_, err, err_size);
    ssize_t n = r == 0 ? read(fd, pem, PEM_MAX) : 0;
    if (r == 0 && n < 0)
        r = fail_with(-errno, err, err_size, "%s: %.300s: it cannot be read", what, path);
    if (r == 0 && (r = db_sign_key_parse(pem, (size_t)n, public_, ret, words, sizeof words)) < 0)
        snprintf(err, err_size, "%s: %.300s: %s", what, path, words);
    if (fd >= 0)
        close(fd);
    net_secret_free(pem);
    return r;
}

void db_sign_key_free(struct db_sign_key *key)
{
    if (key)
        EVP_PKEY_free(key->pkey);
    free(key);
}

/* ---- members at a line's end ---- */

char *db_sign_put(const char *line, size_t len, const char *name, const uint8_t *bytes, size_t n)
{
    size_t room = len + strlen(name) + (n + 2) / 3 * 4 + 16;
    char *text = len > 0 ? malloc(room) : NULL;
    if (!text)
        return NULL;
    memcpy(text, line, len - 1);
    size_t at = len - 1 + (size_t)sprintf(text + len - 1, ",\"%s\":\"", name);
    at += (size_t)EVP_EncodeBlock((unsigned char *)text + at, bytes, (int)n);
    memcpy(text + at, "\"}", 3);
    return text;
}

static uint8_t *decode(const char *text, size_t len, size_t *ret_n)
{
    uint8_t *bytes = len > 0 && len % 4 == 0 ? malloc(len / 4 * 3 + 1) : NULL;
    int n = bytes ? EVP_DecodeBlock(bytes, (const unsigned char *)text, (int)len) : -1;
    if (n < 0) {
        free(bytes);
        return NULL;
    }
    *ret_n = (size_t)n - (text[len - 1] == '=') - (text[len - 2] == '=');
    return bytes;
}

bool db_sign_take(const char *line, size_t len, const char *name, size_t *ret_len, uint8_t **ret_bytes,
                  size_t *ret_n)
{
    char mark[64];
    size_t n = (size_t)snprintf(mark, sizeof mark, ",\"%s\":\"", name);
    const char *at = memmem(line, len, mark, n);
    if (!at || len < 2 || memcmp(line + len - 2, "\"}", 2) != 0)
        return false;
    const char *text = at + n, *end = memchr(text, '"', (size_t)(line + len - text));
    uint8_t *bytes = end == line + len - 2 ? decode(text, (size_t)(end - text), ret_n) : NULL;
    if (!bytes)
        return false;
    *ret_len = (size_t)(at - line);
    *ret_bytes = bytes;
    return true;
}

/* ---- signatures ---- */

char *db_sign_line(const struct db_sign_key *key, const char *line)
{
    uint8_t signature[SIGNATURE_SIZE];
    size_t n = sizeof signature, len = strlen(line);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key->pkey) == 1 &&
                EVP_DigestSign(ctx, signature, &n, (const unsigned char *)line, len) == 1;
    EVP_MD_CTX_free(ctx);
    return good ? db_sign_put(line, len, SIGNATURE, signature, n) : NULL;
}

static bool verify(const struct db_sign_key *key, const char *text, size_t len, const uint8_t *signature,
                   size_t n)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key->pkey) == 1 &&
                EVP_DigestVerify(ctx, signature, n, (const unsigned char *)text, len) == 1;
    EVP_MD_CTX_free(ctx);
    return good;
}

int db_sign_check(const struct db_sign_key *key, const char *line, size_t len)
{
    size_t body, n;
    uint8_t *bytes = NULL;
    char *text = malloc(len + 2);
    if (!text)
        return -ENOMEM;
    memcpy(text, line, len);
    if (db_sign_take(text, len, "stamp", &body, &bytes, &n)) { /* it is of the line before it */
        free(bytes);
        text[body] = '}';
        len = body + 1;
    }
    int r = 0;
    if (db_sign_take(text, len, SIGNATURE, &body, &bytes, &n)) {
        text[body] = '}';
        r = verify(key, text, body + 1, bytes, n) ? 1 : -EBADMSG;
        free(bytes);
    }
    free(text);
    return r;
}
