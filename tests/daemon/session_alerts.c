/* Alerts raised before a session takes events are raised once it does; a former run's conditions end unless
 * they are found again; so does what the engine knows of a disk that a former run could not write. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "daemon/alerts.h"
#include "daemon/log.h"
#include "engine/replay.h"
#include "exchange/clock.h"
#include "tests/daemon/session.h"
#include "tests/scratch.h"

#define SECOND_NS 1000000000LL

enum { WAIT_MS = 60000 };

static const struct symbol symbol = {
    .name = "BTCUSDT",
    .base = "BTC",
    .quote = "USDT",
    .price_scale = 8,
    .qty_scale = 8,
    .quote_scale = 8,
    .trading = true,
    .filters = {.price_min = 1000000,
                .price_max = 100000000000000,
                .tick = 1000000,
                .qty_min = 1000,
                .qty_max = 900000000000,
                .step = 1000},
};
static int reported, closed;         /* by the hook */
static char over[DB_ALERT_TEXT_MAX]; /* the text of the last that is over, likewise */

static void see(void *ctx, const struct alert *alert, int64_t closed_ns)
{
    (void)ctx;
    reported += closed_ns == 0;
    closed += closed_ns != 0;
    if (closed_ns > 0)
        memcpy(over, alert->text, sizeof over);
}

static const struct alert *find(const char *code)
{
    size_t n;
    const struct alert *list = daemon_session_alerts(session, &n), *found = NULL;
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].code, code) == 0)
            found = &list[i];
    return found;
}

/* As the thread that stores the database reports it. */
static void fail_storage(void)
{
    uv_mutex_lock(&session->lock);
    session->database.changed = true;
    session->database.news = false;
    snprintf(session->database.words, sizeof session->database.words, "the disk is full");
    daemon_session_storage_take(session);
    uv_mutex_unlock(&session->lock);
    daemon_session_storage_judge(session);
}

/* A condition that is found again continues; NO_LIQUIDITY ends, also where the log's end was played again. */
static void test_next_run(const struct state_dir *state)
{
    session_open(state, see);
    uint64_t id = find("indicators") ? find("indicators")->id : 0;
    reported = closed = 0;
    daemon_session_alert_lasting(session, DB_WARNING, "indicators", "", "indicators: not read");
    daemon_session_alert_lasting(session, DB_WARNING, "NO_LIQUIDITY", "BTCUSDT", "BTCUSDT: nothing to buy");
    fail_storage();
    session_begin(&symbol, 1, clock_wall_ns());
    CHECK(id > 0 && find("indicators") && find("indicators")->id == id && find("indicators")->count == 2);
    CHECK(!find("NO_LIQUIDITY"));
    CHECK(find("storage") && find("storage")->count == 1);
    CHECK_INT(reported, 2);
    CHECK_INT(closed, 1);
    CHECK(engine_storage_failing(daemon_session_engine(session)));
    session_close();
}

/* What the log alone gives. */
static bool log_ends_failing(const struct state_dir *state)
{
    const struct replay_options options = {.path = state->events};
    char err[JOURNAL_ERROR_MAX] = "";
    struct replay *replay;
    int r = engine_replay_open(&options, &replay, err, sizeof err);
    CHECK_STR(err, "");
    while (r >= 0 && (r = engine_replay_step(replay)) > 0)
        ;
    CHECK_INT(r, 0);
    bool failing = engine_storage_failing(engine_replay_engine(replay));
    engine_replay_close(replay);
    return failing;
}

/* A run that ends while storing fails leaves that in the log: the next one, which can store, ends it there.
 */
static void test_storing_works(const struct state_dir *state)
{
    CHECK(log_ends_failing(state));
    session_open(state, see);
    session_begin(&symbol, 1, clock_wall_ns());
    CHECK(!engine_storage_failing(daemon_session_engine(session)) && !find("storage"));
    session_close();
    CHECK(!log_ends_failing(state));
}

