#include "db/base.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/reader_query.h"
#include "db/row_hash.h"
#include "engine/engine.h"

static const char drop_sql[] = "DELETE FROM base; DELETE FROM base_accounts; DELETE FROM base_balances; "
                               "DELETE FROM base_positions; DELETE FROM base_orders;";

#define SEALED(table, columns) \
    "INSERT INTO " table " (" columns ", hash) SELECT " columns ", seal(2, " columns ") FROM "

enum { LOT_TEXT = 66 };

/* ---- writing ---- */

static int run(sqlite3_stmt *stmt)
{
    sqlite3_step(stmt);
    int rc = sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    return rc;
}

/* Prepares, steps over what `each` binds, finalises. */
static int put_rows(sqlite3 *db, const char *sql, const struct engine *engine, const char *venue,
                    int (*each)(sqlite3_stmt *stmt, const struct engine *engine, const char *venue))
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = each(stmt, engine, venue);
    sqlite3_finalize(stmt);
    return rc;
}

static int put_accounts(sqlite3_stmt *stmt, const struct engine *engine, const char *venue)
{
    int rc = SQLITE_OK;
    (void)venue;
    for (int a = 0; a < engine_accounts(engine) && rc == SQLITE_OK; a++) {
        const struct account *account = engine_account(engine, a);
        sqlite3_bind_int(stmt, 1, a);
        sqlite3_bind_int64(stmt, 2, account->deposits);
        sqlite3_bind_int64(stmt, 3, account->interest_ns);
        rc = run(stmt);
    }
    return rc;
}

static int put_balances(sqlite3_stmt *stmt, const struct engine *engine, const char *venue)
{
    int rc = SQLITE_OK;
    (void)venue;
    for (int a = 0; a < engine_accounts(engine); a++) {
        const struct account *account = engine_account(engine, a);
        for (int i = 0; i < account->n_assets && rc == SQLITE_OK; i++) {
            const struct balance *balance = &account->assets[i];
            if (balance->total == 0 && balance->borrowed == 0 &&
                (i != account->currency_at || !account->begun))
                continue; /* the currency's row says that it has a ledger */
            sqlite3_bind_int(stmt, 1, a);
            sqlite3_bind_text(stmt, 2, balance->asset, -1, SQLITE_STATIC);
            sqlite3_bind_int(stmt, 3, balance->scale);
            sqlite3_bind_int64(stmt, 4, balance->total);
            sqlite3_bind_int64(stmt, 5, balance->borrowed);
            rc = run(stmt);
        }
    }
    return rc;
}

/* NULL without memory. */
static char *lots_text(const struct lots *lots)
{
    uint32_t n = lots->n - lots->first;
    size_t size = (size_t)n * LOT_TEXT + 1, at = 0;
    char *text = calloc(1, size);
    for (uint32_t i = lots->first; text && i < lots->n; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%" PRId64 " %" PRId64 " %" PRId64, at ? ", " : "",
                               lots->lots[i].qty, lots->lots[i].cost, lots->lots[i].opened_ns);
    return text;
}

static bool traded(const struct position *p)
{
    return p->qty || p->cost || p->realized || p->fifo_realized || p->fees || p->updated_ns || p->closed_ns;
}

static int put_position(sqlite3_stmt *stmt, int account, const struct symbol *symbol, const char *venue,
                        const struct position *p, const struct lots *held)
{
    const int64_t numbers[] = {p->qty,  p->cost,      p->realized,   p->fifo_cost, p->fifo_realized,
                               p->fees, p->opened_ns, p->updated_ns, p->closed_ns};
    char *lots = lots_text(held);
    if (!lots)
        return SQLITE_NOMEM;
    sqlite3_bind_int(stmt, 1, account);
    sqlite3_bind_text(stmt, 2, symbol->venue[0] ? symbol->venue : venue, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 3, symbol->name, -1, SQLITE_STATIC);
    for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++)
        sqlite3_bind_int64(stmt, 4 + i, numbers[i]);
    sqlite3_bind_text(stmt, 13, lots, -1, free);
    return run(stmt);
}

