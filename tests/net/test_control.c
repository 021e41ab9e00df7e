/* The control socket on a loop of its own, with clients as they should not be: half lines, endless lines,
 * requests in heaps, none read, none sent, too many, of other users. */
#include "exchange/net/control.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "tests/check.h"
#include "tests/scratch.h"

enum { PATIENCE_MS = 60000, MS = 1000000, HELD = 512, OTHER_UID = 23456, THIRD_UID = 23457 };

static uv_loop_t loop;
static char path[sizeof((struct sockaddr_un *)0)->sun_path];
static struct control *control;
static struct control_call *held[HELD];
static size_t n_held, n_requests, n_built;
static uint64_t build_ns;
static const char *filler = "";

/* ---- the server ---- */

/* What a request costs is the test's own choice: a busy processor, not a sleeping one. */
static void spend(uint64_t ns)
{
    uint64_t end = uv_hrtime() + ns;
    while (uv_hrtime() < end)
        ;
}

static struct control_text *build(void *ctx)
{
    (void)ctx;
    spend(build_ns);
    json_t *result = json_pack("{s:i, s:o}", "built", (int)++n_built, "text", json_string(filler));
    return control_text_create(result);
}

static void on_request(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                       const struct control_peer *peer)
{
    (void)ctx;
    n_requests++;
    if (strcmp(cmd, "hold") == 0 && n_held < HELD)
        held[n_held++] = call;
    else if (strcmp(cmd, "status") == 0)
        control_share(call);
    else if (strcmp(cmd, "work") == 0)
        spend(MS), control_ok(call, NULL);
    else if (strcmp(cmd, "long") == 0)
        control_ok(call, json_pack("{s:o}", "text", json_stringn("", 0)));
    else if (strcmp(cmd, "who") == 0)
        control_ok(call, json_pack("{s:i}", "uid", (int)peer->uid));
    else
        control_ok(call, json_pack("{s:O}", "args", args));
}

static void release(size_t n)
{
    for (size_t i = 0; i < n; i++)
        control_ok(held[i], NULL);
    n_held -= n;
    memmove(held, held + n, n_held * sizeof *held);
}

static void open_server(const struct control_limits *limits)
{
    static const char *const reserve[] = {"ping", "status", "pause", NULL};
    char err[200] = "";
    const struct control_options options = {.path = path,
                                            .handler = on_request,
                                            .reserve_commands = reserve,
                                            .shared_command = "status",
                                            .shared = build,
                                            .limits = limits};
    n_held = n_requests = n_built = 0;
    CHECK_INT(control_open(&loop, &options, &control, err, sizeof err), 0);
    CHECK_STR(err, "");
}

static void close_server(void)
{
    release(n_held);
    control_close(control);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(access(path, F_OK) < 0);
}

static void turn(void)
{
    uv_run(&loop, UV_RUN_NOWAIT);
}

/* ---- clients ---- */

struct client {
    int fd;
    char *in;
    size_t len, size, lines;
    bool ended;
};

static struct client connected(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct client client = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0)};
    memcpy(address.sun_path, path, sizeof path);
    while (connect(client.fd, (struct sockaddr *)&address, sizeof address) < 0 && errno == EAGAIN)
        turn();
    return client;
}

static void disconnect(struct client *client)
{
    close(client->fd);
    free(client->in);
    *client = (struct client){.fd = -1};
}

static void take(struct client *client)
{
    for (;;) {
        if (client->size - client->len < 65536)
            client->in = realloc(client->in, client->size = client->size * 2 + 131072);
        ssize_t n = recv(client->fd, client->in + client->len, client->size - client->len - 1, 0);
        client->ended |= n == 0 || (n < 0 && errno == ECONNRESET);
        if (n <= 0)
            break;
        for (const char *at = client->in + client->len, *end = at + n;
             (at = memchr(at, '\n', (size_t)(end - at))); at++)
            client->lines++;
        client->len += (size_t)n;
    }
    client->in[client->len] = '\0';
}

