/* The writer: order, groups, acknowledgement after the commit only, idempotence, a full disk, a poisoned row.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "db/commit_times.h"
#include "db/verify.h"
#include "tests/db/fixture.h"
#include "tests/db/reported.h"
#include "tests/db/sql.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NO_MEMORY_LIMIT 1
#endif

/* What the callbacks saw; they run on the writer's thread. */
struct watcher {
    pthread_mutex_t lock;
    sqlite3 *db;        /* an independent connection */
    uint64_t committed; /* newest ticket */
    unsigned long calls, backwards, early;
    struct reported reported;
};

/* Ledger row N was put with ticket ledger_tickets[N]. */
enum { WATCHED = 4096 };
static uint64_t ledger_tickets[WATCHED];

static void on_committed(void *ctx, uint64_t ticket)
{
    struct watcher *w = ctx;
    pthread_mutex_lock(&w->lock);
    w->calls++;
    w->backwards += ticket <= w->committed;
    w->committed = ticket;
    if (w->db) {
        uint64_t stored = (uint64_t)sql_query(w->db, "SELECT max(id) FROM ledger");
        if (stored < WATCHED - 1 && ledger_tickets[stored + 1] != 0 && ledger_tickets[stored + 1] <= ticket)
            w->early++;
    }
    pthread_mutex_unlock(&w->lock);
}

static void on_state(void *ctx, bool ok, const char *detail)
{
    struct watcher *w = ctx;
    reports_state(&w->reported, ok, detail);
}

static void watcher_init(struct watcher *w)
{
    *w = (struct watcher){.reported = REPORTS_INIT};
    pthread_mutex_init(&w->lock, NULL);
}

static struct db_writer *open_writer(const char *path, struct watcher *w, int max_delay_ms)
{
    const struct db_writer_config config = {
        .ctx = w, .committed = on_committed, .state = on_state, .max_delay_ms = max_delay_ms};
    return fixture_writer(path, &config);
}

/* A database of that name with an account and its symbols, and its path. */
static struct db_writer *begin(const char *directory, const char *name, int max_delay_ms,
                               char path[static SCRATCH_PATH_MAX], struct watcher *w, struct fixture *f)
{
    snprintf(path, SCRATCH_PATH_MAX, "%s/%s", directory, name);
    watcher_init(w);
    struct db_writer *writer = open_writer(path, w, max_delay_ms);
    fixture_open(f, writer);
    return writer;
}

static void test_acknowledged_after_commit(const char *directory)
{
    char path[SCRATCH_PATH_MAX];
    snprintf(path, sizeof path, "%s/ack.db", directory);
    struct watcher watcher;
    watcher_init(&watcher);
    struct db_writer *writer = open_writer(path, &watcher, 0);
    CHECK_INT(sqlite3_open_v2(path, &watcher.db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    sqlite3_busy_timeout(watcher.db, 10000);

    /* Single rows, so that commits fall between any two of them. */
    uint8_t hash[LEDGER_HASH_SIZE] = {0};
    struct db_account account = {.name = "main", .currency = "USDT", .currency_scale = 8};
    CHECK_INT(db_writer_put_account(writer, &account), 1);
    for (uint64_t id = 1; id < WATCHED; id++) {
        struct ledger_row row = {.id = id, .asset = "USDT", .scale = 8, .amount = 1, .balance = (int64_t)id};
        ledger_row_chain(&row, hash);
        memcpy(hash, row.hash, sizeof hash);
        pthread_mutex_lock(&watcher.lock);
        ledger_tickets[id] = db_writer_put_ledger(writer, &row);
        pthread_mutex_unlock(&watcher.lock);
    }
    CHECK_INT(db_writer_last(writer), WATCHED);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK_INT(db_writer_committed(writer), WATCHED);
    struct db_writer_stats stats;
    db_writer_stats(writer, &stats);
    CHECK(stats.ok);
    CHECK_INT(stats.queued, 0);
    CHECK_INT(stats.rows, WATCHED);
    CHECK(stats.commits > 0 && stats.commits < WATCHED);
    CHECK(stats.commit_p50_ns > 0 && stats.commit_p99_ns >= stats.commit_p50_ns);
    fixture_close(writer);
    CHECK_INT(watcher.early, 0);
    CHECK_INT(watcher.backwards, 0);
    CHECK_INT(watcher.committed, WATCHED);
    CHECK_INT(sql_query(watcher.db, "SELECT count(*) FROM ledger"), WATCHED - 1);
    sqlite3_close(watcher.db);
}

static void test_groups(const char *directory)
{
    char path[SCRATCH_PATH_MAX];
    struct watcher watcher;
    struct fixture f;
    struct db_writer *writer = begin(directory, "groups.db", 5, path, &watcher, &f);
    for (int i = 0; i < 50; i++)
        fixture_trade(&f);
    CHECK_INT(db_writer_flush(writer, 30000), 0);

    /* An open group stays back, whatever else is committed. */
    uint64_t before = db_writer_committed(writer);
    db_writer_group_begin(writer);
    db_writer_group_begin(writer);
    db_writer_put_meta(writer, "half", "1");
    db_writer_group_end(writer);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM meta WHERE key NOT IN ('counts', 'causes_after')"),
              0);
    CHECK_INT(db_writer_committed(writer), before);
    db_writer_put_meta(writer, "whole", "1");
    db_writer_group_end(writer);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM meta WHERE key NOT IN ('counts', 'causes_after')"),
              2);

    fixture_close(writer);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM fills"), 300);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM ledger"), 901);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM orders WHERE state = 'FILLED'"), 200);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM orders WHERE reason = 'MIN_NOTIONAL'"), 50);
    CHECK_INT(sql_query_file(path, "SELECT balance FROM ledger WHERE asset = 'USDT' ORDER BY id DESC"),
              f.cash);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM positions WHERE qty > 0"), 2);
}

