/* What was traded: orders, fills, ledger, positions. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "db/ledger_row.h"
#include "db/reader_query.h"
#include "db/row_hash.h"
#include "record/sqlite.h"

enum { WRONG_MAX = 64 };

/* What a row names: pointers that hold until an id is met that was not seen yet. */
struct named {
    struct db_reader *reader;
    const struct db_account *account;
    const struct db_symbol_row *symbol;
};

static bool find_account(void *ctx, int64_t id)
{
    struct named *named = ctx;
    named->account = db_reader_account_id(named->reader, id);
    return named->account != NULL;
}

static int find_symbol(void *ctx, int64_t id)
{
    struct named *named = ctx;
    named->symbol = db_reader_symbol_id(named->reader, id);
    return named->symbol ? (int)(named->symbol - named->reader->symbols) : -1;
}

/* NULL, or what is wrong with it in `words`. */
static const char *read_row(sqlite3_stmt *stmt, const struct record *record, void *row, struct named *named,
                            char words[static WRONG_MAX])
{
    const struct record_ids ids = {.ctx = named, .account = find_account, .symbol = find_symbol};
    const struct record_field *field = record_sqlite_read(stmt, record, row, &ids);
    if (!field)
        return NULL;
    snprintf(words, WRONG_MAX, field->kind == RECORD_TEXT ? "too long a %s" : "unknown %s", field->column);
    return words;
}

static const char *read_order(struct db_reader *reader, sqlite3_stmt *stmt, struct db_order_row *row,
                              char words[static WRONG_MAX])
{
    struct named named = {.reader = reader};
    const char *wrong = read_row(stmt, &record_orders, &row->order, &named, words);
    row->account = named.account;
    row->symbol = named.symbol;
    return wrong;
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
        char words[WRONG_MAX];
        const char *wrong = read_order(reader, stmt, &order, words);
        if (wrong)
            return db_query_end(stmt, db_query_bad(reader, "orders", sqlite3_column_int64(stmt, 0), wrong));
        row(ctx, &order);
    }
    return db_query_end(stmt, r);
}

static const char *read_fill(struct db_reader *reader, sqlite3_stmt *stmt, struct db_fill_row *row,
                             char words[static WRONG_MAX])
{
    struct named named = {.reader = reader};
    const char *wrong = read_row(stmt, &record_fills, &row->fill, &named, words);
    row->account = named.account;
    row->symbol = named.symbol;
    row->rate_known = sqlite3_column_int(stmt, record_fills.n) > 1;
    return wrong ? wrong : named.account && named.symbol ? NULL : "no account or symbol";
}

#define FILL_COLUMNS "SELECT " DB_FILL_COLUMNS ", rule FROM fills "

static int give_fills(struct db_reader *reader, sqlite3_stmt *stmt,
                      void (*row)(void *ctx, const struct db_fill_row *row), void *ctx)
{
    int r;
    while ((r = db_query_step(reader, stmt)) > 0) {
        struct db_fill_row fill;
        char words[WRONG_MAX];
        const char *wrong = read_fill(reader, stmt, &fill, words);
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

static const char *read_ledger(struct db_reader *reader, sqlite3_stmt *stmt, struct db_ledger_row *ret,
                               char words[static WRONG_MAX])
{
    struct named named = {.reader = reader};
    const char *wrong = read_row(stmt, &record_ledger, &ret->row, &named, words);
    ret->account = named.account;
    if (wrong || !named.account)
        return wrong ? wrong : "no account";
    return ret->row.scale < 0 || ret->row.scale > DECIMAL_SCALE_MAX ? "there is no such scale" : NULL;
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
        char words[WRONG_MAX];
        const char *wrong = read_ledger(reader, stmt, &entry, words);
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
            .account = db_reader_account_id(reader, sqlite3_column_int64(stmt, 0)),
            .symbol = db_reader_symbol_id(reader, sqlite3_column_int64(stmt, 1)),
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
