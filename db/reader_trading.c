/* What was traded: orders, fills, ledger, positions. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "db/ledger_row.h"
#include "db/reader_query.h"
#include "db/row_hash.h"

static bool column_hash(sqlite3_stmt *stmt, int column, uint8_t hash[static LEDGER_HASH_SIZE])
{
    const void *blob = sqlite3_column_blob(stmt, column);
    if (!blob || sqlite3_column_bytes(stmt, column) != LEDGER_HASH_SIZE)
        return false;
    memcpy(hash, blob, LEDGER_HASH_SIZE);
    return true;
}

/* NULL, 0 and -ENOENT apart: whether a nullable reference holds. */
static bool refers(sqlite3_stmt *stmt, int column, const void *found)
{
    return found || sqlite3_column_type(stmt, column) == SQLITE_NULL;
}

static const struct db_account *column_account(struct db_reader *reader, sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL
               ? NULL
               : db_reader_account_id(reader, sqlite3_column_int64(stmt, column));
}

static const struct db_symbol_row *column_symbol(struct db_reader *reader, sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL
               ? NULL
               : db_reader_symbol_id(reader, sqlite3_column_int64(stmt, column));
}

static const char *read_order(struct db_reader *reader, sqlite3_stmt *stmt, struct db_order_row *row)
{
    int side = order_side_parse(db_column_text(stmt, 3)), type = order_type_parse(db_column_text(stmt, 4));
    int tif = order_tif_parse(db_column_text(stmt, 5)), state = order_state_parse(db_column_text(stmt, 6));
    int reason = order_reason_parse(db_column_text(stmt, 7));
    *row = (struct db_order_row){.account = column_account(reader, stmt, 1),
                                 .symbol = column_symbol(reader, stmt, 2)};
    if (side < 0 || type < 0 || tif < 0 || state < 0 || reason < 0)
        return "unknown side, type, time in force, state or reason";
    if (!refers(stmt, 1, row->account) || !refers(stmt, 2, row->symbol))
        return "unknown account or symbol";
    row->order = (struct order){
        .id = (uint64_t)sqlite3_column_int64(stmt, 0),
        .account = row->account ? row->account->number : -1,
        .symbol = row->symbol ? (int)(row->symbol - reader->symbols) : -1,
        .side = (enum order_side)side,
        .type = (enum order_type)type,
        .tif = (enum order_tif)tif,
        .state = (enum order_state)state,
        .reason = (enum order_reason)reason,
        .qty = sqlite3_column_int64(stmt, 8),
        .filled = sqlite3_column_int64(stmt, 9),
        .price = sqlite3_column_int64(stmt, 10),
        .stop_price = sqlite3_column_int64(stmt, 11),
        .trail = sqlite3_column_int64(stmt, 12),
        .trail_e6 = sqlite3_column_int(stmt, 13),
        .peak = sqlite3_column_int64(stmt, 14),
        .triggered = sqlite3_column_int(stmt, 15),
        .post_only = sqlite3_column_int(stmt, 16),
        .reduce_only = sqlite3_column_int(stmt, 17),
        .group = (uint64_t)sqlite3_column_int64(stmt, 18),
        .parent = (uint64_t)sqlite3_column_int64(stmt, 19),
        .cost = sqlite3_column_int64(stmt, 20),
        .created_ns = sqlite3_column_int64(stmt, 21),
        .effective_ns = sqlite3_column_int64(stmt, 22),
        .updated_ns = sqlite3_column_int64(stmt, 23),
        .expires_ns = sqlite3_column_int64(stmt, 24),
        .input_seq = (uint64_t)sqlite3_column_int64(stmt, 25),
        .amends = (uint32_t)sqlite3_column_int64(stmt, 26),
        .by_hand = sqlite3_column_int(stmt, 27),
    };
    return db_column_name(stmt, 28, row->order.client_id, sizeof row->order.client_id) &&
                   db_column_name(stmt, 29, row->order.tag, sizeof row->order.tag)
               ? NULL
               : "too long a client id or tag";
}

#define ORDER_COLUMNS "SELECT " DB_ORDER_COLUMNS " FROM orders "
#define LIVE          "WHERE state IN ('PENDING', 'HELD', 'OPEN', 'PARTIAL') "

