/* The link to a co-process that is absent, started, hung, killed, of another version, of another folder, or
 * lies. The started process is this program with "serve"; otherwise a server on the same loop listens. */
#include "daemon/training/link.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "exchange/net/control.h"
#include "tests/check.h"
#include "tests/scratch.h"

enum { PATIENCE_MS = 60000 };

static uv_loop_t loop;
static char folder[SCRATCH_MAX], socket_path[SCRATCH_PATH_MAX], log_path[SCRATCH_PATH_MAX], self[256];

/* Limits for a co-process that answers, however busy the machine is, and for one that does not. */
static const struct link_times patient = {.tick = 20,
                                          .answer = 30000,
                                          .silent = 20000,
                                          .kill = 40000,
                                          .start = 30000,
                                          .again = 50,
                                          .again_max = 100,
                                          .version = 100};
static const struct link_times quick = {.tick = 20,
                                        .answer = 800,
                                        .silent = 200,
                                        .kill = 500,
                                        .start = 5000,
                                        .again = 50,
                                        .again_max = 100,
                                        .version = 100};

/* ---- the co-process ---- */

/* How a server answers `hello`. */
enum manner { GOOD, MUTE, OTHER_VERSION, REFUSES_VERSION, OTHER_FOLDER, NONSENSE };

struct server {
    struct control *control;
    enum manner manner;
    struct control_call *held[64];
    size_t n_held, n_asked;
};

static void on_request(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                       const struct control_peer *peer)
{
    struct server *server = ctx;
    (void)peer;
    server->n_asked++;
    if (server->manner == MUTE && server->n_held < 64)
        server->held[server->n_held++] = call;
    else if (strcmp(cmd, "echo") == 0)
        control_ok(call, json_pack("{s:O}", "args", args));
    else if (strcmp(cmd, "hold") == 0)
        server->held[server->n_held++] = call;
    else if (server->manner == REFUSES_VERSION)
        control_error(call, "EPROTO", "protocol 9 is spoken here");
    else if (server->manner == NONSENSE)
        control_ok(call, json_array());
    else
        control_ok(call,
                   json_pack("{s:i, s:s, s:i, s:s}", "protocol", server->manner == OTHER_VERSION ? 2 : 1,
                             "version", "7.7", "pid", (int)getpid(), "state_dir",
                             server->manner == OTHER_FOLDER ? "/" : folder));
}

static void release(struct server *server)
{
    server->manner = GOOD;
    while (server->n_held > 0)
        control_ok(server->held[--server->n_held], json_pack("{s:i, s:s, s:i, s:s}", "protocol", 1, "version",
                                                             "7.7", "pid", 1, "state_dir", folder));
}

static void open_server(struct server *server, enum manner manner)
{
    char err[200] = "";
    *server = (struct server){.manner = manner};
    static const char *const reserve[] = {NULL};
    const struct control_options options = {
        .path = socket_path, .handler = on_request, .ctx = server, .reserve_commands = reserve};
    CHECK_INT(control_open(&loop, &options, &server->control, err, sizeof err), 0);
    CHECK_STR(err, "");
}

static void close_server(struct server *server)
{
    release(server);
    control_close(server->control);
}

/* The second process: ends with the first, whatever becomes of that. */
static int serve(const char *path, const char *state_dir, const char *manner)
{
    static struct server server;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(socket_path, sizeof socket_path, "%s", path);
    snprintf(folder, sizeof folder, "%s", state_dir);
    if (strcmp(manner, "dies") == 0) {
        fputs("first words\nno\tdevice\n", stderr);
        return 3;
    }
    uv_loop_init(&loop);
    if (strcmp(manner, "deaf") == 0)
        pause();
    open_server(&server, strcmp(manner, "mute") == 0 ? MUTE : GOOD);
    return uv_run(&loop, UV_RUN_DEFAULT);
}

/* ---- the link ---- */

static struct {
    bool needed;
    unsigned ready, killed, bad;
    char mark[SPAWN_MARK_MAX], why[LINK_DETAIL_MAX];
} reported;

static bool is_needed(void *ctx)
{
    (void)ctx;
    return reported.needed;
}

static void on_ready(void *ctx)
{
    (void)ctx;
    reported.ready++;
}

static void on_state(void *ctx)
{
    (void)ctx;
}

static void on_started(void *ctx, const char *mark)
{
    (void)ctx;
    snprintf(reported.mark, sizeof reported.mark, "%s", mark);
}

static void on_killed(void *ctx, const char *why)
{
    (void)ctx;
    reported.killed++;
    snprintf(reported.why, sizeof reported.why, "%s", why);
}

