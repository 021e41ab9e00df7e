#include "tests/net/server.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct peer {
    uv_tcp_t tcp;
    struct server *server;
    struct peer *next;
    SSL *ssl;
    BIO *in, *out;
    char *head; /* what the client sent and was not yet taken */
    size_t len, cap;
    char key[64]; /* Sec-WebSocket-Key of the last request */
    bool upgraded, closing, drop_when_written;
    unsigned writing;
};

struct server {
    uv_tcp_t tcp;
    enum server_kind kind;
    struct server_handler handler;
    SSL_CTX *ctx;
    struct peer *peers;
    unsigned accepted, port;
};

static void must(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "test server: %s\n", what);
        abort();
    }
}

/* Certificates. */

static struct {
    EVP_PKEY *key;
    X509 *cert;
    char file[64];
} ca;

static void add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    must(extension && X509_add_ext(cert, extension, -1), "extension");
    X509_EXTENSION_free(extension);
}

static X509 *make_cert(EVP_PKEY *key, const char *name, X509 *issuer, EVP_PKEY *issuer_key,
                       const char *alt_names, long from_s, long to_s)
{
    static long serial = 1;
    X509 *cert = X509_new();
    must(cert && X509_set_version(cert, 2), "certificate");
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++);
    X509_gmtime_adj(X509_getm_notBefore(cert), from_s);
    X509_gmtime_adj(X509_getm_notAfter(cert), to_s);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC, (const unsigned char *)name,
                               -1, -1, 0);
    X509_set_issuer_name(cert, X509_get_subject_name(issuer ? issuer : cert));
    X509_set_pubkey(cert, key);
    add_extension(cert, issuer ? issuer : cert, NID_basic_constraints,
                  issuer ? "CA:FALSE" : "critical,CA:TRUE");
    if (alt_names)
        add_extension(cert, issuer, NID_subject_alt_name, alt_names);
    must(X509_sign(cert, issuer_key, EVP_sha256()) > 0, "signature");
    return cert;
}

static void make_ca(void)
{
    if (ca.key)
        return;
    ca.key = EVP_EC_gen("P-256");
    ca.cert = make_cert(ca.key, "papertape test CA", NULL, ca.key, NULL, -3600, 3600);
    snprintf(ca.file, sizeof(ca.file), "/tmp/papertape-test-ca-XXXXXX");
    int fd = mkstemp(ca.file);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    must(file && PEM_write_X509(file, ca.cert) && fclose(file) == 0, "CA file");
}

const char *server_ca_file(void)
{
    make_ca();
    return ca.file;
}

void server_forget_ca(void)
{
    unlink(ca.file);
    X509_free(ca.cert);
    EVP_PKEY_free(ca.key);
    memset(&ca, 0, sizeof(ca));
}

static SSL_CTX *make_ctx(enum server_kind kind)
{
    make_ca();
    EVP_PKEY *key = EVP_EC_gen("P-256"), *issuer_key = ca.key;
    X509 *issuer = ca.cert, *stranger = NULL;
    if (kind == SERVER_UNTRUSTED) {
        issuer_key = EVP_EC_gen("P-256");
        issuer = stranger = make_cert(issuer_key, "a stranger", NULL, issuer_key, NULL, -3600, 3600);
    }
    long from_s = kind == SERVER_EXPIRED ? -7200 : -3600, to_s = kind == SERVER_EXPIRED ? -3600 : 3600;
    const char *names = kind == SERVER_OTHER      ? "DNS:elsewhere.example"
                        : kind == SERVER_NAMELESS ? NULL
                                                  : "DNS:localhost,IP:127.0.0.1";
    X509 *cert = make_cert(key, kind == SERVER_NAMELESS ? "localhost" : "papertape test", issuer, issuer_key,
                           names, from_s, to_s);
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    must(ctx && SSL_CTX_use_certificate(ctx, cert) == 1 && SSL_CTX_use_PrivateKey(ctx, key) == 1, "TLS");
    X509_free(cert);
    EVP_PKEY_free(key);
    if (stranger) {
        X509_free(stranger);
        EVP_PKEY_free(issuer_key);
    }
    return ctx;
}

/* Peers. */

static void on_peer_closed(uv_handle_t *handle)
{
    struct peer *peer = handle->data;
    SSL_free(peer->ssl);
    free(peer->head);
    free(peer);
}

static void unlink_peer(struct peer *peer)
{
    for (struct peer **p = &peer->server->peers; *p; p = &(*p)->next)
        if (*p == peer) {
            *p = peer->next;
            break;
        }
    if (peer->server->handler.closed)
        peer->server->handler.closed(peer);
}