int db_reader_orders(struct db_reader *reader, bool only_live, int64_t limit,
                     void (*row)(void *ctx, const struct db_order_row *row), void *ctx)
{
    static const char *const sql[2][2] = {
        {ORDER_COLUMNS "ORDER BY id", ORDER_COLUMNS "ORDER BY id DESC LIMIT ?1"},
        {ORDER_COLUMNS LIVE "ORDER BY id", ORDER_COLUMNS LIVE "ORDER BY id DESC LIMIT ?1"},
    };
    sqlite3_stmt *stmt;
    int r = db_query(reader, sql[only_live][limit != 0], &stmt);
    if (r < 0)
        return r;
    if (limit)
        sqlite3_bind_int64(stmt, 1, limit);
    while ((r = db_query_step(reader, stmt)) > 0) {
        struct db_order_row order;
        const char *wrong = read_order(reader, stmt, &order);
        if (wrong)
            return db_query_end(stmt, db_query_bad(reader, "orders", sqlite3_column_int64(stmt, 0), wrong));
        row(ctx, &order);
    }
    return db_query_end(stmt, r);
}

static const char *read_fill(struct db_reader *reader, sqlite3_stmt *stmt, struct db_fill_row *row)
{
    int side = order_side_parse(db_column_text(stmt, 4));
    *row = (struct db_fill_row){.account = column_account(reader, stmt, 2),
                                .symbol = column_symbol(reader, stmt, 3)};
    if (side < 0)
        return "unknown side";
    if (!row->account || !row->symbol)
        return "unknown account or symbol";
    row->fill = (struct fill){
        .id = (uint64_t)sqlite3_column_int64(stmt, 0),
        .order_id = (uint64_t)sqlite3_column_int64(stmt, 1),
        .account = row->account->number,
        .symbol = (int)(row->symbol - reader->symbols),
        .side = (enum order_side)side,
        .ts_ns = sqlite3_column_int64(stmt, 5),
        .price = sqlite3_column_int64(stmt, 6),
        .qty = sqlite3_column_int64(stmt, 7),
        .notional = sqlite3_column_int64(stmt, 8),
        .fee = sqlite3_column_int64(stmt, 9),
        .fee_e6 = sqlite3_column_int(stmt, 10),
        .maker = sqlite3_column_int(stmt, 11),
        .input_seq = (uint64_t)sqlite3_column_int64(stmt, 12),
    };
    row->rate_known = sqlite3_column_int(stmt, 13) > 1;
    return NULL;
}

#define FILL_COLUMNS "SELECT " DB_FILL_COLUMNS ", rule FROM fills "

static int give_fills(struct db_reader *reader, sqlite3_stmt *stmt,
                      void (*row)(void *ctx, const struct db_fill_row *row), void *ctx)
{
    int r;
    while ((r = db_query_step(reader, stmt)) > 0) {
        struct db_fill_row fill;
        const char *wrong = read_fill(reader, stmt, &fill);
        if (wrong)
            return db_query_end(stmt, db_query_bad(reader, "fills", sqlite3_column_int64(stmt, 0), wrong));
        row(ctx, &fill);
    }
    return db_query_end(stmt, r);
}

int db_reader_fills(struct db_reader *reader, int64_t limit,
                    void (*row)(void *ctx, const struct db_fill_row *row), void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, limit ? FILL_COLUMNS "ORDER BY id DESC LIMIT ?1" : FILL_COLUMNS "ORDER BY id",
                     &stmt);
    if (r < 0)
        return r;
    if (limit)
        sqlite3_bind_int64(stmt, 1, limit);
    return give_fills(reader, stmt, row, ctx);
}

int db_reader_fills_after(struct db_reader *reader, uint64_t after, int64_t limit,
                          void (*row)(void *ctx, const struct db_fill_row *row), void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, FILL_COLUMNS "WHERE id > ?1 ORDER BY id LIMIT ?2", &stmt);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)after);
    sqlite3_bind_int64(stmt, 2, limit);
    return give_fills(reader, stmt, row, ctx);
}