static size_t lines(const struct client *client)
{
    return client->lines;
}

/* Turns the loop, and reads, until there are so many lines, or the end. */
static bool await_lines(struct client *client, size_t n)
{
    uint64_t end = uv_hrtime() + PATIENCE_MS * UINT64_C(1000000);
    take(client);
    while (lines(client) < n && !client->ended && uv_hrtime() < end) {
        turn();
        take(client);
    }
    return lines(client) >= n;
}

static bool await_end(struct client *client)
{
    return !await_lines(client, SIZE_MAX) && client->ended;
}

static void say(const struct client *client, const char *text)
{
    size_t len = strlen(text);
    while (len > 0) {
        ssize_t n = send(client->fd, text, len, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            return;
        if (n > 0)
            text += n, len -= (size_t)n;
        turn();
    }
}

static void check_has(const struct client *client, const char *text)
{
    bool has = client->in && strstr(client->in, text);
    CHECK(has);
    if (!has)
        fprintf(stderr, "  \"%s\" is not in: %.400s\n", text, client->in ? client->in : "");
}

#define PING "{\"id\":1,\"cmd\":\"ping\"}\n"

/* ---- one client ---- */

static void lines_in_parts(void)
{
    open_server(NULL);
    struct client client = connected();
    for (const char *c = "\n\n{\"id\":\"a\",\"cmd\":\"ping\"}\n{\"id\":2,"; *c; c++) {
        say(&client, (char[]){*c, '\0'});
        turn();
    }
    CHECK(await_lines(&client, 1));
    CHECK_STR(client.in, "{\"id\":\"a\",\"ok\":true,\"result\":{\"args\":{}}}\n");
    say(&client, "\"cmd\":\"ping\",\"args\":{\"x\":[1.5]}}\nnonsense\n{\"cmd\":1}\n{\"id\":3,\"cmd\":"
                 "\"hold\"}\n{\"id\":4,\"cmd\":\"ping\"}");
    shutdown(client.fd, SHUT_WR);
    CHECK(await_lines(&client, 5));
    check_has(&client, "{\"id\":2,\"ok\":true,\"result\":{\"args\":{\"x\":[1.5]}}}\n");
    check_has(&client, "not JSON at column");
    check_has(&client, "{\"id\":4,\"ok\":true"); /* the last line had no end */
    CHECK(!client.ended);                        /* 3 is not answered yet */
    release(1);
    CHECK(await_end(&client));
    CHECK_INT(lines(&client), 6);
    disconnect(&client);
    close_server();
}

static void long_lines(void)
{
    open_server(NULL);
    struct client client = connected();
    char *line = malloc(300001);
    memset(line, 'x', 300000);
    line[300000] = '\0';
    say(&client, line);
    CHECK(await_lines(&client, 1)); /* before its end */
    check_has(&client, "{\"id\":null,\"ok\":false,\"error\":{\"code\":\"EMSGSIZE\"");
    say(&client, line);
    say(&client, "\n" PING);
    CHECK(await_lines(&client, 2));
    CHECK_INT(lines(&client), 2);
    check_has(&client, "{\"id\":1,\"ok\":true");
    char just[CONTROL_LINE_MAX + 1]; /* with its end as long as one may be */
    memset(just, ' ', CONTROL_LINE_MAX);
    memcpy(just, PING, strlen(PING) - 1);
    just[CONTROL_LINE_MAX - 1] = '\n';
    just[CONTROL_LINE_MAX] = '\0';
    say(&client, just);
    CHECK(await_lines(&client, 3));
    CHECK(strstr(strstr(client.in, "EMSGSIZE") + 1, "EMSGSIZE") == NULL);
    disconnect(&client);
    free(line);
    close_server();
}

/* Asks without reading: it is not read from, and when it reads at last every answer is there, in order. */
static void not_reading(void)
{
    open_server(NULL);
    struct client client = connected();
    char text[64];
    int sent = 0, blocked = 0;
    while (blocked < 200) {
        int len = snprintf(text, sizeof text, "{\"id\":%d,\"cmd\":\"ping\"}\n", sent);
        if (send(client.fd, text, (size_t)len, MSG_NOSIGNAL) == len)
            sent++, blocked = 0;
        else
            blocked++, usleep(1000);
        turn();
    }
    CHECK(n_requests < (size_t)sent);
    CHECK(n_requests * 40 < 1 << 20); /* what is unread is bounded: our buffer's and the kernel's */
    CHECK(await_lines(&client, (size_t)sent));
    CHECK_INT(n_requests, sent);
    const char *at = client.in;
    int wrong = 0;
    for (int i = 0; i < sent; i++, at = strchr(at, '\n') + 1)
        wrong += atoi(at + strlen("{\"id\":")) != i;
    CHECK_INT(wrong, 0);
    disconnect(&client);
    turn();
    close_server();
}

/* So many wait for an answer: what follows waits in the socket, and is not refused. */
static void unanswered(void)
{
    open_server(NULL);
    struct client client = connected();
    for (int i = 0; i < 300; i++)
        say(&client, "{\"id\":1,\"cmd\":\"hold\"}\n");
    say(&client, PING);
    for (int i = 0; i < 100 || (n_held < CONTROL_CALLS_MAX && i < PATIENCE_MS); i++, usleep(1000))
        turn();
    CHECK_INT(n_held, CONTROL_CALLS_MAX);
    take(&client);
    CHECK_INT(lines(&client), 0);
    release(100);
    CHECK(await_lines(&client, 101));
    check_has(&client, "\"args\":{}");
    CHECK_INT(n_held, 200);
    disconnect(&client); /* with 200 unanswered: they are answered to no one */
    while (control_clients(control) > 0)
        turn();
    release(200);
    close_server();
}

static uint64_t turns(void)
{
    struct control_view seen;
    control_look(control, &seen);
    return seen.turns;
}

#define STATUS "{\"id\":7,\"cmd\":\"status\"}\n"
#define WORK   "{\"id\":8,\"cmd\":\"work\"}\n"

/* One text for all waiting clients, built after each has asked. */
static void shared_status(void)
{
    enum { CLIENTS = 20, EACH = 100 };
    open_server(NULL);
    struct client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = connected();
    for (int r = 0; r < EACH; r++)
        for (int i = 0; i < CLIENTS; i++)
            CHECK(send(clients[i].fd, STATUS, strlen(STATUS), 0) == (ssize_t)strlen(STATUS));
    for (int i = 0; i < CLIENTS; i++)
        CHECK(await_lines(&clients[i], EACH));
    CHECK_INT(n_requests, CLIENTS * EACH);
    CHECK(n_built * 4 < n_requests);
    for (int i = 0; i < CLIENTS; i++) {
        CHECK(strncmp(clients[i].in, "{\"id\":7,\"ok\":true,\"result\":{\"built\":", 35) == 0);
        disconnect(&clients[i]);
    }
    close_server();
}

/* 55 ask for a status that costs 5 ms, without end: it is built once for all of them, and a pause does not
 * wait for them. */
static void pause_in_crowd(void)
{
    enum { CLIENTS = 55, ROUNDS = 10 };
    struct client clients[CLIENTS], user = {.fd = -1};
    open_server(NULL);
    build_ns = 5 * MS;
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = connected();
    user = connected();
    while (control_clients(control) < CLIENTS + 1)
        turn();
    size_t soon = 0;
    for (size_t r = 1; r <= ROUNDS; r++) {
        for (int i = 0; i < CLIENTS; i++)
            for (int k = 0; k < 20; k++)
                (void)!send(clients[i].fd, STATUS, strlen(STATUS), MSG_NOSIGNAL);
        turn();
        uint64_t before = turns();
        CHECK(send(user.fd, "{\"id\":1,\"cmd\":\"pause\"}\n", 23, 0) == 23);
        CHECK(await_lines(&user, r));
        soon += turns() - before <= 2;
        for (int i = 0; i < CLIENTS; i++)
            take(&clients[i]);
    }
    CHECK(soon * 2 > ROUNDS); /* a turn that the machine interrupts ends at its time, and serves fewer */
    CHECK(n_built <= turns());
    for (int i = 0; i < CLIENTS; i++) {
        CHECK(await_lines(&clients[i], ROUNDS * 20)); /* and each of them is answered */
        disconnect(&clients[i]);
    }
    CHECK(n_built * 20 < n_requests);
    disconnect(&user);
    build_ns = 0;
    close_server();
}

/* 55 ask for what costs 1 ms each and is shared by none of them. A client that was served already asks for a
 * pause as well: it does not wait for its next place in the rotation, some 20 turns away. */
static void pause_among_work(void)
{
    enum { CLIENTS = 55, ROUNDS = 7 };
    struct client clients[CLIENTS];
    open_server(NULL);
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = connected();
    while (control_clients(control) < CLIENTS)
        turn();
    size_t soon = 0, has[CLIENTS] = {0};
    for (size_t r = 1; r <= ROUNDS; r++) {
        for (int i = 0; i < CLIENTS; i++, has[i - 1]++)
            CHECK(send(clients[i].fd, WORK, strlen(WORK), 0) == (ssize_t)strlen(WORK));
        int served = -1;
        while (served < 0) {
            turn();
            for (int i = 0; i < CLIENTS && served < 0; i++) {
                take(&clients[i]);
                served = lines(&clients[i]) == has[i] ? i : -1;
            }
        }
        CHECK(send(clients[served].fd, "{\"id\":1,\"cmd\":\"pause\"}\n", 23, 0) == 23);
        uint64_t before = turns();
        CHECK(await_lines(&clients[served], ++has[served]));
        soon += turns() - before <= 3;
        for (int i = 0; i < CLIENTS; i++)
            CHECK(await_lines(&clients[i], has[i]));
    }
    CHECK(soon * 2 > ROUNDS); /* as above */
    for (int i = 0; i < CLIENTS; i++)
        disconnect(&clients[i]);
    close_server();
}

/* A client that does not read what was built gets no other text, and too much of that closes it. */
static void mute(void)
{
    enum { LEN = 600 * 1024, CLIENTS = 4 };
    struct control_limits limits = control_limits_default;
    struct client clients[CLIENTS], reader;
    char *text = malloc(LEN + 1);
    limits.unread_shared = 3 * LEN + LEN / 2;
    memset(text, 'x', LEN);
    text[LEN] = '\0';
    filler = text;
    open_server(&limits);
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = connected();
        for (int k = 0; k < 50; k++)
            say(&clients[i], STATUS);
        while (n_built <= i)
            turn();
    }
    CHECK_INT(n_built, CLIENTS); /* one each, whatever they ask */
    CHECK_INT(control_clients(control), CLIENTS);
    reader = connected(); /* 4 wait: the one that has not read for longest goes */
    say(&reader, STATUS);
    CHECK(await_lines(&reader, 1));
    check_has(&reader, "\"built\":5");
    CHECK_INT(control_clients(control), CLIENTS);
    CHECK(await_end(&clients[0]));
    CHECK(await_lines(&clients[3], 50)); /* a client that reads at last has all its answers */
    for (int i = 0; i < CLIENTS; i++)
        disconnect(&clients[i]);
    disconnect(&reader);
    filler = "";
    free(text);
    close_server();
}

