/* Certificates of the venues' hosts. Each host is asked in a thread of its own, as the clients do, except
 * that the handshake continues with a bad certificate, so that all that is wrong with it can be said. */
#include <errno.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "exchange/clock.h"
#include "exchange/net/certificate.h"
#include "exchange/net/url.h"

enum {
    HOSTS_MAX = 4 * CONFIG_VENUES_MAX,
    NAME_ROOM = 256,
    DAY_S = 24 * 3600,
    SOON_DAYS =
        7, /* a warning, where that is less than a tenth of its lifetime: certificates of days exist */
};

struct host {
    char name[URL_HOST_MAX];
    uint16_t port;
    const char *ca_file; /* NULL: the system's */
    pthread_t thread;
    bool running, done;
    /* What was found. */
    bool connected;
    char why[NAME_ROOM]; /* why there is no certificate */
    long verified;       /* X509_V_OK, or what is wrong */
    bool named;          /* it is the host's */
    int64_t from_s, until_s;
    char issuer[NAME_ROOM];
};

/* ---- one host ---- */

static int connect_within(const struct addrinfo *to, int64_t until_ms)
{
    int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
    socklen_t size = sizeof error;
    if (fd < 0)
        return -errno;
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    int64_t left_ms = until_ms - clock_now_ms();
    int r = connect(fd, to->ai_addr, to->ai_addrlen) == 0 ? 0 : -errno;
    if (r == -EINPROGRESS)
        r = poll(&wait, 1, left_ms > 0 ? (int)left_ms : 0) == 1 &&
                    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0
                ? -error
                : -ETIMEDOUT;
    if (r == 0)
        return fd;
    close(fd);
    return r;
}

static int open_connection(struct host *host, int64_t until_ms)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    char port[8];
    int fd = -ENOENT;
    snprintf(port, sizeof port, "%u", host->port);
    int r = getaddrinfo(host->name, port, &hints, &found);
    if (r != 0) {
        snprintf(host->why, sizeof host->why, "its address is not found: %s", gai_strerror(r));
        return -ENOENT;
    }
    for (const struct addrinfo *to = found; to && fd < 0; to = to->ai_next)
        fd = connect_within(to, until_ms);
    freeaddrinfo(found);
    if (fd < 0)
        snprintf(host->why, sizeof host->why, "%s", strerror(-fd));
    return fd;
}

/* The handshake on a socket that does not block. */
static bool shake_hands(SSL *ssl, int fd, int64_t until_ms)
{
    for (;;) {
        int r = SSL_connect(ssl), error = SSL_get_error(ssl, r);
        int64_t left_ms = until_ms - clock_now_ms();
        if (r == 1)
            return true;
        if (left_ms <= 0 || (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE))
            return false;
        struct pollfd wait = {.fd = fd, .events = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT};
        poll(&wait, 1, (int)left_ms);
    }
}

static int64_t seconds_of(const ASN1_TIME *time)
{
    struct tm parts;
    return ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) : 0;
}

static void look_at(struct host *host, SSL *ssl)
{
    X509 *certificate = SSL_get0_peer_certificate(ssl);
    if (!certificate) {
        snprintf(host->why, sizeof host->why, "it shows no certificate");
        return;
    }
    host->connected = true;
    host->verified = SSL_get_verify_result(ssl);
    host->named = net_certificate_names(certificate, host->name);
    host->from_s = seconds_of(X509_get0_notBefore(certificate));
    host->until_s = seconds_of(X509_get0_notAfter(certificate));
    X509_NAME_oneline(X509_get_issuer_name(certificate), host->issuer, sizeof host->issuer);
}

/* Continues whatever is wrong; the result keeps the first fault. */
static SSL_CTX *make_context(const struct host *host)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    bool good = tls && (host->ca_file ? SSL_CTX_load_verify_file(tls, host->ca_file) == 1
                                      : SSL_CTX_set_default_verify_paths(tls) == 1);
    if (good) {
        SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
        SSL_CTX_set_verify(tls, SSL_VERIFY_NONE, NULL);
        return tls;
    }
    SSL_CTX_free(tls);
    return NULL;
}

static void *ask_host(void *arg)
{
    struct host *host = arg;
    int64_t until_ms = clock_now_ms() + DOCTOR_VENUE_MS;
    int fd = open_connection(host, until_ms);
    SSL_CTX *tls = fd >= 0 ? make_context(host) : NULL;
    SSL *ssl = tls ? SSL_new(tls) : NULL;
    if (ssl && SSL_set_fd(ssl, fd) == 1 && SSL_set_tlsext_host_name(ssl, host->name) == 1 &&
        shake_hands(ssl, fd, until_ms))
        look_at(host, ssl);
    else if (fd >= 0)
        snprintf(host->why, sizeof host->why, "no TLS handshake: %s",
                 ERR_peek_error() ? ERR_reason_error_string(ERR_peek_error()) : "no answer");
    SSL_free(ssl);
    SSL_CTX_free(tls);
    if (fd >= 0)
        close(fd);
    __atomic_store_n(&host->done, true, __ATOMIC_RELEASE);
    return NULL;
}