/* On the feed's clock there is no time yet; on the wall's there is. */
static void test_clock(enum daemon_config_clock clock, const char *path)
{
    struct state_dir state;
    char err[SESSION_ERROR_MAX];
    config.clock = clock;
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    reported = 0;
    session_open(&state, see);
    for (int i = 0; i < 2; i++)
        daemon_session_alert_lasting(session, DB_WARNING, "POLICY_DEVICE", "", "policies: no device");
    daemon_session_alert(session, DB_WARNING, "recording", "the recording ended");
    daemon_session_alert_lasting(session, DB_WARNING, "gpu", "gpu: ", "gpu: silent");
    daemon_session_alert_over(session, "gpu", "");
    daemon_session_alert_moment(session, DB_WARNING, "STOP_MISSED", "order 1: its stop was missed");
    session_begin(&symbol, 1, clock_wall_ns());
    CHECK(find("POLICY_DEVICE") && find("recording") && !find("gpu"));
    CHECK_INT(reported, clock == CLOCK_WALL ? 4 : 3);
    CHECK(!find("STOP_MISSED"));
    reported = 0;
    for (int i = 0; i < 2; i++)
        daemon_session_alert_moment(session, DB_WARNING, "away", "away for 5 s");
    CHECK(!find("away") && reported == 2); /* each is one of its own, and past */
    reported = 0;
    daemon_session_alert_lasting(session, DB_WARNING, "DISK", "disk: /", "disk: /: 91 %");
    daemon_session_alert_reword(session, "DISK", "disk: /", "disk: /: 94 %");
    daemon_session_alert_reword(session, "DISK", "disk: /home", "disk: /home: 94 %");
    CHECK_STR(find("DISK")->text, "disk: /: 94 %");
    CHECK_INT(find("DISK")->count, 1);
    daemon_session_alert_over_by(session, "DISK", "disk: /", "disk: /: 97 %");
    CHECK_STR(over, "disk: /: 97 %");
    CHECK(!find("DISK") && reported == 1); /* another text is no notice */
    session_close();

    session_open(&state, see); /* the next run finds one of the two again */
    daemon_session_alert_lasting(session, DB_WARNING, "indicators", "", "indicators: not read");
    CHECK(clock == CLOCK_FEED || find("POLICY_DEVICE"));
    session_begin(&symbol, 1, clock_wall_ns());
    CHECK(!find("POLICY_DEVICE") && find("indicators") && find("recording"));
    session_close();
    test_next_run(&state);
    test_storing_works(&state);
}

/* ---- the lines of the engine's alerts, in the journal ---- */

/* A socket in the journal's place, for a log whose standard error is said to be the journal's. */
static int open_journal(const char *path)
{
    char stream[64];
    struct stat st;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    CHECK(len < sizeof address.sun_path);
    memcpy(address.sun_path, path, len < sizeof address.sun_path ? len : 0);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK_INT(fstat(STDERR_FILENO, &st), 0);
    snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    setenv("PAPERTAPE_JOURNAL_SOCKET", path, 1);
    daemon_log_init(LOG_LEVEL_WARNING);
    return fd;
}

/* The next entry of an alert has all of these lines, and none of a field that it has not. */
static void takes(int journal, const char *const *lines, size_t n, const char *lacks)
{
    char entry[1 << 12] = "\n";
    do {
        struct pollfd pfd = {.fd = journal, .events = POLLIN};
        CHECK_INT(poll(&pfd, 1, WAIT_MS), 1);
        ssize_t got = recv(journal, entry + 1, sizeof entry - 2, MSG_DONTWAIT);
        entry[got > 0 ? got + 1 : 1] = '\0';
    } while (strlen(entry) > 1 && !strstr(entry, "\nPAPERTAPE_ALERT="));
    for (size_t i = 0; i < n; i++)
        if (!strstr(entry, lines[i])) {
            fprintf(stderr, "no \"%s\" in%s", lines[i] + 1, entry);
            check_failures++;
        }
    CHECK(!strstr(entry, lacks));
}

static const char *policy_of(void *ctx, const char *account)
{
    (void)ctx;
    return strcmp(account, config.accounts[0].name) == 0 ? "ppo" : NULL;
}

/* A missed stop has its order, an alert of an account whose policy trades that policy. */
static void test_fields(const char *path)
{
    static const char *const missed[] = {"\nPAPERTAPE_ALERT=STOP_MISSED\n",
                                         "\nPAPERTAPE_EVENT=alert\n",
                                         "\nSYMBOL=BTCUSDT\n",
                                         "\nACCOUNT=main\n",
                                         "\nORDER=7\n",
                                         "\nPRIORITY=4\n"};
    static const char *const left[] = {"\nPAPERTAPE_ALERT=POLICY_LEFT\n", "\nACCOUNT=main\n",
                                       "\nPOLICY=ppo\n"};
    static const struct policy *const trades = (const struct policy *)&symbol; /* not looked into */
    struct state_dir state;
    char err[SESSION_ERROR_MAX], socket_path[SCRATCH_MAX + 16];
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    snprintf(socket_path, sizeof socket_path, "%s/journal", path);
    int journal = open_journal(socket_path);
    session_open(&state, see);
    session->hooks.policy_of = policy_of;
    session_begin(&symbol, 1, clock_wall_ns());
    struct engine_sink sink = daemon_session_sink(session);
    struct account_spec *spec = (struct account_spec *)(uintptr_t)engine_account_spec(session->engine, 0);
    sink.alert(session, clock_wall_ns(), "STOP_MISSED", ENGINE_OF(0, 0, 7), "order 7: its stop was missed");
    takes(journal, missed, sizeof missed / sizeof *missed, "\nPOLICY=");
    spec->policy = trades;
    sink.alert(session, clock_wall_ns(), "POLICY_LEFT", ENGINE_OF(0, -1, 0),
               "account main keeps its positions");
    spec->policy = NULL;
    takes(journal, left, sizeof left / sizeof *left, "\nORDER=");
    session_close();
    daemon_log_finish();
    close(journal);
}

