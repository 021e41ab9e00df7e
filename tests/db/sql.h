/* Plain SQL on a test's database, past the code under test. Statements are in SQLite's own printf: %Q, %lld,
 * … */
#ifndef TESTS_DB_SQL_H
#define TESTS_DB_SQL_H

#include <sqlite3.h>
#include <stdarg.h>

#include "tests/check.h"

/* One that is wrong is a failed check. Also from other threads: a right one counts nothing. */
static inline void sql_wrong(sqlite3 *db, const char *sql)
{
    fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
    check_failures++;
}

static inline void sql_exec(sqlite3 *db, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *sql = sqlite3_vmprintf(format, args);
    va_end(args);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        sql_wrong(db, sql);
    sqlite3_free(sql);
}

/* The first number of the first row; -1 without a row. */
static inline int64_t sql_query(sqlite3 *db, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *sql = sqlite3_vmprintf(format, args);
    va_end(args);
    sqlite3_stmt *stmt = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        sql_wrong(db, sql);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return value;
}

/* The same of a file. */
static inline int64_t sql_query_file(const char *path, const char *sql)
{
    sqlite3 *db;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        sql_wrong(db, path);
    int64_t value = sql_query(db, "%s", sql);
    sqlite3_close(db);
    return value;
}

#endif
