/* The certificates of one run: what a client verifies. */
#include "exchange/replay/ca.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/scratch.h"

static X509 *read_certificate(const char *pem, size_t len)
{
    BIO *bio = BIO_new_mem_buf(pem, (int)len);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return cert;
}

/* Does `root` vouch for the server's certificate as that of `host` (a name, or an address)? */
static bool verifies(X509 *root, X509 *server, const char *host, bool address)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    X509_VERIFY_PARAM *param;
    bool ok = X509_STORE_add_cert(store, root) == 1 && X509_STORE_CTX_init(ctx, store, server, NULL) == 1;
    if (ok) {
        param = X509_STORE_CTX_get0_param(ctx);
        X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT); /* as Python 3.13 does */
        X509_VERIFY_PARAM_set_purpose(param, X509_PURPOSE_SSL_SERVER);
        ok = (address ? X509_VERIFY_PARAM_set1_ip_asc(param, host)
                      : X509_VERIFY_PARAM_set1_host(param, host, 0)) == 1 &&
             X509_verify_cert(ctx) == 1;
    }
    X509_STORE_CTX_free(ctx);
    X509_STORE_free(store);
    return ok;
}

int main(void)
{
    char dir[SCRATCH_MAX], path[SCRATCH_PATH_MAX], text[4096];
    struct ca ca, other;
    scratch_make(dir);
    CHECK_INT(replay_ca_make(&ca, false), 0);
    CHECK_INT(replay_ca_make(&other, false), 0);
    X509 *root = read_certificate(ca.ca_pem, ca.ca_len),
         *server = read_certificate(ca.server_pem, ca.server_len);
    X509 *stranger = read_certificate(other.ca_pem, other.ca_len);
    CHECK(root && server && stranger);
    CHECK(verifies(root, server, "127.0.0.1", true));
    CHECK(verifies(root, server, "::1", true));
    CHECK(verifies(root, server, "localhost", false));
    CHECK(!verifies(root, server, "127.0.0.2", true));
    CHECK(!verifies(root, server, "example.com", false));
    CHECK(!verifies(stranger, server, "127.0.0.1", true));

    BIO *bio = BIO_new_mem_buf(ca.key_pem, (int)ca.key_len);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    CHECK(key && X509_check_private_key(server, key) == 1);
    EVP_PKEY_free(key);
    BIO_free(bio);

    snprintf(path, sizeof(path), "%s/ca.pem", dir);
    CHECK_INT(replay_ca_write(&other, path), 0);
    CHECK_INT(replay_ca_write(&ca, path), 0); /* over the old one */
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof(text), f) : 0;
    CHECK(n == ca.ca_len && memcmp(text, ca.ca_pem, n) == 0);
    CHECK(memmem(text, n, "PRIVATE KEY", 11) == NULL);
    if (f)
        fclose(f);
    struct stat st;
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0644);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(dir), 0); /* and nothing else was left there */
    CHECK(replay_ca_write(&ca, path) < 0);

    X509_free(root);
    X509_free(server);
    X509_free(stranger);
    replay_ca_finish(&ca);
    replay_ca_finish(&other);
    return check_done("ca");
}
