/* The threads that store and deliver: bursts of alerts to two commands, sinks that come and go, one that
 * fails, tests, an end with notices left, and the next run that delivers them; run under the thread sanitizer
 * too. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/notify/notify.h"
#include "exchange/clock.h"
#include "tests/check.h"

static char folder[] = "/tmp/papertape-notify-XXXXXX", file[128];
static uv_loop_t loop;
static struct notify *notify;
static int answers, answered_ok;

/* Sinks that append a line each to FOLDER/NAME; one of `fails` leaves with 1. */
static struct notify_config config_of(const char *const names[], int n, const char *fails)
{
    struct notify_config config = {.quiet_from = -1, .retry_ns = 50 * INT64_C(1000000), .n_sinks = n};
    for (int i = 0; i < n; i++) {
        struct notify_sink *sink = &config.sinks[i];
        sink->kind = NOTIFY_COMMAND;
        snprintf(sink->name, sizeof sink->name, "command.%s", names[i]);
        if (fails && strcmp(names[i], fails) == 0)
            snprintf(sink->target, sizeof sink->target, "/bin/sh -c 'echo no route >&2; exit 1'");
        else
            snprintf(sink->target, sizeof sink->target, "/bin/sh -c 'cat >>\"$1\"' sh %s/%s", folder,
                     names[i]);
    }
    return config;
}

static void open_notify(const struct notify_config *config)
{
    notify = daemon_notify_create(&loop, file, config);
    CHECK(notify != NULL);
}

static void close_notify(void)
{
    daemon_notify_stop(notify);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(daemon_notify_finish(notify));
}

/* The alert that command.d fails. */
static void raise_failing(uint64_t id)
{
    const struct alert alert = {.id = id,
                                .ts_ns = clock_wall_ns(),
                                .severity = DB_WARNING,
                                .lasts = true,
                                .code = "SINK_FAILING",
                                .text = "alert sink fails: command.d: 5 min (1 pending): exit 1"};
    daemon_notify_alert(notify, &alert, 0);
}

static void raise_alert(uint64_t id, bool over)
{
    struct alert alert = {
        .id = id, .ts_ns = clock_wall_ns(), .severity = DB_WARNING, .lasts = true, .code = "DISK"};
    snprintf(alert.text, sizeof alert.text, "disk: /x: %llu %%", (unsigned long long)id);
    daemon_notify_alert(notify, &alert, over ? clock_wall_ns() : 0);
}

/* Lines of FOLDER/NAME that have all of these words. */
static int lines(const char *name, const char *word)
{
    char path[200], line[2048];
    int n = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *from = fopen(path, "r");
    while (from && fgets(line, sizeof line, from))
        n += strstr(line, word) != NULL;
    if (from)
        fclose(from);
    return n;
}

static bool pending(int64_t *ret_failed)
{
    struct notify_sink_view views[NOTIFY_SINKS_MAX];
    int64_t left = 0;
    int n = daemon_notify_view(notify, views);
    *ret_failed = 0;
    for (int i = 0; i < n; i++) {
        left += views[i].pending;
        *ret_failed += (int64_t)views[i].failed;
    }
    return n == 0 || left > 0;
}

/* False, and the test has failed, once it has waited for two minutes. */
static bool wait_on(int64_t end_ms)
{
    usleep(2000);
    CHECK(clock_now_ms() < end_ms);
    return clock_now_ms() < end_ms;
}
#define WAIT_FOR(condition) \
    for (int64_t end_ms = clock_now_ms() + 120000; !(condition) && wait_on(end_ms);) \
    continue

static void tested(void *ctx, const struct notify_tested *list, int n)
{
    (void)ctx;
    answers++;
    for (int i = 0; i < n; i++)
        answered_ok += list[i].outcome.accepted;
}

static void test_burst(void)
{
    static const char *const two[] = {"a", "b"};
    const struct notify_config config = config_of(two, 2, NULL);
    int64_t failed;
    open_notify(&config);
    for (uint64_t id = 1; id <= 20; id++) {
        raise_alert(id, false);
        raise_alert(id, false); /* counted: no news */
        if (id % 2)
            raise_alert(id, true);
    }
    raise_alert(99, true); /* its begin was never sent */
    WAIT_FOR(lines("a", "recovered\"") == 10 && lines("b", "recovered\"") == 10 && !pending(&failed));
    CHECK_INT(lines("a", "\"raised\""), 20);
    CHECK_INT(lines("b", "\"raised\""), 20);
    CHECK_INT(daemon_notify_test(notify, NULL, tested, NULL), 0);
    CHECK_INT(daemon_notify_test(notify, "command.b", tested, NULL), 0);
    CHECK_INT(daemon_notify_test(notify, "command.c", tested, NULL), -ENOENT);
    while (answers < 2)
        uv_run(&loop, UV_RUN_ONCE);
    CHECK_INT(answered_ok, 3);
}

