/* Inside the reader: a query's statement, its values and its columns. */
#ifndef DB_READER_QUERY_H
#define DB_READER_QUERY_H

#include <sqlite3.h>

#include "db/reader.h"
#include "record/field.h"

struct db_reader {
    sqlite3 *db;
    struct db_symbol_row *symbols; /* by id, as far as rows named them */
    size_t n_symbols;
    struct db_account_row *accounts;
    size_t n_accounts;
    char *backend; /* of the last order's policy that was asked for */
    char error[DB_ERROR_MAX];
};

/* Prepares; further values are bound by sqlite3_bind_*. 0 or -errno. */
int db_query(struct db_reader *reader, const char *sql, sqlite3_stmt **ret);

/* The next row: 1, 0 at the end, -errno. */
int db_query_step(struct db_reader *reader, sqlite3_stmt *stmt);

#define DB_SELECT(table, LIST) "SELECT " RECORD_COLUMNS(LIST) " FROM " table " "

/* What a row names: pointers that hold until an id is met that was not seen yet. */
struct db_named {
    struct db_reader *reader;
    const struct db_account *account;
    const struct db_symbol_row *symbol;
};

/* The next row, whose first columns are the record's: 1, 0 at the end, -errno. `ret` may be NULL. */
int db_query_row(struct db_reader *reader, sqlite3_stmt *stmt, const struct record *record, void *row,
                 struct db_named *ret);

/* Finalises; r is what the query came to so far, and is returned. */
int db_query_end(sqlite3_stmt *stmt, int r);

/* Say what is wrong with a row, and return -EBADMSG: of its number, of its first column. */
int db_query_bad(struct db_reader *reader, const char *table, int64_t id, const char *what);
int db_query_bad_row(struct db_reader *reader, sqlite3_stmt *stmt, const char *table, const char *what);

/* A column as text, never NULL; as a name of at most size - 1 bytes (false when longer). */
const char *db_column_text(sqlite3_stmt *stmt, int column);
bool db_column_name(sqlite3_stmt *stmt, int column, char *buf, size_t size);

/* By the database's id; NULL when there is none. Reads the table again for an id not seen yet, which moves
 * the pointers given before. */
const struct db_symbol_row *db_reader_symbol_id(struct db_reader *reader, int64_t id);
const struct db_account *db_reader_account_id(struct db_reader *reader, int64_t id);

/* Reads both tables. 0 or -errno. */
int db_reader_load_symbols(struct db_reader *reader);
int db_reader_load_accounts(struct db_reader *reader);

#endif
