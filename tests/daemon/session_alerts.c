/* Alerts raised before a session takes events are raised once it does; a former run's conditions end unless
 * they are found again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/alerts.h"
#include "daemon/session_internal.h"
#include "exchange/clock.h"
#include "tests/check.h"
#include "tests/scratch.h"

enum { CLOSE_TIMEOUT_MS = 60000 };

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
static struct daemon_config config;
static struct session *session;
static uv_loop_t loop;
static int reported, closed;         /* by the hook */
static char over[DB_ALERT_TEXT_MAX]; /* the text of the last that is over, likewise */

static void nothing(void *ctx, int at)
{
    (void)ctx, (void)at;
}

static void no_bars(void *ctx, int at, int64_t from_open_ns, int64_t to_open_ns)
{
    (void)ctx, (void)at, (void)from_open_ns, (void)to_open_ns;
}

static void no_log(void *ctx)
{
    (void)ctx;
}

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

static void open_session(const struct state_dir *state)
{
    const struct session_hooks hooks = {.need_snapshot = nothing,
                                        .need_bars = no_bars,
                                        .log_replaced = no_log,
                                        .storage_failing = no_log,
                                        .commands_redone = no_log,
                                        .alert = see};
    char err[SESSION_ERROR_MAX] = "";
    CHECK_INT(daemon_session_open(&loop, &config, state, &hooks, &session, err, sizeof err), 0);
    CHECK_STR(err, "");
}

static void begin(void)
{
    char err[SESSION_ERROR_MAX] = "";
    CHECK_INT(daemon_session_begin(session, &symbol, 1, clock_wall_ns(), err, sizeof err), 0);
    CHECK_STR(err, "");
}

static void close_session(void)
{
    char err[SESSION_ERROR_MAX] = "";
    CHECK_INT(daemon_session_close(session, CLOSE_TIMEOUT_MS, err, sizeof err), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
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
    open_session(state);
    uint64_t id = find("indicators") ? find("indicators")->id : 0;
    reported = closed = 0;
    daemon_session_alert_lasting(session, DB_WARNING, "indicators", "", "indicators: not read");
    daemon_session_alert_lasting(session, DB_WARNING, "NO_LIQUIDITY", "BTCUSDT", "BTCUSDT: nothing to buy");
    fail_storage();
    begin();
    CHECK(id > 0 && find("indicators") && find("indicators")->id == id && find("indicators")->count == 2);
    CHECK(!find("NO_LIQUIDITY"));
    CHECK(find("storage") && find("storage")->count == 1);
    CHECK_INT(reported, 2);
    CHECK_INT(closed, 1);
    close_session();
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
    open_session(&state);
    for (int i = 0; i < 2; i++)
        daemon_session_alert_lasting(session, DB_WARNING, "POLICY_DEVICE", "", "policies: no device");
    daemon_session_alert(session, DB_WARNING, "recording", "the recording ended");
    daemon_session_alert_lasting(session, DB_WARNING, "gpu", "gpu: ", "gpu: silent");
    daemon_session_alert_over(session, "gpu", "");
    daemon_session_alert_moment(session, DB_WARNING, "STOP_MISSED", "order 1: its stop was missed");
    begin();
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
    close_session();

    open_session(&state); /* the next run finds one of the two again */
    daemon_session_alert_lasting(session, DB_WARNING, "indicators", "", "indicators: not read");
    CHECK(clock == CLOCK_FEED || find("POLICY_DEVICE"));
    begin();
    CHECK(!find("POLICY_DEVICE") && find("indicators") && find("recording"));
    close_session();
    test_next_run(&state);
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
    uv_loop_close(&loop);
    return check_done("daemon/session_alerts");
}
