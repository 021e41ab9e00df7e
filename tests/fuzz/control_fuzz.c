/* The control socket, whatever a client sends: each line that comes back is an object with `ok`, each request
 * is handled with an object of arguments, and the next client is answered. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "exchange/net/control.h"
#include "tests/fuzz/fuzz.h"

static uv_loop_t loop;
static struct control *control;
static char folder[] = "/tmp/papertape-control-XXXXXX", path[64];

static void remove_files(void)
{
    unlink(path);
    rmdir(folder);
}

static void handle(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                   const struct control_peer *peer)
{
    (void)ctx;
    fail_unless(cmd && json_is_object(args) && peer->uid == getuid());
    if (strcmp(cmd, "ping") == 0)
        control_ok(call, NULL);
    else if (json_object_size(args) > 0)
        control_ok(call, json_incref(args));
    else
        control_error(call, "EINVAL", "cmd: \"%.40s\": unknown", cmd);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const reserve[] = {"ping", NULL};
    char err[256];
    (void)argc;
    (void)argv;
    fail_unless(mkdtemp(folder) && uv_loop_init(&loop) == 0);
    snprintf(path, sizeof path, "%s/control.sock", folder);
    atexit(remove_files);
    const struct control_options options = {.path = path, .handler = handle, .reserve_commands = reserve};
    fail_unless(control_open(&loop, &options, &control, err, sizeof err) == 0);
    return 0;
}

static void check_lines(const char *text, size_t n)
{
    while (n > 0) {
        const char *end = memchr(text, '\n', n);
        fail_unless(end);
        json_t *answer = json_loadb(text, (size_t)(end - text), 0, NULL);
        fail_unless(json_is_boolean(json_object_get(answer, "ok")));
        json_decref(answer);
        n -= (size_t)(end + 1 - text);
        text = end + 1;
    }
}

/* Sends all of it, then reads to the end; returns how much came, for free(). */
static size_t talk(const uint8_t *data, size_t size, char **ret)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t sent = 0, n = 0, cap = 0;
    ssize_t got;
    memcpy(to.sun_path, path, sizeof path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    fail_unless(fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) == 0);
    *ret = NULL;
    do {
        if (sent < size) {
            ssize_t r = send(fd, data + sent, size - sent, MSG_NOSIGNAL);
            sent += r > 0 ? (size_t)r : 0;
            if (r < 0 && errno != EAGAIN)
                sent = size;
            if (sent == size)
                shutdown(fd, SHUT_WR);
        }
        uv_run(&loop, UV_RUN_NOWAIT);
        if (cap - n < 4096)
            *ret = realloc(*ret, cap = 2 * cap + 8192);
        fail_unless(*ret);
        got = recv(fd, *ret + n, cap - n, 0);
        n += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EAGAIN));
    close(fd);
    uv_run(&loop, UV_RUN_NOWAIT);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char ping[] = "{\"id\":1,\"cmd\":\"ping\"}\n";
    char *text;
    if (size == 0)
        return 0;
    size_t n = talk(data, size, &text);
    check_lines(text, n);
    free(text);
    n = talk((const uint8_t *)ping, strlen(ping), &text);
    fail_unless(n > 0 && memmem(text, n, "\"ok\":true", 9));
    free(text);
    return 0;
}