/* ---- many ---- */

static struct client crowd[256];

static void gather(size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++) {
        crowd[i] = connected();
        if (text) {
            say(&crowd[i], text);
            CHECK(await_lines(&crowd[i], 1));
        }
    }
    turn();
    turn();
}

static void scatter(size_t n)
{
    for (size_t i = 0; i < n; i++)
        disconnect(&crowd[i]);
    while (control_clients(control) > 0)
        turn();
}

static void reserves(void)
{
    open_server(NULL);
    gather(56, PING);
    struct client asks = connected();
    say(&asks, "{\"id\":5,\"cmd\":\"who\"}\n" PING);
    CHECK(await_lines(&asks, 2));
    check_has(&asks, "{\"id\":5,\"ok\":false,\"error\":{\"code\":\"EBUSY\",\"message\":\"who: all ordinary "
                     "connections are taken: this reserve answers ping, status, pause alone");
    check_has(&asks, "{\"id\":1,\"ok\":true");

    uint64_t began = uv_hrtime();
    struct client silent = connected();
    CHECK(await_end(&silent));
    CHECK(uv_hrtime() - began >= 99 * UINT64_C(1000000));
    check_has(&silent,
              "\"code\":\"EBUSY\",\"message\":\"closed: a reserve's first request must come within 100 ms\"");

    disconnect(&crowd[3]); /* an ordinary one is free: the reserve becomes it */
    while (control_clients(control) > 56)
        turn();
    say(&asks, "{\"id\":6,\"cmd\":\"who\"}\n");
    CHECK(await_lines(&asks, 3));
    check_has(&asks, "{\"id\":6,\"ok\":true");
    crowd[3] = asks;
    disconnect(&silent);
    scatter(56);
    close_server();
}

