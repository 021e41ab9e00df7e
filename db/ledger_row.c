#include "db/ledger_row.h"

#include <string.h>

#include "record/sqlite.h"

bool db_ledger_row_read(sqlite3_stmt *stmt, struct ledger_row *ret)
{
    return record_sqlite_read(stmt, &record_ledger, ret, NULL) == NULL;
}

bool db_ledger_row_follows(const struct ledger_row *row, const uint8_t before[static LEDGER_HASH_SIZE])
{
    struct ledger_row again = *row;
    return ledger_row_chain(&again, before) == 0 && memcmp(again.hash, row->hash, LEDGER_HASH_SIZE) == 0;
}
