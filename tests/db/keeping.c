/* Housekeeping: what is deleted and what always stays, in steps; free pages go back to the disk; the record
 * is still whole, and the writer does it between commits. */
#include "db/keeping.h"
#include "db/row_hash.h"
#include "db/verify.h"
#include "tests/db/fixture.h"
#include "tests/db/sql.h"

enum {
    COMMANDS = DB_KEEPING_COMMANDS + 3000,
    BARS = DB_KEEPING_BARS + 3100,
    OTHER_BARS = 700,
    ALERTS = 1200
};
#define DAY_NS    (INT64_C(86400) * 1000000000)
#define NOW_NS    (FIXTURE_START + 400 * DAY_NS)

#define SERIES(n) "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " n ") "

/* Alerts: i % 4 is 0 over, 1 acknowledged, 2 open, 3 of a condition that lasts, acknowledged. One an hour. */
static void fill(struct db_store *store)
{
    sqlite3 *db = store->db;
    int64_t start = FIXTURE_START;
    CHECK_INT(db_store_begin(store), SQLITE_OK);
    sql_exec(
        db,
        SERIES("%d") "INSERT INTO commands (id, ts_ns, peer_uid, peer_pid, cmd, args, state, hash) SELECT i, "
                     "%lld + i * 1000000000, 0, 0, 'pause', '{}', iif(i = 7, 'pending', 'done'), x'' FROM n",
        COMMANDS, start);
    sql_exec(db, "UPDATE commands SET hash = seal(" DB_COMMAND_SEALED ", " DB_COMMAND_COLUMNS ")");
    sql_exec(
        db,
        SERIES("%d") "INSERT INTO alerts (id, ts_ns, last_ns, count, code, severity, text, acked_ns, lasts, "
                     "closed_ns, hash) SELECT i, %lld + i * 3600000000000, %lld + i * 3600000000000, 1, 'a', "
                     "'info', '', iif(i %% 4 IN (1, 3), %lld + i * 3600000000000, NULL), i %% 4 IN (0, 3), "
                     "iif(i %% 4 = 0, %lld + i * 3600000000000, NULL), x'' FROM n",
        ALERTS, start, start, start, start);
    sql_exec(db, "UPDATE alerts SET hash = seal(2, " DB_ALERT_COLUMNS ")");
    for (int source = 0; source < 2; source++)
        sql_exec(
            db,
            SERIES(
                "%d") "INSERT INTO bars (symbol, interval_ns, source, open_ns, open, high, low, close, volume, "
                      "quote_volume, trades, first_trade_id, last_trade_id) SELECT 1, 60000000000, %Q, %lld + i "
                      "* 60000000000, 1, 1, 1, 1, '1', '1', 1, -1, -1 FROM n",
            source ? OTHER_BARS : BARS, source ? "trades" : "venue", start);
    CHECK_INT(db_store_commit(store), SQLITE_OK);
}

static int run_at(struct db_store *store, const struct db_retention *before, struct db_keeping *keeping,
                  int64_t now_ns)
{
    int steps = 0;
    db_keeping_begin(keeping, before);
    while (keeping->stage != DB_KEEPING_DONE && steps++ < 1000) {
        int64_t was = sqlite3_total_changes(store->db);
        CHECK_INT(db_keeping_step(keeping, store, now_ns), SQLITE_OK);
        CHECK(sqlite3_total_changes(store->db) - was <= 502); /* and a row of meta */
    }
    CHECK_INT(keeping->stage, DB_KEEPING_DONE);
    return steps;
}

static int run(struct db_store *store, const struct db_retention *before, struct db_keeping *keeping)
{
    return run_at(store, before, keeping, NOW_NS);
}

static void check_rows(sqlite3 *db)
{
    CHECK_INT(sql_query(db, "SELECT count(*) FROM commands"), DB_KEEPING_COMMANDS + 1);
    CHECK_INT(sql_query(db, "SELECT count(*) FROM commands WHERE state = 'pending'"), 1);
    CHECK_INT(sql_query(db, "SELECT count(*) FROM bars WHERE source = 'venue'"), DB_KEEPING_BARS);
    CHECK_INT(sql_query(db, "SELECT max(open_ns) FROM bars WHERE source = 'venue'"),
              FIXTURE_START + BARS * INT64_C(60000000000));
    CHECK_INT(sql_query(db, "SELECT count(*) FROM bars WHERE source = 'trades'"), OTHER_BARS);
    /* Of those last seen before day 20, hours 1 to 479: the open, and what lasts. */
    CHECK_INT(sql_query(db, "SELECT count(*) FROM alerts WHERE id < 480 AND id %% 4 IN (0, 1)"), 0);
    CHECK_INT(sql_query(db, "SELECT count(*) FROM alerts WHERE id < 480"), 240);
    CHECK_INT(sql_query(db, "SELECT count(*) FROM alerts WHERE id >= 480"), ALERTS - 479);
}

static void check_whole(const char *path)
{
    struct db_reader *reader = fixture_reader(path);
    struct db_verified *verified = NULL;
    CHECK_INT(db_verify(reader, &verified), 0);
    CHECK_STR(verified->failure, "");
    db_verified_destroy(verified);
    db_reader_close(reader);
}

/* Two symbols, an account, some trades. */
static void make(const char *path)
{
    struct fixture f;
    struct db_writer *writer = fixture_writer(path, &(struct db_writer_config){.max_delay_ms = 1});
    fixture_open(&f, writer);
    for (int i = 0; i < 10; i++)
        fixture_trade(&f);
    fixture_close(writer);
}

