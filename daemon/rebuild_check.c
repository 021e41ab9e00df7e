/* Cheap things first: with little time the whole file is looked through once, and its newest rows are
 * checked. */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/rebuild.h"
#include "db/ledger_row.h"
#include "db/migrate.h"
#include "db/row_hash.h"
#include "exchange/clock.h"

enum { BUSY_TIMEOUT_MS = 5000, STEPS = 10000 /* of SQLite's machine between two looks at the clock */ };

#define OF(seal, table, order) \
    { \
        table, "SELECT 1 FROM " table " WHERE hash IS NOT " seal " ORDER BY " order " LIMIT 1" \
    }

/* A row comes where one's seal does not hold: the newest first, as far as time allows. */
static const struct {
    const char *table, *sql;
} sealed[] = {
    OF("seal(2, key, value)", "meta", "key"),
    OF("seal(2, " DB_ACCOUNT_COLUMNS ")", "accounts", "id DESC"),
    OF("seal(2, " DB_SYMBOL_COLUMNS ")", "symbols", "id DESC"),
    OF("seal(2, " DB_POSITION_COLUMNS ")", "positions", "account, symbol"),
    OF(DB_ORDER_SEAL, "orders", "id DESC"),
    OF(DB_FILL_SEAL, "fills", "id DESC"),
    OF("seal(2, " DB_COMMAND_COLUMNS ")", "commands", "id DESC"),
    OF("seal(2, " DB_ALERT_COLUMNS ")", "alerts", "id DESC"),
    OF("seal(2, " DB_ACTION_COLUMNS ")", "corporate_actions", "id DESC"),
    OF("seal(2, " DB_REVISION_COLUMNS ")", "revisions", "id DESC"),
    OF("seal(2, " DB_EQUITY_COLUMNS ")", "equity", "account, ts_ns DESC"),
};

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
    sqlite3_stmt *stmt;
    int r = 0, rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc == SQLITE_INTERRUPT ? 0 : bad(db, rc, err, err_size);
    rc = sqlite3_step(stmt);
    const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    if (rc == SQLITE_ROW && (!text || strcmp(text, good) != 0)) {
        snprintf(err, err_size, "%s", text ? text : "nothing");
        r = -EBADMSG;
    } else if (rc != SQLITE_ROW && rc != SQLITE_DONE && rc != SQLITE_INTERRUPT) {
        r = bad(db, rc, err, err_size);
    }
    sqlite3_finalize(stmt);
    return r;
}

/* The ledger, newest first: each row follows from the one before it, where that is there. */
static int check_chain(sqlite3 *db, char *err, size_t err_size)
{
    static const uint8_t nothing[LEDGER_HASH_SIZE];
    sqlite3_stmt *stmt;
    struct ledger_row later = {0}, row;
    bool good = true;
    int rc =
        sqlite3_prepare_v2(db, "SELECT " DB_LEDGER_COLUMNS " FROM ledger ORDER BY id DESC", -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc == SQLITE_INTERRUPT ? 0 : bad(db, rc, err, err_size);
    while (good && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        good = db_ledger_row_read(stmt, &row) &&
               (later.id != row.id + 1 || db_ledger_row_follows(&later, row.hash));
        later = row;
    }
    good = good && (later.id != 1 || db_ledger_row_follows(&later, nothing));
    int r = good && (rc == SQLITE_DONE || rc == SQLITE_INTERRUPT) ? 0
            : good                                                ? bad(db, rc, err, err_size)
                                                                  : -EBADMSG;
    if (!good)
        snprintf(err, err_size, "ledger: row %llu: its values and its hash disagree",
                 (unsigned long long)later.id);
    sqlite3_finalize(stmt);
    return r;
}

static int check_seals(sqlite3 *db, char *err, size_t err_size)
{
    char what[DB_ERROR_MAX];
    int r = check_chain(db, err, err_size);
    for (size_t i = 0; r == 0 && i < sizeof sealed / sizeof *sealed; i++) {
        r = ask(db, sealed[i].sql, "", what, sizeof what);
        if (r == -EBADMSG)
            snprintf(err, err_size, "%s: %s", sealed[i].table,
                     strcmp(what, "1") == 0 ? "a row's values and its hash disagree" : what);
        else if (r < 0)
            snprintf(err, err_size, "%s", what);
    }
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
    if (r == 0 && version == db_migrations_count)
        r = check_seals(db, err, err_size);
    if (r == 0 && (r = ask(db, "PRAGMA integrity_check(1)", "ok", what, sizeof what)) < 0)
        snprintf(err, err_size, "integrity_check: %s", what);
    return r;
}

int rebuild_check(const char *database, int64_t limit_ms, char *err, size_t err_size)
{
    struct stat st;
    sqlite3 *db = NULL;
    int keep = 1;
    if (stat(database, &st) < 0) {
        int r = -errno;
        snprintf(err, err_size, "%s", r == -ENOENT ? "it is not there" : strerror(-r));
        return r;
    }
    if (st.st_size == 0) {
        snprintf(err, err_size, "it is an empty file");
        return -ENOENT;
    }
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
    sqlite3_close(db);
    if (r < 0)
        db_rebuilt_clean(err);
    return r;
}
