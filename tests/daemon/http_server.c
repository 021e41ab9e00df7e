/* The HTTP server without a daemon: routes, refusals, clients that are slow, large or many, and where it
 * listens. */
#include "daemon/http/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "daemon/http/listen.h"
#include "tests/check.h"
#include "tests/scratch.h"

enum { PATIENCE_S = 60, ANSWER_MAX = 1 << 20 };

/* Short enough for a test, long enough for a loaded machine. */
static const struct daemon_http_times times = {.request = 600, .answer = 20000, .list = 20000};

static char dir[SCRATCH_MAX], path[SCRATCH_PATH_MAX], database[SCRATCH_PATH_MAX];

/* The loop's half: a thread that makes statuses; where `silent` it makes none. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    struct daemon_http_server *server;
    bool wanted, silent, ends;
    int made;
} loop = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void want(void *ctx)
{
    (void)ctx;
    pthread_mutex_lock(&loop.lock);
    loop.wanted = true;
    pthread_cond_signal(&loop.wake);
    pthread_mutex_unlock(&loop.lock);
}

static void changed(void *ctx)
{
    (void)ctx;
}

static void *make_statuses(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&loop.lock);
    while (!loop.ends) {
        if (!loop.wanted || loop.silent) {
            pthread_cond_wait(&loop.wake, &loop.lock);
            continue;
        }
        loop.wanted = false;
        int made = ++loop.made;
        pthread_mutex_unlock(&loop.lock);
        uint64_t asked = daemon_http_server_asked(loop.server);
        daemon_http_server_give(loop.server, json_pack("{s:s, s:i}", "version", "9", "uptime_s", made),
                                asked);
        pthread_mutex_lock(&loop.lock);
    }
    pthread_mutex_unlock(&loop.lock);
    return NULL;
}

static void set(bool *flag, bool value)
{
    pthread_mutex_lock(&loop.lock);
    *flag = value;
    pthread_cond_signal(&loop.wake);
    pthread_mutex_unlock(&loop.lock);
}

/* ---- clients ---- */