static void on_bad(void *ctx, const char *why)
{
    (void)ctx;
    reported.bad++;
    CHECK(strstr(why, "none of docs/serve.md") != NULL);
}

static const char *arguments[] = {self, "serve", socket_path, folder, NULL, NULL};

static struct training_link_config plan(const char *manner)
{
    memset(&reported, 0, sizeof reported);
    arguments[4] = manner;
    return (struct training_link_config){
        .loop = &loop,
        .socket = socket_path,
        .state_dir = folder,
        .program = {.program = self, .arguments = arguments, .log = log_path},
        .times = patient,
        .needed = is_needed,
        .ready = on_ready,
        .state = on_state,
        .started = on_started,
        .killed = on_killed,
        .bad = on_bad};
}

static enum link_state state_of(const struct training_link *link)
{
    struct link_view view;
    daemon_training_link_view(link, &view);
    return view.state;
}

static bool says(const struct training_link *link, const char *words)
{
    struct link_view view;
    daemon_training_link_view(link, &view);
    return strstr(view.detail, words) != NULL;
}

/* Runs the loop until a condition holds, for a minute at most. */
#define UNTIL(condition) \
    do { \
        uint64_t until_end = uv_hrtime() / 1000000 + PATIENCE_MS; \
        while (!(condition) && uv_hrtime() / 1000000 < until_end) \
            run_once(); \
        CHECK(condition); \
    } while (0)

static void on_wakeup(uv_timer_t *timer)
{
    (void)timer;
}

static uv_timer_t wakeup; /* the loop never sleeps for long */

static void run_once(void)
{
    uv_run(&loop, UV_RUN_ONCE);
}

/* A request's end. */
struct reply {
    unsigned n;
    char code[32], message[600];
    bool ok;
};

static void on_reply(void *ctx, const json_t *answer)
{
    struct reply *reply = ctx;
    const json_t *error = json_object_get(answer, "error");
    reply->n++;
    reply->ok = json_object_get(answer, "result") != NULL;
    snprintf(reply->code, sizeof reply->code, "%s",
             error ? json_string_value(json_object_get(error, "code")) : "");
    snprintf(reply->message, sizeof reply->message, "%s",
             error ? json_string_value(json_object_get(error, "message")) : "");
}

static void end_child(void)
{
    CHECK(reported.mark[0]);
    int r = daemon_training_spawn_kill(reported.mark);
    CHECK(r == 0 || r == -ESRCH);
}

/* ---- the cases ---- */

static void absent(void)
{
    struct training_link_config config = plan("good");
    struct reply reply = {0};
    struct training_link *link = daemon_training_link_create(&config);
    UNTIL(says(link, "once it is needed"));
    CHECK_INT(state_of(link), LINK_ABSENT);
    daemon_training_link_destroy(link);

    config.never = true;
    link = daemon_training_link_create(&config);
    daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
    UNTIL(reply.n == 1);
    CHECK_INT(state_of(link), LINK_OFF);
    CHECK_STR(reply.code, "ENOENT");
    CHECK(strstr(reply.message, "start = never") && strstr(reply.message, socket_path));
    daemon_training_link_destroy(link);

    config.never = false;
    config.by_unit = true;
    reported.needed = true;
    reply.n = 0;
    link = daemon_training_link_create(&config);
    daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
    UNTIL(reply.n == 1);
    CHECK_INT(state_of(link), LINK_ABSENT);
    CHECK(strstr(reply.message, "systemctl start papertape-trainer") != NULL);
    CHECK_STR(reported.mark, "");
    daemon_training_link_destroy(link);
}

/* Asked before it is there: it is started, and answers. Killed: it is started again, while it is needed. */
static void started(void)
{
    struct training_link_config config = plan("good");
    struct reply reply = {0}, lost = {0};
    char first[SPAWN_MARK_MAX];
    struct link_view view;
    struct training_link *link = daemon_training_link_create(&config);
    daemon_training_link_ask(link, "echo", json_pack("{s:i}", "x", 1), on_reply, &reply);
    UNTIL(reply.n == 1);
    CHECK(reply.ok);
    CHECK_INT(reported.ready, 1);
    daemon_training_link_view(link, &view);
    CHECK_INT(view.state, LINK_OK);
    CHECK_STR(view.version, "7.7");
    CHECK_INT(view.pid, strtol(reported.mark, NULL, 10));
    CHECK(getsid(view.pid) == view.pid); /* a session of its own */
    snprintf(first, sizeof first, "%s", reported.mark);
    daemon_training_link_ask(link, "hold", NULL, on_reply, &lost);
    reported.needed = true;
    end_child();
    UNTIL(lost.n == 1);
    CHECK_STR(lost.code, "ECONNRESET");
    UNTIL(reported.ready == 2);
    CHECK(strcmp(first, reported.mark) != 0);
    CHECK_INT(daemon_training_spawn_kill(first), -ESRCH); /* never another of that number */

    /* The daemon goes: it stays, and another daemon finds it. */
    daemon_training_link_destroy(link);
    for (int i = 0; i < 20; i++)
        run_once();
    snprintf(first, sizeof first, "%s", reported.mark);
    link = daemon_training_link_create(&config);
    UNTIL(reported.ready == 3);
    CHECK_STR(reported.mark, first); /* no process was started */
    daemon_training_link_destroy(link);
    end_child();
}

