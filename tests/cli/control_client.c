/* The control socket's client against a server that answers late, in another order, with rubbish, without
 * end, or not at all. */
#include "cli/control_client.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "exchange/decimal_json.h"
#include "tests/check.h"

enum {
    DEADLINE_MS = 20000,
    LONG_MIB = 12, /* of a status of 4096 symbols */
    ALIVE_MS = 6000,
    ALIVE_PINGS = 2, /* one at half of that each, so that the answer comes after it */
};

enum manner {
    ANSWER,       /* as it should be, after rubbish, another's answer, and in pieces */
    REFUSE,       /* ok: false, with a code and bytes that would control a terminal */
    REFUSE_BADLY, /* ok: false, and nothing else */
    HANG_UP,      /* closes after the request */
    CROWDED,      /* refuses the first connection before it has asked, and answers the second */
    LONG,         /* as it should be, of thousands of symbols */
    ENDLESS,      /* a line without an end */
    SILENT,       /* reads, and says nothing until the client goes */
    BUSY,         /* says that it is alive for longer than the client waits without that, and then answers */
    BUSY_BADLY,   /* refuses to say so */
};

struct server {
    char folder[64], path[96];
    int fd;
    pthread_t thread;
    enum manner manner;
};

static void say(int fd, const char *text)
{
    size_t len = strlen(text);

    while (len > 0) {
        ssize_t n = send(fd, text, len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        text += n;
        len -= (size_t)n;
    }
}

/* Reads one line; false at the end. */
static bool receive(int fd, char *line, size_t size)
{
    size_t n = 0;

    while (n + 1 < size && recv(fd, line + n, 1, 0) == 1)
        if (line[n++] == '\n') {
            line[n] = '\0';
            return true;
        }
    return false;
}

/* Reads pings, and answers each. */
static void be_alive(int fd, bool ok)
{
    char line[4096], text[96];

    for (int i = 0; i < (ok ? ALIVE_PINGS : 1); i++) {
        if (!receive(fd, line, sizeof(line)))
            return;
        CHECK(strstr(line, "\"cmd\":\"ping\"") != NULL);
        snprintf(text, sizeof(text), "{\"id\":%d,\"ok\":%s,\"result\":{}}\n", i + 2, ok ? "true" : "false");
        say(fd, text);
    }
    if (ok)
        say(fd, "{\"id\":1,\"ok\":true,\"result\":{\"x\":7}}\n");
}

static void answer(int fd, enum manner manner)
{
    static char much[1 << 20];

    memset(much, 'x', sizeof(much) - 1);
    switch (manner) {
    case ANSWER:
        say(fd, "rubbish\n\n[1]\n{\"id\":99,\"ok\":true,\"result\":{\"x\":0}}\n{\"id\":1,\"ok\":tr");
        say(fd, "ue,\"result\":{\"x\":7,\"cash\":9999999999.12345678}}\n");
        break;
    case REFUSE:
        say(fd, "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"LOT_SIZE\",\"message\":\"no \\u001b[31m\"}}\n");
        break;
    case REFUSE_BADLY:
        say(fd, "{\"id\":1,\"ok\":false}\n");
        break;
    case LONG:
        say(fd, "{\"id\":1,\"ok\":true,\"result\":{\"x\":7,\"symbols\":\"");
        for (int i = 0; i < LONG_MIB; i++)
            say(fd, much);
        say(fd, "\"}}\n");
        break;
    case ENDLESS:
        for (size_t sent = 0; sent <= CONTROL_LINE_MAX; sent += sizeof(much) - 1)
            say(fd, much);
        break;
    case CROWDED:
        say(fd, "{\"id\":1,\"ok\":true,\"result\":{\"x\":7}}\n");
        break;
    case BUSY:
    case BUSY_BADLY:
        be_alive(fd, manner == BUSY);
        break;
    case HANG_UP:
    case SILENT:
        break;
    }
}

static void *serve(void *arg)
{
    struct server *server = arg;
    char line[4096];
    int fd = accept(server->fd, NULL, NULL);

    if (server->manner == CROWDED) {
        say(fd, "{\"id\":null,\"ok\":false,\"error\":{\"code\":\"EBUSY\",\"message\":\"closed\"}}\n");
        close(fd);
        fd = accept(server->fd, NULL, NULL);
    }
    if (fd >= 0 && receive(fd, line, sizeof(line))) {
        CHECK(strstr(line, "\"id\":1,\"cmd\":\"status\",\"args\":{") != NULL);
        answer(fd, server->manner);
        if (server->manner != HANG_UP)
            receive(fd, line, sizeof(line)); /* until the client goes */
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static void start(struct server *server, enum manner manner)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};

    *server = (struct server){.folder = "/tmp/papertape-control-XXXXXX", .manner = manner};
    CHECK(mkdtemp(server->folder) != NULL);
    snprintf(server->path, sizeof(server->path), "%s/control.sock", server->folder);
    memcpy(sun.sun_path, server->path, strlen(server->path) + 1);
    server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(server->fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
    CHECK_INT(listen(server->fd, 1), 0);
    CHECK_INT(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void stop(struct server *server)
{
    pthread_join(server->thread, NULL);
    close(server->fd);
    unlink(server->path);
    rmdir(server->folder);
}

static int call(enum manner manner, int timeout_ms, json_t **result, struct control_error *error)
{
    struct server server;

    start(&server, manner);
    int r = cli_control_call(server.path, "status", NULL, timeout_ms, result, error);
    stop(&server);
    return r;
}

static void check_calls(void)
{
    struct control_error error = {0};
    json_t *result = NULL;

    CHECK_INT(call(ANSWER, DEADLINE_MS, &result, &error), 0);
    CHECK_INT(json_integer_value(json_object_get(result, "x")), 7);
    char *text = decimal_json_text(result, 15); /* money with all its digits */
    CHECK_STR(text, "{\"x\":7,\"cash\":9999999999.12345678}");
    free(text);
    json_decref(result);
    result = NULL;
    CHECK_INT(call(LONG, DEADLINE_MS, &result, &error), 0);
    CHECK_INT(json_integer_value(json_object_get(result, "x")), 7);
    CHECK_INT(json_string_length(json_object_get(result, "symbols")), (LONG_MIB << 20) - LONG_MIB);
    json_decref(result);
    result = NULL;
    CHECK_INT(call(CROWDED, DEADLINE_MS, &result, &error), 0);
    CHECK_INT(json_integer_value(json_object_get(result, "x")), 7);
    json_decref(result);
    result = NULL;
    CHECK_INT(call(REFUSE, DEADLINE_MS, &result, &error), -EREMOTEIO);
    CHECK_STR(error.code, "LOT_SIZE");
    CHECK_STR(error.message, "no ?[31m");
    CHECK_INT(call(REFUSE_BADLY, DEADLINE_MS, &result, &error), -EREMOTEIO);
    CHECK_STR(error.message, "no reason given");
    CHECK_INT(call(HANG_UP, DEADLINE_MS, &result, &error), -ECONNRESET);
    CHECK_INT(call(ENDLESS, DEADLINE_MS, &result, &error), -EMSGSIZE);
    CHECK_INT(call(BUSY, ALIVE_MS, &result, &error), 0);
    CHECK_INT(json_integer_value(json_object_get(result, "x")), 7);
    json_decref(result);
    result = NULL;
    CHECK_INT(call(BUSY_BADLY, 500, &result, &error), -ETIMEDOUT);
    CHECK_INT(call(SILENT, 1, &result, &error), -ETIMEDOUT);
    CHECK(strstr(error.message, "did not answer") != NULL);
    CHECK(result == NULL);

    CHECK_INT(cli_control_call("/nonexistent/control.sock", "status", json_object(), 1, &result, &error),
              -ENOENT);
    CHECK(strstr(error.message, "no daemon is listening") != NULL);
    char path[300];
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    CHECK_INT(cli_control_call(path, "status", NULL, 1, &result, &error), -ENAMETOOLONG);
}

/* As the dashboard does it: nothing ever waits but poll(). */
static void check_polled(void)
{
    struct server server;
    struct control_client client;
    json_t *reply = NULL;

    cli_control_init(&client);
    CHECK_INT(cli_control_io(&client), -ENOTCONN);
    CHECK_INT(cli_control_send(&client, "status", NULL), -ENOTCONN);
    start(&server, ANSWER);
    CHECK_INT(cli_control_open(&client, server.path), 0);
    CHECK_INT(cli_control_events(&client), POLLIN);
    CHECK_INT(cli_control_send(&client, "status", NULL), 1);
    CHECK_INT(cli_control_events(&client), POLLIN | POLLOUT);
    int replies = 0, r = 0;
    while (r == 0 && replies < 2) {
        struct pollfd pfd = {.fd = client.fd, .events = cli_control_events(&client)};
        if (poll(&pfd, 1, DEADLINE_MS) <= 0)
            break;
        r = cli_control_io(&client);
        while (cli_control_next(&client, &reply)) {
            CHECK_INT(json_integer_value(json_object_get(reply, "id")), replies ? 1 : 99);
            replies++;
            json_decref(reply);
        }
    }
    CHECK_INT(r, 0);
    CHECK_INT(replies, 2);
    cli_control_finish(&client);
    CHECK_INT(client.fd, -1);
    stop(&server);
}

int main(void)
{
    check_calls();
    check_polled();
    return check_done("cli/control_client");
}
