#include "exchange/fail.h"
#include "exchange/net/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/net/read_ahead.h"
#include "exchange/whole_file.h"

enum {
    CONNECTIONS_MAX = 128, /* of websockets; lws would size its tables by the limit of open files */
    SERVICE_BUFFER = 64 << 10,
    LWS_TIMEOUT_S = 15, /* above our own connect timeout, which says more */
    PING_S = 15,
    HANGUP_S = 30,
    CA_MAX = 64 << 20, /* of a file of certificates */
};

#define CA_NEEDED "a file of certificates in PEM form is needed"

uv_loop_t *net_context_loop(const struct net_context *net)
{
    return net->loop;
}

static int trust(SSL_CTX *tls, const char *ca_file, char *error)
{
    if (!ca_file) {
        if (SSL_CTX_set_default_verify_paths(tls) == 1)
            return 0;
        return fail_with(-EINVAL, error, NET_ERROR_MAX,
                         "the system's certificates cannot be read (package ca-certificates)");
    }
    const char *why;
    FILE *file = whole_file_stream(ca_file, &why); /* OpenSSL would wait for a FIFO */
    if (!file) {
        int r = -errno;
        snprintf(error, NET_ERROR_MAX, "%.150s: %.40s: " CA_NEEDED, ca_file, why);
        return r;
    }
    fclose(file);
    if (SSL_CTX_load_verify_file(tls, ca_file) == 1)
        return 0;
    return fail_with(-EINVAL, error, NET_ERROR_MAX, "%.150s: holds no certificate: " CA_NEEDED, ca_file);
}

int net_ca_check(const char *ca_file, char error[static NET_ERROR_MAX])
{
    struct net_trust *trusted;
    int r = net_trust_read(ca_file, &trusted, error);
    if (r == 0)
        net_trust_destroy(trusted);
    return r;
}

/* ---- certificates to trust ---- */

struct net_trust {
    X509_STORE *store;
    bool own;                           /* of a file */
    uint8_t hash[SHA256_DIGEST_LENGTH]; /* of the file; 0 of the system's */
};

void net_trust_destroy(struct net_trust *trusted)
{
    if (!trusted)
        return;
    X509_STORE_free(trusted->store);
    free(trusted);
}

static int hash_file(const char *ca_file, uint8_t ret[static SHA256_DIGEST_LENGTH], char *error)
{
    char *text;
    size_t n;
    int r = whole_file_read(ca_file, CA_MAX, &text, &n);
    if (r < 0)
        return fail_with(r, error, NET_ERROR_MAX, "%.150s: %.40s: " CA_NEEDED, ca_file, strerror(-r));
    r = EVP_Digest(text, n, ret, NULL, EVP_sha256(), NULL) == 1 ? 0 : -ENOMEM;
    free(text);
    return r;
}

int net_trust_read(const char *ca_file, struct net_trust **ret, char error[static NET_ERROR_MAX])
{
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    struct net_trust *trusted = calloc(1, sizeof *trusted);
    snprintf(error, NET_ERROR_MAX, "out of memory");
    int r = tls && trusted ? trust(tls, ca_file, error) : -ENOMEM;
    if (r == 0 && ca_file)
        r = hash_file(ca_file, trusted->hash, error);
    if (r == 0) {
        trusted->own = ca_file != NULL;
        trusted->store = SSL_CTX_get_cert_store(tls);
        X509_STORE_up_ref(trusted->store);
        *ret = trusted;
    } else {
        free(trusted);
    }
    SSL_CTX_free(tls);
    return r;
}

/* Connections that are being made are checked by the one or by the other. */
bool net_context_trust(struct net_context *net, struct net_trust *trusted)
{
    const struct net_trust *before = net->trust;
    bool other = before->own != trusted->own || memcmp(before->hash, trusted->hash, sizeof before->hash) != 0;
    if (other) {
        SSL_CTX_set1_cert_store(net->tls, trusted->store);
        net_trust_destroy(net->trust);
        net->trust = trusted;
    } else {
        net_trust_destroy(trusted);
    }
    return other;
}

void net_context_give_trust(const struct net_context *net, SSL_CTX *tls)
{
    SSL_CTX_set1_cert_store(tls, net->trust->store);
}

/* ---- the context ---- */

static int tls_create(const struct net_trust *trusted, SSL_CTX **ret)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    if (!tls)
        return -ENOMEM;
    if (SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION) != 1) {
        SSL_CTX_free(tls);
        return -EINVAL;
    }
    SSL_CTX_set1_cert_store(tls, trusted->store);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_options(tls, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(tls, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    *ret = tls;
    return 0;
}

static struct lws_context *lws_create(struct net_context *net)
{
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .protocols = websocket_protocols,
        .options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT |
                   LWS_SERVER_OPTION_UV_NO_SIGSEGV_SIGFPE_SPIN,
        .foreign_loops = net->lws_loops,
        .provided_client_ssl_ctx = net->tls,
        .retry_and_idle_policy = &net->liveness,
        .fd_limit_per_thread = CONNECTIONS_MAX,
        .pt_serv_buf_size = SERVICE_BUFFER,
        .max_http_header_data2 = SERVICE_BUFFER,
        .timeout_secs = LWS_TIMEOUT_S,
        .connect_timeout_secs = LWS_TIMEOUT_S,
        .http_proxy_address = "", /* else $http_proxy, by a look-up that blocks */
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
    };
    lws_set_log_level(0, NULL);
    return lws_create_context(&info);
}