static int put_positions(sqlite3_stmt *stmt, const struct engine *engine, const char *venue)
{
    int rc = SQLITE_OK;
    for (int a = 0; a < engine_accounts(engine); a++) {
        const struct account *account = engine_account(engine, a);
        for (int s = 0; s < engine_symbols(engine) && rc == SQLITE_OK; s++)
            if (traded(&account->positions[s]))
                rc = put_position(stmt, a, engine_symbol(engine, s), venue, &account->positions[s],
                                  &account->lots[s]);
    }
    return rc;
}

static int put_orders(sqlite3_stmt *stmt, const struct engine *engine, const char *venue)
{
    int rc = SQLITE_OK;
    (void)venue;
    for (size_t i = 0; i < engine_orders(engine) && rc == SQLITE_OK; i++) {
        const struct order *order = engine_order(engine, i);
        sqlite3_bind_int64(stmt, 1, (sqlite3_int64)order->id);
        sqlite3_bind_int64(stmt, 2, order->filled);
        sqlite3_bind_int64(stmt, 3, order->cost);
        rc = run(stmt);
    }
    return rc;
}

static int put_head(sqlite3 *db, const struct engine *engine, uint64_t seq, int64_t ts_ns)
{
    sqlite3_stmt *stmt;
    struct engine_ids ids;
    engine_ids(engine, &ids);
    int rc = sqlite3_prepare_v2(
        db,
        SEALED("base", DB_BASE_COLUMNS) "(SELECT 1 AS id, ?1 AS event_seq, ?2 AS ts_ns, ?3 AS last_order, "
                                        "?4 AS last_fill, ?5 AS last_ledger, ?6 AS ledger_hash, "
                                        "0 AS last_action, 0 AS last_revision)",
        -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)seq);
    sqlite3_bind_int64(stmt, 2, ts_ns);
    sqlite3_bind_int64(stmt, 3, (sqlite3_int64)ids.last_order);
    sqlite3_bind_int64(stmt, 4, (sqlite3_int64)ids.last_fill);
    sqlite3_bind_int64(stmt, 5, (sqlite3_int64)ids.last_ledger);
    sqlite3_bind_blob(stmt, 6, ids.hash, LEDGER_HASH_SIZE, SQLITE_STATIC);
    rc = run(stmt);
    sqlite3_finalize(stmt);
    return rc;
}

int db_base_put(sqlite3 *db, const struct engine *engine, uint64_t seq, int64_t ts_ns, const char *venue)
{
    static const char accounts[] = SEALED(
        "base_accounts", DB_BASE_ACCOUNT_COLUMNS) "(SELECT ?1 AS account, ?2 AS deposits, ?3 AS interest_ns)";
    static const char balances[] =
        SEALED("base_balances", DB_BASE_BALANCE_COLUMNS) "(SELECT ?1 AS account, ?2 AS asset, ?3 AS scale, "
                                                         "?4 AS total, ?5 AS borrowed)";
    static const char positions[] = SEALED(
        "base_positions", DB_BASE_POSITION_COLUMNS) "(SELECT ?1 AS account, (SELECT id FROM symbols WHERE "
                                                    "venue = ?2 AND name = ?3) AS symbol, ?4 AS qty, "
                                                    "?5 AS cost, ?6 AS realized, ?7 AS fifo_cost, ?8 AS "
                                                    "fifo_realized, ?9 AS fees, ?10 AS opened_ns, "
                                                    "?11 AS updated_ns, ?12 AS closed_ns, ?13 AS lots)";
    static const char orders[] =
        SEALED("base_orders", DB_BASE_ORDER_COLUMNS) "(SELECT ?1 AS id, ?2 AS filled, ?3 AS cost)";
    int rc = db_base_drop(db);
    if (rc == SQLITE_OK)
        rc = put_head(db, engine, seq, ts_ns);
    if (rc == SQLITE_OK)
        rc = put_rows(db, accounts, engine, venue, put_accounts);
    if (rc == SQLITE_OK)
        rc = put_rows(db, balances, engine, venue, put_balances);
    if (rc == SQLITE_OK)
        rc = put_rows(db, positions, engine, venue, put_positions);
    if (rc == SQLITE_OK)
        rc = put_rows(db, orders, engine, venue, put_orders);
    return rc;
}

