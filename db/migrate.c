#include "db/migrate.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "db/row_hash.h"
#include "exchange/fail.h"
#include "record/sqlite.h"

int db_errno(int sqlite_rc)
{
    switch (sqlite_rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return 0;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_INTERRUPT:
        return -EINTR;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return -EACCES;
    case SQLITE_CANTOPEN:
        return -ENOENT;
    case SQLITE_NOTADB:
        return -EMEDIUMTYPE;
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT:
        return -EBADMSG;
    default:
        return -EIO;
    }
}

static int pragma(sqlite3 *db, const char *sql, int64_t *ret)
{
    int rc = record_sqlite_ask(db, sql, NULL, RECORD_INTO(ret));
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int failure(sqlite3 *db, int rc, const char *what, char *err, size_t err_size)
{
    snprintf(err, err_size, "%s%s%s", what, *what ? ": " : "",
             db_errno(rc) == -EBUSY ? FAIL_IN_USE("another process") : sqlite3_errmsg(db));
    return db_errno(rc);
}

int db_schema_check(sqlite3 *db, int known, int *ret_version, char *err, size_t err_size)
{
    int64_t application = 0, version = 0, objects = 0;
    int rc = pragma(db, "PRAGMA application_id", &application);
    if (rc == SQLITE_OK)
        rc = pragma(db, "PRAGMA user_version", &version);
    if (rc == SQLITE_OK)
        rc = pragma(db, "SELECT count(*) FROM sqlite_schema", &objects);
    if (rc != SQLITE_OK)
        return failure(db, rc, "", err, err_size);

    if (application == 0 && version == 0 && objects == 0) {
        *ret_version = 0;
        return 0;
    }
    if (application != DB_APPLICATION_ID || version < 1)
        return fail_with(-EMEDIUMTYPE, err, err_size, "a database of another program (application id %lld)",
                         (long long)application);
    if (version > known)
        return fail_with(-EOVERFLOW, err, err_size, FAIL_NEWER("schema version %lld", "%d"),
                         (long long)version, known);
    *ret_version = (int)version;
    return 0;
}

/* 0, or -EBADMSG with the first row that references one which is not there. */
static int check_references(sqlite3 *db, const char *what, char *err, size_t err_size)
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return failure(db, rc, what, err, err_size);
    int r = 0;
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *table, *parent;
        int64_t row;
        record_sqlite_take(stmt, RECORD_INTO(&table, &row, &parent));
        snprintf(err, err_size, "%s: %s: row %lld: names a row of %s that is not there", what, table,
                 (long long)row, parent);
        r = -EBADMSG;
    }
    rc = sqlite3_finalize(stmt);
    return r == 0 && rc != SQLITE_OK ? failure(db, rc, what, err, err_size) : r;
}

static int apply(sqlite3 *db, const struct db_migration *migration, int number, char *err, size_t err_size)
{
    char close[128];
    snprintf(close, sizeof close, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT;",
             DB_APPLICATION_ID, number);
    int rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return failure(db, rc, migration->name, err, err_size);
    rc = sqlite3_exec(db, migration->sql, NULL, NULL, NULL);
    if (rc == SQLITE_OK && migration->after)
        rc = migration->after(db);
    int r = rc == SQLITE_OK ? check_references(db, migration->name, err, err_size) : 0;
    if (rc == SQLITE_OK && r == 0)
        rc = sqlite3_exec(db, close, NULL, NULL, NULL);
    if (rc == SQLITE_OK && r == 0)
        return 0;
    if (r == 0)
        r = failure(db, rc, migration->name, err, err_size);
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return (rc & 0xff) == SQLITE_ERROR ? -EBADMSG : r;
}

int db_migrate(sqlite3 *db, const struct db_migration *migrations, int count, char *err, size_t err_size)
{
    int version;
    int r = db_schema_check(db, count, &version, err, err_size);
    if (r < 0 || version == count)
        return r;
    int64_t keys = 0;
    int rc = db_row_hash_register(db);
    if (rc == SQLITE_OK)
        rc = pragma(db, "PRAGMA foreign_keys", &keys);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "PRAGMA foreign_keys = OFF", NULL, NULL, NULL);
    if (rc == SQLITE_OK && version == 0) /* only a file without a table takes it: db/keeping.h */
        rc = sqlite3_exec(db, "PRAGMA auto_vacuum = INCREMENTAL", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return failure(db, rc, "", err, err_size);
    for (; r == 0 && version < count; version++)
        r = apply(db, &migrations[version], version + 1, err, err_size);
    if (keys)
        sqlite3_exec(db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
    return r;
}

/* Walks both, object by object. */
static int compare(sqlite3_stmt *is, sqlite3_stmt *should, char *err, size_t err_size)
{
    for (;;) {
        int have = sqlite3_step(is), want = sqlite3_step(should);
        if (have != SQLITE_ROW && have != SQLITE_DONE)
            return failure(sqlite3_db_handle(is), have, "schema: ", err, err_size);
        if (have == SQLITE_DONE && want == SQLITE_DONE)
            return 0;
        const char *name, *text, *wanted, *wanted_text;
        record_sqlite_take(is, RECORD_INTO(&name, &text));
        record_sqlite_take(should, RECORD_INTO(&wanted, &wanted_text));
        if (have == want && strcmp(name, wanted) == 0 && strcmp(text, wanted_text) == 0)
            continue;
        return fail_with(-EBADMSG, err, err_size, "schema: row %s: is not as this program makes it",
                         want == SQLITE_ROW ? wanted : name);
    }
}

int db_schema_same(sqlite3 *db, const struct db_migration *migrations, int count, char *err, size_t err_size)
{
    static const char sql[] = "SELECT name, type || ' ' || tbl_name || ' ' || ifnull(sql, '') "
                              "FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat_' ORDER BY name, type";
    sqlite3 *made = NULL;
    sqlite3_stmt *is = NULL, *should = NULL;
    int r = db_errno(sqlite3_open(":memory:", &made));
    if (r == 0)
        r = db_migrate(made, migrations, count, err, err_size);
    if (r == 0)
        r = db_errno(sqlite3_prepare_v2(made, sql, -1, &should, NULL));
    int rc = r == 0 ? sqlite3_prepare_v2(db, sql, -1, &is, NULL) : SQLITE_OK;
    if (rc != SQLITE_OK)
        r = failure(db, rc, "schema: ", err, err_size);
    if (r == 0)
        r = compare(is, should, err, err_size);
    sqlite3_finalize(is);
    sqlite3_finalize(should);
    sqlite3_close(made);
    return r;
}