/* b fails, c is new, a is gone. */
static void test_change(void)
{
    static const char *const other[] = {"b", "c"};
    const struct notify_config config = config_of(other, 2, "b");
    int64_t failed;
    daemon_notify_configure(notify, &config);
    struct notify_sink_view views[NOTIFY_SINKS_MAX];
    WAIT_FOR(daemon_notify_view(notify, views) == 2 && strcmp(views[1].name, "command.c") == 0);
    raise_alert(30, false);
    raise_alert(31, false);
    WAIT_FOR(lines("c", "\"raised\"") == 2 && (pending(&failed), failed >= 3));
    CHECK_INT(daemon_notify_view(notify, views), 2);
    CHECK(views[0].failing && views[0].pending == 2 && strstr(views[0].detail, "exit 1: no route"));
    CHECK(!views[1].failing && lines("a", "\"raised\"") == 21 && lines("c", "\"id\":20") == 0);
    close_notify();
}

/* The next run has what b did not accept, and of what was open only what is not over. */
static void test_next_run(void)
{
    static const char *const one[] = {"b"};
    const struct notify_config config = config_of(one, 1, NULL);
    int64_t failed;
    open_notify(&config);
    CHECK_INT((int64_t)daemon_notify_last_alert(notify), 31);
    struct alert open[3] = {
        {.id = 30, .severity = DB_WARNING, .lasts = true, .code = "DISK", .text = "disk: /x: 30 %"},
        {.id = 32, .severity = DB_WARNING, .lasts = true, .code = "DISK", .text = "disk: /x: 32 %"},
        {.id = 33, .severity = DB_WARNING, .acked_ns = 1, .code = "DISK", .text = "disk: /x: 33 %"}};
    daemon_notify_open_alerts(notify, open, 3);
    /* 31 and the ten that were open are over; 32 was stored by the session alone */
    WAIT_FOR(lines("b", "recovered\"") == 10 + 11 && !pending(&failed));
    CHECK_INT(lines("b", "\"raised\""), 20 + 2 + 1 + 2); /* two tests */
    CHECK_INT(lines("b", "\"id\":32"), 1);
    CHECK_INT(lines("b", "\"id\":33"), 0);
    close_notify();
}

/* A sink is not sent the notice of its own failure, nor in the next run that of its end. */
static void test_about_a_sink(void)
{
    static const char *const two[] = {"d", "e"};
    const struct notify_config config = config_of(two, 2, NULL);
    int64_t failed;
    unlink(file);
    open_notify(&config);
    raise_failing(1);
    WAIT_FOR(lines("e", "\"raised\"") == 1 && !pending(&failed));
    close_notify();
    open_notify(&config);
    daemon_notify_open_alerts(notify, NULL, 0);
    WAIT_FOR(lines("e", "recovered\"") == 1 && !pending(&failed));
    CHECK_INT(lines("d", "SINK_FAILING"), 0);
    close_notify();
}