int db_base_put_salvaged(sqlite3 *db)
{
    return sqlite3_exec(
        db,
        "UPDATE base SET last_action = (SELECT ifnull(max(id), 0) FROM corporate_actions WHERE "
        "input_seq <= event_seq), last_revision = (SELECT ifnull(max(id), 0) FROM revisions "
        "WHERE input_seq <= event_seq); "
        "UPDATE base SET hash = seal(2, " DB_BASE_COLUMNS ");",
        NULL, NULL, NULL);
}

int db_base_end_orders(sqlite3 *db)
{
    return sqlite3_exec(
        db,
        "UPDATE orders SET state = 'CANCELED' WHERE state IN ('PENDING', 'HELD', 'OPEN', 'PARTIAL') AND "
        "id <= (SELECT last_order FROM base) AND id NOT IN (SELECT id FROM base_orders);"
        "UPDATE orders SET rule = 2, hash = seal(2, " DB_ORDER_COLUMNS
        ") WHERE state = 'CANCELED' AND hash IS NOT (" DB_ORDER_SEAL ");",
        NULL, NULL, NULL);
}

int db_base_drop(sqlite3 *db)
{
    return sqlite3_exec(db, drop_sql, NULL, NULL, NULL);
}

/* ---- reading ---- */

int db_base_read(struct db_reader *reader, struct db_base *ret)
{
    struct db_base base = {0};
    sqlite3_stmt *stmt;
    int r =
        db_query(reader,
                 "SELECT event_seq, ts_ns, last_order, last_fill, last_ledger, last_action, last_revision, "
                 "ledger_hash FROM base",
                 &stmt);
    if (r < 0)
        return r;
    r = db_query_step(reader, stmt);
    if (r > 0) {
        base.event_seq = (uint64_t)sqlite3_column_int64(stmt, 0);
        base.ts_ns = sqlite3_column_int64(stmt, 1);
        base.last_order = (uint64_t)sqlite3_column_int64(stmt, 2);
        base.last_fill = (uint64_t)sqlite3_column_int64(stmt, 3);
        base.last_ledger = (uint64_t)sqlite3_column_int64(stmt, 4);
        base.last_action = (uint64_t)sqlite3_column_int64(stmt, 5);
        base.last_revision = (uint64_t)sqlite3_column_int64(stmt, 6);
        if (sqlite3_column_bytes(stmt, 7) == LEDGER_HASH_SIZE)
            memcpy(base.hash, sqlite3_column_blob(stmt, 7), LEDGER_HASH_SIZE);
    }
    if (r >= 0)
        *ret = base;
    return db_query_end(stmt, r < 0 ? r : 0);
}

int db_base_balances(struct db_reader *reader, void (*row)(void *ctx, const struct db_base_balance *row),
                     void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader,
                     "SELECT " DB_BASE_BALANCE_COLUMNS " FROM base_balances ORDER BY account, asset, scale",
                     &stmt);
    while (r >= 0 && (r = db_query_step(reader, stmt)) > 0) {
        struct db_base_balance balance = {.account = sqlite3_column_int(stmt, 0),
                                          .scale = sqlite3_column_int(stmt, 2),
                                          .total = sqlite3_column_int64(stmt, 3),
                                          .borrowed = sqlite3_column_int64(stmt, 4)};
        if (!db_column_name(stmt, 1, balance.asset, sizeof balance.asset))
            r = db_query_bad(reader, "base_balances", balance.account, "too long an asset");
        else
            row(ctx, &balance);
    }
    return db_query_end(stmt, r);
}

