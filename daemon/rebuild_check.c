/* Cheap checks come first: with little time the whole file is read once, its rows are counted, and the
 * newest are checked. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/rebuild.h"
#include "db/counts.h"
#include "db/ledger_row.h"
#include "db/migrate.h"
#include "db/row_hash.h"
#include "db/tables.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "record/sqlite.h"

enum { BUSY_TIMEOUT_MS = 5000, STEPS = 10000 /* of SQLite's machine between two looks at the clock */ };

static int64_t deadline(int64_t limit_ms)
{
    return limit_ms > 0 ? clock_now_ns() + limit_ms * 1000000 : INT64_MAX;
}

static int late(void *ctx)
{
    return clock_now_ns() > *(const int64_t *)ctx;
}

static int bad(sqlite3 *db, int rc, char *err, size_t err_size)
{
    snprintf(err, err_size, "%s", sqlite3_errmsg(db));
    return rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || (rc & 0xff) == SQLITE_CORRUPT ? -EBADMSG
                                                                                        : db_errno(rc);
}

/* The first row's text, where it is not `good`; 0 also when the deadline comes first. */
static int ask(sqlite3 *db, const char *sql, const char *good, char *err, size_t err_size)
{
    char said[DB_ERROR_MAX] = "";
    int rc = record_sqlite_ask(db, sql, NULL, RECORD_INTO(record_into_chars(said, sizeof said)));
    if (rc != SQLITE_ROW)
        return rc == SQLITE_DONE || rc == SQLITE_INTERRUPT ? 0 : bad(db, rc, err, err_size);
    if (said[0] && strcmp(said, good) == 0)
        return 0;
    return fail_with(-EBADMSG, err, err_size, "%s", said[0] ? said : "nothing");
}

/* How many rows does each table hold, and how many should it? A lost row leaves no trace where it was the
 * newest, or where its table has no numbers, and a repeat of a lost command would be carried out again.
 * Never cut short: it reads the smallest index of each table, and quick_check read all of them. 0.1 s for
 * 2,000,000 rows of 200 MB, after the 3.8 s of quick_check. A file that was never counted holds nothing
 * yet. */
static int check_counts(sqlite3 *db, char *err, size_t err_size)
{
    struct db_counts is, should;
    char text[DB_COUNTS_TEXT + 1]; /* one that is longer is none */
    int rc = db_counts_take(db, &is);
    if (rc == SQLITE_OK)
        rc = record_sqlite_ask(db, "SELECT value FROM meta WHERE key = '" DB_COUNTS_KEY "'", NULL,
                               RECORD_INTO(record_into_chars(text, sizeof text)));
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return bad(db, rc, err, err_size);
    bool known = rc == SQLITE_ROW && db_counts_parse(text, &should);
    if (!known && is.rows[DB_COUNT_ACCOUNTS] == 0)
        return 0;
    if (!known)
        snprintf(err, err_size, "meta: row " DB_COUNTS_KEY ": %s",
                 rc == SQLITE_ROW ? "does not say how many rows the tables hold" : "is missing");
    for (size_t i = 0; known && i < db_tables_count; i++) {
        const int at = db_tables[i].counted;
        if (at == DB_COUNTED || is.rows[at] == should.rows[at])
            continue;
        return fail_with(-EBADMSG, err, err_size, "%s: holds %" PRId64 " rows, and should hold %" PRId64,
                         db_tables[i].name, is.rows[at], should.rows[at]);
    }
    return known ? 0 : -EBADMSG;
}

/* The ledger, newest first: each row follows from the one before it, where that is there. Names the first
 * row that does not: where a row's hash was altered, the one after it does not follow either. */