static void test_every_kind(const char *directory)
{
    char path[SCRATCH_PATH_MAX];
    struct watcher watcher;
    struct fixture f;
    struct db_writer *writer = begin(directory, "kinds.db", 0, path, &watcher, &f);

    struct bar bar = {
        .open_ns = FIXTURE_START,
        .open = 2,
        .high = 4,
        .low = 1,
        .close = 3,
        .volume = (int128_t)10000000000000 * FIXTURE_UNIT + 1, /* 1e13 at 8 decimals */
        .quote_volume = ((int128_t)1 << 120) + 7,
        .first_trade_id = -1,
        .last_trade_id = -1,
    };
    db_writer_put_bar(writer, 0, 60000000000, BAR_VENUE, &bar);
    db_writer_put_bar(writer, 0, 60000000000, BAR_VENUE, &bar);
    db_writer_put_bar(writer, 0, 60000000000, BAR_TRADES, &bar);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    struct db_writer_stats stats;
    db_writer_stats(writer, &stats);
    CHECK_INT(stats.bars_corrected, 0);

    /* One that was stored before bars had sessions is no other bar. */
    sqlite3 *before;
    CHECK_INT(sqlite3_open(path, &before), SQLITE_OK);
    sql_exec(before, "UPDATE bars SET session = NULL");
    sqlite3_close(before);
    bar.session = BAR_SESSION_REGULAR;
    db_writer_put_bar(writer, 0, 60000000000, BAR_VENUE, &bar);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    db_writer_stats(writer, &stats);
    CHECK_INT(stats.bars_corrected, 0);
    bar.close = 4;
    db_writer_put_bar(writer, 0, 60000000000, BAR_VENUE, &bar);
    bar.low = 5; /* above the open: the schema refuses it, and nothing stops */
    db_writer_put_bar(writer, 0, 60000000000, BAR_VENUE, &bar);

    struct db_gap gap = {.interval_ns = 60000000000, .from_open_ns = 1, .to_open_ns = 5, .found_ns = 9};
    db_writer_put_gap(writer, &gap);
    gap.filled_ns = 10;
    db_writer_put_gap(writer, &gap);
    struct db_price price = {.symbol = 1, .last = 5, .ts_ns = 1, .recv_wall_ns = 2};
    db_writer_put_price(writer, &price);
    price.last = 6;
    db_writer_put_price(writer, &price);
    struct db_command command = {
        .id = 1, .peer_uid = 1000, .peer_pid = 7, .cmd = "pause", .args = "{}", .result = ""};
    db_writer_put_command(writer, &command);
    command.state = DB_COMMAND_DONE;
    command.result = "paused";
    db_writer_put_command(writer, &command);
    struct db_alert alert = {
        .id = 1, .ts_ns = 1, .last_ns = 1, .count = 1, .code = "FEED_STALE", .text = "no data"};
    db_writer_put_alert(writer, &alert);
    alert.count = 2;
    alert.severity = DB_ERROR;
    db_writer_put_alert(writer, &alert);
    struct db_feed feed = {.symbol = -1, .stream = "connection", .detail = "", .state = DB_FEED_CONNECTING};
    db_writer_put_feed(writer, &feed);
    feed.state = DB_FEED_OK;
    db_writer_put_feed(writer, &feed);
    feed = (struct db_feed){.symbol = 1,
                            .state = DB_FEED_OK,
                            .last_recv_ns = 3,
                            .limit_ns = 4,
                            .frames = 5,
                            .bytes = 6,
                            .bad_frames = 7,
                            .connects = 8,
                            .stream = "trade",
                            .detail = "slow"};
    db_writer_put_feed(writer, &feed);
    db_writer_put_paused(writer, true);
    db_writer_put_paused(writer, false);

    /* Ten days of equity, two values an hour: the first two days keep one an hour. */
    for (int64_t half = 0; half <= 10 * 48; half++) {
        int64_t ts_ns = (480000 * INT64_C(3600) + half * 1800) * 1000000000;
        db_writer_put_equity(writer, &(struct db_equity){0, DB_EQUITY_LIVE, ts_ns, half, half, half,
                                                         ts_ns / 86400000000000, 5, 0});
    }
    struct db_device_sample orphan = {.device = "none", .ts_ns = 1, .n = 1}; /* of no device */
    db_writer_put_device_sample(writer, &orphan);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    db_writer_stats(writer, &stats);
    CHECK_INT(stats.bars_corrected, 1);
    CHECK_INT(stats.skipped, 2);
    CHECK(stats.ok);
    fixture_close(writer);

    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM bars"), 2);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM bars WHERE session = 'regular'"), 1);
    CHECK_INT(sql_query_file(path, "SELECT volume = '1000000000000000000001' AND "
                                   "quote_volume = '1329227995784915872903807060280344583' AND close = 4 "
                                   "FROM bars WHERE source = 'venue'"),
              1);
    CHECK_INT(sql_query_file(path,
                             "SELECT count(*) FROM gaps WHERE symbol = 1 AND interval_ns = 60000000000 AND "
                             "from_open_ns = 1 AND to_open_ns = 5 AND found_ns = 9 AND filled_ns = 10"),
              1);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM gaps"), 1);
    CHECK_INT(sql_query_file(path, "SELECT last FROM prices WHERE bid IS NULL"), 6);
    CHECK_INT(
        sql_query_file(path, "SELECT count(*) FROM commands WHERE state = 'done' AND result = 'paused'"), 1);
    CHECK_INT(
        sql_query_file(
            path, "SELECT count(*) FROM alerts WHERE count = 2 AND severity = 'error' AND acked_ns IS NULL"),
        1);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM feed_status WHERE state = 'ok'"), 2);
    CHECK_INT(sql_query_file(path,
                             "SELECT count(*) FROM feed_status WHERE stream = 'trade' AND symbol = 2 AND "
                             "detail = 'slow' AND last_recv_ns = 3 AND limit_ns = 4 AND frames = 5 AND "
                             "bytes = 6 AND bad_frames = 7 AND connects = 8"),
              1);
    CHECK_INT(sql_query_file(path, "SELECT value FROM meta WHERE key = 'paused'"), 0);
    /* Of two days one an hour, of eight two; the newest, and the first of all. */
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM equity"), 48 + 8 * 48 + 1 + 1);
    CHECK_INT(
        sql_query_file(path, "SELECT count(*) FROM accounts WHERE equity_peak = 480 AND day_equity = 5"), 1);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

