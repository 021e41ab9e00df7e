/* A database built again from an event log: of random events, written as a daemon writes them. */
#include "daemon/rebuild.h"

#include <dirent.h>
#include <malloc.h>
#include <sqlite3.h>

#include "daemon/rebuild_log.h"
#include "tests/counts.h"
#include "tests/engine/logged.h"

enum { EVENTS_ALL = 4000, EVENTS = COUNTS_PART ? 1600 : EVENTS_ALL, MORE = 400 };

static struct logged logged;
static struct state_dir state;
static struct rebuild_result result;
static char home[SCRATCH_MAX], err[REBUILD_ERROR_MAX];

static void begin(uint64_t seed)
{
    scratch_make(home);
    CHECK_INT(db_state_dir_find(home, &state, err, sizeof err), 0);
    logged_open(&logged, seed);
}

static void end(void)
{
    logged_close(&logged);
    scratch_remove(home);
}

static int build_over(bool sound)
{
    const struct rebuild_options options = {.state = &state,
                                            .events = logged.dir,
                                            .why = "a test",
                                            .venue = "binance",
                                            .sound = sound,
                                            .now_ns = INT64_C(1723161240000000000)};
    err[0] = '\0';
    return daemon_rebuild_database(&options, &result, err, sizeof err);
}

static int build(void)
{
    return build_over(false);
}