static int check_chain(sqlite3 *db, char *err, size_t err_size)
{
    static const uint8_t nothing[LEDGER_HASH_SIZE];
    sqlite3_stmt *stmt;
    struct ledger_row later = {0}, row;
    uint64_t altered = 0;
    bool follows = true;
    int rc =
        sqlite3_prepare_v2(db, "SELECT " DB_LEDGER_COLUMNS " FROM ledger ORDER BY id DESC", -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc == SQLITE_INTERRUPT ? 0 : bad(db, rc, err, err_size);
    while ((!altered || !follows) && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (!db_ledger_row_read(stmt, &row)) {
            record_sqlite_take(stmt, RECORD_INTO(&altered));
            break;
        }
        follows = later.id != row.id + 1 || db_ledger_row_follows(&later, row.hash);
        if (!follows)
            altered = later.id;
        later = row;
    }
    if (later.id == 1 && rc == SQLITE_DONE && !db_ledger_row_follows(&later, nothing))
        altered = 1;
    int r = altered ? -EBADMSG : rc == SQLITE_DONE || rc == SQLITE_INTERRUPT ? 0 : bad(db, rc, err, err_size);
    if (altered)
        snprintf(err, err_size, "ledger: row %" PRIu64 ": " DB_SEALED_ALTERED, altered);
    sqlite3_finalize(stmt);
    return r;
}

/* Returns a row whose seal does not verify: the newest first, as far as time allows. */
static int check_seal(sqlite3 *db, const struct db_table *of, char *err, size_t err_size)
{
    char what[DB_ERROR_MAX];
    char *sql = sqlite3_mprintf("SELECT 'row ' || (%s) || ': " DB_SEALED_ALTERED
                                "' FROM %s WHERE hash IS NOT %s ORDER BY %s LIMIT 1",
                                of->key, of->name, of->seal, of->newest);
    int r = sql ? ask(db, sql, "", what, sizeof what) : -ENOMEM;
    sqlite3_free(sql);
    if (r < 0)
        snprintf(err, err_size, "%s: %s", of->name, r == -ENOMEM ? "out of memory" : what);
    return r;
}

static int check_seals(sqlite3 *db, char *err, size_t err_size)
{
    int r = check_chain(db, err, err_size);
    for (size_t i = 0; r == 0 && i < db_tables_count; i++)
        if (db_tables[i].seal)
            r = check_seal(db, &db_tables[i], err, err_size);
    return r;
}

static int check_file(sqlite3 *db, int64_t limit_ms, char *err, size_t err_size)
{
    int64_t until = deadline(limit_ms);
    char what[DB_ERROR_MAX];
    int version = 0;
    int r = db_schema_check(db, db_migrations_count, &version, err, err_size);
    if (r == -EMEDIUMTYPE) /* no database, or another program's */
        return -EBADMSG;
    if (r == 0 && version == db_migrations_count)
        r = db_schema_same(db, db_migrations, db_migrations_count, err, err_size);
    if (r < 0)
        return r == -EMEDIUMTYPE ? -EBADMSG : r;
    sqlite3_progress_handler(db, STEPS, late, &until);
    r = ask(db, "PRAGMA quick_check(1)", "ok", what, sizeof what);
    if (r < 0)
        snprintf(err, err_size, "quick_check: %s", what);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    if (r == 0 && version == db_migrations_count)
        r = check_counts(db, err, err_size);
    sqlite3_progress_handler(db, STEPS, late, &until);
    if (r == 0 && version == db_migrations_count)
        r = check_seals(db, err, err_size);
    if (r == 0 && (r = ask(db, "PRAGMA integrity_check(1)", "ok", what, sizeof what)) < 0)
        snprintf(err, err_size, "integrity_check: %s", what);
    return r;
}

/* A file that the system does not open (its permissions, too many open files) is not a damaged or missing
 * one. */
static int why_not_opened(sqlite3 *db, int r, char *err, size_t err_size)
{
    int number = (sqlite3_errcode(db) & 0xff) == SQLITE_CANTOPEN ? sqlite3_system_errno(db) : 0;
    if (r == 0 || number == 0)
        return r;
    snprintf(err, err_size, "it cannot be opened: %s", strerror(number));
    return -number;
}

int daemon_rebuild_check(const char *database, int64_t limit_ms, char *err, size_t err_size)
{
    struct stat st;
    sqlite3 *db = NULL;
    int keep = 1;
    if (stat(database, &st) < 0) {
        int r = -errno;
        snprintf(err, err_size, "%s", r == -ENOENT ? "it is not there" : strerror(-r));
        return r;
    }
    if (st.st_size == 0)
        return fail_with(-ENOENT, err, err_size, "it is an empty file");
    int rc = sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(db, BUSY_TIMEOUT_MS);
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
        rc = db_row_hash_register(db);
    }
    int r = rc == SQLITE_OK ? check_file(db, limit_ms, err, err_size)
            : db            ? bad(db, rc, err, err_size)
                            : -ENOMEM;
    r = why_not_opened(db, r, err, err_size);
    sqlite3_close(db);
    if (r < 0)
        db_rebuilt_clean(err);
    return r;
}