/* A full disk: everything waits, in order, and goes in when there is room again. */
static void test_full_disk(const char *directory)
{
    char path[SCRATCH_PATH_MAX];
    struct watcher watcher;
    struct fixture f;
    struct db_writer *writer = begin(directory, "full.db", 0, path, &watcher, &f);
    fixture_trade(&f);
    CHECK_INT(db_writer_flush(writer, 30000), 0);

    /* Files of this process may not grow any more; SQLite sees a short write. */
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, none;
    getrlimit(RLIMIT_FSIZE, &old);
    none = (struct rlimit){.rlim_cur = 4096, .rlim_max = old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
    uint64_t before = db_writer_committed(writer);
    for (int i = 0; i < 20; i++)
        fixture_trade(&f);
    CHECK(reports_wait(&watcher.reported, &watcher.reported.failures, 1));
    CHECK(watcher.reported.detail[0] != '\0');
    CHECK_INT(db_writer_flush(writer, 10), -ETIMEDOUT);
    CHECK_INT(db_writer_committed(writer), before);
    struct db_writer_stats stats;
    db_writer_stats(writer, &stats);
    CHECK(!stats.ok);
    CHECK(stats.retries > 0);
    CHECK_INT(stats.queued, db_writer_last(writer) - before);

    setrlimit(RLIMIT_FSIZE, &old);
    CHECK(reports_wait(&watcher.reported, &watcher.reported.recoveries, 1));
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    fixture_close(writer);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM fills"), 126);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM ledger"), 379);
    CHECK_INT(sql_query_file(path, "SELECT max(id) FROM ledger"), 379);
    CHECK_INT(sql_query_file(path, "SELECT balance FROM ledger WHERE asset = 'USDT' ORDER BY id DESC"),
              f.cash);
    CHECK_INT(
        sql_query_file(path, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
}

/* Money that contradicts the schema is never passed over: storing stops and says why. */
static void test_contradiction(const char *directory)
{
    char path[SCRATCH_PATH_MAX], err[DB_ERROR_MAX] = "";
    struct watcher watcher;
    struct fixture f;
    struct db_writer *writer = begin(directory, "contradiction.db", 0, path, &watcher, &f);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    struct ledger_row row = {.id = 2, .asset = "USDT", .scale = 8, .amount = -1, .balance = -1};
    db_writer_put_ledger(writer, &row);
    CHECK(reports_wait(&watcher.reported, &watcher.reported.failures, 1));
    CHECK(strstr(watcher.reported.detail, "balance") != NULL);
    CHECK_INT(db_writer_close(writer, 10, err, sizeof err), -ETIMEDOUT);
    CHECK(strstr(err, "1 rows could not be stored") != NULL);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM ledger"), 1);

    /* The same row again is nothing new; another under its number is refused. */
    watcher_init(&watcher);
    writer = open_writer(path, &watcher, 0);
    fixture_open(&f, writer);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    row = (struct ledger_row){.id = 1, .asset = "USDT", .scale = 8, .amount = 1, .balance = 1};
    db_writer_put_ledger(writer, &row);
    CHECK(reports_wait(&watcher.reported, &watcher.reported.failures, 1));
    CHECK_STR(watcher.reported.detail, "ledger row 1 is already stored, with other values");
    struct db_writer_stats stats;
    db_writer_stats(writer, &stats);
    CHECK_INT(stats.conflicts, 1);
    CHECK_STR(stats.conflict, watcher.reported.detail);
    CHECK_INT(db_writer_flush(writer, 30000), -EBADMSG);
    CHECK_INT(db_writer_close(writer, 10, err, sizeof err), -EBADMSG);
}

/* Rows that wait at the end, though nothing failed: their group is still open, so none can be stored. */
static void test_not_in_time(const char *directory)
{
    char path[SCRATCH_PATH_MAX], err[DB_ERROR_MAX] = "";
    struct watcher watcher;
    struct fixture f;
    struct db_writer *writer = begin(directory, "late.db", 0, path, &watcher, &f);
    struct db_device_sample orphan = {.device = "none", .ts_ns = 1, .n = 1}; /* the schema refuses it */
    db_writer_put_device_sample(writer, &orphan);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    db_writer_group_begin(writer);
    db_writer_put_paused(writer, true);
    CHECK_INT(db_writer_close(writer, 0, err, sizeof err), -ETIMEDOUT);
    CHECK_STR(err, "1 rows could not be stored: the time for it is over");
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM meta WHERE key = 'paused'"), 0);
}

/* The file is moved while it is written: no row goes to a file that is out of place. */
static void test_moved(const char *directory)
{
    char path[SCRATCH_PATH_MAX], elsewhere[SCRATCH_PATH_MAX];
    snprintf(path, sizeof path, "%s/moved.db", directory);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere.db", directory);
    struct watcher watcher;
    watcher_init(&watcher);
    struct db_writer *writer = open_writer(path, &watcher, 0);
    struct stat st;
    CHECK_INT(stat(path, &st), 0);
    CHECK_INT(st.st_mode & 07777 & ~0640, 0);
    struct fixture f;
    fixture_open(&f, writer);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK_INT(rename(path, elsewhere), 0);
    fixture_trade(&f);
    CHECK(reports_wait(&watcher.reported, &watcher.reported.failures, 1));
    CHECK_STR(watcher.reported.detail, "the database file was moved or deleted: put it back");
    CHECK_INT(rename(elsewhere, path), 0);
    CHECK(reports_wait(&watcher.reported, &watcher.reported.recoveries, 1));
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    fixture_close(writer);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM fills"), 6);
}

#ifndef NO_MEMORY_LIMIT
/* Bytes of this process. */
static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK_INT(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Memory ends while nothing can be stored: what was handed over whole is stored, nothing of what came after,
 * and none of that is acknowledged. In a process of its own, for its limit. */
static void exhaust_memory(const char *path)
{
    struct watcher watcher;
    watcher_init(&watcher);
    struct db_writer *writer = open_writer(path, &watcher, 0);
    struct fixture f;
    fixture_open(&f, writer);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    sqlite3 *db; /* another program holds the write lock */
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = address_space() + ((rlim_t)24 << 20);
    CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
    uint64_t trades = 0, handed_over = 0, ticket;
    for (; (ticket = fixture_trade(&f)) != 0; trades++)
        handed_over = ticket;
    limit.rlim_cur = before;
    setrlimit(RLIMIT_AS, &limit);
    CHECK_INT(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    CHECK(reports_wait(&watcher.reported, &watcher.reported.failures, 1));
    struct timespec pause = {.tv_nsec = 2000000};
    for (int i = 0; i < 15000 && db_writer_committed(writer) < handed_over; i++)
        if (db_writer_flush(writer, 1) != -ETIMEDOUT)
            nanosleep(&pause, NULL);
    CHECK(db_writer_committed(writer) >= handed_over);
    CHECK(db_writer_committed(writer) < db_writer_last(writer));
    CHECK_INT(db_writer_put_meta(writer, "later", "1"), 0);
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_writer_close(writer, 10, err, sizeof err), -ETIMEDOUT);
    CHECK(strstr(err, "out of memory") != NULL);
    CHECK(trades > 1000);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM ledger") % 3, 1);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM ledger WHERE fill_id IS NOT NULL") / 3,
              sql_query_file(path, "SELECT count(*) FROM fills"));
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM meta WHERE key NOT IN ('counts', 'causes_after')"),
              0);
}
#endif