/* Bytes without a line's end, or empty lines, keep no reserve. */
static void endless_in_reserve(void)
{
    enum { CLOSED_WITHIN_MS = 10000 }; /* a kept one lives for ever */
    char bytes[16384];
    open_server(NULL);
    gather(56, PING);
    for (int i = 0; i < 2; i++) {
        struct client client = connected();
        uint64_t end = uv_hrtime() + CLOSED_WITHIN_MS * UINT64_C(1000000);
        memset(bytes, "x\n"[i], sizeof bytes);
        while (!client.ended && uv_hrtime() < end) {
            for (int k = 0; k < 64 && send(client.fd, bytes, sizeof bytes, MSG_NOSIGNAL) > 0; k++)
                ; /* there is always something unread */
            turn();
            take(&client);
        }
        CHECK(client.ended);
        disconnect(&client);
    }
    scatter(56);
    close_server();
}

static void when_full(void)
{
    struct control_view seen;
    open_server(NULL);
    gather(64, PING); /* all have asked: 0 the longest ago */
    CHECK_INT(control_clients(control), 64);
    struct client newcomer = connected();
    say(&newcomer, PING);
    CHECK(await_lines(&newcomer, 1));
    check_has(&newcomer, "\"ok\":true");
    CHECK(await_end(&crowd[0]));
    check_has(&crowd[0], "{\"id\":null,\"ok\":false,\"error\":{\"code\":\"EBUSY\",\"message\":\"closed: all "
                         "connections are taken");
    take(&crowd[1]);
    CHECK(!crowd[1].ended);
    control_look(control, &seen);
    CHECK_INT(seen.clients, 64);
    CHECK_INT(seen.reserves, 8);
    CHECK_INT(seen.displaced, 1);
    disconnect(&newcomer);
    scatter(64);

    /* 200 that only connect: those that ask stay, and a newcomer's request is answered. */
    gather(40, PING);
    for (int i = 40; i < 240; i++)
        crowd[i] = connected();
    newcomer = connected();
    say(&newcomer, PING);
    CHECK(await_lines(&newcomer, 1));
    check_has(&newcomer, "\"ok\":true");
    for (int i = 0; i < 40; i++) {
        say(&crowd[i], PING);
        CHECK(await_lines(&crowd[i], 2));
    }
    CHECK(control_clients(control) <= 64);
    disconnect(&newcomer);
    scatter(240);
    close_server();
}

