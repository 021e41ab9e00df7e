/* A database built again from an event log: of random events, written as a daemon writes them. */
#include "daemon/rebuild.h"

#include <sqlite3.h>

#include "tests/engine/logged.h"

enum { EVENTS = 4000, MORE = 400 };

static struct logged logged;
static struct state_dir state;
static struct rebuild_result result;
static char home[SCRATCH_MAX], err[REBUILD_ERROR_MAX];

static void begin(uint64_t seed)
{
    scratch_make(home);
    CHECK_INT(state_dir_find(home, &state, err, sizeof err), 0);
    logged_open(&logged, seed);
}

static void end(void)
{
    logged_close(&logged);
    scratch_remove(home);
}

static int build(void)
{
    const struct rebuild_options options = {.state = &state,
                                            .events = logged.dir,
                                            .why = "a test",
                                            .venue = "binance",
                                            .now_ns = INT64_C(1723161240000000000)};
    err[0] = '\0';
    return rebuild_database(&options, &result, err, sizeof err);
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

int main(void)
{
    test_ends_with_command();
    return check_done("daemon/rebuild");
}
