/* libcrypto, at its first use: its relocations take longer than all else of a dashboard's start. */
#define OPENSSL_SUPPRESS_DEPRECATED /* SHA256_Init() and its like, record/ledger_row.c */

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/ts.h>
#include <openssl/x509v3.h>

#include "exchange/lazy_library.h"

static struct lazy_library lib = {.file = "libcrypto.so.3"};

LAZY(lib, int, ASN1_TIME_to_tm, (const ASN1_TIME *s, struct tm *tm), (s, tm))
LAZY(lib, void, ASN1_INTEGER_free, (ASN1_INTEGER * a), (a))
LAZY(lib, ASN1_INTEGER *, ASN1_INTEGER_new, (void), ())
LAZY(lib, int, ASN1_INTEGER_set_uint64, (ASN1_INTEGER * a, uint64_t r), (a, r))
LAZY(lib, int, BIO_free, (BIO * a), (a))
LAZY(lib, BIO *, BIO_new_mem_buf, (const void *buf, int len), (buf, len))
LAZY(lib, void, CRYPTO_free, (void *ptr, const char *file, int line), (ptr, file, line))
LAZY(lib, void *, CRYPTO_malloc, (size_t num, const char *file, int line), (num, file, line))
LAZY(lib, void, ERR_clear_error, (void), ())
LAZY(lib, unsigned long, ERR_peek_error, (void), ())
LAZY(lib, const char *, ERR_reason_error_string, (unsigned long e), (e))
LAZY(lib, int, EVP_DecodeBlock, (unsigned char *t, const unsigned char *f, int n), (t, f, n))
LAZY(lib, int, EVP_Digest,
     (const void *data, size_t count, unsigned char *md, unsigned int *size, const EVP_MD *type,
      ENGINE *impl),
     (data, count, md, size, type, impl))
LAZY(lib, int, EVP_DigestFinal_ex, (EVP_MD_CTX * ctx, unsigned char *md, unsigned int *s), (ctx, md, s))
LAZY(lib, int, EVP_DigestInit_ex, (EVP_MD_CTX * ctx, const EVP_MD *type, ENGINE *impl), (ctx, type, impl))
LAZY(lib, int, EVP_DigestInit_ex2, (EVP_MD_CTX * ctx, const EVP_MD *type, const OSSL_PARAM params[]),
     (ctx, type, params))
LAZY(lib, int, EVP_DigestSign,
     (EVP_MD_CTX * ctx, unsigned char *sigret, size_t *siglen, const unsigned char *tbs, size_t tbslen),
     (ctx, sigret, siglen, tbs, tbslen))
LAZY(lib, int, EVP_DigestSignInit,
     (EVP_MD_CTX * ctx, EVP_PKEY_CTX **pctx, const EVP_MD *type, ENGINE *e, EVP_PKEY *pkey),
     (ctx, pctx, type, e, pkey))
LAZY(lib, int, EVP_DigestUpdate, (EVP_MD_CTX * ctx, const void *d, size_t cnt), (ctx, d, cnt))
LAZY(lib, int, EVP_DigestVerify,
     (EVP_MD_CTX * ctx, const unsigned char *sigret, size_t siglen, const unsigned char *tbs, size_t tbslen),
     (ctx, sigret, siglen, tbs, tbslen))
LAZY(lib, int, EVP_DigestVerifyInit,
     (EVP_MD_CTX * ctx, EVP_PKEY_CTX **pctx, const EVP_MD *type, ENGINE *e, EVP_PKEY *pkey),
     (ctx, pctx, type, e, pkey))
LAZY(lib, int, EVP_EncodeBlock, (unsigned char *t, const unsigned char *f, int n), (t, f, n))
LAZY(lib, void, EVP_MD_CTX_free, (EVP_MD_CTX * ctx), (ctx))
LAZY(lib, EVP_MD_CTX *, EVP_MD_CTX_new, (void), ())
LAZY(lib, EVP_MD *, EVP_MD_fetch, (OSSL_LIB_CTX * ctx, const char *algorithm, const char *properties),
     (ctx, algorithm, properties))
LAZY(lib, void, EVP_MD_free, (EVP_MD * md), (md))
LAZY(lib, void, EVP_PKEY_free, (EVP_PKEY * pkey), (pkey))
LAZY(lib, int, EVP_PKEY_get_base_id, (const EVP_PKEY *pkey), (pkey))
LAZY(lib, const EVP_MD *, EVP_sha256, (void), ())
LAZY(lib, unsigned char *, HMAC,
     (const EVP_MD *evp_md, const void *key, int key_len, const unsigned char *data, size_t data_len,
      unsigned char *md, unsigned int *md_len),
     (evp_md, key, key_len, data, data_len, md, md_len))
LAZY(lib, ASN1_OBJECT *, OBJ_nid2obj, (int n), (n))
LAZY(lib, void, OPENSSL_thread_stop, (void), ())
LAZY(lib, unsigned int, OPENSSL_version_major, (void), ())
LAZY(lib, unsigned int, OPENSSL_version_minor, (void), ())
LAZY(lib, unsigned int, OPENSSL_version_patch, (void), ())
LAZY(lib, EVP_PKEY *, PEM_read_bio_PrivateKey, (BIO * out, EVP_PKEY **x, pem_password_cb *cb, void *u),
     (out, x, cb, u))
LAZY(lib, EVP_PKEY *, PEM_read_bio_PUBKEY, (BIO * out, EVP_PKEY **x, pem_password_cb *cb, void *u),
     (out, x, cb, u))
