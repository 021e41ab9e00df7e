/* libssl, at its first use: a start of papertape that opens no connection does without. */
#include <openssl/ssl.h>

#include "exchange/lazy_library.h"

static struct lazy_library lib = {.file = "libssl.so.3"};

LAZY(lib, long, SSL_CTX_ctrl, (SSL_CTX * ctx, int cmd, long larg, void *parg), (ctx, cmd, larg, parg))
LAZY(lib, void, SSL_CTX_free, (SSL_CTX * a), (a))
LAZY(lib, X509_VERIFY_PARAM *, SSL_CTX_get0_param, (SSL_CTX * ctx), (ctx))
LAZY(lib, X509_STORE *, SSL_CTX_get_cert_store, (const SSL_CTX *a), (a))
LAZY(lib, int, SSL_CTX_load_verify_file, (SSL_CTX * ctx, const char *CAfile), (ctx, CAfile))
LAZY(lib, SSL_CTX *, SSL_CTX_new, (const SSL_METHOD *meth), (meth))
LAZY(lib, void, SSL_CTX_set1_cert_store, (SSL_CTX * a, X509_STORE *b), (a, b))
LAZY(lib, int, SSL_CTX_set_default_verify_paths, (SSL_CTX * ctx), (ctx))
LAZY(lib, uint64_t, SSL_CTX_set_options, (SSL_CTX * ctx, uint64_t op), (ctx, op))
LAZY(lib, void, SSL_CTX_set_verify, (SSL_CTX * ctx, int mode, SSL_verify_cb callback), (ctx, mode, callback))
LAZY(lib, int, SSL_connect, (SSL * ssl), (ssl))
LAZY(lib, long, SSL_ctrl, (SSL * ssl, int cmd, long larg, void *parg), (ssl, cmd, larg, parg))
LAZY(lib, void, SSL_free, (SSL * ssl), (ssl))
LAZY(lib, X509 *, SSL_get0_peer_certificate, (const SSL *s), (s))
LAZY(lib, int, SSL_get_error, (const SSL *s, int ret_code), (s, ret_code))
LAZY(lib, long, SSL_get_verify_result, (const SSL *ssl), (ssl))
LAZY(lib, int, SSL_has_pending, (const SSL *s), (s))
LAZY(lib, SSL *, SSL_new, (SSL_CTX * ctx), (ctx))
LAZY(lib, void, SSL_set_default_read_buffer_len, (SSL * s, size_t len), (s, len))
LAZY(lib, int, SSL_set_fd, (SSL * s, int fd), (s, fd))
LAZY(lib, void, SSL_set_read_ahead, (SSL * s, int yes), (s, yes))
LAZY(lib, int, SSL_want, (const SSL *s), (s))
LAZY(lib, const SSL_METHOD *, TLS_client_method, (void), ())
