/* Migration 002: computes what version 1 lacked, the cost by first in, first out. */
#include <errno.h>

#include "db/holdings.h"
#include "db/migrate.h"
#include "db/row_hash.h"
#include "record/sqlite.h"

static int follow_fills(sqlite3 *db, struct db_holdings *holdings)
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(
        db, "SELECT account, symbol, side, qty, notional, fee, ts_ns FROM fills ORDER BY id", -1, &stmt,
        NULL);
    if (rc != SQLITE_OK)
        return rc;
    int64_t account, symbol, qty, notional, fee, ts_ns;
    const char *side;
    int r = 0;
    while (r == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
        record_sqlite_take(stmt, RECORD_INTO(&account, &symbol, &side, &qty, &notional, &fee, &ts_ns));
        r = db_holdings_fill(holdings, account, symbol, (enum order_side)order_side_parse(side), qty,
                             notional, fee, ts_ns);
    }
    rc = sqlite3_finalize(stmt);
    return r == -ENOMEM ? SQLITE_NOMEM : r < 0 ? SQLITE_CORRUPT : rc;
}

/* The average's columns are not changed: the verification compares them with the fills as before. */
static int store(sqlite3 *db, const struct db_holdings *holdings)
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(db,
                                "UPDATE positions SET fifo_cost = ?3, fifo_realized = ?4, opened_ns = ?5 "
                                "WHERE account = ?1 AND symbol = ?2",
                                -1, &stmt, NULL);
    for (size_t i = 0; rc == SQLITE_OK && i < holdings->n; i++) {
        const struct db_holding *holding = &holdings->rows[i];
        const struct position *position = &holding->position;
        record_sqlite_params(stmt, RECORD_PARAMS(holding->account, holding->symbol, position->fifo_cost,
                                                 position->fifo_realized, position->opened_ns));
        sqlite3_step(stmt);
        rc = sqlite3_reset(stmt);
    }
    sqlite3_finalize(stmt);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "UPDATE positions SET hash = seal(2, " DB_POSITION_COLUMNS ")", NULL, NULL,
                          NULL);
    return rc;
}

int db_migrate_positions(sqlite3 *db)
{
    struct db_holdings holdings = {0};
    int rc = follow_fills(db, &holdings);
    if (rc == SQLITE_OK)
        rc = store(db, &holdings);
    db_holdings_finish(&holdings);
    return rc;
}
