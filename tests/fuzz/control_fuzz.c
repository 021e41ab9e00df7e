/* The control socket, whatever a client sends: each line that comes back is an object with `ok` and, where
 * that is false, a code and a sentence; and the next client is answered. Behind it is a whole daemon, all but
 * its connections: session, engine, database and event log in memory by a clock of the fuzzer's own, feeds
 * that are never started, no co-process, no program to check parity with. Another daemon begins after a few
 * inputs that made it store something: an input that fails may need those before it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/alert_watch.h"
#include "daemon/arena/arena.h"
#include "daemon/board.h"
#include "daemon/command/command.h"
#include "daemon/compute.h"
#include "daemon/config_load.h"
#include "daemon/daemon.h"
#include "daemon/feed/internal.h"
#include "daemon/http/http.h"
#include "daemon/log.h"
#include "daemon/notify/notify.h"
#include "daemon/parity.h"
#include "daemon/recorder.h"
#include "daemon/roles.h"
#include "daemon/telemetry.h"
#include "daemon/training/trainings.h"
#include "exchange/clock.h"
#include "tests/fuzz/fuzz.h"
#include "tests/scratch.h"

#define START_NS 1723161240000000000LL
#define MS_NS    1000000LL
#define E8       100000000LL

enum {
    STEP_MS = 10,     /* that a turn of the loop lasts, by the daemon's clock: commits need few */
    PATIENCE_MS = 20, /* without a byte, before a client leaves: some commands wait for a co-process … */
    PING_MS = 60000,  /* … but not this one */
    DRAIN_MS = 60000, /* of that clock too */
    PRICE = 60000,
    STORED_MAX = 16, /* to begin a daemon takes longer than hundreds of inputs that change nothing */
};

static uv_loop_t loop;
static struct daemon daemon_;
static int64_t now_ns;
static uint64_t seen;     /* of the writer's tickets */
static int stored;        /* inputs of this daemon that made it store something */
static const char *empty; /* a database as a first start leaves it */
static const struct daemon_config_given given = {.venue_url = "wss://127.0.0.1:1",
                                                 .rest_url = "https://127.0.0.1:1",
                                                 .clock = "feed",
                                                 .log_level = "error"};

/* ---- the clock ---- */

static int64_t clock_now(void *ctx)
{
    (void)ctx;
    return now_ns;
}

static void clock_pass(void *ctx, int64_t until_ns)
{
    (void)ctx;
    fail_unless(until_ns != INT64_MAX);
    now_ns = until_ns > now_ns ? until_ns : now_ns;
}

static void turn(void)
{
    now_ns += STEP_MS * MS_NS;
    db_writer_step(daemon_session_writer(daemon_.session));
    daemon_recorder_step(daemon_session_recorder(daemon_.session, false));
    uv_run(&loop, UV_RUN_NOWAIT);
}

/* ---- the session's hooks, as daemon/main.c has them ---- */

static void need_snapshot(void *ctx, int symbol)
{
    (void)ctx, (void)symbol;
}

static void need_bars(void *ctx, int symbol, int64_t from_ns, int64_t to_ns)
{
    (void)ctx, (void)symbol, (void)from_ns, (void)to_ns;
}

static void command_done(void *ctx, const struct event_command *command, enum order_reason reason,
                         uint64_t order_id)
{
    (void)ctx;
    daemon_commands_done(daemon_.commands, command->command_id, reason, order_id);
}

static void command_known(void *ctx, const char *cmd, const char *args, const char *answer)
{
    (void)ctx;
    daemon_commands_remember(daemon_.commands, cmd, args, answer);
}

static void storage_failing(void *ctx)
{
    (void)ctx;
    daemon_commands_not_stored(daemon_.commands);
}

static void started(void *ctx)
{
    (void)ctx;
    arena_started(daemon_.arena);
    daemon_http_started(daemon_.http);
    daemon_commands_started(daemon_.commands);
}

static void committed(void *ctx, uint64_t ticket)
{
    (void)ctx;
    daemon_commands_committed(daemon_.commands, ticket);
    daemon_board_committed(daemon_.board, ticket);
}

static void alert_changed(void *ctx, const struct alert *alert, int64_t closed_ns)
{
    (void)ctx;
    daemon_notify_alert(daemon_.notify, alert, closed_ns);
}

/* ---- a daemon ---- */

static void put_empty(const char *path)
{
    static char bytes[1 << 20];
    int from = open(empty, O_RDONLY | O_CLOEXEC),
        to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ssize_t n = read(from, bytes, sizeof bytes);
    fail_unless(n > 0 && n < (ssize_t)sizeof bytes && write(to, bytes, (size_t)n) == n);
    close(from);
    close(to);
}

