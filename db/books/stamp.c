#include "db/books/stamp.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ts.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "db/books/head.h"
#include "db/books/sign.h"
#include "exchange/fail.h"

enum { HASH_SIZE = 32 };
#define STAMP     "stamp"
#define LATEST_NS (INT64_C(3600) * 1000000000)

struct db_stamp_authority {
    X509_STORE *store;
};

/* OpenSSL's newest reason, and forgets it. */
static const char *reason(void)
{
    unsigned long error = ERR_peek_error();
    const char *words = error ? ERR_reason_error_string(error) : NULL;
    ERR_clear_error();
    return words ? words : "not understood";
}

int db_stamp_authority_read(const char *path, struct db_stamp_authority **ret, char *err, size_t err_size)
{
    struct db_stamp_authority *authority = calloc(1, sizeof *authority);
    if (authority)
        authority->store = X509_STORE_new();
    if (!authority || !authority->store) {
        free(authority);
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    }
    if (X509_STORE_load_file(authority->store, path) == 1) {
        *ret = authority;
        return 0;
    }
    ERR_clear_error();
    db_stamp_authority_free(authority);
    return fail_with(-EINVAL, err, err_size, "%.300s: certificates in PEM are needed", path);
}

void db_stamp_authority_free(struct db_stamp_authority *authority)
{
    if (authority)
        X509_STORE_free(authority->store);
    free(authority);
}

static bool hash_of(const char *line, size_t len, uint8_t ret[static HASH_SIZE])
{
    return EVP_Digest(line, len, ret, NULL, EVP_sha256(), NULL) == 1;
}

/* ---- requests ---- */

static bool set_imprint(TS_REQ *request, const char *line)
{
    uint8_t hash[HASH_SIZE];
    X509_ALGOR *algorithm = X509_ALGOR_new();
    TS_MSG_IMPRINT *imprint = TS_MSG_IMPRINT_new();
    bool good = algorithm && imprint && hash_of(line, strlen(line), hash) &&
                X509_ALGOR_set0(algorithm, OBJ_nid2obj(NID_sha256), V_ASN1_NULL, NULL) == 1 &&
                TS_MSG_IMPRINT_set_algo(imprint, algorithm) == 1 &&
                TS_MSG_IMPRINT_set_msg(imprint, hash, sizeof hash) == 1 &&
                TS_REQ_set_msg_imprint(request, imprint) == 1;
    X509_ALGOR_free(algorithm);
    TS_MSG_IMPRINT_free(imprint);
    return good;
}

/* With the authority's certificate asked for, so that the reply can be checked alone. */
static TS_REQ *request_of(const char *line, uint64_t nonce)
{
    TS_REQ *request = TS_REQ_new();
    ASN1_INTEGER *number = ASN1_INTEGER_new();
    bool good = request && number && TS_REQ_set_version(request, 1) == 1 && set_imprint(request, line) &&
                ASN1_INTEGER_set_uint64(number, nonce) == 1 && TS_REQ_set_nonce(request, number) == 1 &&
                TS_REQ_set_cert_req(request, 1) == 1;
    ASN1_INTEGER_free(number);
    if (good)
        return request;
    TS_REQ_free(request);
    return NULL;
}

uint8_t *db_stamp_request(const char *line, uint64_t nonce, size_t *ret_n)
{
    TS_REQ *request = request_of(line, nonce);
    int n = request ? i2d_TS_REQ(request, NULL) : -1;
    uint8_t *bytes = n > 0 ? malloc((size_t)n) : NULL, *at = bytes;
    if (bytes)
        n = i2d_TS_REQ(request, &at);
    TS_REQ_free(request);
    *ret_n = bytes ? (size_t)n : 0;
    return bytes;
}

/* ---- replies ---- */

static TS_RESP *parse(const uint8_t *reply, size_t n)
{
    const uint8_t *at = reply;
    TS_RESP *response = d2i_TS_RESP(NULL, &at, (long)n);
    if (response && at != reply + n) {
        TS_RESP_free(response);
        response = NULL;
    }
    ERR_clear_error();
    return response;
}

