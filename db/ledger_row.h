/* Reads a stored row of the ledger without a reader: for code that examines a damaged file, where no
 * account or symbol may be there to name. */
#ifndef DB_LEDGER_ROW_H
#define DB_LEDGER_ROW_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/ledger_row.h"

/* The columns of a ledger row, in the order in which it is read. */
#define DB_LEDGER_COLUMNS RECORD_COLUMNS(RECORD_LEDGER_ROW)

/* Reads the statement's current row. false, *ret undefined: it is not a ledger row. */
bool db_ledger_row_read(sqlite3_stmt *stmt, struct ledger_row *ret);

/* Is the row's hash that of its values after `before`, the hash of the row before it (zeros: the first)? */
bool db_ledger_row_follows(const struct ledger_row *row, const uint8_t before[static LEDGER_HASH_SIZE]);

#endif