/* ---- all hosts ---- */

static void add_host(struct host *hosts, int *n, const char *text, const char *ca_file)
{
    struct url url;
    if (*n == HOSTS_MAX || net_url_parse(text, &url) < 0)
        return;
    for (int i = 0; i < *n; i++)
        if (hosts[i].port == url.port && strcmp(hosts[i].name, url.host) == 0)
            return;
    struct host *host = &hosts[(*n)++];
    memcpy(host->name, url.host, sizeof host->name);
    host->port = url.port;
    host->ca_file = ca_file;
}

/* A venue's own options may be URLs, too. */
static void add_venue(struct host *hosts, int *n, const struct daemon_config *config,
                      const struct daemon_config_venue *venue)
{
    const char *ca_file = config->ca_file[0] ? config->ca_file : NULL;
    add_host(hosts, n, venue->rest_url[0] ? venue->rest_url : venue->venue->rest_url, ca_file);
    add_host(hosts, n, venue->ws_url[0] ? venue->ws_url : venue->venue->ws_url, ca_file);
    for (size_t i = 0; i < venue->venue->n_options && i < CONFIG_SETTINGS_MAX; i++)
        add_host(hosts, n, venue->settings[i], ca_file);
}

static void report_wrong(const struct host *host, struct doctor_results *results)
{
    int64_t now_s = clock_whole_s(clock_wall_ns());
    char text[CLOCK_TEXT_MAX];
    if (host->until_s < now_s) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: its certificate expired at %s", host->name,
                       clock_utc_text(host->until_s * 1000000000, text));
        cli_doctor_remedy(results, "date -u: is this clock right? else the venue has to renew it");
    } else if (host->from_s > now_s) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: its certificate begins at %s", host->name,
                       clock_utc_text(host->from_s * 1000000000, text));
        cli_doctor_remedy(results, "date -u: is this clock right?");
    } else {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: its certificate, issued by %s, is not trusted: %s",
                       host->name, host->issuer, X509_verify_cert_error_string(host->verified));
        cli_doctor_remedy(results, host->ca_file
                                       ? "[market] ca_file = the venue's own; without it the system's count"
                                       : "apt install --reinstall ca-certificates; or [market] ca_file");
    }
}

static void report_good(const struct host *host, struct doctor_results *results)
{
    int64_t left_s = host->until_s - clock_whole_s(clock_wall_ns());
    bool soon = left_s < SOON_DAYS * DAY_S && left_s < (host->until_s - host->from_s) / 10;
    cli_doctor_add(results, soon ? DOCTOR_WARNING : DOCTOR_OK, "%s: good for %.1f days, issued by %s",
                   host->name, (double)left_s / DAY_S, host->issuer);
    if (soon)
        cli_doctor_remedy(results, "the venue has to renew it until then");
}

static void report(const struct host *host, struct doctor_results *results)
{
    if (!__atomic_load_n(&host->done, __ATOMIC_ACQUIRE)) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "%s: no answer in time: see network", host->name);
        return;
    }
    if (!host->connected) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "%s: %s: see network", host->name, host->why);
        return;
    }
    if (host->verified != X509_V_OK)
        report_wrong(host, results);
    if (!host->named) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: its certificate is another host's", host->name);
        cli_doctor_remedy(results, "the venue's own URL; a proxy that answers in its place has no right to");
    }
    if (host->verified == X509_V_OK && host->named)
        report_good(host, results);
}

void cli_doctor_certificates(const struct doctor *doctor, struct doctor_results *results)
{
    static struct host hosts[HOSTS_MAX];
    struct timespec until;
    int n = 0;
    setenv("RES_OPTIONS", "timeout:2 attempts:1", 0);
    for (int v = 0; v < doctor->config->n_venues; v++)
        add_venue(hosts, &n, doctor->config, &doctor->config->venues[v]);
    for (int i = 0; i < n; i++)
        hosts[i].running = pthread_create(&hosts[i].thread, NULL, ask_host, &hosts[i]) == 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DOCTOR_VENUE_MS / 1000 + 1;
    for (int i = 0; i < n; i++)
        if (hosts[i].running)
            pthread_timedjoin_np(hosts[i].thread, NULL, &until); /* one that hangs ends with the process */
    for (int i = 0; i < n; i++)
        report(&hosts[i], results);
}