static void idle(void)
{
    const struct control_limits limits = {4,      1, 100 * (int64_t)MS, 150 * (int64_t)MS, 60 * (int64_t)MS,
                                          1 << 20};
    open_server(&limits);
    struct client client = connected(), waits = connected();
    say(&waits, "{\"id\":9,\"cmd\":\"hold\"}\n");
    CHECK(await_end(&client));
    check_has(&client, "\"code\":\"ETIMEDOUT\",\"message\":\"closed: no request for 0.15 s\"");
    uint64_t end = uv_hrtime() + 300 * UINT64_C(1000000);
    while (uv_hrtime() < end)
        turn();
    take(&waits);
    CHECK(!waits.ended); /* it has asked */
    release(1);
    CHECK(await_end(&waits));
    check_has(&waits, "{\"id\":9,\"ok\":true");
    disconnect(&client);
    disconnect(&waits);
    close_server();
}

/* The socket closes while much is unread: the loop still ends. */
static void closing(void)
{
    open_server(NULL);
    struct client client = connected();
    for (int i = 0; i < 20000; i++)
        if (send(client.fd, PING, strlen(PING), MSG_NOSIGNAL) < 0)
            turn();
    struct client other = connected();
    say(&other, "{\"id\":9,\"cmd\":\"hold\"}\n");
    while (n_held == 0)
        turn();
    uint64_t began = uv_hrtime();
    close_server();
    CHECK(uv_hrtime() - began < 30 * UINT64_C(1000000000));
    take(&other);
    check_has(&other, "{\"id\":9,\"ok\":true"); /* what was queued was sent */
    CHECK(other.ended);
    disconnect(&client);
    disconnect(&other);
}