static void test_rows(void)
{
    const char *path = scratch_path("rows.db");
    struct db_store store = {0};
    struct db_keeping keeping = {0};
    const struct db_retention all = {0}, before = {.alerts_ns = FIXTURE_START + 20 * DAY_NS,
                                                   .commands_ns = NOW_NS,
                                                   .bars_ns = NOW_NS};
    make(path);
    CHECK_INT(db_store_open(&store, path, false), 0);
    fill(&store);
    CHECK_INT(sql_query(store.db, "PRAGMA auto_vacuum"), 2);

    run(&store, &all, &keeping);
    CHECK_INT(sql_query(store.db, "SELECT count(*) FROM bars"), BARS + OTHER_BARS);
    CHECK_INT(keeping.day, NOW_NS / DAY_NS);

    /* Much that is free: a table's worth of commands. */
    int64_t pages = sql_query(store.db, "PRAGMA page_count");
    sql_exec(store.db, "CREATE TABLE t AS " SERIES("6000") "SELECT zeroblob(4000) AS b FROM n");
    sql_exec(store.db, "DROP TABLE t");
    CHECK(sql_query(store.db, "PRAGMA freelist_count") > 5000);
    int steps = run(&store, &before, &keeping);
    CHECK(steps > 30);
    check_rows(store.db);
    CHECK(keeping.pages > 4000);
    CHECK(sql_query(store.db, "PRAGMA page_count") < pages + 2000);
    int64_t rows = sql_query(store.db, "SELECT count(*) FROM alerts");
    run(&store, &before, &keeping); /* again, nothing more */
    CHECK_INT(keeping.alerts + keeping.commands + keeping.bars, 0);
    CHECK_INT(sql_query(store.db, "SELECT count(*) FROM alerts"), rows);

    /* Statistics are no other schema. */
    sql_exec(store.db, "ANALYZE");
    db_store_close(&store);
    check_whole(path);
}

static int64_t analyzed(sqlite3 *db)
{
    return sql_query(db, "SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'bars'");
}

/* Statistics of what the record's connection reads by its indexes: once a day. */
static void test_statistics(void)
{
    const char *path = scratch_path("statistics.db");
    struct db_store store = {0};
    struct db_keeping keeping = {0};
    const struct db_retention all = {0}, before = {.bars_ns = NOW_NS};
    make(path);
    CHECK_INT(db_store_open(&store, path, false), 0);
    fill(&store);
    CHECK_INT(sql_query(store.db, "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'"), 0);
    run(&store, &before, &keeping);
    int64_t rows = analyzed(store.db);
    CHECK(rows > 0);
    sql_exec(store.db, "DELETE FROM sqlite_stat1");
    sql_exec(store.db, "ANALYZE sqlite_schema"); /* and they are forgotten */
    run_at(&store, &all, &keeping, NOW_NS + DAY_NS - NOW_NS % DAY_NS - 1);
    CHECK_INT(analyzed(store.db), 0);
    run_at(&store, &all, &keeping, NOW_NS + DAY_NS - NOW_NS % DAY_NS);
    CHECK_INT(analyzed(store.db), rows);
    db_store_close(&store);
    check_whole(path);
}

static void leave_free(sqlite3 *db, int pages)
{
    sql_exec(db, "CREATE TABLE t AS " SERIES("%d") "SELECT zeroblob(4000) AS b FROM n", pages);
    sql_exec(db, "DROP TABLE t");
    CHECK(sql_query(db, "PRAGMA freelist_count") >= pages);
}

/* Few free pages stay, for later rows; many go, to the file's end; and none of a database that cannot. */
static void test_pages(void)
{
    const char *path = scratch_path("pages.db");
    struct db_store store = {0};
    struct db_keeping keeping = {0};
    const struct db_retention all = {0};
    make(path);
    CHECK_INT(db_store_open(&store, path, false), 0);
    leave_free(store.db, 900);
    run(&store, &all, &keeping);
    CHECK_INT(keeping.pages, 0);
    CHECK(sql_query(store.db, "PRAGMA freelist_count") >= 900);
    leave_free(store.db, 3000);
    run(&store, &all, &keeping);
    CHECK(keeping.pages > 1900 && sql_query(store.db, "PRAGMA freelist_count") < 1024);
    sql_exec(store.db, "PRAGMA auto_vacuum = NONE");
    sql_exec(store.db, "VACUUM");
    leave_free(store.db, 3000);
    int64_t pages = sql_query(store.db, "PRAGMA page_count");
    run(&store, &all, &keeping);
    CHECK_INT(keeping.pages, 0);
    CHECK_INT(sql_query(store.db, "PRAGMA page_count"), pages);
    db_store_close(&store);
    check_whole(path);
}

/* While others are committed. */
static void test_writer(void)
{
    const char *path = scratch_path("writer.db");
    struct db_store store = {0};
    const struct db_retention before = {.alerts_ns = NOW_NS, .commands_ns = NOW_NS, .bars_ns = NOW_NS};
    make(path);
    CHECK_INT(db_store_open(&store, path, false), 0);
    fill(&store);
    db_store_close(&store);
    struct db_writer *writer = fixture_writer(path, &(struct db_writer_config){.max_delay_ms = 1});
    db_writer_keep(writer, &before);
    while (sql_query_file(path, "SELECT count(*) FROM alerts WHERE id % 4 IN (0, 1)") > 1) {
        db_writer_put_meta(writer, "tests", "busy");
        CHECK_INT(db_writer_flush(writer, 60000), 0);
    }
    fixture_close(writer); /* it ends in the midst of commands */
    check_whole(path);
}

int main(void)
{
    scratch_in_memory();
    test_rows();
    test_statistics();
    test_pages();
    test_writer();
    return check_done("db_keeping");
}
