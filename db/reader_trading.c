/* Reads the trading: orders, fills, ledger, positions. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "db/ledger_row.h"
#include "db/reader_query.h"
#include "db/records.h"
#include "db/row_hash.h"
#include "db/store.h"

#define ORDER_COLUMNS "SELECT " DB_ORDER_COLUMNS " FROM orders "
#define LIVE          "WHERE state IN " DB_LIVE_STATES " "

int db_reader_orders(struct db_reader *reader, bool only_live, int64_t limit,
                     void (*row)(void *ctx, const struct db_order_row *row), void *ctx)
{
    static const char *const sql[2][2] = {
        {ORDER_COLUMNS "ORDER BY id", ORDER_COLUMNS "ORDER BY id DESC LIMIT ?1"},
        {ORDER_COLUMNS LIVE "ORDER BY id", ORDER_COLUMNS LIVE "ORDER BY id DESC LIMIT ?1"},
    };
    DB_QUERY_MAKE(struct order, &record_orders, sql[only_live][limit != 0], RECORD_PARAMS(limit),
                  &(struct db_order_row){.order = each, .account = named.account, .symbol = named.symbol});
}

int db_reader_order_state(struct db_reader *reader, uint64_t order, enum order_state *ret)
{
    char name[32];
    int r = db_query_first(reader, "SELECT state FROM orders WHERE id = ?1", RECORD_PARAMS(order),
                           RECORD_INTO(record_into_chars(name, sizeof name)));
    if (r == 0) {
        snprintf(reader->error, sizeof reader->error, "there is no order %llu", (unsigned long long)order);
        return -ENOENT;
    }
    int state = r < 0 ? r : order_state_parse(name);
    if (state < 0)
        return r < 0 ? r : db_query_bad(reader, "orders", (int64_t)order, "state");
    *ret = (enum order_state)state;
    return 0;
}

static int read_fill(struct db_reader *reader, sqlite3_stmt *stmt, struct db_fill_row *ret)
{
    struct db_named named;
    int r = db_query_row(reader, stmt, &record_fills, &ret->fill, &named);

    if (r <= 0)
        return r;
    ret->account = named.account;
    ret->symbol = named.symbol;
    ret->rate_known = sqlite3_column_int(stmt, record_fills.n) > 1;
    return named.account && named.symbol ? 1
                                         : db_query_bad_row(reader, stmt, "fills", "no account or symbol");
}

int db_query_fill(struct db_reader *reader, sqlite3_stmt *stmt, struct db_fill_row *ret)
{
    int r;

    do
        r = read_fill(reader, stmt, ret);
    while (db_query_leaves(reader, r));
    return r;
}

static int give_fills(struct db_reader *reader, const char *sql, const struct record_param *params,
                      void (*row)(void *ctx, const struct db_fill_row *row), void *ctx)
{
    sqlite3_stmt *stmt;
    struct db_fill_row fill;
    int r = db_query(reader, sql, params, &stmt);
    while (r >= 0 && (r = db_query_fill(reader, stmt, &fill)) > 0)
        row(ctx, &fill);
    return db_query_end(stmt, r);
}

int db_reader_fills(struct db_reader *reader, int64_t limit,
                    void (*row)(void *ctx, const struct db_fill_row *row), void *ctx)
{
    return give_fills(reader,
                      limit ? DB_QUERY_FILLS "ORDER BY id DESC LIMIT ?1" : DB_QUERY_FILLS "ORDER BY id",
                      RECORD_PARAMS(limit), row, ctx);
}

int db_reader_fills_after(struct db_reader *reader, uint64_t after, int64_t limit,
                          void (*row)(void *ctx, const struct db_fill_row *row), void *ctx)
{
    return give_fills(reader, DB_QUERY_FILLS "WHERE id > ?1 ORDER BY id LIMIT ?2",
                      RECORD_PARAMS(after, limit), row, ctx);
}

int db_reader_order_fills(struct db_reader *reader, uint64_t order, int64_t limit,
                          void (*row)(void *ctx, const struct db_fill_row *row), void *ctx)
{
    return give_fills(reader, DB_QUERY_FILLS "WHERE order_id = ?1 ORDER BY id LIMIT ?2",
                      RECORD_PARAMS(order, limit), row, ctx);
}

#define LEDGER_ENTRIES "SELECT " DB_LEDGER_COLUMNS " FROM ledger "

static int read_entry(struct db_reader *reader, sqlite3_stmt *stmt, struct db_ledger_row *ret)
{
    struct db_named named;
    int r = db_query_row(reader, stmt, &record_ledger, &ret->row, &named);

    if (r <= 0)
        return r;
    ret->account = named.account;
    bool scaled = ret->row.scale >= 0 && ret->row.scale <= DECIMAL_SCALE_MAX;
    if (!named.account || !scaled)
        return db_query_bad_row(reader, stmt, "ledger", scaled ? "no account" : "there is no such scale");
    return 1;
}

int db_query_ledger(struct db_reader *reader, sqlite3_stmt *stmt, struct db_ledger_row *ret)
{
    int r;

    do
        r = read_entry(reader, stmt, ret);
    while (db_query_leaves(reader, r));
    return r;
}

static int give_ledger(struct db_reader *reader, const char *sql, const struct record_param *params,
                       void (*row)(void *ctx, const struct db_ledger_row *row), void *ctx)
{
    sqlite3_stmt *stmt;
    struct db_ledger_row entry;
    int r = db_query(reader, sql, params, &stmt);

    while (r >= 0 && (r = db_query_ledger(reader, stmt, &entry)) > 0)
        row(ctx, &entry);
    return db_query_end(stmt, r);
}

int db_reader_ledger(struct db_reader *reader, void (*row)(void *ctx, const struct db_ledger_row *row),
                     void *ctx)
{
    return give_ledger(reader, LEDGER_ENTRIES "ORDER BY id", NULL, row, ctx);
}

int db_reader_order_ledger(struct db_reader *reader, uint64_t order, int64_t limit,
                           void (*row)(void *ctx, const struct db_ledger_row *row), void *ctx)
{
    return give_ledger(reader,
                       LEDGER_ENTRIES "WHERE fill_id IN (SELECT id FROM fills WHERE order_id = ?1) "
                                      "ORDER BY id LIMIT ?2",
                       RECORD_PARAMS(order, limit), row, ctx);
}

int db_reader_fill_ledger(struct db_reader *reader, uint64_t fill, int64_t limit,
                          void (*row)(void *ctx, const struct db_ledger_row *row), void *ctx)
{
    return give_ledger(reader, LEDGER_ENTRIES "WHERE fill_id = ?1 ORDER BY id LIMIT ?2",
                       RECORD_PARAMS(fill, limit), row, ctx);
}

int db_reader_moment_ledger(struct db_reader *reader, uint64_t id, int64_t limit,
                            void (*row)(void *ctx, const struct db_ledger_row *row), void *ctx)
{
    return give_ledger(reader,
                       LEDGER_ENTRIES "WHERE id BETWEEN ?1 - ?2 AND ?1 + ?2 AND id <> ?1 AND ts_ns = "
                                      "(SELECT ts_ns FROM ledger WHERE id = ?1) ORDER BY id",
                       RECORD_PARAMS(id, limit), row, ctx);
}

int db_reader_asset_ledger(struct db_reader *reader, int account, const char *asset, int64_t limit,
                           void (*row)(void *ctx, const struct db_ledger_row *row), void *ctx)
{
    return give_ledger(reader, LEDGER_ENTRIES "WHERE account = ?1 AND asset = ?2 ORDER BY id DESC LIMIT ?3",
                       RECORD_PARAMS(account, asset, limit), row, ctx);
}

int db_reader_flows(struct db_reader *reader, int account, const char *currency, uint64_t after_id,
                    void (*row)(void *ctx, const struct db_flow *row), void *ctx)
{
    sqlite3_stmt *stmt;
    int r =
        db_query(reader,
                 "SELECT id, ts_ns, kind, amount FROM ledger WHERE account = ?1 AND asset = ?2 AND id > ?3 "
                 "AND kind IN ('deposit', 'transfer', 'reset') ORDER BY id",
                 RECORD_PARAMS(account, currency, after_id), &stmt);
    struct db_flow flow;
    const char *name;
    while (r >= 0 &&
           (r = db_query_next(reader, stmt, RECORD_INTO(&flow.id, &flow.ts_ns, &name, &flow.amount))) > 0) {
        int kind = ledger_kind_parse(name ? name : "");
        flow.kind = (enum ledger_kind)kind;
        if (kind < 0)
            return db_query_end(stmt, db_query_bad(reader, "ledger", (int64_t)flow.id, "unknown kind"));
        row(ctx, &flow);
    }
    return db_query_end(stmt, r);
}

int db_reader_positions(struct db_reader *reader, void (*row)(void *ctx, const struct db_position_row *row),
                        void *ctx)
{
    DB_QUERY_MAKE(struct db_row_position, &db_record_positions,
                  "SELECT " DB_POSITION_COLUMNS " FROM positions ORDER BY account, symbol", NULL,
                  &(struct db_position_row){named.account, named.symbol, each.position});
}
