#include "db/ledger_row.h"

#include <string.h>

bool db_ledger_row_read(sqlite3_stmt *stmt, struct ledger_row *ret)
{
    const char *asset = (const char *)sqlite3_column_text(stmt, 3);
    const char *kind = (const char *)sqlite3_column_text(stmt, 5);
    int number = kind ? ledger_kind_parse(kind) : -1;
    *ret = (struct ledger_row){.id = (uint64_t)sqlite3_column_int64(stmt, 0),
                               .ts_ns = sqlite3_column_int64(stmt, 1),
                               .account = sqlite3_column_int(stmt, 2),
                               .scale = sqlite3_column_int(stmt, 4),
                               .amount = sqlite3_column_int64(stmt, 6),
                               .balance = sqlite3_column_int64(stmt, 7),
                               .order_id = (uint64_t)sqlite3_column_int64(stmt, 8),
                               .fill_id = (uint64_t)sqlite3_column_int64(stmt, 9)};
    if (!asset || strlen(asset) >= sizeof ret->asset || number < 0 ||
        sqlite3_column_bytes(stmt, 10) != LEDGER_HASH_SIZE)
        return false;
    memcpy(ret->asset, asset, strlen(asset) + 1);
    ret->kind = (enum ledger_kind)number;
    memcpy(ret->hash, sqlite3_column_blob(stmt, 10), LEDGER_HASH_SIZE);
    return true;
}

bool db_ledger_row_follows(const struct ledger_row *row, const uint8_t before[static LEDGER_HASH_SIZE])
{
    struct ledger_row again = *row;
    return ledger_row_chain(&again, before) == 0 && memcmp(again.hash, row->hash, LEDGER_HASH_SIZE) == 0;
}