/* ---- other users ---- */

/* A process of that user that runs `script`'s letters: c connects, p asks (and is answered), w waits for a
 * byte of `go`. */
static pid_t other(uid_t uid, gid_t gid, const char *script, int go)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    struct client clients[80];
    int n = 0, bad = setgroups(0, NULL) < 0 || setgid(gid) < 0 || setuid(uid) < 0;
    char byte;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, sizeof path);
    for (const char *c = script; *c && !bad; c++) {
        char answer[512] = "";
        if (*c == 'c') {
            clients[n] = (struct client){.fd = socket(AF_UNIX, SOCK_STREAM, 0)};
            bad = connect(clients[n].fd, (struct sockaddr *)&address, sizeof address) < 0;
            n++;
        } else if (*c == 'w') {
            bad = read(go, &byte, 1) != 1;
        } else {
            bad = send(clients[n - 1].fd, "{\"id\":1,\"cmd\":\"who\"}\n", 21, MSG_NOSIGNAL) != 21 ||
                  recv(clients[n - 1].fd, answer, sizeof answer - 1, 0) <= 0 ||
                  !strstr(answer, "\"ok\":true");
        }
    }
    _exit(bad);
}

static int status_of(pid_t pid)
{
    int status = -1;
    uint64_t end = uv_hrtime() + PATIENCE_MS * UINT64_C(1000000);
    while (waitpid(pid, &status, WNOHANG) == 0 && uv_hrtime() < end)
        turn();
    return status;
}

