#include "db/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/row_hash.h"
#include "record/sqlite.h"

enum { BUSY_TIMEOUT_MS = 5000, FILE_MODE = 0640, LOG_PART = 1 << 16 };

static const char set_up[] = "PRAGMA foreign_keys = ON;"
                             "PRAGMA synchronous = FULL;"
                             "PRAGMA wal_autocheckpoint = 0;"
                             "PRAGMA journal_size_limit = " DB_STORE_LOG_KEPT ";"
                             "PRAGMA temp_store = MEMORY;" DB_STORE_TEMPORARY;

#define TEXT(name, text) text,
static const char *const statements[DB_STATEMENTS] = {DB_SQL_LIST(TEXT)};

static int note(struct db_store *store, int rc)
{
    if (rc != SQLITE_OK)
        snprintf(store->error, sizeof store->error, "%s", sqlite3_errmsg(store->db));
    return rc;
}

/* The first row, if there is one. */
static int ask(struct db_store *store, const char *sql, const struct record_into *into)
{
    int rc = record_sqlite_ask(store->db, sql, NULL, into);
    return note(store, rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc);
}

static int step(struct db_store *store, enum db_statement which)
{
    sqlite3_step(store->statements[which]);
    return note(store, sqlite3_reset(store->statements[which]));
}

static int count_wal_pages(void *ctx, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    ((struct db_store *)ctx)->wal_pages = pages;
    return SQLITE_OK;
}

/* The journal mode is a property of the file and is set once; it answers with the mode that holds. */
static int set_wal(struct db_store *store)
{
    char mode[16] = "";
    int rc = ask(store, "PRAGMA journal_mode = WAL", RECORD_INTO(record_into_chars(mode, sizeof mode)));
    if (rc == SQLITE_OK && sqlite3_stricmp(mode, "wal") != 0) {
        snprintf(store->error, sizeof store->error, "this file system cannot keep a write-ahead log");
        return -EOPNOTSUPP;
    }
    return db_errno(rc);
}

static int read_event_seq(struct db_store *store)
{
    static const char sql[] = "SELECT CAST (value AS INTEGER) FROM meta WHERE key = 'event_seq'";
    store->event_seq = 0;
    return db_errno(ask(store, sql, RECORD_INTO(&store->event_seq)));
}

/* Of the tables that have row numbers; equity has none, and is counted where it is written. */
static void count_row(void *ctx, int op, const char *db, const char *table, sqlite3_int64 rowid)
{
    struct db_store *store = ctx;
    enum db_counted at = op == SQLITE_UPDATE ? DB_COUNTED : db_counted_find(table);
    (void)db;
    (void)rowid;
    if (at < DB_COUNTED)
        store->counts.rows[at] += op == SQLITE_INSERT ? 1 : -1;
}

static int put_meta(struct db_store *store, const char *key, const char *value)
{
    sqlite3_stmt *stmt = store->statements[DB_SQL_META];
    record_sqlite_params(stmt, RECORD_PARAMS(key, value));
    int rc = step(store, DB_SQL_META);
    sqlite3_clear_bindings(stmt);
    return rc;
}

static int put_counts(struct db_store *store)
{
    char text[DB_COUNTS_TEXT];
    db_counts_format(&store->counts, text);
    return put_meta(store, DB_COUNTS_KEY, text);
}

/* The counts stored at the last commit, whatever is there now; a database that never had them is counted. */
static int read_counts(struct db_store *store)
{
    static const char sql[] = "SELECT value FROM meta WHERE key = '" DB_COUNTS_KEY "'";
    char text[DB_COUNTS_TEXT + 1] = ""; /* one that is longer is none */
    int rc = ask(store, sql, RECORD_INTO(record_into_chars(text, sizeof text)));
    if (rc != SQLITE_OK)
        return db_errno(rc);
    bool known = db_counts_parse(text, &store->counts);
    if (rc == SQLITE_OK && !known)
        rc = note(store, db_counts_take(store->db, &store->counts));
    if (rc == SQLITE_OK && !known)
        rc = put_counts(store);
    store->committed = store->counts;
    return db_errno(rc);
}

/* What a killed process committed may be in the page cache alone: flushes it to the disk before anything is
 * read. */
static int flush_log(struct db_store *store)
{
    int rc = note(store, sqlite3_exec(store->db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL));
    return db_errno(rc == SQLITE_OK ? db_store_renew_log(store) : rc);
}

/* Another file may number its symbols differently: one that was rebuilt. */
static int find_symbols(struct db_store *store)
{
    static const char sql[] = "SELECT id FROM symbols WHERE venue = ?1 AND name = ?2";
    sqlite3_stmt *stmt;
    int rc = note(store, sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL));
    for (int i = 0; rc == SQLITE_OK && i < SYMBOLS_MAX; i++) {
        if (!store->symbols[i].name[0])
            continue;
        store->symbol_ids[i] = 0;
        record_sqlite_params(stmt, RECORD_PARAMS(store->symbols[i].venue, store->symbols[i].name));
        if (sqlite3_step(stmt) == SQLITE_ROW)
            record_sqlite_take(stmt, RECORD_INTO(&store->symbol_ids[i]));
        rc = note(store, sqlite3_reset(stmt));
    }
    sqlite3_finalize(stmt);
    return db_errno(rc);
}

