/* The rows that the numbers of a window stand for. */
#include <errno.h>
#include <stdio.h>

#include "db/ledger_row.h"
#include "db/list_sources.h"
#include "db/reader_query.h"
#include "db/records.h"
#include "db/row_hash.h"
#include "db/store.h"
#include "record/market.h"

/* The body of a function that reads the row of each number, and passes what is made of it. */
#define ROWS_OF(sql, read, ...) \
    sqlite3_stmt *stmt; \
    int r = db_query(reader, sql, NULL, &stmt); \
    for (int i = 0; r >= 0 && i < n; i++) { \
        sqlite3_reset(stmt); \
        record_sqlite_params(stmt, RECORD_PARAMS(ids[i])); \
        reader->leaves.at = i; \
        if ((r = (read)) > 0) \
            row(ctx, i, __VA_ARGS__); \
    } \
    reader->leaves.at = -1; \
    return db_query_end(stmt, r < 0 ? r : 0)

int db_list_orders(struct db_reader *reader, const int64_t *ids, int n,
                   void (*row)(void *ctx, int at, const struct db_order_row *row), void *ctx)
{
    struct order each = {0};
    struct db_named named;
    ROWS_OF("SELECT " DB_ORDER_COLUMNS " FROM orders WHERE id = ?1",
            db_query_row(reader, stmt, &record_orders, &each, &named),
            &(struct db_order_row){.order = each, .account = named.account, .symbol = named.symbol});
}

int db_list_fills(struct db_reader *reader, const int64_t *ids, int n,
                  void (*row)(void *ctx, int at, const struct db_fill_row *row), void *ctx)
{
    struct db_fill_row each;
    ROWS_OF(DB_QUERY_FILLS "WHERE id = ?1", db_query_fill(reader, stmt, &each), &each);
}

int db_list_alerts(struct db_reader *reader, const int64_t *ids, int n,
                   void (*row)(void *ctx, int at, const struct db_alert *row), void *ctx)
{
    struct db_alert each = {0};
    ROWS_OF("SELECT " DB_ALERT_COLUMNS " FROM alerts WHERE id = ?1",
            db_query_row(reader, stmt, &db_record_alerts, &each, NULL), &each);
}

int db_list_commands(struct db_reader *reader, const int64_t *ids, int n,
                     void (*row)(void *ctx, int at, const struct db_command *row), void *ctx)
{
    struct db_command each = {0};
    ROWS_OF("SELECT " DB_COMMAND_COLUMNS " FROM commands WHERE id = ?1",
            db_query_row(reader, stmt, &db_record_commands, &each, NULL), &each);
}

#define TRIP_COLUMNS \
    "r.id, r.first_fill, r.fills, f.order_id, r.account, r.symbol, r.opened_ns, r.closed_ns, iif(r.side = 'SHORT', " \
    "-r.qty, r.qty), r.entry, r.exit, r.share, r.profit, r.fees, r.source, " DB_LIST_EXIT_REASON

static int read_trip(struct db_reader *reader, sqlite3_stmt *stmt, struct db_trip *ret)
{
    int64_t account, symbol;
    const char *source, *reason;
    const struct record_into into[] = {record_into_int64(&ret->id),
                                       record_into_int64(&ret->first_fill),
                                       record_into_int64(&ret->fills),
                                       record_into_int64(&ret->order),
                                       record_into_int64(&account),
                                       record_into_int64(&symbol),
                                       record_into_int64(&ret->opened_ns),
                                       record_into_int64(&ret->closed_ns),
                                       record_into_int64(&ret->qty),
                                       record_into_real(&ret->entry),
                                       record_into_real(&ret->exit),
                                       record_into_real(&ret->share),
                                       record_into_int64(&ret->profit),
                                       record_into_int64(&ret->fees),
                                       record_into_string(&source),
                                       record_into_string(&reason),
                                       {0}};
    int r = db_query_next(reader, stmt, into);

    if (r <= 0)
        return r;
    ret->is_short = ret->qty < 0;
    ret->qty = ret->is_short ? -ret->qty : ret->qty;
    snprintf(ret->source, sizeof ret->source, "%s", source ? source : "");
    snprintf(ret->reason, sizeof ret->reason, "%s", reason ? reason : "");
    ret->account = NULL;
    for (size_t i = 0; i < reader->n_accounts; i++)
        if (reader->accounts[i].account.number == account)
            ret->account = &reader->accounts[i].account;
    r = db_reader_symbol_id(reader, symbol, &ret->symbol);
    if (r < 0 || (ret->account && ret->symbol))
        return r < 0 ? r : 1;
    return db_query_bad(reader, "fills", ret->id, "no account or symbol");
}

static int query_trip(struct db_reader *reader, sqlite3_stmt *stmt, struct db_trip *ret)
{
    int r;

    do
        r = read_trip(reader, stmt, ret);
    while (db_query_leaves(reader, r));
    return r;
}

int db_list_trips(struct db_reader *reader, const int64_t *ids, int n,
                  void (*row)(void *ctx, int at, const struct db_trip *row), void *ctx)
{
    struct db_trip each = {0};
    ROWS_OF("SELECT " TRIP_COLUMNS " FROM " DB_LIST_TRIPS_FROM("temp.trips") " WHERE r.id = ?1",
            query_trip(reader, stmt, &each), &each);
}

int db_list_trip_fills(struct db_reader *reader, int64_t id, int64_t first, int64_t limit,
                       void (*row)(void *ctx, const struct db_fill_row *row), void *ctx)
{
    struct db_fill_row each;
    sqlite3_stmt *stmt;
    int r =
        db_query(reader,
                 DB_QUERY_FILLS "WHERE id >= ?2 AND id <= ?1 AND (account, symbol) = (SELECT account, symbol "
                                "FROM fills WHERE id = ?1) ORDER BY id LIMIT ?3",
                 RECORD_PARAMS(id, first, limit), &stmt);
    while (r >= 0 && (r = db_query_fill(reader, stmt, &each)) > 0)
        row(ctx, &each);
    return db_query_end(stmt, r);
}

int db_list_ledger(struct db_reader *reader, const int64_t *ids, int n,
                   void (*row)(void *ctx, int at, const struct db_ledger_row *row), void *ctx)
{
    struct db_ledger_row each = {0};
    ROWS_OF("SELECT " DB_LEDGER_COLUMNS " FROM ledger WHERE id = ?1", db_query_ledger(reader, stmt, &each),
            &each);
}

int db_list_bars(struct db_reader *reader, const struct db_list_query *query, const int64_t *ids, int n,
                 void (*row)(void *ctx, int at, const struct bar *row, const struct db_symbol_row *symbol),
                 void *ctx)
{
    struct db_symbol_row symbol;
    struct bar each = {0};
    char own[DB_LIST_BARS_MAX], sql[DB_LIST_SQL_MAX / 2];
    int known = n > 0 ? db_reader_symbol(reader, query->symbol, &symbol) : -ENOENT;

    if (known < 0)
        return known == -ENOENT ? 0 : known;
    if ((known = db_list_select_bars(reader, query, own)) < 0)
        return known;
    snprintf(sql, sizeof sql, "SELECT " RECORD_COLUMNS(RECORD_STORED_BAR) " FROM %s WHERE id = ?1", own);
    ROWS_OF(sql, db_query_row(reader, stmt, &db_record_bars, &each, NULL), &each, &symbol);
}