static int64_t number(const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    int64_t value = -1;
    if (sqlite3_open_v2(state.database, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return value;
}

#define EVENT_SEQ "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'event_seq'"

/* What a client was answered last has its rows by the last event there is, not by one that never came. */
static void test_ends_with_command(void)
{
    begin(1);
    logged_play(&logged, EVENTS, false);
    do
        logged_play(&logged, 1, false);
    while (logged.event.kind != EVENT_COMMAND || logged.event.command.command_id == 0);
    CHECK_INT(build(), 0);
    CHECK_STR(err, "");
    CHECK_INT(number(EVENT_SEQ), logged.driver.seq);
    CHECK_INT(result.event_seq, logged.driver.seq);
    CHECK_INT(number("SELECT max(id) FROM orders"), logged.n_orders);
    CHECK_INT(number("SELECT max(id) FROM ledger"), logged.n_ledger);
    CHECK_INT(number("SELECT max(id) FROM commands"), logged.event.command.command_id);
    end();
}

static int64_t live_orders(void)
{
    return number("SELECT count(*) FROM orders WHERE state IN ('PENDING', 'HELD', 'OPEN', 'PARTIAL')");
}

/* Events were never recorded, and had no effect: all is there, and the report says so. */
static void test_hole_of_nothing(void)
{
    begin(2);
    logged_play(&logged, EVENTS, false);
    logged.driver.seq += 3;
    logged_state(&logged, STATE_AFTER_HOLE);
    logged_play(&logged, MORE, false);
    CHECK_INT(build(), 0);
    CHECK_STR(err, "");
    CHECK_INT(result.base_seq, 0);
    CHECK(!result.lost_money);
    CHECK(strstr(result.text, "events 1 to ") != NULL);
    CHECK_INT(number("SELECT first_seq FROM rebuilds"), 0);
    CHECK_INT(number("SELECT count(*) FROM rebuild_sources WHERE source LIKE 'event log from event 1%'"), 20);
    CHECK_INT(number("SELECT count(*) FROM orders"), logged.n_orders);
    CHECK_INT(number("SELECT count(*) FROM ledger"), logged.n_ledger);
    CHECK_INT(number("SELECT count(*) FROM runs WHERE state = 'killed' AND alive_ns > began_ns"),
              number("SELECT max(run) FROM runs"));
    CHECK_INT(live_orders(), engine_orders(logged.engine));
    end();
}

static bool is_live(uint64_t id)
{
    for (size_t i = 0; i < engine_orders(logged.engine); i++)
        if (engine_order(logged.engine, i)->id == id)
            return true;
    return false;
}

/* Events that had an effect: the state after them is used, and the missing events are reported. */
static void test_hole(void)
{
    begin(3);
    logged_play(&logged, EVENTS, false);
    while (engine_orders(logged.engine) == 0)
        logged_play(&logged, 1, false);
    size_t orders = logged.n_orders;
    uint64_t live = engine_order(logged.engine, 0)->id;
    do
        logged_play(&logged, MORE, true);
    while (is_live(live));
    CHECK(logged.n_orders > orders);
    uint64_t behind = logged.driver.seq;
    logged_state(&logged, STATE_AFTER_HOLE);
    logged_play(&logged, MORE, false);
    CHECK_INT(build(), 0);
    CHECK_STR(err, "");
    CHECK_INT(result.base_seq, behind);
    CHECK(result.lost_money);
    CHECK_INT(number(EVENT_SEQ), logged.driver.seq);
    CHECK_INT(number("SELECT count(*) FROM orders WHERE id <= 10"), 10);
    CHECK_INT(number("SELECT max(id) FROM ledger"), logged.n_ledger);
    CHECK_INT(live_orders(), engine_orders(logged.engine));
    end();
}

/* The only segment's path. */
static const char *segment(void)
{
    static char path[512];
    DIR *listing = opendir(logged.dir);
    for (const struct dirent *entry; listing && (entry = readdir(listing));)
        if (strstr(entry->d_name, ".journal"))
            snprintf(path, sizeof path, "%s/%s", logged.dir, entry->d_name);
    if (listing)
        closedir(listing);
    return path;
}

static void flip(const char *path, int64_t tenths)
{
    FILE *file = fopen(path, "r+e");
    CHECK(file != NULL);
    if (!file)
        return;
    fseek(file, 0, SEEK_END);
    long at = (long)(ftell(file) * tenths / 10);
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 16, file);
    fclose(file);
}

/* Blocks behind an altered one are there, and their events cannot be played: they are lost, and it says
 * which.
 */
static void test_altered(void)
{
    char lost[80];
    begin(4);
    logged_play(&logged, EVENTS, false);
    logged_play(&logged, EVENTS, false);
    flip(segment(), 9);
    CHECK_INT(build(), 0);
    CHECK_STR(err, "");
    int64_t end_seq = number(EVENT_SEQ);
    CHECK(end_seq > EVENTS && (uint64_t)end_seq < logged.driver.seq);
    CHECK_INT(daemon_rebuild_log_newest(logged.dir), logged.driver.seq);
    CHECK(result.lost_money);
    snprintf(lost, sizeof lost, "lost: events %" PRId64 " to %" PRIu64 ", ", end_seq + 1, logged.driver.seq);
    CHECK(strstr(result.text, lost) != NULL);
    CHECK_INT(
        number("SELECT count(*) FROM rebuild_sources WHERE name = 'ledger' AND source LIKE '%lost: events%'"),
        1);
    struct rebuild_after after;
    CHECK_INT(daemon_rebuild_log_after(logged.dir, 10, &after), 0);
    CHECK_INT(after.end, end_seq);
    CHECK_INT(after.newest, logged.driver.seq);
    CHECK_INT(after.to, 0);
    end();
}

/* Two histories: a sound database is not replaced by another's log, and all stays as it is. */
static void test_contradiction(void)
{
    begin(5);
    logged_play(&logged, EVENTS, false);
    CHECK_INT(build(), 0);
    int64_t rows = number("SELECT count(*) FROM ledger");
    logged_close(&logged);
    logged_open(&logged, 6);
    logged_play(&logged, EVENTS, false);
    CHECK_INT(build_over(true), -EILSEQ);
    CHECK(strstr(err, "contradicts") != NULL);
    CHECK_INT(number("SELECT count(*) FROM ledger"), rows);
    CHECK_INT(number("SELECT count(*) FROM rebuilds"), 1);
    CHECK_INT(build_over(false), 0);
    CHECK_INT(number("SELECT max(id) FROM ledger"), logged.n_ledger);
    end();
}

/* A log that was started in another's place, as former versions did: its newest stretch is what there is. */
static void test_two_histories(void)
{
    static struct logged other;
    begin(7);
    logged_play(&logged, EVENTS, false);
    logged_open(&other, 8);
    logged_play(&other, EVENTS + MORE, false);
    other.driver.seq = logged.driver.seq + 1000;
    other.driver.now_ns = logged.driver.now_ns + 1000000000;
    struct journal_writer *writer = other.writer;
    other.writer = logged.writer;
    logged_state(&other, STATE_NEW_RUN);
    logged_play(&other, MORE, false);
    other.writer = writer;
    CHECK_INT(build(), 0);
    CHECK_STR(err, "");
    CHECK(result.lost_money);
    CHECK_INT(number(EVENT_SEQ), other.driver.seq);
    CHECK_INT(number("SELECT max(id) FROM ledger"), other.n_ledger);
    CHECK_INT(live_orders(), engine_orders(other.engine));
    logged_close(&other);
    end();
}

/* The same where the log has a second stretch, of which the database knows nothing: that is no reason to
 * take it. */
static void test_contradiction_before_hole(void)
{
    begin(10);
    logged_play(&logged, EVENTS, false);
    CHECK_INT(build(), 0);
    logged_close(&logged);
    logged_open(&logged, 11);
    logged_play(&logged, EVENTS, false);
    logged_play(&logged, MORE, true);
    logged_state(&logged, STATE_AFTER_HOLE);
    logged_play(&logged, MORE, false);
    CHECK_INT(build_over(true), -EILSEQ);
    CHECK_INT(number(EVENT_SEQ), EVENTS);
    CHECK_INT(number("SELECT count(*) FROM rebuilds"), 1);
    end();
}

/* A sound database from before a hole: its rows stay, and what is behind the hole comes from there. */
static void test_older(void)
{
    begin(12);
    logged_play(&logged, EVENTS, false);
    CHECK_INT(build(), 0);
    int64_t rows = number("SELECT count(*) FROM ledger");
    logged_play(&logged, EVENTS, true);
    uint64_t behind = logged.driver.seq;
    logged_state(&logged, STATE_AFTER_HOLE);
    logged_play(&logged, MORE, false);
    CHECK_INT(build_over(true), 0);
    CHECK_STR(err, "");
    CHECK_INT(result.base_seq, behind);
    CHECK(result.lost_money);
    CHECK(strstr(result.text, "lost: ") != NULL);
    CHECK_INT(number(EVENT_SEQ), logged.driver.seq);
    CHECK(number("SELECT count(*) FROM ledger") >= rows);
    CHECK_INT(number("SELECT max(id) FROM ledger"), logged.n_ledger);
    CHECK_INT(live_orders(), engine_orders(logged.engine));
    end();
}

static struct rebuild_after after_event(uint64_t seq)
{
    struct rebuild_after after = {0};
    CHECK_INT(daemon_rebuild_log_after(logged.dir, seq, &after), 0);
    return after;
}

/* What a start asks of a log before it plays it on from an older database. */
static void test_after(void)
{
    begin(9);
    logged_play(&logged, EVENTS, false);
    CHECK_INT(after_event(10).end, EVENTS);
    CHECK_INT(after_event(10).to, 0);
    CHECK_INT(after_event(EVENTS + 1).end, EVENTS + 1); /* it ends before */
    logged.driver.seq += 3;
    logged_state(&logged, STATE_AFTER_HOLE);
    logged_play(&logged, MORE, false);
    CHECK_INT(after_event(10).from, EVENTS + 1);
    CHECK_INT(after_event(10).to, EVENTS + 3);
    CHECK_INT(after_event(10).end, logged.driver.seq);
    CHECK_INT(after_event(10).newest, logged.driver.seq);
    CHECK_INT(after_event(EVENTS + 1).from, EVENTS + 2); /* within it */
    CHECK_INT(after_event(EVENTS + 3).to, 0);
    CHECK_INT(after_event(logged.driver.seq).end, logged.driver.seq);
    CHECK_INT(daemon_rebuild_log_newest(logged.dir), logged.driver.seq);
    end();
}

/* A daemon that runs builds it again and again: what is played again, alerts too, is given back. */
static void test_memory(void)
{
    enum { NOISE = 4096 }; /* blocks that the allocator keeps for its threads */
    begin(3);
    logged_play(&logged, EVENTS, false);
    CHECK_INT(build(), 0);
    size_t before = mallinfo2().uordblks;
    CHECK_INT(build(), 0);
    CHECK(mallinfo2().uordblks <= before + NOISE); /* with sanitizers, which find it too, both are 0 */
    end();
}

int main(void)
{
    if (COUNTS_PART)
        printf("counts: %d events of a log (without a sanitizer: %d)\n", EVENTS, EVENTS_ALL);
    test_altered();
    test_contradiction();
    test_two_histories();
    test_after();
    test_older();
    test_contradiction_before_hole();
    test_hole_of_nothing();
    test_hole();
    test_ends_with_command();
    test_memory();
    return check_done("daemon/rebuild");
}
