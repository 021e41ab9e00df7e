#include "exchange/replay/ca.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/whole_file.h"

enum {
    VALID_BEFORE_S = 24 * 3600, /* clocks differ */
    VALID_AFTER_S = 90 * 24 * 3600,
    EXPIRED_S = 3600, /* how long ago it ended, where it is to be expired */
};

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool ok = extension && X509_add_ext(cert, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

static X509 *begin_certificate(EVP_PKEY *key, const char *name, const X509 *issuer, long valid_s)
{
    unsigned char serial[16];
    X509 *cert = X509_new();
    X509_NAME *subject = cert ? X509_get_subject_name(cert) : NULL;
    BIGNUM *number = NULL;
    if (!subject || RAND_bytes(serial, sizeof(serial)) != 1)
        goto fail;
    serial[0] &= 0x7f;
    number = BN_bin2bn(serial, sizeof(serial), NULL);
    if (!number || !BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) ||
        X509_set_version(cert, X509_VERSION_3) != 1 ||
        !X509_gmtime_adj(X509_getm_notBefore(cert), -VALID_BEFORE_S) ||
        !X509_gmtime_adj(X509_getm_notAfter(cert), valid_s) || X509_set_pubkey(cert, key) != 1 ||
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0) !=
            1 ||
        X509_set_issuer_name(cert, issuer ? X509_get_subject_name(issuer) : subject) != 1)
        goto fail;
    BN_free(number);
    return cert;
fail:
    BN_free(number);
    X509_free(cert);
    return NULL;
}

static X509 *make_ca(EVP_PKEY *key)
{
    X509 *cert = begin_certificate(key, "papertape-replay CA", NULL, VALID_AFTER_S);
    if (cert && add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
        add_extension(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign") &&
        add_extension(cert, cert, NID_subject_key_identifier, "hash") &&
        add_extension(cert, cert, NID_authority_key_identifier, "keyid:always") &&
        X509_sign(cert, key, EVP_sha256()) > 0)
        return cert;
    X509_free(cert);
    return NULL;
}

static X509 *make_server(EVP_PKEY *key, X509 *ca, EVP_PKEY *ca_key, bool expired)
{
    X509 *cert = begin_certificate(key, "localhost", ca, expired ? -EXPIRED_S : VALID_AFTER_S);
    if (cert && add_extension(cert, ca, NID_basic_constraints, "critical,CA:FALSE") &&
        add_extension(cert, ca, NID_key_usage, "critical,digitalSignature") &&
        add_extension(cert, ca, NID_ext_key_usage, "serverAuth") &&
        add_extension(cert, ca, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1") &&
        add_extension(cert, ca, NID_subject_key_identifier, "hash") &&
        add_extension(cert, ca, NID_authority_key_identifier, "keyid:always") &&
        X509_sign(cert, ca_key, EVP_sha256()) > 0)
        return cert;
    X509_free(cert);
    return NULL;
}

/* The content of a memory BIO as a string of its own; frees the BIO. */
static char *take_text(BIO *bio, bool written, size_t *ret_len)
{
    char *data, *text = NULL;
    long len = bio && written ? BIO_get_mem_data(bio, &data) : 0;
    if (len > 0 && (text = strndup(data, (size_t)len)))
        *ret_len = (size_t)len;
    BIO_free(bio);
    return text;
}

static char *certificate_text(X509 *cert, size_t *ret_len)
{
    BIO *bio = BIO_new(BIO_s_mem());
    return take_text(bio, bio && PEM_write_bio_X509(bio, cert) == 1, ret_len);
}

static char *key_text(EVP_PKEY *key, size_t *ret_len)
{
    BIO *bio = BIO_new(BIO_s_mem());
    return take_text(bio, bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1, ret_len);
}

int replay_ca_make(struct ca *ret, bool expired)
{
    struct ca out = {0};
    EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *server_key = EVP_EC_gen("P-256");
    X509 *ca = ca_key ? make_ca(ca_key) : NULL;
    X509 *server = ca && server_key ? make_server(server_key, ca, ca_key, expired) : NULL;
    if (server) {
        out.ca_pem = certificate_text(ca, &out.ca_len);
        out.server_pem = certificate_text(server, &out.server_len);
        out.key_pem = key_text(server_key, &out.key_len);
    }
    X509_free(server);
    X509_free(ca);
    EVP_PKEY_free(server_key);
    EVP_PKEY_free(ca_key);
    if (!out.ca_pem || !out.server_pem || !out.key_pem) {
        replay_ca_finish(&out);
        return -EIO;
    }
    *ret = out;
    return 0;
}

void replay_ca_finish(struct ca *ca)
{
    if (ca->key_pem)
        OPENSSL_cleanse(ca->key_pem, ca->key_len);
    free(ca->ca_pem);
    free(ca->server_pem);
    free(ca->key_pem);
    *ca = (struct ca){0};
}

int replay_ca_write(const struct ca *ca, const char *path)
{
    char temporary[PATH_MAX];
    if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary))
        return -ENAMETOOLONG;
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = whole_file_write(fd, ca->ca_pem, ca->ca_len);
    if (rc == 0 && fchmod(fd, 0644) != 0)
        rc = -errno;
    if (close(fd) != 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(temporary, path) != 0)
        rc = -errno;
    if (rc < 0)
        unlink(temporary);
    return rc;
}