LAZY(lib, unsigned char *, SHA256, (const unsigned char *d, size_t n, unsigned char *md), (d, n, md))
LAZY(lib, int, SHA256_Final, (unsigned char *md, SHA256_CTX *c), (md, c))
LAZY(lib, int, SHA256_Init, (SHA256_CTX * c), (c))
LAZY(lib, int, SHA256_Update, (SHA256_CTX * c, const void *data, size_t len), (c, data, len))
LAZY(lib, void, TS_MSG_IMPRINT_free, (TS_MSG_IMPRINT * a), (a))
LAZY(lib, TS_MSG_IMPRINT *, TS_MSG_IMPRINT_new, (void), ())
LAZY(lib, int, TS_MSG_IMPRINT_set_algo, (TS_MSG_IMPRINT * a, X509_ALGOR *alg), (a, alg))
LAZY(lib, int, TS_MSG_IMPRINT_set_msg, (TS_MSG_IMPRINT * a, unsigned char *d, int len), (a, d, len))
LAZY(lib, void, TS_REQ_free, (TS_REQ * a), (a))
LAZY(lib, TS_REQ *, TS_REQ_new, (void), ())
LAZY(lib, int, TS_REQ_set_cert_req, (TS_REQ * a, int cert_req), (a, cert_req))
LAZY(lib, int, TS_REQ_set_msg_imprint, (TS_REQ * a, TS_MSG_IMPRINT *imprint), (a, imprint))
LAZY(lib, int, TS_REQ_set_nonce, (TS_REQ * a, const ASN1_INTEGER *nonce), (a, nonce))
LAZY(lib, int, TS_REQ_set_version, (TS_REQ * a, long version), (a, version))
LAZY(lib, TS_VERIFY_CTX *, TS_REQ_to_TS_VERIFY_CTX, (TS_REQ * req, TS_VERIFY_CTX *ctx), (req, ctx))
LAZY(lib, void, TS_RESP_free, (TS_RESP * a), (a))
LAZY(lib, TS_TST_INFO *, TS_RESP_get_tst_info, (TS_RESP * a), (a))
LAZY(lib, int, TS_RESP_verify_response, (TS_VERIFY_CTX * ctx, TS_RESP *response), (ctx, response))
LAZY(lib, const ASN1_GENERALIZEDTIME *, TS_TST_INFO_get_time, (const TS_TST_INFO *a), (a))
LAZY(lib, void, TS_VERIFY_CTX_free, (TS_VERIFY_CTX * ctx), (ctx))
LAZY(lib, TS_VERIFY_CTX *, TS_VERIFY_CTX_new, (void), ())
LAZY(lib, int, TS_VERIFY_CTX_set_flags, (TS_VERIFY_CTX * ctx, int f), (ctx, f))
LAZY(lib, unsigned char *, TS_VERIFY_CTX_set_imprint, (TS_VERIFY_CTX * ctx, unsigned char *hexstr, long len),
     (ctx, hexstr, len))
LAZY(lib, X509_STORE *, TS_VERIFY_CTX_set_store, (TS_VERIFY_CTX * ctx, X509_STORE *s), (ctx, s))
LAZY(lib, void, X509_ALGOR_free, (X509_ALGOR * a), (a))
LAZY(lib, X509_ALGOR *, X509_ALGOR_new, (void), ())
LAZY(lib, int, X509_ALGOR_set0, (X509_ALGOR * alg, ASN1_OBJECT *aobj, int ptype, void *pval),
     (alg, aobj, ptype, pval))
LAZY(lib, char *, X509_NAME_oneline, (const X509_NAME *a, char *buf, int size), (a, buf, size))
LAZY(lib, X509 *, X509_STORE_CTX_get_current_cert, (const X509_STORE_CTX *ctx), (ctx))
LAZY(lib, int, X509_STORE_CTX_get_error, (const X509_STORE_CTX *ctx), (ctx))
LAZY(lib, int, X509_STORE_CTX_get_error_depth, (const X509_STORE_CTX *ctx), (ctx))
LAZY(lib, void, X509_STORE_free, (X509_STORE * v), (v))
LAZY(lib, int, X509_STORE_load_file, (X509_STORE * ctx, const char *file), (ctx, file))
LAZY(lib, X509_STORE *, X509_STORE_new, (void), ())
LAZY(lib, int, X509_STORE_up_ref, (X509_STORE * v), (v))
LAZY(lib, int, X509_VERIFY_PARAM_set1_host, (X509_VERIFY_PARAM * param, const char *name, size_t namelen),
     (param, name, namelen))
LAZY(lib, int, X509_VERIFY_PARAM_set1_ip_asc, (X509_VERIFY_PARAM * param, const char *ipasc), (param, ipasc))
LAZY(lib, void, X509_VERIFY_PARAM_set_hostflags, (X509_VERIFY_PARAM * param, unsigned int flags),
     (param, flags))
LAZY(lib, int, X509_check_host,
     (X509 * x, const char *chk, size_t chklen, unsigned int flags, char **peername),
     (x, chk, chklen, flags, peername))
LAZY(lib, int, X509_check_ip_asc, (X509 * x, const char *ipasc, unsigned int flags), (x, ipasc, flags))
LAZY(lib, const ASN1_TIME *, X509_get0_notAfter, (const X509 *x), (x))
LAZY(lib, const ASN1_TIME *, X509_get0_notBefore, (const X509 *x), (x))
LAZY(lib, X509_NAME *, X509_get_issuer_name, (const X509 *a), (a))
LAZY(lib, const char *, X509_verify_cert_error_string, (long n), (n))
LAZY(lib, TS_RESP *, d2i_TS_RESP, (TS_RESP * *a, const unsigned char **pp, long length), (a, pp, length))
LAZY(lib, int, i2d_TS_REQ, (const TS_REQ *a, unsigned char **pp), (a, pp))