static void open_session(void)
{
    static const struct clock_stepped stepped = {.now_ns = clock_now, .pass = clock_pass};
    const struct session_hooks hooks = {.stepped = &stepped,
                                        .need_snapshot = need_snapshot,
                                        .need_bars = need_bars,
                                        .command_done = command_done,
                                        .command_known = command_known,
                                        .storage_failing = storage_failing,
                                        .started = started,
                                        .committed = committed,
                                        .alert = alert_changed};
    char err[SESSION_ERROR_MAX], state[SCRATCH_MAX];
    scratch_make(state);
    fail_unless(db_state_dir_find(state, &daemon_.state, err, sizeof err) == 0);
    fail_unless(db_state_dir_create(&daemon_.state, err, sizeof err) == 0);
    fail_unless(db_state_dir_lock(&daemon_.state, &daemon_.lock, err, sizeof err) == 0);
    put_empty(daemon_.state.database);
    daemon_.commands = daemon_commands_create(&daemon_);
    daemon_.notify = daemon_notify_create(&loop, scratch_path("notify.db"), &daemon_.config.notify);
    fail_unless(daemon_.commands && daemon_.notify);
    fail_unless(daemon_session_open(&loop, &daemon_.config, &daemon_.state, &hooks, &daemon_.session, err,
                                    sizeof err) == 0);
    fail_unless(daemon_roles_open(&daemon_, err, sizeof err) == 0);
    fail_unless(feeds_create(&daemon_, &daemon_.feeds, err, sizeof err) == 0);
}

static void open_parts(void)
{
    daemon_.compute =
        daemon_compute_create(&loop, &(struct compute_config){.unwanted = "the fuzzer has none"});
    daemon_.telemetry = daemon_telemetry_create(&daemon_);
    daemon_.parity = daemon_parity_create(&daemon_);
    daemon_.arena = arena_create(&daemon_);
    daemon_.board = daemon_board_create(&daemon_);
    daemon_.trainings = daemon_trainings_create(&daemon_);
    daemon_.watch = daemon_alert_watch_create(&daemon_);
    daemon_.http = daemon_http_create(&daemon_);
    fail_unless(daemon_.compute && daemon_.telemetry && daemon_.parity && daemon_.arena && daemon_.board &&
                daemon_.trainings && daemon_.watch && daemon_.http);
}

/* The venue has described its symbols, and each has a quote. */
static void start_session(void)
{
    struct feed *feed = feeds_at(daemon_.feeds, 0);
    for (int s = 0; s < feed->n_symbols; s++) {
        char name[SYMBOL_NAME_MAX];
        memcpy(name, feed->listed[s].name, sizeof name);
        fail_unless(symbol_default(name, NULL, 2, 5, &feed->listed[s]) == 0);
        feed->listed[s].trading = true;
        feed_own(feed, &feed->listed[s]);
    }
    feed->known = true;
    feeds_known(daemon_.feeds);
    fail_unless(daemon_session_started(daemon_.session));
    feed->answered = true; /* what is added is asked for, and no venue listens */
    struct event up = {.kind = EVENT_CONNECTION, .connection.up = true};
    daemon_session_event(daemon_.session, &up);
    for (int s = 0; s < feed->n_symbols; s++) {
        struct event event = {.kind = EVENT_MARKET, .market = {.kind = MARKET_QUOTE, .symbol = s}};
        event.market.event_ns = START_NS;
        event.market.quote = (struct market_quote){0, PRICE * E8, E8, (PRICE + 1) * E8, E8};
        daemon_session_event(daemon_.session, &event);
    }
}

static void begin(void)
{
    static struct daemon none;
    const struct daemon_config config = daemon_.config;
    daemon_ = none;
    daemon_.config = config;
    daemon_.given = &given;
    daemon_.loop = &loop;
    fail_unless(uv_loop_init(&loop) == 0);
    daemon_.started_ms = uv_now(&loop);
    open_session();
    open_parts();
    start_session();
    for (int i = 0; i < 4; i++)
        turn();
    seen = db_writer_last(daemon_session_writer(daemon_.session));
    stored = 0;
}

static void session_drained(void *user)
{
    char err[SESSION_ERROR_MAX];
    (void)user;
    daemon_commands_committed(daemon_.commands, db_writer_committed(daemon_session_writer(daemon_.session)));
    daemon_notify_stop(daemon_.notify);
    daemon_http_stop(daemon_.http);
    daemon_commands_destroy(daemon_.commands);
    daemon_roles_close(&daemon_);
    arena_destroy(daemon_.arena);
    daemon_alert_watch_stop(daemon_.watch);
    daemon_telemetry_stop(daemon_.telemetry);
    daemon_parity_stop(daemon_.parity);
    daemon_compute_stop(daemon_.compute);
    fail_unless(daemon_session_close(daemon_.session, DRAIN_MS, err, sizeof err) == 0);
}

