/* libcrypto, at its first use: its relocations take longer than all else of a dashboard's start. */
#define OPENSSL_SUPPRESS_DEPRECATED /* SHA256_Init() and its like, record/ledger_row.c */

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>

#include "exchange/lazy_library.h"

static struct lazy_library lib = {.file = "libcrypto.so.3"};

LAZY(lib, int, ASN1_TIME_to_tm, (const ASN1_TIME *s, struct tm *tm), (s, tm))
LAZY(lib, int, BIO_free, (BIO * a), (a))
LAZY(lib, BIO *, BIO_new_mem_buf, (const void *buf, int len), (buf, len))
LAZY(lib, unsigned long, ERR_peek_error, (void), ())
LAZY(lib, const char *, ERR_reason_error_string, (unsigned long e), (e))
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
LAZY(lib, void, OPENSSL_thread_stop, (void), ())
LAZY(lib, unsigned int, OPENSSL_version_major, (void), ())
LAZY(lib, unsigned int, OPENSSL_version_minor, (void), ())
LAZY(lib, unsigned int, OPENSSL_version_patch, (void), ())
LAZY(lib, EVP_PKEY *, PEM_read_bio_PrivateKey, (BIO * out, EVP_PKEY **x, pem_password_cb *cb, void *u),
     (out, x, cb, u))
LAZY(lib, unsigned char *, SHA256, (const unsigned char *d, size_t n, unsigned char *md), (d, n, md))
LAZY(lib, int, SHA256_Final, (unsigned char *md, SHA256_CTX *c), (md, c))
LAZY(lib, int, SHA256_Init, (SHA256_CTX * c), (c))
LAZY(lib, int, SHA256_Update, (SHA256_CTX * c, const void *data, size_t len), (c, data, len))
LAZY(lib, char *, X509_NAME_oneline, (const X509_NAME *a, char *buf, int size), (a, buf, size))
LAZY(lib, X509 *, X509_STORE_CTX_get_current_cert, (const X509_STORE_CTX *ctx), (ctx))
LAZY(lib, int, X509_STORE_CTX_get_error, (const X509_STORE_CTX *ctx), (ctx))
LAZY(lib, int, X509_STORE_CTX_get_error_depth, (const X509_STORE_CTX *ctx), (ctx))
LAZY(lib, void, X509_STORE_free, (X509_STORE * v), (v))
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
