/* Internal to the reader: a query's statement, its values and its columns. */
#ifndef DB_READER_QUERY_H
#define DB_READER_QUERY_H

#include <sqlite3.h>

#include "db/list.h"
#include "db/reader.h"
#include "record/sqlite.h"

/* How many rows a list had in a version of the file, db_reader_version(). */
struct db_list_total {
    bool known;
    int64_t version, count;
};

struct db_reader {
    sqlite3 *db;
    struct db_symbol_row *symbols; /* by id, as far as rows named them */
    size_t n_symbols;
    int64_t symbols_version; /* of the file that all of them were read of, db_reader_version() */
    struct db_account_row *accounts;
    size_t n_accounts;
    char *backend;          /* of the last order's policy that was asked for */
    struct db_trips *trips; /* what was read of the round trips, owned: db/report/trips.h */
    int64_t as_of_ns;       /* 0: now; else db/as_of.h */
    struct db_list_total totals[DB_LISTS];
    struct {
        void (*unread)(void *ctx, int at, const char *words);
        void *ctx;
        int at; /* of the row that is read by its number; -1: it is not */
    } leaves;   /* db_reader_leave_out() */
    char error[DB_ERROR_MAX];
};

/* A query with its parameters, which may be NULL. 0; -errno, with *ret NULL. */
int db_query(struct db_reader *reader, const char *sql, const struct record_param *params,
             sqlite3_stmt **ret);
/* The next row: 1, 0 at the end, -errno. */
int db_query_next(struct db_reader *reader, sqlite3_stmt *stmt, const struct record_into *into);
/* The first row: 1; 0, and nothing is written: there is none; -errno. */
int db_query_first(struct db_reader *reader, const char *sql, const struct record_param *params,
                   const struct record_into *into);

#define DB_SELECT(table, LIST) "SELECT " RECORD_COLUMNS(LIST) " FROM " table " "

/* The symbols and accounts that a row names: pointers are valid until an id is met that was not seen yet. */
struct db_named {
    struct db_reader *reader;
    int r; /* -errno where their tables could not be read */
    const struct db_account *account;
    const struct db_symbol_row *symbol;
};

/* The next row that is not left out, whose first columns are the record's: 1, 0 at the end, -errno. `ret` may
 * be NULL. */
int db_query_row(struct db_reader *reader, sqlite3_stmt *stmt, const struct record *record, void *row,
                 struct db_named *ret);

/* The same of a fill, a row of DB_QUERY_FILLS, and of an entry of the ledger. */
#define DB_QUERY_FILLS "SELECT " DB_FILL_COLUMNS ", rule FROM fills "
int db_query_fill(struct db_reader *reader, sqlite3_stmt *stmt, struct db_fill_row *ret);
int db_query_ledger(struct db_reader *reader, sqlite3_stmt *stmt, struct db_ledger_row *ret);

/* The body of a function that passes each row of a query, a record's, to row(ctx, …); and of one that
 * passes what is made of `each` and of what it `named`. An error of the query, or of a row, ends it and is
 * returned, after the rows before it were passed. */
#define DB_QUERY_EACH(type, record, sql, params) DB_QUERY_MAKE(type, record, sql, params, &each)
#define DB_QUERY_MAKE(type, record, sql, params, ...) \
    type each = {0}; \
    struct db_named named; \
    sqlite3_stmt *stmt; \
    int r = db_query(reader, sql, params, &stmt); \
    while (r >= 0 && (r = db_query_row(reader, stmt, record, &each, &named)) > 0) \
        row(ctx, __VA_ARGS__); \
    return db_query_end(stmt, r)

/* Finalises; r is the query's result so far, and is returned. */
int db_query_end(sqlite3_stmt *stmt, int r);

/* Report what is wrong with a row, and return -EBADMSG: by its number, by its first column. */
int db_query_bad(struct db_reader *reader, const char *table, int64_t id, const char *what);
int db_query_bad_row(struct db_reader *reader, sqlite3_stmt *stmt, const char *table, const char *what);

/* Is r that of a row which is to be left out, db_reader_leave_out()? Then it was passed on. */
bool db_query_leaves(struct db_reader *reader, int r);

/* By the database's id: 0, with *ret NULL when there is none; -errno. Reads the table again for an id not
 * seen yet, which moves the pointers given before. */
int db_reader_symbol_id(struct db_reader *reader, int64_t id, const struct db_symbol_row **ret);

/* The file is open for reading; what is the connection's own and temporary may be written: in between; by
 * these statements, in memory. 0 or -errno. */
void db_reader_temp_writable(struct db_reader *reader, bool writable);
int db_reader_write_temp(struct db_reader *reader, const char *sql);

/* Reads both tables. 0 or -errno. */
int db_reader_load_symbols(struct db_reader *reader);
int db_reader_load_accounts(struct db_reader *reader);

#endif