int db_stamp_reply(const char *line, uint64_t nonce, const uint8_t *reply, size_t n, char *err,
                   size_t err_size)
{
    TS_RESP *response = parse(reply, n);
    TS_REQ *request = response ? request_of(line, nonce) : NULL;
    TS_VERIFY_CTX *ctx = request ? TS_REQ_to_TS_VERIFY_CTX(request, NULL) : NULL;
    int r = 0;
    if (!response)
        r = fail_with(-EBADMSG, err, err_size, "the reply is no time stamp's");
    else if (!ctx)
        r = fail_with(-ENOMEM, err, err_size, "out of memory");
    else {
        /* The signature is checked where the authority's certificate is known. */
        TS_VERIFY_CTX_set_flags(ctx, TS_VFY_VERSION | TS_VFY_IMPRINT | TS_VFY_NONCE);
        if (TS_RESP_verify_response(ctx, response) != 1)
            r = fail_with(-EBADMSG, err, err_size, "the reply: %s", reason());
    }
    TS_VERIFY_CTX_free(ctx);
    TS_REQ_free(request);
    TS_RESP_free(response);
    return r;
}

char *db_stamp_put(const char *line, const uint8_t *reply, size_t n)
{
    return db_sign_put(line, strlen(line), STAMP, reply, n);
}

/* ---- checks ---- */

static bool time_of(TS_RESP *response, int64_t *ret_ns)
{
    struct tm tm;
    TS_TST_INFO *info = TS_RESP_get_tst_info(response);
    if (!info || ASN1_TIME_to_tm(TS_TST_INFO_get_time(info), &tm) != 1)
        return false;
    *ret_ns = (int64_t)timegm(&tm) * 1000000000;
    return true;
}

/* Of the text of that length: its imprint, and the authority's signature with its certificates. */
static int verify(const struct db_stamp_authority *authority, TS_RESP *response, const char *text, size_t len,
                  char *err, size_t err_size)
{
    uint8_t *hash = OPENSSL_malloc(HASH_SIZE);
    TS_VERIFY_CTX *ctx = hash ? TS_VERIFY_CTX_new() : NULL;
    if (!ctx || !hash_of(text, len, hash) || X509_STORE_up_ref(authority->store) != 1) {
        OPENSSL_free(hash);
        TS_VERIFY_CTX_free(ctx);
        return -ENOMEM;
    }
    TS_VERIFY_CTX_set_flags(ctx, TS_VFY_VERSION | TS_VFY_IMPRINT | TS_VFY_SIGNATURE);
    TS_VERIFY_CTX_set_imprint(ctx, hash, HASH_SIZE); /* takes it */
    TS_VERIFY_CTX_set_store(ctx, authority->store);  /* takes it */
    int r =
        TS_RESP_verify_response(ctx, response) == 1 ? 0 : fail_with(-EBADMSG, err, err_size, "%s", reason());
    TS_VERIFY_CTX_free(ctx);
    return r;
}

static int check_time(int64_t stamped_ns, int64_t ts_ns, char *err, size_t err_size)
{
    char stamped[DB_HEAD_TIME_MAX], said[DB_HEAD_TIME_MAX];
    if (stamped_ns - ts_ns <= LATEST_NS && ts_ns - stamped_ns <= LATEST_NS)
        return 0;
    return fail_with(-EBADMSG, err, err_size, "it is of %s, and the anchor says %s",
                     db_head_time(stamped_ns, stamped), db_head_time(ts_ns, said));
}

int db_stamp_check(const struct db_stamp_authority *authority, const char *line, size_t len, int64_t ts_ns,
                   int64_t *ret_ns, char *err, size_t err_size)
{
    size_t body, n;
    uint8_t *bytes;
    if (!db_sign_take(line, len, STAMP, &body, &bytes, &n))
        return 0;
    TS_RESP *response = parse(bytes, n);
    char *text = malloc(body + 1);
    int64_t stamped_ns;
    int r = text ? 0 : -ENOMEM;
    if (text && !response)
        r = fail_with(-EBADMSG, err, err_size, "it is no reply of RFC 3161");
    if (r == 0) {
        memcpy(text, line, body);
        text[body] = '}';
        r = verify(authority, response, text, body + 1, err, err_size);
    }
    if (r == 0 && !time_of(response, &stamped_ns))
        r = fail_with(-EBADMSG, err, err_size, "it has no time");
    if (r == 0)
        r = check_time(stamped_ns, ts_ns, err, err_size);
    if (r == 0)
        *ret_ns = stamped_ns;
    free(text);
    free(bytes);
    TS_RESP_free(response);
    return r < 0 ? r : 1;
}