/* Its file is removed: it is made again, and clients stay; another's is left alone. */
static void removed(void)
{
    open_server(NULL);
    gather(2, PING);
    CHECK_INT(control_keep(control), 0);
    struct client waits = connected(); /* not accepted yet */
    CHECK_INT(unlink(path), 0);
    CHECK_INT(control_keep(control), 1);
    CHECK_INT(control_keep(control), 0);
    struct stat st;
    CHECK(stat(path, &st) == 0 && S_ISSOCK(st.st_mode) && (st.st_mode & 07777) == 0660);
    struct client newcomer = connected();
    struct client *const all[] = {&waits, &newcomer, &crowd[0], &crowd[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        all[i]->len = all[i]->lines = 0;
        say(all[i], PING);
        CHECK(await_lines(all[i], 1));
        check_has(all[i], "\"ok\":true");
    }
    CHECK_INT(unlink(path), 0);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    CHECK_INT(control_keep(control), -EEXIST);
    close(fd);
    disconnect(&waits);
    disconnect(&newcomer);
    scatter(2);
    release(n_held);
    control_close(control);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK_INT(unlink(path), 0); /* it is not ours */
}

/* A crowd of one's own that only connects, each again as it is closed: what asks is answered, any command. */
static void own_crowd(void)
{
    enum { CROWD = 200, ROUNDS = 30 };
    size_t opened = 0;
    open_server(NULL);
    struct client keeps = connected();
    say(&keeps, "{\"id\":0,\"cmd\":\"who\"}\n");
    CHECK(await_lines(&keeps, 1));
    gather(CROWD, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        for (size_t k = 0; k < CROWD; k++) {
            take(&crowd[k]);
            if (crowd[k].ended) {
                disconnect(&crowd[k]);
                crowd[k] = connected();
                opened++;
            }
        }
        struct client newcomer = connected();
        say(&newcomer, "{\"id\":1,\"cmd\":\"who\"}\n");
        CHECK(await_lines(&newcomer, 1));
        check_has(&newcomer, "{\"id\":1,\"ok\":true");
        disconnect(&newcomer);
        keeps.len = keeps.lines = 0;
        say(&keeps, "{\"id\":2,\"cmd\":\"who\"}\n");
        CHECK(await_lines(&keeps, 1));
        check_has(&keeps, "{\"id\":2,\"ok\":true");
    }
    CHECK(opened > CROWD);
    printf("%d rounds of two requests among %d that only connect, %zu opened again: all answered\n", ROUNDS,
           CROWD, opened);
    disconnect(&keeps);
    scatter(CROWD);
    close_server();
}

static void users(void)
{
    int go[2];
    if (geteuid() != 0) {
        puts("other users are not tried: that needs root");
        return;
    }
    chmod(scratch.root, 0755);
    open_server(NULL);
    CHECK_INT(chmod(path, 0666), 0); /* the daemon's own check alone */
    CHECK_INT(pipe(go), 0);
    /* One takes all 64; another, of the group, is answered at once, whatever it asks; root too. */
    char all[65] = "";
    memset(all, 'c', 64);
    char script[80];
    snprintf(script, sizeof script, "%sw", all);
    pid_t greedy = other(OTHER_UID, getegid(), script, go[0]);
    while (control_clients(control) < 60)
        turn();
    CHECK_INT(status_of(other(THIRD_UID, getegid(), "cpcp", go[0])), 0);
    struct client own = connected();
    say(&own, "{\"id\":5,\"cmd\":\"who\"}\n");
    CHECK(await_lines(&own, 1));
    check_has(&own, "{\"uid\":0}");
    CHECK(write(go[1], "x", 1) == 1);
    CHECK_INT(status_of(greedy), 0);
    /* Of another group: a line says why. */
    CHECK(status_of(other(OTHER_UID, THIRD_UID, "cp", go[0])) != 0);
    struct control_view seen;
    control_look(control, &seen);
    CHECK_INT(seen.refused, 1);
    /* Other groups from now on: the file is open to all, and the peer's groups decide. */
    struct stat st;
    const struct control_groups groups = {{THIRD_UID, THIRD_UID + 1}, 2};
    const struct control_groups own_group = {{getegid()}, 1};
    control_admit(control, &groups);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0666);
    CHECK_INT(status_of(other(OTHER_UID, THIRD_UID, "cp", go[0])), 0);
    CHECK_INT(status_of(other(OTHER_UID, THIRD_UID + 1, "cp", go[0])), 0);
    CHECK(status_of(other(OTHER_UID, getegid(), "cp", go[0])) != 0);
    control_admit(control, &own_group);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0660);
    CHECK_INT(status_of(other(OTHER_UID, getegid(), "cp", go[0])), 0);
    disconnect(&own);
    close(go[0]);
    close(go[1]);
    close_server();
}

int main(void)
{
    snprintf(path, sizeof path, "%.90s/control.sock", scratch_root());
    uv_loop_init(&loop);
    setvbuf(stdout, NULL, _IONBF, 0);
    lines_in_parts();
    long_lines();
    not_reading();
    unanswered();
    shared_status();
    pause_in_crowd();
    pause_among_work();
    mute();
    reserves();
    endless_in_reserve();
    when_full();
    idle();
    closing();
    removed();
    own_crowd();
    users();
    CHECK_INT(uv_loop_close(&loop), 0);
    return check_done("net/control");
}
