/* What a forger does who knows the program: seals, counts and the ledger's chain computed again over rows
 * that were altered. */
#ifndef TESTS_DB_FORGED_H
#define TESTS_DB_FORGED_H

#include <sqlite3.h>

#include "db/counts.h"
#include "db/row_hash.h"
#include "record/ledger_row.h"
#include "tests/check.h"
#include "tests/db/sql.h"

static const char *const forged_seals =
    "UPDATE orders SET hash = seal(" DB_ORDER_SEALED ", " DB_ORDER_COLUMNS "), rule = 2;"
    "UPDATE fills SET hash = seal(" DB_FILL_SEALED ", " DB_FILL_COLUMNS "), rule = 2;"
    "UPDATE positions SET hash = seal(2, " DB_POSITION_COLUMNS ");"
    "UPDATE accounts SET hash = seal(" DB_ACCOUNT_SEALED ", " DB_ACCOUNT_COLUMNS ");"
    "UPDATE symbols SET hash = seal(" DB_SYMBOL_SEALED ", " DB_SYMBOL_COLUMNS ");";

/* Stores how many rows there are now. */
static inline void forged_recount(sqlite3 *db)
{
    struct db_counts counts;
    char text[DB_COUNTS_TEXT];
    CHECK_INT(db_counts_take(db, &counts), SQLITE_OK);
    db_counts_format(&counts, text);
    sql_exec(db, "UPDATE meta SET value = %Q, hash = seal(2, key, %Q) WHERE key = %Q", text, text,
             DB_COUNTS_KEY);
}

/* Balances and hashes of the whole ledger, from its amounts. */
static inline void forged_chain(sqlite3 *db)
{
    static struct {
        int account;
        char asset[ASSET_NAME_MAX];
        int64_t total;
    } balances[256];
    size_t n = 0;
    uint8_t previous[LEDGER_HASH_SIZE] = {0};
    sqlite3_stmt *rows, *update;
    CHECK_INT(
        sqlite3_prepare_v2(db,
                           "SELECT id, ts_ns, account, asset, scale, kind, amount, order_id, fill_id FROM "
                           "ledger ORDER BY id",
                           -1, &rows, NULL),
        SQLITE_OK);
    CHECK_INT(
        sqlite3_prepare_v2(db, "UPDATE ledger SET balance = ?2, hash = ?3 WHERE id = ?1", -1, &update, NULL),
        SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        struct ledger_row row = {
            .id = (uint64_t)sqlite3_column_int64(rows, 0),
            .ts_ns = sqlite3_column_int64(rows, 1),
            .account = sqlite3_column_int(rows, 2),
            .scale = sqlite3_column_int(rows, 4),
            .kind = (enum ledger_kind)ledger_kind_parse((const char *)sqlite3_column_text(rows, 5)),
            .amount = sqlite3_column_int64(rows, 6),
            .order_id = (uint64_t)sqlite3_column_int64(rows, 7),
            .fill_id = (uint64_t)sqlite3_column_int64(rows, 8),
        };
        snprintf(row.asset, sizeof row.asset, "%s", sqlite3_column_text(rows, 3));
        size_t i = 0;
        while (i < n && (balances[i].account != row.account || strcmp(balances[i].asset, row.asset) != 0))
            i++;
        if (i == n) {
            balances[n].account = row.account;
            balances[n].total = 0;
            snprintf(balances[n++].asset, ASSET_NAME_MAX, "%s", row.asset);
        }
        row.balance = balances[i].total += row.amount;
        CHECK_INT(ledger_row_chain(&row, previous), 0);
        memcpy(previous, row.hash, sizeof previous);
        sqlite3_bind_int64(update, 1, (int64_t)row.id);
        sqlite3_bind_int64(update, 2, row.balance);
        sqlite3_bind_blob(update, 3, row.hash, sizeof row.hash, SQLITE_TRANSIENT);
        CHECK_INT(sqlite3_step(update), SQLITE_DONE);
        sqlite3_reset(update);
    }
    sqlite3_finalize(rows);
    sqlite3_finalize(update);
}

#endif