static void test_memory(const char *directory)
{
#ifndef NO_MEMORY_LIMIT
    char path[SCRATCH_PATH_MAX];
    int status = -1;
    snprintf(path, sizeof path, "%s/memory.db", directory);
    fflush(stderr);
    pid_t pid = fork();
    if (pid == 0) {
        check_failures = 0;
        exhaust_memory(path);
        _exit(check_failures != 0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
#else
    (void)directory; /* the sanitizers' shadow memory does not go with a limit */
#endif
}

static void test_commit_times(void)
{
    static struct db_commit_times times;
    CHECK_INT(db_commit_times_quantile(&times, 0.5), 0);
    for (int64_t ns = 1; ns <= 100000; ns++)
        db_commit_times_add(&times, ns);
    CHECK_NEAR((double)db_commit_times_quantile(&times, 0.50), 50000, 0.125 * 50000);
    CHECK_NEAR((double)db_commit_times_quantile(&times, 0.99), 99000, 0.125 * 99000);
    CHECK(db_commit_times_quantile(&times, 0.99) >= 99000);
    CHECK_INT(db_commit_times_quantile(&times, 0), 1);
    CHECK_INT((int64_t)times.total, 100000);
    CHECK_INT((int64_t)times.sum_ns, 5000050000);
    CHECK_INT((int64_t)times.within[0], 100000); /* 100 us and less */
    db_commit_times_add(&times, db_commit_bounds_ns[2]);
    db_commit_times_add(&times, db_commit_bounds_ns[2] + 1);
    db_commit_times_add(&times, INT64_MAX / 4);
    CHECK_INT((int64_t)times.within[1], 100000);
    CHECK_INT((int64_t)times.within[2], 100001);
    CHECK_INT((int64_t)times.within[3], 100002);
    CHECK_INT((int64_t)times.within[DB_COMMIT_BOUNDS - 1], 100002);
    CHECK_INT((int64_t)times.total, 100003);
    db_commit_times_add(&times, INT64_MAX);
    db_commit_times_add(&times, -1);
    CHECK(db_commit_times_quantile(&times, 1) > INT64_C(3600000000000));
}

/* Beyond its bound the queue drops what will come again, and only that. */
static void test_bound(const char *directory)
{
    char path[SCRATCH_PATH_MAX], err[DB_ERROR_MAX] = "";
    snprintf(path, sizeof path, "%s/bound.db", directory);
    struct db_writer_config config = {.queue_max = 20000};
    struct db_writer *writer;
    CHECK_INT(db_writer_open(path, &config, &writer, err, sizeof err), 0);
    struct fixture f;
    fixture_open(&f, writer);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    sqlite3 *db; /* another program holds the write lock */
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    struct db_price price = {.last = 5};
    int put = 0;
    while (db_writer_put_price(writer, &price) != 0)
        put++;
    CHECK(put > 100);
    CHECK(fixture_trade(&f) != 0);
    CHECK_INT(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK(db_writer_put_price(writer, &price) != 0);
    struct db_writer_stats stats;
    db_writer_stats(writer, &stats);
    CHECK_INT(stats.dropped, 1);
    fixture_close(writer);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM fills"), 6);
}

/* An acknowledged one that becomes more severe is open again; what comes late of an older state changes
 * nothing; its seal holds after each. */
static void test_severity(const char *directory)
{
    static const struct db_writer_config config;
    char why[DB_ERROR_MAX] = "", path[SCRATCH_PATH_MAX];
    struct db_writer *writer;
    struct db_verified *verified;
    snprintf(path, sizeof path, "%s/severity.db", directory);
    struct db_alert warning = {.id = 1,
                               .ts_ns = 1,
                               .last_ns = 1,
                               .count = 1,
                               .severity = DB_WARNING,
                               .lasts = true,
                               .code = "hot",
                               .text = "81"};
    struct db_alert acked = warning, error = warning;
    acked.acked_ns = 5;
    error.count = error.last_ns = 2;
    error.severity = DB_ERROR;
    error.text = "86";
    const struct {
        const struct db_alert *row;
        const char *sql;
    } steps[] = {
        {&warning, "SELECT severity = 'warning' AND acked_ns IS NULL FROM alerts"},
        {&acked, "SELECT severity = 'warning' AND acked_ns = 5 FROM alerts"},
        {&warning, "SELECT severity = 'warning' AND acked_ns = 5 FROM alerts"},
        {&error, "SELECT severity = 'error' AND acked_ns IS NULL AND text = '86' AND count = 2 FROM alerts"},
        {&warning,
         "SELECT severity = 'error' AND acked_ns IS NULL AND text = '86' AND count = 2 FROM alerts"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        CHECK_INT(db_writer_open(path, &config, &writer, why, sizeof why), 0);
        db_writer_put_alert(writer, steps[i].row);
        fixture_close(writer);
        CHECK_INT(sql_query_file(path, steps[i].sql), 1);
        struct db_reader *reader = fixture_reader(path);
        CHECK_INT(db_verify(reader, &verified), 0);
        CHECK_INT(verified->n_failures, 0);
        db_verified_destroy(verified);
        db_reader_close(reader);
    }
}

/* ---- the write-ahead log ---- */

static int64_t now_of(void *ctx)
{
    return *(const int64_t *)ctx;
}

static void pass_until(void *ctx, int64_t until_ns)
{
    *(int64_t *)ctx = until_ns;
}

static off_t log_size(const char *path)
{
    char log[SCRATCH_PATH_MAX + 8];
    struct stat st;
    snprintf(log, sizeof log, "%s-wal", path);
    return stat(log, &st) == 0 ? st.st_size : -1;
}

enum { LOG_ROW = 1 << 20, LOG_LARGE = 16 << 20 };

static const char *large_text(int i)
{
    static char text[LOG_ROW + 1];
    memset(text, 'a' + i % 26, LOG_ROW);
    return text;
}

/* Commits a row of LOG_ROW bytes, and does what comes next, without a pause: the log is never idle. */
static void put_large(struct db_writer *writer, int i)
{
    db_writer_put_meta(writer, "large", large_text(i));
    CHECK_INT(db_writer_flush(writer, 1), 0);
}

/* A reader keeps the log from starting over, and sees what it saw; once it is gone the file is emptied while
 * rows still come, and the next reader is not waited for. */
static void test_log_short(const char *directory)
{
    char path[SCRATCH_PATH_MAX];
    snprintf(path, sizeof path, "%s/log.db", directory);
    int64_t now_ns = 1;
    const struct clock_stepped stepped = {&now_ns, now_of, pass_until};
    const struct db_writer_config config = {.stepped = &stepped};
    struct db_writer *writer = fixture_writer(path, &config);
    sqlite3 *reader;
    int n = 0;
    while (n < 24)
        put_large(writer, n++);
    CHECK(log_size(path) < LOG_LARGE); /* no reader: it starts over every 4 MB */
    CHECK_INT(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (int round = 0; round < 2; round++) {
        sql_exec(reader, "BEGIN");
        int64_t seen = sql_query(reader, "SELECT unicode(value) FROM meta WHERE key = 'large'");
        for (int i = 0; i < LOG_LARGE / LOG_ROW + 4; i++)
            put_large(writer, n++);
        CHECK(log_size(path) > LOG_LARGE);
        CHECK_INT(sql_query(reader, "SELECT unicode(value) FROM meta WHERE key = 'large'"), seen);
        sql_exec(reader, "COMMIT");
        for (int i = 0; i < 8 && log_size(path) > LOG_LARGE / 2; i++)
            put_large(writer, n++);
        CHECK(log_size(path) <= LOG_LARGE / 2);
    }
    struct db_writer_stats stats;
    db_writer_stats(writer, &stats);
    CHECK_INT(stats.retries, 0);
    CHECK_INT(now_ns, 1);
    CHECK_INT(sql_query(reader, "SELECT unicode(value) FROM meta WHERE key = 'large'"), 'a' + (n - 1) % 26);
    sqlite3_close(reader);
    fixture_close(writer);
}

/* Each of the three queues takes the place of another, so all have held a backlog after a while. */
static void test_backlogs_given_back(const char *directory)
{
    char path[SCRATCH_PATH_MAX];
    snprintf(path, sizeof path, "%s/backlogs.db", directory);
    int64_t now_ns = 1;
    const struct clock_stepped stepped = {&now_ns, now_of, pass_until};
    const struct db_writer_config config = {.stepped = &stepped};
    struct db_writer *writer = fixture_writer(path, &config);
    put_large(writer, 0);
    struct mallinfo2 before = mallinfo2();
    for (int backlog = 0; backlog < 6; backlog++) {
        db_writer_group_begin(writer);
        for (int i = 0; i < 6; i++)
            db_writer_put_meta(writer, "backlog", large_text(i));
        db_writer_group_end(writer);
        CHECK_INT(db_writer_flush(writer, 1), 0);
        put_large(writer, backlog);
    }
    struct mallinfo2 after = mallinfo2();
    CHECK(after.uordblks + after.hblkhd < before.uordblks + before.hblkhd + 6 * LOG_ROW);
    fixture_close(writer);
}

int main(void)
{
    char directory[SCRATCH_MAX];
    scratch_make(directory);
    test_acknowledged_after_commit(directory);
    test_groups(directory);
    test_every_kind(directory);
    test_severity(directory);
    test_full_disk(directory);
    test_contradiction(directory);
    test_bound(directory);
    test_not_in_time(directory);
    test_moved(directory);
    test_log_short(directory);
    test_backlogs_given_back(directory);
    test_memory(directory);
    test_commit_times();
    return check_done("writer");
}