static int connect_path(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static int connect_port(int port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Until the server closes it, or resets it. */
static const char *receive(int fd)
{
    static char answer[ANSWER_MAX];
    size_t n = 0;
    for (ssize_t part; n < sizeof answer - 1 && (part = recv(fd, answer + n, sizeof answer - 1 - n, 0)) > 0;)
        n += (size_t)part;
    answer[n] = '\0';
    close(fd);
    return answer;
}

static const char *ask_at(int fd, const char *request)
{
    ssize_t n = send(fd, request, strlen(request), MSG_NOSIGNAL);
    (void)n; /* it may be cut */
    return receive(fd);
}

static const char *ask(const char *request)
{
    return ask_at(connect_path(), request);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static struct daemon_http_view view_now(void)
{
    struct daemon_http_view view;
    daemon_http_server_view(loop.server, &view);
    return view;
}

/* Waits for a condition. */
#define AWAIT(condition) \
    do { \
        time_t await_end = time(NULL) + PATIENCE_S; \
        while (!(condition) && time(NULL) < await_end) \
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); \
        CHECK(condition); \
    } while (0)

/* ---- tests ---- */

static void test_hosts(void)
{
    static const char *const good[] = {"localhost",      "LocalHost:9480", "127.0.0.1",  "127.0.0.1:9480",
                                       "127.9.9.9:9480", "[::1]",          "[::1]:9480", "localhost:0"};
    static const char *const bad[] = {
        "",
        "evil.example",
        "evil.example:9480",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "[::2]:80",
        "localhost:x",
        "localhost:80:80",
        "::1",
        "0.0.0.0",
        "127.0.0.1:99999999999999999999",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(daemon_http_host_is_local(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!daemon_http_host_is_local(bad[i]));
    CHECK(!daemon_http_host_is_local(NULL));
}

static void test_routes(void)
{
    const char *answer = ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(begins(answer, "HTTP/1.1 200 ") && strstr(answer, "\npapertape_build_info{version=\"9\"} 1\n"));
    CHECK(strstr(answer, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    CHECK(strstr(answer, "\r\nConnection: close\r\n"));
    answer = ask("GET /status HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(begins(answer, "HTTP/1.1 200 ") && strstr(answer, "\r\n\r\n{\"version\":\"9\",\"uptime_s\":"));
    answer = ask("HEAD /status HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(begins(answer, "HTTP/1.1 200 ") && strstr(answer, "\r\nContent-Length: 2") && !strchr(answer, '{'));
    answer = ask("GET /positions HTTP/1.1\r\nHost: x\r\n\r\n"); /* there is no database */
    CHECK(begins(answer, "HTTP/1.1 503 ") && strstr(answer, "\r\nRetry-After: "));
    answer = ask("GET /equity?account=main HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(begins(answer, "HTTP/1.1 503 "));
    static const char *const wrong[] = {
        "/equity?acc=x",  "/equity?account=",     "/equity?account", "/equity?account=main&x=1",
        "/status?json=1", "/positions?account=m", "/metrics?x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char request[128];
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", wrong[i]);
        answer = ask(request);
        CHECK(begins(answer, "HTTP/1.1 400 ") && strstr(answer, "nothing"));
    }
    answer = ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(begins(answer, "HTTP/1.1 404 ") && strstr(answer, "there are /metrics, "));
    answer = ask("GET /metrics/../status HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(begins(answer, "HTTP/1.1 404 "));
}

static void test_refusals(void)
{
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"};
    char request[256];
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        snprintf(request, sizeof request, "%s /status HTTP/1.1\r\nHost: x\r\n\r\n", methods[i]);
        const char *answer = ask(request);
        CHECK(begins(answer, "HTTP/1.1 405 ") && strstr(answer, "\r\nAllow: GET, HEAD\r\n"));
    }
    CHECK(begins(ask("GET /status HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"), "HTTP/1.1 413 "));
    CHECK(begins(ask("GET /status HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                 "HTTP/1.1 413 "));
    CHECK(!strstr(ask("rubbish\r\n\r\n"), " 200 "));
    CHECK(!strstr(ask("GET  HTTP/9.9\r\n\r\n"), " 200 "));
    int64_t refused = view_now().refused;
    CHECK(refused >= (int64_t)(sizeof methods / sizeof *methods) + 2);
}

/* What libmicrohttpd answers by itself is counted too: no Host, a long URL, long headers, another version. */
static void test_answered_below(void)
{
    static char request[64 * 1024];
    static const struct {
        const char *begin, *end, *status;
        size_t more; /* letters between the two */
    } cases[] = {
        {"GET /status HTTP/1.1\r\n", "\r\n", "HTTP/1.1 400 ", 0},
        {"GET /", " HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 414 ", 40000},
        {"GET /status HTTP/1.1\r\nHost: x\r\nX: ", "\r\n\r\n", "HTTP/1.1 431 ", 40000},
        {"GET /status HTTP/9.9\r\nHost: x\r\n", "\r\n", "HTTP/1.1 505 ", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t before = view_now().refused;
        size_t n = (size_t)sprintf(request, "%s", cases[i].begin);
        memset(request + n, 'a', cases[i].more);
        sprintf(request + n + cases[i].more, "%s", cases[i].end);
        const char *answer = ask(request);
        CHECK(begins(answer, cases[i].status));
        if (!begins(answer, cases[i].status))
            fprintf(stderr, "case %zu: %.60s\n", i, answer);
        CHECK_INT(view_now().refused, before + 1);
    }
}

/* A page of another site that has 127.0.0.1 as its address is not answered; the socket's file needs no Host.
 */
static void test_rebinding(int port)
{
    CHECK(begins(ask_at(connect_port(port), "GET /status HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
                 "HTTP/1.1 403 "));
    CHECK(begins(ask_at(connect_port(port), "GET /status HTTP/1.0\r\n\r\n"), "HTTP/1.1 403 "));
    CHECK(begins(ask_at(connect_port(port), "GET /status HTTP/1.1\r\nHost: localhost:1\r\n\r\n"),
                 "HTTP/1.1 200 "));
    CHECK(begins(ask_at(connect_port(port), "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
                 "HTTP/1.1 200 "));
    CHECK(begins(ask("GET /status HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 "));
}

/* Headers without end are refused, in bounded memory. */
static void test_large(void)
{
    static char request[256 * 1024];
    size_t n = (size_t)snprintf(request, sizeof request, "GET /status HTTP/1.1\r\nHost: x\r\nX: ");
    memset(request + n, 'a', sizeof request - n - 1);
    CHECK(!strstr(ask(request), " 200 "));
    n = (size_t)snprintf(request, sizeof request, "GET /");
    memset(request + n, 'a', sizeof request - n - 1);
    CHECK(!strstr(ask(request), " 200 "));
    for (n = (size_t)snprintf(request, sizeof request, "GET /status HTTP/1.1\r\n"); n < sizeof request - 64;)
        n += (size_t)snprintf(request + n, sizeof request - n, "X%zu: 1\r\n", n);
    CHECK(!strstr(ask(request), " 200 "));
}

/* Half requests keep no other client out: the oldest gives way. */
static void test_many(void)
{
    enum { SILENT = 3 * HTTP_CLIENTS_MAX };
    int fds[SILENT];
    int64_t cut = view_now().cut;
    for (int i = 0; i < SILENT; i++) {
        fds[i] = connect_path();
        CHECK(fds[i] >= 0);
        if (i % 2) {
            ssize_t n = send(fds[i], "GET /status HT", 14, MSG_NOSIGNAL);
            (void)n;
        }
    }
    for (int i = 0; i < 10; i++)
        CHECK(begins(ask("GET /status HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP/1.1 200 "));
    CHECK(view_now().clients <= HTTP_CLIENTS_MAX);
    CHECK(view_now().cut - cut >= SILENT - HTTP_CLIENTS_MAX);
    /* Those that are left are cut by time; no one gets an answer. */
    for (int i = 0; i < SILENT; i++)
        CHECK(!strstr(receive(fds[i]), " 200 "));
    AWAIT(view_now().clients == 0);
}

/* A loop that does not answer is said, and costs no connection; one that comes back is heard. */
static void test_silent(void)
{
    set(&loop.silent, true);
    CHECK(begins(ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP/1.1 503 "));
    set(&loop.silent, false);
    CHECK(begins(ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP/1.1 200 "));
}

static void test_places(void)
{
    struct stat st;
    char other[SCRATCH_PATH_MAX];
    CHECK(lstat(path, &st) == 0 && S_ISSOCK(st.st_mode));
    CHECK_INT(st.st_mode & 0777, 0660);

    unlink(path); /* it is made again */
    AWAIT(lstat(path, &st) == 0 && strcmp(view_now().path, path) == 0);
    AWAIT(begins(ask("GET /status HTTP/1.1\r\nHost: x\r\n\r\n"),
                 "HTTP/1.1 200 ")); /* it may be there before it listens */

    snprintf(other, sizeof other, "%s/other.sock", dir);
    FILE *file = fopen(other, "w"); /* a file is left alone, and listened beside nothing until it is gone */
    fclose(file);
    daemon_http_server_listen(loop.server, other, NULL, "");
    AWAIT(strstr(view_now().error[0], "another file is in its place"));
    CHECK(lstat(path, &st) < 0 && view_now().address[0] == '\0');
    unlink(other);
    AWAIT(strcmp(view_now().path, other) == 0 && !view_now().error[0][0]);

    struct daemon_http_server *second; /* another program's socket is not taken from it */
    const struct daemon_http_options options = {.database = database, .want = want, .changed = changed};
    CHECK_INT(daemon_http_server_create(&options, &second), 0);
    daemon_http_server_listen(second, other, NULL, "");
    struct daemon_http_view view = {0};
    AWAIT((daemon_http_server_view(second, &view), strstr(view.error[0], "another program listens there")));
    daemon_http_server_destroy(second);
    CHECK(lstat(other, &st) == 0);

    int stale = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); /* one of a former run is replaced */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    CHECK(bind(stale, (const struct sockaddr *)&address, sizeof address) == 0);
    close(stale);
    daemon_http_server_listen(loop.server, path, NULL, "127.0.0.1:0");
    AWAIT(strcmp(view_now().path, path) == 0 && view_now().address[0]);
    CHECK(begins(ask("GET /status HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP/1.1 200 "));
}

int main(void)
{
    const struct daemon_http_options options = {
        .database = database, .times = &times, .want = want, .changed = changed};
    scratch_make(dir);
    snprintf(path, sizeof path, "%s/http.sock", dir);
    snprintf(database, sizeof database, "%s/papertape.db", dir);
    CHECK_INT(daemon_http_server_create(&options, &loop.server), 0);
    pthread_create(&loop.thread, NULL, make_statuses, NULL);
    daemon_http_server_listen(loop.server, path, NULL, "127.0.0.1:0");
    AWAIT(view_now().path[0] && view_now().address[0]);
    test_hosts();
    test_routes();
    test_refusals();
    test_answered_below();
    test_rebinding(atoi(strrchr(view_now().address, ':') + 1));
    test_large();
    test_many();
    test_silent();
    test_places();
    int open = connect_path(); /* one that is there at the end */
    set(&loop.silent, true);
    ssize_t n = send(open, "GET /status HTTP/1.1\r\nHost: x\r\n\r\n", 33, MSG_NOSIGNAL);
    CHECK_INT(n, 33);
    AWAIT(view_now().clients == 1);
    set(&loop.ends, true);
    pthread_join(loop.thread, NULL);
    daemon_http_server_destroy(loop.server);
    CHECK(!strstr(receive(open), " 200 "));
    struct stat st;
    CHECK(lstat(path, &st) < 0);
    return check_done("daemon/http_server");
}