static const char *read_ledger(struct db_reader *reader, sqlite3_stmt *stmt, struct db_ledger_row *ret)
{
    struct ledger_row *row = &ret->row;
    int kind = ledger_kind_parse(db_column_text(stmt, 5));
    *ret = (struct db_ledger_row){.account = column_account(reader, stmt, 2)};
    if (kind < 0)
        return "unknown kind";
    if (!ret->account)
        return "unknown account";
    if (sqlite3_column_int64(stmt, 4) < 0 || sqlite3_column_int64(stmt, 4) > DECIMAL_SCALE_MAX)
        return "there is no such scale";
    *row = (struct ledger_row){
        .id = (uint64_t)sqlite3_column_int64(stmt, 0),
        .ts_ns = sqlite3_column_int64(stmt, 1),
        .account = ret->account->number,
        .scale = sqlite3_column_int(stmt, 4),
        .kind = (enum ledger_kind)kind,
        .amount = sqlite3_column_int64(stmt, 6),
        .balance = sqlite3_column_int64(stmt, 7),
        .order_id = (uint64_t)sqlite3_column_int64(stmt, 8),
        .fill_id = (uint64_t)sqlite3_column_int64(stmt, 9),
    };
    if (!db_column_name(stmt, 3, row->asset, sizeof row->asset))
        return "too long an asset";
    return column_hash(stmt, 10, row->hash) ? NULL : "the hash has the wrong length";
}

int db_reader_ledger(struct db_reader *reader, void (*row)(void *ctx, const struct db_ledger_row *row),
                     void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, "SELECT " DB_LEDGER_COLUMNS " FROM ledger ORDER BY id", &stmt);
    if (r < 0)
        return r;
    while ((r = db_query_step(reader, stmt)) > 0) {
        struct db_ledger_row entry;
        const char *wrong = read_ledger(reader, stmt, &entry);
        if (wrong)
            return db_query_end(stmt, db_query_bad(reader, "ledger", sqlite3_column_int64(stmt, 0), wrong));
        row(ctx, &entry);
    }
    return db_query_end(stmt, r);
}

int db_reader_flows(struct db_reader *reader, int account, const char *currency, uint64_t after_id,
                    void (*row)(void *ctx, const struct db_flow *row), void *ctx)
{
    sqlite3_stmt *stmt;
    int r =
        db_query(reader,
                 "SELECT id, ts_ns, kind, amount FROM ledger WHERE account = ?1 AND asset = ?2 AND id > ?3 "
                 "AND kind IN ('deposit', 'transfer', 'reset') ORDER BY id",
                 &stmt);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, account);
    sqlite3_bind_text(stmt, 2, currency, -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 3, (int64_t)after_id);
    while ((r = db_query_step(reader, stmt)) > 0) {
        int kind = ledger_kind_parse(db_column_text(stmt, 2));
        const struct db_flow flow = {.id = (uint64_t)sqlite3_column_int64(stmt, 0),
                                     .ts_ns = sqlite3_column_int64(stmt, 1),
                                     .kind = (enum ledger_kind)kind,
                                     .amount = sqlite3_column_int64(stmt, 3)};
        if (kind < 0)
            return db_query_end(stmt, db_query_bad(reader, "ledger", (int64_t)flow.id, "unknown kind"));
        row(ctx, &flow);
    }
    return db_query_end(stmt, r);
}

int db_reader_positions(struct db_reader *reader, void (*row)(void *ctx, const struct db_position_row *row),
                        void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, "SELECT " DB_POSITION_COLUMNS " FROM positions ORDER BY account, symbol", &stmt);
    if (r < 0)
        return r;
    while ((r = db_query_step(reader, stmt)) > 0) {
        struct db_position_row position = {
            .account = column_account(reader, stmt, 0),
            .symbol = column_symbol(reader, stmt, 1),
            .position = {.qty = sqlite3_column_int64(stmt, 2),
                         .cost = sqlite3_column_int64(stmt, 3),
                         .realized = sqlite3_column_int64(stmt, 4),
                         .fifo_cost = sqlite3_column_int64(stmt, 5),
                         .fifo_realized = sqlite3_column_int64(stmt, 6),
                         .fees = sqlite3_column_int64(stmt, 7),
                         .opened_ns = sqlite3_column_int64(stmt, 8),
                         .updated_ns = sqlite3_column_int64(stmt, 9)},
        };
        if (!position.account || !position.symbol)
            return db_query_end(stmt, db_query_bad(reader, "positions", sqlite3_column_int64(stmt, 0),
                                                   "unknown account or symbol"));
        row(ctx, &position);
    }
    return db_query_end(stmt, r);
}