int db_store_open(struct db_store *store, const char *path, bool create)
{
    memset(store->statements, 0, sizeof store->statements);
    store->db = NULL;
    store->wal_pages = 0;
    store->n_held = 0;
    int fd = create ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE) : -1;
    if (fd >= 0)
        close(fd); /* the log and its index inherit the mode; SQLite reports what is wrong with the path */
    int rc = sqlite3_open_v2(path, &store->db,
                             SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX,
                             NULL);
    if (!store->db) {
        snprintf(store->error, sizeof store->error, "out of memory");
        return -ENOMEM;
    }
    int r, keep = 1;
    if (rc != SQLITE_OK) {
        int number = sqlite3_system_errno(store->db);
        note(store, rc);
        if (number)
            snprintf(store->error, sizeof store->error, "%s", strerror(number));
        r = number ? -number : db_errno(rc);
        goto fail;
    }
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
    r = flush_log(store);
    if (r == 0)
        r = db_errno(note(store, db_row_hash_register(store->db)));
    if (r == 0)
        r = db_migrate(store->db, db_migrations, db_migrations_count, store->error, sizeof store->error);
    if (r == 0)
        r = set_wal(store);
    if (r == 0)
        r = db_errno(note(store, sqlite3_exec(store->db, set_up, NULL, NULL, NULL)));
    for (int i = 0; r == 0 && i < DB_STATEMENTS; i++)
        r = db_errno(note(store, sqlite3_prepare_v3(store->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT,
                                                    &store->statements[i], NULL)));
    if (r == 0)
        r = read_event_seq(store);
    if (r == 0)
        r = read_counts(store);
    if (r == 0 && !create)
        r = find_symbols(store);
    if (r == 0 && create)
        store->known_event = store->event_seq;
    if (r != 0)
        goto fail;
    sqlite3_wal_hook(store->db, count_wal_pages, store);
    sqlite3_update_hook(store->db, count_row, store);
    return 0;

fail:
    db_store_close(store);
    return r;
}

void db_store_close(struct db_store *store)
{
    for (int i = 0; i < DB_STATEMENTS; i++) {
        sqlite3_finalize(store->statements[i]);
        store->statements[i] = NULL;
    }
    sqlite3_close(store->db);
    store->db = NULL;
}

int db_store_begin(struct db_store *store)
{
    return step(store, DB_SQL_BEGIN);
}

int db_store_event(struct db_store *store, uint64_t event_seq)
{
    char value[24];
    snprintf(value, sizeof value, "%llu", (unsigned long long)event_seq);
    return put_meta(store, "event_seq", value);
}

int db_store_commit(struct db_store *store)
{
    int rc =
        memcmp(&store->counts, &store->committed, sizeof store->counts) != 0 ? put_counts(store) : SQLITE_OK;
    if (rc == SQLITE_OK)
        rc = step(store, DB_SQL_COMMIT);
    if (rc == SQLITE_OK)
        store->committed = store->counts;
    return rc;
}

void db_store_rollback(struct db_store *store)
{
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    store->counts = store->committed;
    store->n_held = 0;
    memset(store->equity_hour, 0, sizeof store->equity_hour); /* what was thinned is back */
    store->devices = store->processes = (struct db_rolled){0};
}

int db_store_checkpoint(struct db_store *store, bool truncate, bool *ret_empty)
{
    int in_log = -1, moved = -1;
    int mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
    sqlite3_busy_timeout(store->db, 0); /* readers are never waited for */
    int rc = note(store, sqlite3_wal_checkpoint_v2(store->db, "main", mode, &in_log, &moved));
    sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
    if (rc == SQLITE_OK && truncate)
        store->wal_pages = 0;
    if (ret_empty)
        *ret_empty = rc == SQLITE_OK && in_log == moved;
    return (rc & 0xff) == SQLITE_BUSY ? SQLITE_OK : rc;
}

/* *ret_log is NULL where there is none. */
static int find_log(struct db_store *store, sqlite3_file **ret_log, sqlite3_int64 *ret_size)
{
    sqlite3_file *log = NULL;
    int rc = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (rc == SQLITE_OK && log && !log->pMethods)
        log = NULL;
    if (rc == SQLITE_OK && log)
        rc = log->pMethods->xFileSize(log, ret_size);
    *ret_log = log;
    return rc;
}

int64_t db_store_log_bytes(struct db_store *store)
{
    sqlite3_file *log;
    sqlite3_int64 size = 0;
    return find_log(store, &log, &size) == SQLITE_OK ? size : 0;
}

int db_store_renew_log(struct db_store *store)
{
    sqlite3_file *log;
    sqlite3_int64 size = 0;
    char bytes[LOG_PART];
    int rc = find_log(store, &log, &size);
    if (rc == SQLITE_OK && !log)
        return SQLITE_OK;
    for (sqlite3_int64 at = 0; rc == SQLITE_OK && at < size; at += LOG_PART) {
        int part = size - at < LOG_PART ? (int)(size - at) : LOG_PART;
        rc = log->pMethods->xRead(log, bytes, part, at);
        if (rc == SQLITE_OK)
            rc = log->pMethods->xWrite(log, bytes, part, at);
    }
    if (rc == SQLITE_OK)
        rc = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    if (rc != SQLITE_OK)
        snprintf(store->error, sizeof store->error, "the log cannot be written again: %s",
                 sqlite3_errstr(rc));
    return rc;
}
