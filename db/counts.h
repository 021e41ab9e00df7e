/* How many rows each table of the record has, stored beside them: a deleted row leaves no hole where it was
 * the newest, or where its table is not numbered. The row `counts` of meta has the counts of the last
 * commit. Positions need none: they follow from their fills; meta is covered only by its own rows' seals. */
#ifndef DB_COUNTS_H
#define DB_COUNTS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/tables.h"

/* In the order of the row's text. */
#define DB_COUNTED_(at, counted, ...) DB_COUNT_##counted = at,
#define DB_COUNTED_NOT_(...)
enum db_counted { DB_TABLES(DB_COUNTED_, DB_COUNTED_NOT_, DB_COUNTED_NOT_) DB_COUNTED = 15 };

struct db_counts {
    int64_t rows[DB_COUNTED];
};

enum { DB_COUNTS_TEXT = 520 };

#define DB_COUNTS_KEY "counts" /* of meta */

/* Which table is it? DB_COUNTED for one that is not counted. */
enum db_counted db_counted_find(const char *table);

/* "accounts 1, symbols 2, …", and back: false for another text. */
void db_counts_format(const struct db_counts *counts, char text[static DB_COUNTS_TEXT]);
bool db_counts_parse(const char *text, struct db_counts *ret);

/* Counts the rows. A SQLite result code. */
int db_counts_take(sqlite3 *db, struct db_counts *ret);

#endif