static void dies(void)
{
    struct training_link_config config = plan("dies");
    struct reply reply = {0};
    struct training_link *link = daemon_training_link_create(&config);
    daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
    UNTIL(reply.n == 1);
    CHECK_STR(reply.code, "ENOENT");
    CHECK(strstr(reply.message, "status 3: no?device") != NULL);
    CHECK_INT(state_of(link), LINK_ABSENT);
    daemon_training_link_destroy(link);

    config.program.program = "/nowhere/papertape-trainer";
    reply.n = 0;
    link = daemon_training_link_create(&config);
    daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
    UNTIL(reply.n == 1);
    CHECK(strstr(reply.message, "/nowhere/papertape-trainer") && strstr(reply.message, "$PATH"));
    daemon_training_link_destroy(link);

    config = plan("deaf");
    config.times.start = 200;
    reply.n = 0;
    link = daemon_training_link_create(&config);
    daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
    UNTIL(reply.n == 1);
    CHECK_STR(reply.code, "ENOENT");
    CHECK(strstr(reply.message, "does not listen") != NULL);
    daemon_training_link_destroy(link);
    end_child();
}

/* Hung: silent, what is asked is given up, and one of ours is killed and another started. */
static void hung(void)
{
    struct training_link_config config = plan("mute");
    struct reply reply = {0};
    char first[SPAWN_MARK_MAX];
    unsigned killed, ready;
    config.times = quick;
    struct training_link *link = daemon_training_link_create(&config);
    reported.needed = true;
    UNTIL(state_of(link) == LINK_SILENT);
    CHECK(says(link, "does not answer"));
    snprintf(first, sizeof first, "%s", reported.mark);
    arguments[4] = "good"; /* the next one is */
    killed = reported.killed;
    UNTIL(reported.killed > killed);
    CHECK(strstr(reported.why, "silent") != NULL);
    UNTIL(reported.ready > 0);
    UNTIL(daemon_training_spawn_kill(first) == -ESRCH); /* and no zombie is left */
    CHECK(strcmp(first, reported.mark) != 0);
    UNTIL(state_of(link) == LINK_OK);
    killed = reported.killed, ready = reported.ready;
    kill((pid_t)strtol(reported.mark, NULL, 10), SIGSTOP); /* and again, stopped while it is asked */
    daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
    UNTIL(reported.killed > killed);
    UNTIL(reply.n == 1);
    CHECK(!reply.ok);
    UNTIL(reported.ready > ready);
    daemon_training_link_destroy(link);
    end_child();
}

/* Another user's co-process is left alone, however silent; when it answers again, the link uses it. */
static void silent(void)
{
    struct training_link_config config = plan("good");
    struct reply reply = {0};
    struct server server;
    open_server(&server, MUTE);
    config.times = quick;
    struct training_link *link = daemon_training_link_create(&config);
    reported.needed = true;
    UNTIL(server.n_asked > 0);
    usleep((useconds_t)(quick.kill + 100) * 1000); /* a daemon that is stopped for as long sees that, too */
    UNTIL(state_of(link) == LINK_SILENT);
    daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
    UNTIL(reply.n == 1);
    CHECK_STR(reply.code, "ETIMEDOUT");
    CHECK(strstr(reply.message, "did not answer in 0.8 s") && strstr(reply.message, "silent"));
    uint64_t end = uv_hrtime() / 1000000 + quick.kill + 200;
    while (uv_hrtime() / 1000000 < end)
        run_once();
    CHECK_INT(reported.killed, 0);
    CHECK_STR(reported.mark, "");
    CHECK_INT(state_of(link), LINK_SILENT);
    release(&server);
    UNTIL(state_of(link) == LINK_OK);
    reply.n = 0;
    daemon_training_link_ask(link, "hold", NULL, on_reply, &reply);
    UNTIL(reply.n == 1);
    CHECK_STR(reply.code, "ETIMEDOUT");
    /* Again, once it was there: the request is given up, and the co-process is still looked at. */
    server.manner = MUTE;
    reply.n = 0;
    daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
    UNTIL(reply.n == 1);
    UNTIL(state_of(link) == LINK_SILENT);
    release(&server);
    UNTIL(state_of(link) == LINK_OK);
    daemon_training_link_destroy(link);
    close_server(&server);
}