static void free_context(struct net_context *net)
{
    SSL_CTX_free(net->tls);
    net_trust_destroy(net->trust);
    free(net->user_agent);
    free(net);
}

int net_context_create(const struct net_config *config, struct net_context **ret,
                       char error[static NET_ERROR_MAX])
{
    struct net_context *net = calloc(1, sizeof(*net));
    snprintf(error, NET_ERROR_MAX, "out of memory");
    if (!net)
        return -ENOMEM;
    int ping_s = config->ping_s > 0 ? config->ping_s : PING_S;
    int hangup_s = config->hangup_s > 0 ? config->hangup_s : HANGUP_S;
    net->loop = config->loop;
    net->lws_loops[0] = config->loop;
    net->liveness = (lws_retry_bo_t){
        .secs_since_valid_ping = (uint16_t)ping_s,
        .secs_since_valid_hangup = (uint16_t)(hangup_s > ping_s ? hangup_s : ping_s + 1),
    };
    net->user_agent = strdup(config->user_agent ? config->user_agent : "papertape/" PAPERTAPE_VERSION);

    int r = -ENOMEM;
    if (!net->user_agent)
        goto fail;
    r = net_trust_read(config->ca_file, &net->trust, error);
    if (r == 0)
        r = tls_create(net->trust, &net->tls);
    if (r < 0)
        goto fail;
    net->lws = lws_create(net);
    if (!net->lws) {
        snprintf(error, NET_ERROR_MAX,
                 "libwebsockets cannot use libuv: install the package libwebsockets-evlib-uv");
        r = -ELIBACC;
        goto fail;
    }
    net_read_ahead_init(net);
    r = http_init(net, error);
    if (r < 0) {
        net_context_stop(net, NULL, NULL);
        return r;
    }
    *ret = net;
    return 0;
fail:
    free_context(net);
    return r;
}

struct search {
    const void *lws;
    bool found;
};

/* The plug-in's own handles carry the context, and outlive those of its connections. */
static void look_for_lws(uv_handle_t *handle, void *arg)
{
    struct search *search = arg;
    search->found |= handle->data == search->lws;
}

static void on_stopping_closed(uv_handle_t *handle)
{
    struct net_context *net = handle->data;
    void (*stopped)(void *user) = net->stopped;
    void *user = net->stopped_user;
    free_context(net);
    if (stopped)
        stopped(user);
}

/* ---- a descriptor that libwebsockets closes twice ---- */

enum { POLLED_MAX = 64 };

struct polled {
    size_t n;
    struct {
        uv_handle_t *handle;
        int fd;
    } list[POLLED_MAX];
};

static void note_polled(uv_handle_t *handle, void *arg)
{
    struct polled *polled = arg;
    uv_os_fd_t fd;
    if (handle->type != UV_POLL || uv_is_closing(handle) || polled->n == POLLED_MAX ||
        uv_fileno(handle, &fd) < 0)
        return;
    polled->list[polled->n].handle = handle;
    polled->list[polled->n++].fd = fd;
}

/* As it begins to destroy a context, libwebsockets 4.1 closes its event pipe, and once more when the loop has
 * closed the pipe's handle. What another thread opened meanwhile under that number would be closed: so the
 * number is held until then, by one that the second close ends. */
static void begin_destroy(struct net_context *net)
{
    struct polled polled = {.n = 0};
    uv_walk(net->loop, note_polled, &polled);
    lws_context_destroy(net->lws);
    for (size_t i = 0; i < polled.n; i++) {
        int fd = polled.list[i].fd;
        if (!uv_is_closing(polled.list[i].handle) || fcntl(fd, F_GETFD) >= 0)
            continue;
        int held = open("/dev/null", O_RDONLY | O_CLOEXEC), at = held < 0 ? held
                                                                 : held == fd
                                                                     ? fd
                                                                     : fcntl(held, F_DUPFD_CLOEXEC, fd);
        if (held >= 0 && held != fd)
            close(held);
        if (at >= 0 && at != fd)
            close(at);
    }
}

/* libwebsockets closes in two steps: the first call starts to close what it has on the loop, and once the
 * loop has closed all of it, the second one frees. */
static void on_stopping(uv_idle_t *idle)
{
    struct net_context *net = idle->data;
    if (!net->lws_ending) {
        http_finish(net);
        net_read_ahead_finish(net);
        net->lws_ending = true;
        begin_destroy(net);
        return;
    }
    struct search search = {.lws = net->lws};
    uv_walk(net->loop, look_for_lws, &search);
    if (search.found || net->handles > 0)
        return;
    lws_context_destroy(net->lws);
    uv_close((uv_handle_t *)idle, on_stopping_closed);
}

void net_context_stop(struct net_context *net, void (*done)(void *user), void *user)
{
    net->stopped = done;
    net->stopped_user = user;
    uv_idle_init(net->loop, &net->stopping);
    net->stopping.data = net;
    uv_idle_start(&net->stopping, on_stopping);
}