static void close_peer(struct peer *peer)
{
    if (peer->closing)
        return;
    peer->closing = true;
    unlink_peer(peer);
    uv_close((uv_handle_t *)&peer->tcp, on_peer_closed);
}

static void on_written(uv_write_t *request, int status)
{
    struct peer *peer = request->data;
    (void)status;
    free(request);
    if (--peer->writing == 0 && peer->drop_when_written)
        close_peer(peer);
}

static void flush(struct peer *peer)
{
    size_t len = BIO_ctrl_pending(peer->out);
    if (len == 0 || peer->closing)
        return;
    uv_write_t *request = malloc(sizeof(*request) + len);
    char *bytes = (char *)(request + 1);
    request->data = peer;
    must(BIO_read(peer->out, bytes, (int)len) == (int)len, "BIO");
    uv_buf_t buf = uv_buf_init(bytes, (unsigned)len);
    peer->writing++;
    if (uv_write(request, (uv_stream_t *)&peer->tcp, &buf, 1, on_written) < 0) {
        peer->writing--;
        free(request);
    }
}

void *peer_user(const struct peer *peer)
{
    return peer->server->handler.user;
}

void peer_write(struct peer *peer, const void *data, size_t len)
{
    if (peer->closing || len == 0)
        return;
    must(SSL_write(peer->ssl, data, (int)len) == (int)len, "SSL_write");
    flush(peer);
}

void peer_print(struct peer *peer, const char *format, ...)
{
    char text[8192];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    must(len >= 0 && (size_t)len < sizeof(text), "peer_print");
    peer_write(peer, text, (size_t)len);
}

void peer_upgrade(struct peer *peer)
{
    char input[128];
    unsigned char digest[EVP_MAX_MD_SIZE], accept[64];
    unsigned n;
    int len = snprintf(input, sizeof(input), "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", peer->key);
    must(EVP_Digest(input, (size_t)len, digest, &n, EVP_sha1(), NULL) == 1, "SHA-1");
    EVP_EncodeBlock(accept, digest, (int)n);
    peer->upgraded = true;
    peer_print(peer,
               "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Accept: %s\r\n\r\n",
               accept);
}

void peer_frame(struct peer *peer, bool final, int opcode, const void *payload, size_t len)
{
    unsigned char head[10] = {(unsigned char)((final ? 0x80 : 0) | opcode)};
    size_t head_len = 2;
    if (len < 126) {
        head[1] = (unsigned char)len;
    } else if (len < 65536) {
        head[1] = 126;
        head[2] = (unsigned char)(len >> 8);
        head[3] = (unsigned char)len;
        head_len = 4;
    } else {
        head[1] = 127;
        for (int i = 0; i < 8; i++)
            head[2 + i] = (unsigned char)((uint64_t)len >> (56 - 8 * i));
        head_len = 10;
    }
    peer_write(peer, head, head_len);
    peer_write(peer, payload, len);
}

void peer_text(struct peer *peer, const char *text)
{
    peer_frame(peer, true, 1, text, strlen(text));
}

void peer_close_frame(struct peer *peer, int code, const char *reason)
{
    char payload[128] = {(char)(code >> 8), (char)code};
    size_t len = strlen(reason);
    memcpy(payload + 2, reason, len);
    peer_frame(peer, true, 8, payload, len + 2);
}

void peer_drop(struct peer *peer)
{
    if (peer->writing == 0)
        close_peer(peer);
    else
        peer->drop_when_written = true;
}

void peer_reset(struct peer *peer)
{
    if (peer->closing)
        return;
    peer->closing = true;
    unlink_peer(peer);
    uv_tcp_close_reset(&peer->tcp, on_peer_closed);
}

/* Takes one whole client frame off peer->head, if there is one. */
static bool take_frame(struct peer *peer)
{
    unsigned char *p = (unsigned char *)peer->head;
    if (peer->len < 6)
        return false;
    size_t head = 2, len = p[1] & 0x7f;
    if (len == 126) {
        if (peer->len < 8)
            return false;
        len = (size_t)p[2] << 8 | p[3];
        head = 4;
    }
    must((p[1] & 0x7f) != 127 && (p[1] & 0x80), "client frame");
    if (peer->len < head + 4 + len)
        return false;
    char payload[65536];
    for (size_t i = 0; i < len; i++)
        payload[i] = (char)(p[head + 4 + i] ^ p[head + i % 4]);
    int opcode = p[0] & 0x0f;
    peer->len -= head + 4 + len;
    memmove(peer->head, peer->head + head + 4 + len, peer->len);
    if (peer->server->handler.frame)
        peer->server->handler.frame(peer, opcode, payload, len);
    return !peer->closing;
}

