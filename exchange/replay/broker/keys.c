#include "exchange/replay/broker/keys.h"

#include <errno.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static int bad(const char *path, int line, const char *what, char error[static KEYS_ERROR_MAX])
{
    snprintf(error, KEYS_ERROR_MAX,
             "%s:%d: %s: a line is KEY hmac SECRET or KEY ed25519 FILE.pem, and then maybe read-only", path,
             line, what);
    return -EINVAL;
}

static EVP_PKEY *read_public(const char *path)
{
    FILE *in = fopen(path, "re");
    EVP_PKEY *key = in ? PEM_read_PUBKEY(in, NULL, NULL, NULL) : NULL;
    if (in)
        fclose(in);
    if (key && EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    return key;
}

static int bad_pem(const char *path, int line, const char *pem, char error[static KEYS_ERROR_MAX])
{
    FILE *in = fopen(pem, "re");
    snprintf(error, KEYS_ERROR_MAX, "%.200s:%d: %.160s: %s: a file with an Ed25519 public key (PEM) is right",
             path, line, pem, in ? "no such key is in it" : strerror(errno));
    if (in)
        fclose(in);
    return -EINVAL;
}

static int read_line(char *text, const char *path, int line, struct replay_keys *ret,
                     char error[static KEYS_ERROR_MAX])
{
    static const char blanks[] = " \t\r\n";
    char *rest = NULL, *words[4] = {0};
    int n = 0;
    for (char *word = strtok_r(text, blanks, &rest); word && *word != '#';
         word = strtok_r(NULL, blanks, &rest))
        if (n < 4)
            words[n++] = word;
        else
            return bad(path, line, "there is more than four words", error);
    if (n == 0)
        return 0;
    if (n < 3 || (n == 4 && strcmp(words[3], "read-only") != 0))
        return bad(path, line, n < 3 ? "a word is missing" : words[3], error);
    if (ret->n == KEYS_MAX)
        return bad(path, line, "these are more than 64 keys", error);
    if (replay_keys_find(ret, words[0]))
        return bad(path, line, "that key is there already", error);
    struct replay_key *key = &ret->keys[ret->n];
    *key = (struct replay_key){.trades = n == 3};
    if (strlen(words[0]) >= sizeof(key->name) || strlen(words[2]) >= sizeof(key->secret))
        return bad(path, line, "a word is too long", error);
    strcpy(key->name, words[0]);
    if (strcmp(words[1], "hmac") == 0)
        strcpy(key->secret, words[2]);
    else if (strcmp(words[1], "ed25519") != 0)
        return bad(path, line, words[1], error);
    else if (!(key->public = read_public(words[2])))
        return bad_pem(path, line, words[2], error);
    ret->n++;
    return 0;
}

int replay_keys_read(const char *path, struct replay_keys *ret, char error[static KEYS_ERROR_MAX])
{
    char text[1024];
    FILE *in = fopen(path, "re");
    int r = 0;
    *ret = (struct replay_keys){0};
    if (!in) {
        r = -errno;
        snprintf(error, KEYS_ERROR_MAX, "%s: %s: a file with a key a line is right", path, strerror(errno));
        return r;
    }
    for (int line = 1; r == 0 && fgets(text, sizeof(text), in); line++)
        r = read_line(text, path, line, ret, error);
    fclose(in);
    if (r == 0 && ret->n == 0)
        r = bad(path, 1, "there is no key in it", error);
    if (r < 0)
        replay_keys_finish(ret);
    return r;
}

void replay_keys_finish(struct replay_keys *keys)
{
    for (size_t i = 0; i < keys->n; i++)
        EVP_PKEY_free(keys->keys[i].public);
    keys->n = 0;
}

const struct replay_key *replay_keys_find(const struct replay_keys *keys, const char *name)
{
    for (size_t i = 0; i < keys->n; i++)
        if (strcmp(keys->keys[i].name, name) == 0)
            return &keys->keys[i];
    return NULL;
}

static bool has_hmac(const struct replay_key *key, const char *payload, size_t len, const char *signature)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char text[2 * EVP_MAX_MD_SIZE + 1];
    if (!HMAC(EVP_sha256(), key->secret, (int)strlen(key->secret), (const unsigned char *)payload, len, sum,
              &n))
        return false;
    for (unsigned i = 0; i < n; i++)
        snprintf(text + 2 * i, 3, "%02x", sum[i]);
    return strcasecmp(text, signature) == 0;
}

static bool has_ed25519(const struct replay_key *key, const char *payload, size_t len, const char *signature)
{
    enum { BASE64 = 88, BYTES = 66 }; /* of 64 bytes, and what the decoder writes for them */
    unsigned char raw[BYTES];
    if (strlen(signature) != BASE64 ||
        EVP_DecodeBlock(raw, (const unsigned char *)signature, BASE64) != BYTES)
        return false;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key->public) == 1 &&
                EVP_DigestVerify(ctx, raw, 64, (const unsigned char *)payload, len) == 1;
    EVP_MD_CTX_free(ctx);
    return good;
}

bool replay_key_has_signed(const struct replay_key *key, const char *payload, size_t len,
                           const char *signature)
{
    return key->public ? has_ed25519(key, payload, len, signature) : has_hmac(key, payload, len, signature);
}