int db_base_accounts(struct db_reader *reader, void (*row)(void *ctx, const struct db_base_account *row),
                     void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, "SELECT " DB_BASE_ACCOUNT_COLUMNS " FROM base_accounts ORDER BY account", &stmt);
    while (r >= 0 && (r = db_query_step(reader, stmt)) > 0) {
        const struct db_base_account account = {.account = sqlite3_column_int(stmt, 0),
                                                .deposits = sqlite3_column_int64(stmt, 1),
                                                .interest_ns = sqlite3_column_int64(stmt, 2)};
        row(ctx, &account);
    }
    return db_query_end(stmt, r);
}

int db_base_orders(struct db_reader *reader, void (*row)(void *ctx, const struct db_base_order *row),
                   void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, "SELECT " DB_BASE_ORDER_COLUMNS " FROM base_orders ORDER BY id", &stmt);
    while (r >= 0 && (r = db_query_step(reader, stmt)) > 0) {
        const struct db_base_order order = {.id = (uint64_t)sqlite3_column_int64(stmt, 0),
                                            .filled = sqlite3_column_int64(stmt, 1),
                                            .cost = sqlite3_column_int64(stmt, 2)};
        row(ctx, &order);
    }
    return db_query_end(stmt, r);
}

/* -EBADMSG for a text that is none. */
static int read_lots(const char *text, struct lots *lots)
{
    int r = 0;
    while (*text && r == 0) {
        struct lot lot;
        int n = 0;
        if (sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64 "%n", &lot.qty, &lot.cost, &lot.opened_ns, &n) !=
            3)
            return -EBADMSG;
        text += n;
        text += strspn(text, ", ");
        r = position_lots_push(lots, &lot);
    }
    return r;
}

static int64_t lots_held(const struct lots *lots)
{
    int64_t held = 0;
    for (uint32_t i = lots->first; i < lots->n; i++)
        held += lots->lots[i].qty;
    return held;
}

int db_base_positions(struct db_reader *reader, bool by_index, struct db_holdings *holdings)
{
    sqlite3_stmt *stmt;
    int r = db_query(
        reader, "SELECT " DB_BASE_POSITION_COLUMNS " FROM base_positions ORDER BY account, symbol", &stmt);
    while (r >= 0 && (r = db_query_step(reader, stmt)) > 0) {
        int64_t symbol = sqlite3_column_int64(stmt, 1);
        const struct db_symbol_row *known = by_index ? db_reader_symbol_id(reader, symbol) : NULL;
        if (by_index && !known) {
            r = db_query_bad(reader, "base_positions", symbol, "unknown symbol");
            break;
        }
        if (by_index)
            symbol = known - reader->symbols;
        struct db_holding *holding = db_holdings_of(holdings, sqlite3_column_int64(stmt, 0), symbol);
        if (!holding) {
            r = -ENOMEM;
            break;
        }
        holding->position = (struct position){.qty = sqlite3_column_int64(stmt, 2),
                                              .cost = sqlite3_column_int64(stmt, 3),
                                              .realized = sqlite3_column_int64(stmt, 4),
                                              .fifo_cost = sqlite3_column_int64(stmt, 5),
                                              .fifo_realized = sqlite3_column_int64(stmt, 6),
                                              .fees = sqlite3_column_int64(stmt, 7),
                                              .opened_ns = sqlite3_column_int64(stmt, 8),
                                              .updated_ns = sqlite3_column_int64(stmt, 9),
                                              .closed_ns = sqlite3_column_int64(stmt, 10)};
        r = read_lots(db_column_text(stmt, 11), &holding->lots);
        int64_t qty = holding->position.qty;
        if (r == -EBADMSG || (r == 0 && lots_held(&holding->lots) != (qty < 0 ? -qty : qty)))
            r = db_query_bad(reader, "base_positions", sqlite3_column_int64(stmt, 0),
                             "its lots are not what is held");
        if (r < 0)
            break;
    }
    return db_query_end(stmt, r);
}