static bool take_request(struct peer *peer)
{
    char *end = peer->len ? strstr(peer->head, "\r\n\r\n") : NULL;
    if (!end)
        return false;
    const char *body = strstr(peer->head, "Content-Length: ");
    size_t len = (size_t)(end - peer->head) + 4 + (body && body < end ? strtoul(body + 16, NULL, 10) : 0);
    if (len > peer->len)
        return false;
    char *head = strndup(peer->head, len);
    peer->len -= len;
    memmove(peer->head, peer->head + len, peer->len + 1);
    const char *key = strstr(head, "Sec-WebSocket-Key: ");
    if (key)
        sscanf(key, "Sec-WebSocket-Key: %63s", peer->key);
    peer->server->handler.request(peer, head);
    free(head);
    return !peer->closing;
}

static void on_plain(struct peer *peer, const char *data, size_t len)
{
    if (peer->len + len + 1 > peer->cap) {
        peer->cap = (peer->len + len + 1) * 2;
        peer->head = realloc(peer->head, peer->cap);
    }
    memcpy(peer->head + peer->len, data, len);
    peer->len += len;
    peer->head[peer->len] = '\0';
    while (peer->upgraded ? take_frame(peer) : take_request(peer))
        ;
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    (void)handle;
    *buf = uv_buf_init(malloc(size), (unsigned)size);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct peer *peer = stream->data;
    if (n < 0) {
        free(buf->base);
        close_peer(peer);
        return;
    }
    if (n > 0 && peer->server->kind != SERVER_MUTE) {
        char plain[16384];
        int got;
        BIO_write(peer->in, buf->base, (int)n);
        while (!peer->closing && (got = SSL_read(peer->ssl, plain, sizeof(plain))) > 0)
            on_plain(peer, plain, (size_t)got);
        flush(peer);
    }
    free(buf->base);
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct server *server = stream->data;
    struct peer *peer = calloc(1, sizeof(*peer));
    must(status == 0 && uv_tcp_init(stream->loop, &peer->tcp) == 0, "connection");
    must(uv_accept(stream, (uv_stream_t *)&peer->tcp) == 0, "accept");
    uv_tcp_nodelay(&peer->tcp, 1);
    server->accepted++;
    peer->tcp.data = peer;
    peer->server = server;
    peer->next = server->peers;
    server->peers = peer;
    peer->ssl = SSL_new(server->ctx);
    peer->in = BIO_new(BIO_s_mem());
    peer->out = BIO_new(BIO_s_mem());
    SSL_set_bio(peer->ssl, peer->in, peer->out);
    SSL_set_accept_state(peer->ssl);
    uv_read_start((uv_stream_t *)&peer->tcp, on_alloc, on_read);
}

struct server *server_start(uv_loop_t *loop, enum server_kind kind, const struct server_handler *handler)
{
    struct server *server = calloc(1, sizeof(*server));
    struct sockaddr_in address;
    int len = sizeof(address);
    server->kind = kind;
    server->handler = *handler;
    server->ctx = make_ctx(kind);
    uv_ip4_addr("127.0.0.1", 0, &address);
    must(uv_tcp_init(loop, &server->tcp) == 0, "socket");
    server->tcp.data = server;
    must(uv_tcp_bind(&server->tcp, (struct sockaddr *)&address, 0) == 0, "bind");
    must(uv_listen((uv_stream_t *)&server->tcp, 64, on_connection) == 0, "listen");
    must(uv_tcp_getsockname(&server->tcp, (struct sockaddr *)&address, &len) == 0, "getsockname");
    server->port = ntohs(address.sin_port);
    return server;
}

unsigned server_port(const struct server *server)
{
    return server->port;
}

unsigned server_accepted(const struct server *server)
{
    return server->accepted;
}

struct peer *server_peer(struct server *server)
{
    return server->peers;
}

static void on_server_closed(uv_handle_t *handle)
{
    struct server *server = handle->data;
    SSL_CTX_free(server->ctx);
    free(server);
}

void server_stop(struct server *server)
{
    while (server->peers)
        close_peer(server->peers);
    uv_close((uv_handle_t *)&server->tcp, on_server_closed);
}