/* An order that found no more to trade with and waits: its next fill ends the alert. */
static void test_fills_later(const char *path)
{
    struct state_dir state;
    char err[SESSION_ERROR_MAX];
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    session_open(&state, see);
    session_begin(&symbol, 1, clock_wall_ns());
    struct engine_sink sink = daemon_session_sink(session);
    const int64_t now_ns = clock_wall_ns();
    const struct order order = {.id = 7,
                                .side = ORDER_SELL,
                                .type = ORDER_STOP,
                                .state = ORDER_OPEN,
                                .qty = 1,
                                .stop_price = 100,
                                .created_ns = now_ns,
                                .updated_ns = now_ns};
    const struct fill fill = {
        .id = 1, .order_id = 7, .side = ORDER_SELL, .price = 100, .qty = 1, .ts_ns = now_ns};
    sink.order(session, &order);
    sink.alert(session, clock_wall_ns(), "NO_LIQUIDITY", ENGINE_OF(0, 0, 7),
               "BTCUSDT: a STOP SELL of account main found no more to trade with: it waits for more");
    CHECK(find("NO_LIQUIDITY") != NULL);
    over[0] = '\0';
    sink.fill(session, &fill);
    CHECK(!find("NO_LIQUIDITY"));
    CHECK(strstr(over, "it waits for more") != NULL);
    session_close();
}

/* ---- a clock that jumps ---- */

static time_t shift_s; /* of the wall's clock */

int clock_gettime(clockid_t id, struct timespec *ret)
{
    int r = (int)syscall(SYS_clock_gettime, id, ret);
    if (r == 0 && id == CLOCK_REALTIME)
        ret->tv_sec += shift_s;
    return r;
}

static int jumps;

static void report_clock(void *ctx)
{
    (void)ctx;
    struct event event = {.kind = EVENT_VENUE_CLOCK, .venue_clock.ahead_ns = -3600 * SECOND_NS};
    jumps++;
    daemon_session_event(session, &event);
}

/* Before the first event that the new time dates, a frame's too, the venue's clock is known. */
static void test_jump(const char *path)
{
    struct state_dir state;
    struct engine_symbol_view view;
    struct event event = {.kind = EVENT_TIMER};
    char err[SESSION_ERROR_MAX];
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    config.clock = CLOCK_WALL;
    session_open(&state, see);
    session->hooks.clock_jumped = report_clock;
    session_begin(&symbol, 1, clock_wall_ns());
    daemon_session_event(session, &event);
    CHECK_INT(jumps, 0);
    uint64_t seq = event.seq;
    shift_s = 3600;
    daemon_session_stamp(session); /* of a frame */
    daemon_session_event(session, &event);
    engine_symbol_view(session->engine, 0, &view);
    CHECK_INT(jumps, 1);
    CHECK_INT(view.ahead_ns, -3600 * SECOND_NS);
    CHECK_INT(event.seq, seq + 2); /* it comes first */
    daemon_session_event(session, &event);
    CHECK_INT(jumps, 1);
    session_close();
    shift_s = 0;
}

static const char *made(char path[static SCRATCH_MAX])
{
    scratch_make(path);
    return path;
}

int main(void)
{
    char path[SCRATCH_MAX];
    daemon_config_defaults(&config);
    config.n_symbols = 1;
    config.accounts[0].strategy = NULL;
    uv_loop_init(&loop);
    test_clock(CLOCK_FEED, made(path));
    test_clock(CLOCK_WALL, made(path));
    test_fields(made(path));
    test_fills_later(made(path));
    test_jump(made(path));
    uv_loop_close(&loop);
    return check_done("daemon/session_alerts");
}
