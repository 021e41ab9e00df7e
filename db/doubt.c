#include "db/doubt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "exchange/past_cache.h"
#include "record/sqlite.h"

enum { PATH_LENGTH = 4096 + 8 };

static int say(struct db_store *store, int result, int r, const char *what)
{
    snprintf(store->error, sizeof store->error, "%s: %s", what, strerror(-r));
    return result;
}

/* ---- the disk ---- */

static int repair(const struct db_doubt *doubt, const char *path)
{
    if (doubt->disk)
        return doubt->disk->repair(doubt->disk->ctx, path);
    int r = past_cache_repair(AT_FDCWD, path, INT64_MAX);
    return r == -ENOENT ? 1 : r;
}

int db_doubt_settle(const struct db_doubt *doubt)
{
    int r = 0;
    if (doubt->disk)
        r = doubt->disk->settle ? doubt->disk->settle(doubt->disk->ctx) : 0;
    else if (doubt->dir >= 0)
        r = past_cache_settle(doubt->dir);
    return r < 0 ? say(doubt->store, SQLITE_IOERR_FSYNC, r, "the file system cannot write") : SQLITE_OK;
}

int db_doubt_same_log(const struct db_doubt *doubt)
{
    char log[PATH_LENGTH];
    snprintf(log, sizeof log, "%s-wal", doubt->path);
    int r = doubt->disk ? doubt->disk->same(doubt->disk->ctx, log)
                        : past_cache_same(AT_FDCWD, log, 0, INT64_MAX, NULL);
    if (r == 1 || r == -ENOENT)
        return SQLITE_OK;
    snprintf(doubt->store->error, sizeof doubt->store->error, "what was committed is not on the disk%s%s",
             r < 0 ? ": " : "", r < 0 ? strerror(-r) : "");
    return SQLITE_IOERR_FSYNC;
}

/* ---- the file ---- */

/* Writes the log again as it reads; it is not moved into the database, which may lack pages that the log
 * has. 0 or -errno; -EBADMSG: it is damaged. */
static int renew(struct db_doubt *doubt)
{
    struct db_store *store = doubt->store;
    int r = store->db ? 0 : db_store_open(store, doubt->path, false);
    if (r == 0)
        r = db_errno(db_store_renew_log(store));
    db_store_close(store);
    return r == -EMEDIUMTYPE ? -EBADMSG : r;
}

static int write_back(struct db_doubt *doubt)
{
    struct db_store *store = doubt->store;
    char log[PATH_LENGTH];
    snprintf(log, sizeof log, "%s-wal", doubt->path);
    const char *const files[] = {doubt->path, log};
    for (int i = 0; i < 2; i++) {
        int r = repair(doubt, files[i]);
        if (r < 0)
            return say(store, r, r, "what the disk has of the database cannot be read");
        if (r == 0) {
            snprintf(store->error, sizeof store->error, "the disk does not keep what is written to it");
            return -EIO;
        }
    }
    return 0;
}

static int quick_check(const struct db_doubt *doubt, char *err, size_t err_size)
{
    sqlite3 *db = NULL;
    char said[DB_ERROR_MAX] = "out of memory";
    int rc = sqlite3_open_v2(doubt->path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = record_sqlite_ask(db, "PRAGMA quick_check(1)", NULL,
                               RECORD_INTO(record_into_chars(said, sizeof said)));
    if (rc == SQLITE_ROW) {
        snprintf(err, err_size, "%s", said);
        rc = strcmp(said, "ok") == 0 ? SQLITE_OK : SQLITE_CORRUPT;
    }
    rc = rc == SQLITE_DONE ? SQLITE_OK : rc;
    if (rc != SQLITE_OK && !err[0])
        snprintf(err, err_size, "%s", sqlite3_errstr(rc));
    sqlite3_close(db);
    int r = db_errno(rc);
    return r == -EMEDIUMTYPE ? -EBADMSG : r;
}

static int check(const struct db_doubt *doubt)
{
    struct db_store *store = doubt->store;
    char err[DB_ERROR_MAX] = "";
    int r = doubt->check ? doubt->check(doubt->ctx, err, sizeof err) : quick_check(doubt, err, sizeof err);
    if (r < 0)
        snprintf(store->error, sizeof store->error, "%s", err);
    return r == -ENOENT ? -EBADMSG : r;
}

void db_doubt_remember(struct db_doubt *doubt)
{
    doubt->event_seq = doubt->store->event_seq;
    doubt->counts = doubt->store->committed;
}

/* Is what was committed still there? A log whose end is lost reads as a shorter one. 0 or -EBADMSG. */
static int compare(const struct db_doubt *doubt)
{
    static const enum db_counted kept[] = {DB_COUNT_ORDERS, DB_COUNT_FILLS, DB_COUNT_LEDGER,
                                           DB_COUNT_COMMANDS};
    struct db_store *store = doubt->store;
    bool there = store->event_seq >= doubt->event_seq;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        there &= store->committed.rows[kept[i]] >= doubt->counts.rows[kept[i]];
    if (there)
        return 0;
    snprintf(store->error, sizeof store->error,
             "transactions that were stored are gone: it ends at event %llu, and event %llu was stored",
             (unsigned long long)store->event_seq, (unsigned long long)doubt->event_seq);
    db_store_close(store);
    return -EBADMSG;
}

int db_doubt_dispel(struct db_doubt *doubt)
{
    int r = renew(doubt);
    if (r == 0)
        r = write_back(doubt);
    if (r == 0)
        r = check(doubt);
    if (r == 0)
        r = db_store_open(doubt->store, doubt->path, false);
    if (r == 0)
        r = compare(doubt);
    return r == -EMEDIUMTYPE ? -EBADMSG : r;
}