static void versions(void)
{
    static const enum manner manners[] = {OTHER_VERSION, REFUSES_VERSION};
    for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
        struct training_link_config config = plan("good");
        struct reply reply = {0};
        struct server server;
        open_server(&server, manners[i]);
        struct training_link *link = daemon_training_link_create(&config);
        daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
        UNTIL(reply.n == 1);
        CHECK_INT(state_of(link), LINK_VERSION);
        CHECK_STR(reply.code, "EPROTO");
        CHECK(strstr(reply.message, manners[i] == OTHER_VERSION ? "protocol 2" : "protocol 9") != NULL);
        CHECK(strstr(reply.message, "trainings continue") != NULL);
        reply.n = 0; /* at once, from then on */
        daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
        CHECK_INT(reply.n, 1);
        CHECK_STR(reported.mark, "");
        server.manner = GOOD; /* another came */
        UNTIL(state_of(link) == LINK_OK);
        daemon_training_link_destroy(link);
        close_server(&server);
    }
}

static void strangers(void)
{
    struct training_link_config config = plan("good");
    struct reply reply = {0};
    struct server server;
    open_server(&server, OTHER_FOLDER);
    struct training_link *link = daemon_training_link_create(&config);
    daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
    UNTIL(reply.n == 1);
    CHECK_STR(reply.code, "ENOENT");
    CHECK(strstr(reply.message, "serves /,") != NULL);
    CHECK_STR(reported.mark, "");
    daemon_training_link_destroy(link);

    server.manner = NONSENSE;
    reply.n = 0;
    link = daemon_training_link_create(&config);
    daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
    UNTIL(reply.n == 1);
    CHECK_STR(reply.code, "EPROTO");
    CHECK(says(link, "none of docs/serve.md"));
    CHECK(reported.bad > 0);
    daemon_training_link_destroy(link);
    close_server(&server);
}

/* What is too long, and what comes when nothing may be asked any more. */
static void bounds(void)
{
    struct training_link_config config = plan("good");
    struct reply reply = {0};
    struct server server;
    char *text = malloc(CLIENT_REQUEST_MAX + 1);
    memset(text, 'x', CLIENT_REQUEST_MAX);
    text[CLIENT_REQUEST_MAX] = '\0';
    open_server(&server, GOOD);
    struct training_link *link = daemon_training_link_create(&config);
    UNTIL(state_of(link) == LINK_OK);
    daemon_training_link_ask(link, "echo", json_pack("{s:s}", "x", text), on_reply, &reply);
    CHECK_INT(reply.n, 1);
    CHECK_STR(reply.code, "EMSGSIZE");
    text[CLIENT_REQUEST_MAX - 200] = '\0';
    daemon_training_link_ask(link, "echo", json_pack("{s:s}", "x", text), on_reply, &reply);
    UNTIL(reply.n == 2);
    CHECK(reply.ok);
    daemon_training_link_ask(link, "hold", NULL, on_reply, &reply);
    daemon_training_link_destroy(link); /* answers it */
    CHECK_INT(reply.n, 3);
    CHECK_STR(reply.code, "ECONNRESET");
    close_server(&server);
    free(text);

    link = daemon_training_link_create(&config);
    daemon_training_link_ask(link, "echo", NULL, on_reply, &reply);
    daemon_training_link_destroy(link);
    CHECK_INT(reply.n, 4);
    CHECK_STR(reply.code, "ESHUTDOWN");
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "serve") == 0)
        return serve(argv[2], argv[3], argv[4]);
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = '\0';
    scratch_make(folder);
    snprintf(socket_path, sizeof socket_path, "%s/t.sock", folder);
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&loop);
    uv_timer_init(&loop, &wakeup);
    uv_timer_start(&wakeup, on_wakeup, 5, 5);
    absent();
    started();
    dies();
    hung();
    silent();
    versions();
    strangers();
    bounds();
    uv_close((uv_handle_t *)&wakeup, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK_INT(uv_loop_close(&loop), 0);
    return check_done("daemon/training/link");
}
