/* Digests of the record's rows, for anchors (db/books/head.h).
 *
 * The digest of n rows: d0 is 32 zeros, dk = SHA-256 of dk-1, the row's id as 8 bytes, big endian, and its
 * seal as its values make it now, whatever its column `hash` says. Of the ledger the seal is the row's hash,
 * if that is what the row before it and its own values make, else 32 zeros.
 *
 * A table whose rows settle has numbers, and a row that has settled never changes: all rows of orders that
 * ended, fills, the ledger, actions and revisions. Its digest covers settled rows in the order of their ids,
 * so that it can be computed again for ever. Other tables' rows change: their digest covers all rows as they
 * are, in the table's order, each with the id 0.
 *
 * Of rows that housekeeping deleted the table `pruned` has the number and the digest of all settled rows up
 * to the last of them: a digest continues from there. */
#ifndef DB_BOOKS_CHAIN_H
#define DB_BOOKS_CHAIN_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/tables.h"
#include "record/ledger_row.h"

enum { DB_CHAIN_SIZE = 32 };

struct db_chain {
    uint8_t digest[DB_CHAIN_SIZE];
    uint64_t rows;
};

/* Which rows of a sealed table settle, as SQL; NULL: none. */
const char *db_chain_settles(const struct db_table *table);

/* The next row. False without memory. */
bool db_chain_add(struct db_chain *chain, uint64_t id, const uint8_t seal[static DB_CHAIN_SIZE]);

/* A table's rows, from one after `after` on. */
struct db_chain_rows {
    sqlite3_stmt *stmt;
    bool ledger, first;
    uint8_t before[LEDGER_HASH_SIZE];
    uint64_t id;
    uint8_t seal[DB_CHAIN_SIZE];
    bool settled;
};

/* A SQLite result code; to be closed in either case. */
int db_chain_open(sqlite3 *db, const struct db_table *table, uint64_t after, struct db_chain_rows *ret);
/* SQLITE_ROW with the next row, SQLITE_DONE, or an error. */
int db_chain_next(struct db_chain_rows *rows);
void db_chain_close(struct db_chain_rows *rows);

/* What is left of rows that were deleted: *ret_last is 0 where no row was deleted. A SQLite result code. */
int db_chain_pruned(sqlite3 *db, const struct db_table *table, struct db_chain *ret, uint64_t *ret_last);

/* To be called before rows up to `last` are deleted, in the same transaction: `pruned` then has them. A
 * SQLite result code. */
int db_chain_prune(sqlite3 *db, const struct db_table *table, uint64_t last, int64_t now_ns);

#endif