static void feeds_stopped(void *user)
{
    struct board *board = daemon_.board ? daemon_.board : daemon_.board_before;
    daemon_.board = NULL;
    daemon_board_stop(board, session_drained, user);
}

/* As a signal ends one. */
static void end(void)
{
    daemon_.stopping = true;
    daemon_trainings_stop(daemon_.trainings);
    daemon_.trainings = NULL;
    feeds_stop(daemon_.feeds, feeds_stopped, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    fail_unless(daemon_notify_finish(daemon_.notify));
    fail_unless(uv_loop_close(&loop) == 0);
    close(daemon_.lock);
    scratch_remove(daemon_.state.path);
    unlink(scratch_path("notify.db"));
}

static void set(const char *section, const char *key, const char *value)
{
    char err[CONFIG_ERROR_MAX];
    fail_unless(daemon_config_set(&daemon_.config, section, key, value, err) == 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static char errors[CONFIG_ERRORS_MAX];
    char err[DB_ERROR_MAX];
    struct db_writer *writer;
    bool read;
    (void)argc;
    (void)argv;
    scratch_in_memory();
    setenv("PATH", scratch_root(), 1);
    setenv("SSL_CERT_FILE", "/dev/null",
           1); /* the system's certificates, for every daemon again, take longest */
    setenv("PAPERTAPE_GPU_MODULE", "none", 1);
    daemon_log_set_level(LOG_LEVEL_ERROR);
    empty = strdup(scratch_path("empty.db"));
    fail_unless(db_writer_open(empty, &(struct db_writer_config){0}, &writer, err, sizeof err) == 0);
    fail_unless(db_writer_close(writer, DRAIN_MS, err, sizeof err) == 0);
    fail_unless(daemon_config_load(&given, &daemon_.config, &read, errors) == 0);
    set("trainer", "start", "never");
    begin();
    return 0;
}

/* ---- a client ---- */

static void check_lines(const char *text, size_t n)
{
    while (n > 0) {
        const char *line_end = memchr(text, '\n', n);
        if (!line_end) /* it left before the rest */
            return;
        json_t *answer = json_loadb(text, (size_t)(line_end - text), 0, NULL);
        const json_t *ok = json_object_get(answer, "ok"), *error = json_object_get(answer, "error");
        const char *code = json_string_value(json_object_get(error, "code")),
                   *message = json_string_value(json_object_get(error, "message"));
        fail_unless(json_is_boolean(ok));
        fail_unless(json_is_true(ok) || (code && *code && message && *message && !strchr(message, '\n')));
        json_decref(answer);
        n -= (size_t)(line_end + 1 - text);
        text = line_end + 1;
    }
}

/* Sends all of it, then reads to the end, or until nothing comes; returns how much came, for free(). */
static size_t talk(const uint8_t *data, size_t size, int64_t patience_ms, char **ret)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t sent = 0, n = 0, cap = 0;
    ssize_t got;
    int64_t since_ms = clock_now_ms();
    fail_unless(strlen(daemon_.state.socket) < sizeof to.sun_path);
    strcpy(to.sun_path, daemon_.state.socket);
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
        turn();
        if (cap - n < 4096)
            *ret = realloc(*ret, cap = 2 * cap + 8192);
        fail_unless(*ret);
        got = recv(fd, *ret + n, cap - n, 0);
        n += got > 0 ? (size_t)got : 0;
        if (got > 0 || sent < size)
            since_ms = clock_now_ms();
    } while (got > 0 || (got < 0 && errno == EAGAIN && clock_now_ms() - since_ms < patience_ms));
    close(fd);
    turn();
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char ping[] = "{\"id\":1,\"cmd\":\"ping\"}\n";
    char *text;
    if (size == 0)
        return 0;
    size_t n = talk(data, size, PATIENCE_MS, &text);
    check_lines(text, n);
    free(text);
    n = talk((const uint8_t *)ping, strlen(ping), PING_MS, &text);
    fail_unless(n > 0 && memmem(text, n, "\"ok\":true", 9));
    free(text);
    uint64_t last = db_writer_last(daemon_session_writer(daemon_.session));
    stored += last != seen;
    seen = last;
    if (stored == STORED_MAX) {
        end();
        begin();
    }
    return 0;
}