/* A sink that fails is failing in the next run too, since when it was, until it accepts. */
static void test_failing_over_runs(void)
{
    static const char *const one[] = {"over"};
    const struct notify_config bad = config_of(one, 1, "over"), good = config_of(one, 1, NULL);
    struct notify_sink_view views[NOTIFY_SINKS_MAX];
    int64_t failed, failing_ns = 0;
    unlink(file);
    open_notify(&bad);
    raise_alert(1, false);
    WAIT_FOR((pending(&failed), failed >= 3));
    CHECK_INT(daemon_notify_view(notify, views), 1);
    failing_ns = views[0].failing_ns;
    close_notify();
    for (int run = 0; run < 2; run++) {
        open_notify(&bad);
        WAIT_FOR(daemon_notify_view(notify, views) == 1);
        CHECK(views[0].failing && views[0].failing_ns >= failing_ns); /* before it is tried, and after */
        WAIT_FOR((pending(&failed), failed >= 2));
        CHECK_INT(daemon_notify_view(notify, views), 1);
        CHECK(views[0].failing && views[0].failing_ns > failing_ns);
        failing_ns = views[0].failing_ns;
        close_notify();
    }
    open_notify(&good);
    WAIT_FOR(lines("over", "\"id\":1,") == 1 && !pending(&failed));
    close_notify();
    open_notify(&bad);
    WAIT_FOR(daemon_notify_view(notify, views) == 1);
    CHECK(!views[0].failing);
    close_notify();
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* A notice that no file took, while the disk was full, is accepted: the next one, which the file has, stays.
 */
static void test_full(void)
{
    static const char *const one[] = {"f"};
    const struct notify_config good = config_of(one, 1, NULL), bad = config_of(one, 1, "f");
    struct notify_config picky = bad;
    struct notify_sink_view views[NOTIFY_SINKS_MAX];
    struct notify_total total;
    int64_t failed;
    snprintf(picky.sinks[0].target, sizeof picky.sinks[0].target, "/bin/grep -q '\"id\":2,'");
    unlink(file);
    open_notify(&bad);
    limit_files(100);
    raise_alert(2, false);
    WAIT_FOR((daemon_notify_look(notify, &total), total.error[0]));
    limit_files(RLIM_INFINITY);
    raise_alert(3, false);
    WAIT_FOR(daemon_notify_view(notify, views) == 1 && views[0].pending == 2);
    daemon_notify_configure(notify, &picky);
    WAIT_FOR(daemon_notify_view(notify, views) == 1 && views[0].pending == 1);
    close_notify();
    open_notify(&good);
    WAIT_FOR(lines("f", "\"id\":3,") == 1 && !pending(&failed));
    CHECK_INT(lines("f", "\"id\":2,"), 0);
    close_notify();
}

static bool stores(void)
{
    struct notify_total total;
    daemon_notify_look(notify, &total);
    return !total.error[0];
}

static int64_t n_pending(void)
{
    int64_t failed;
    struct notify_sink_view views[NOTIFY_SINKS_MAX];
    return pending(&failed) && daemon_notify_view(notify, views) > 0 ? views[0].pending : 0;
}

/* Raised while the disk is full, and accepted from memory: its end is sent once, with its severity, while the
 * disk is still full (1), when it is not any more (2), and by the next run (3). What no sink accepted is
 * stored once there is room, and delivered by the next run (4), though a later one was stored before. */
static void test_ends_of_full(void)
{
    static const char *const one[] = {"g"};
    const struct notify_config good = config_of(one, 1, NULL), bad = config_of(one, 1, "g");
    int64_t failed;
    unlink(file);
    open_notify(&good);
    limit_files(6000); /* less than a write of the file needs, enough for the sink's own */
    for (uint64_t id = 1; id <= 3; id++)
        raise_alert(id, false);
    WAIT_FOR(lines("g", "\"raised\"") == 3 && !stores());
    raise_alert(1, false); /* counted: no news */
    raise_alert(1, true);
    WAIT_FOR(lines("g", "recovered\"") == 1 && !pending(&failed));
    daemon_notify_configure(notify, &bad);
    raise_alert(4, false);
    WAIT_FOR(n_pending() == 1);
    limit_files(RLIM_INFINITY);
    WAIT_FOR(stores());
    raise_alert(5, false);
    raise_alert(2, true);
    WAIT_FOR(n_pending() == 3);
    close_notify();
    open_notify(&good);
    CHECK_INT((int64_t)daemon_notify_last_alert(notify), 5);
    const struct alert open[] = {{.id = 4, .severity = DB_WARNING, .lasts = true, .code = "DISK"},
                                 {.id = 5, .severity = DB_WARNING, .lasts = true, .code = "DISK"}};
    daemon_notify_open_alerts(notify, open, 2);
    WAIT_FOR(lines("g", "recovered\"") == 3 && lines("g", "\"raised\"") == 5 && !pending(&failed));
    for (uint64_t id = 1; id <= 5; id++) {
        char word[32];
        snprintf(word, sizeof word, "\"id\":%llu,", (unsigned long long)id);
        CHECK_INT(lines("g", word), id <= 3 ? 2 : 1);
    }
    close_notify();
}

/* Without a sink there is no file, no thread, and nothing is kept. */
static void test_nothing(void)
{
    const struct notify_config none = config_of(NULL, 0, NULL);
    unlink(file);
    open_notify(&none);
    raise_alert(1, false);
    CHECK(access(file, F_OK) < 0 && daemon_notify_last_alert(notify) == 0);
    close_notify();
}

int main(void)
{
    char command[200];
    if (!mkdtemp(folder))
        abort();
    snprintf(file, sizeof file, "%s/notify.db", folder);
    signal(SIGXFSZ, SIG_IGN);
    uv_loop_init(&loop);
    test_burst();
    test_change();
    test_next_run();
    test_about_a_sink();
    test_failing_over_runs();
    test_full();
    test_ends_of_full();
    test_nothing();
    uv_loop_close(&loop);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0)
        return 1;
    return check_done("daemon/notify_threads");
}
