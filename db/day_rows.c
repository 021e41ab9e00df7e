#include "db/day_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/ledger_row.h"
#include "db/reader_query.h"
#include "db/records.h"
#include "db/row_hash.h"
#include "db/store.h"
#include "record/market.h"

#define DAY "86400000000000"
#define DAYS_OF(table, time) \
    "SELECT " time " / " DAY " AS day, min(id), max(id) FROM " table " GROUP BY day ORDER BY day"
#define OF_DAY(time) "WHERE id BETWEEN ?1 AND ?2 AND " time " / " DAY " = ?3 ORDER BY id"

int db_days(struct db_reader *reader, enum db_day_table table, struct db_day **ret, size_t *ret_n)
{
    static const char *const sql[DB_DAY_TABLES] = {DAYS_OF("orders", "created_ns"), DAYS_OF("fills", "ts_ns"),
                                                   DAYS_OF("ledger", "ts_ns")};
    struct db_day *days = NULL, day;
    size_t n = 0;
    sqlite3_stmt *stmt;
    int r = db_query(reader, sql[table], NULL, &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt, RECORD_INTO(&day.day, &day.first, &day.last))) > 0) {
        struct db_day *more = (n & (n - 1)) == 0 ? realloc(days, (n ? 2 * n : 1) * sizeof *days) : days;
        if (!more) {
            r = -ENOMEM;
            break;
        }
        days = more;
        days[n++] = day;
    }
    r = db_query_end(stmt, r);
    if (r < 0) {
        free(days);
        return r;
    }
    *ret = days;
    *ret_n = n;
    return 0;
}

int db_day_orders(struct db_reader *reader, const struct db_day *day,
                  void (*row)(void *ctx, const struct db_order_row *row), void *ctx)
{
    DB_QUERY_MAKE(struct order, &record_orders,
                  "SELECT " DB_ORDER_COLUMNS " FROM orders " OF_DAY("created_ns"),
                  RECORD_PARAMS(day->first, day->last, day->day),
                  &(struct db_order_row){.order = each, .account = named.account, .symbol = named.symbol});
}

int db_day_fills(struct db_reader *reader, const struct db_day *day,
                 void (*row)(void *ctx, const struct db_fill_row *row), void *ctx)
{
    struct db_fill_row fill;
    sqlite3_stmt *stmt;
    int r = db_query(reader, DB_QUERY_FILLS OF_DAY("ts_ns"), RECORD_PARAMS(day->first, day->last, day->day),
                     &stmt);
    while (r >= 0 && (r = db_query_fill(reader, stmt, &fill)) > 0)
        row(ctx, &fill);
    return db_query_end(stmt, r);
}

int db_day_ledger(struct db_reader *reader, const struct db_day *day,
                  void (*row)(void *ctx, const struct db_ledger_row *row), void *ctx)
{
    struct db_ledger_row entry;
    sqlite3_stmt *stmt;
    int r = db_query(reader, "SELECT " DB_LEDGER_COLUMNS " FROM ledger " OF_DAY("ts_ns"),
                     RECORD_PARAMS(day->first, day->last, day->day), &stmt);
    while (r >= 0 && (r = db_query_ledger(reader, stmt, &entry)) > 0)
        row(ctx, &entry);
    return db_query_end(stmt, r);
}

int db_day_first_row(struct db_reader *reader, enum db_day_table table, int64_t *ret)
{
    static const char *const sql[DB_DAY_TABLES] = {"SELECT ifnull(min(id), 0) FROM orders",
                                                   "SELECT ifnull(min(id), 0) FROM fills",
                                                   "SELECT ifnull(min(id), 0) FROM ledger"};
    int r = db_query_first(reader, sql[table], NULL, RECORD_INTO(ret));
    return r < 0 ? r : 0;
}

int db_day_origin(struct db_reader *reader, uint8_t ret[static LEDGER_HASH_SIZE])
{
    struct db_ledger_row entry;
    sqlite3_stmt *stmt;
    int r = db_query(reader, "SELECT " DB_LEDGER_COLUMNS " FROM ledger WHERE id = 1", NULL, &stmt);
    if (r >= 0)
        r = db_query_ledger(reader, stmt, &entry);
    if (r > 0)
        memcpy(ret, entry.row.hash, LEDGER_HASH_SIZE);
    r = db_query_end(stmt, r == 0 ? -ENOENT : r);
    return r < 0 ? r : 0;
}

/* Versions before kept a point at 0, of before an account's first deposit. */
#define POINTS "FROM equity WHERE account = ?1 AND ts_ns > 0"

int db_day_equity(struct db_reader *reader, int account, int64_t from_ns, int64_t to_ns,
                  void (*row)(void *ctx, const struct db_equity_point *row), void *ctx)
{
    struct db_equity_point point;
    sqlite3_stmt *stmt;
    int r = db_query(reader,
                     "SELECT ts_ns, equity, cash, peak, day_equity " POINTS
                     " AND ts_ns >= ?2 AND ts_ns < ?3 ORDER BY ts_ns",
                     RECORD_PARAMS(account, from_ns, to_ns), &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt,
                                        RECORD_INTO(&point.ts_ns, &point.equity, &point.cash, &point.peak,
                                                    &point.day_equity))) > 0)
        row(ctx, &point);
    return db_query_end(stmt, r);
}

int db_day_equity_span(struct db_reader *reader, int account, int64_t *ret_first_ns, int64_t *ret_last_ns)
{
    int64_t first = 0, last = 0;
    int r = db_query_first(
        reader, "SELECT ifnull((SELECT min(ts_ns) " POINTS "), 0), ifnull((SELECT max(ts_ns) " POINTS "), 0)",
        RECORD_PARAMS(account), RECORD_INTO(&first, &last));
    if (r < 0 || first == 0)
        return r < 0 ? r : -ENOENT;
    *ret_first_ns = first;
    *ret_last_ns = last;
    return 0;
}

/* ---- bars ---- */

#define SERIES "symbol = ?1 AND interval_ns = ?2 AND source = ?3"

struct series_key {
    int64_t symbol, interval_ns;
    char source[16];
};

/* The series behind that one: 1, 0 at the end, -errno. */
static int next_series(struct db_reader *reader, struct series_key *key)
{
    return db_query_first(
        reader,
        "SELECT symbol, interval_ns, source FROM bars WHERE (symbol, interval_ns, source) > "
        "(?1, ?2, ?3) ORDER BY symbol, interval_ns, source LIMIT 1",
        RECORD_PARAMS(key->symbol, key->interval_ns, (const char *)key->source),
        RECORD_INTO(&key->symbol, &key->interval_ns, record_into_chars(key->source, sizeof key->source)));
}

static int read_series(struct db_reader *reader, const struct series_key *key, struct db_bar_series *ret)
{
    int source = record_words_parse(&db_words_bar_source, key->source);
    int r = db_reader_symbol_id(reader, key->symbol, &ret->symbol);
    if (r == 0 && (source < 0 || !ret->symbol))
        return db_query_bad(reader, "bars", key->symbol, source < 0 ? "source" : "no symbol");
    ret->interval_ns = key->interval_ns;
    ret->source = (enum bar_source)source;
    if (r == 0)
        r = db_query_first(reader,
                           "SELECT (SELECT min(open_ns) FROM bars WHERE " SERIES
                           "), (SELECT max(open_ns) FROM bars WHERE " SERIES ")",
                           RECORD_PARAMS(key->symbol, key->interval_ns, (const char *)key->source),
                           RECORD_INTO(&ret->first_ns, &ret->last_ns));
    return r < 0 ? r : 0;
}

int db_bar_series(struct db_reader *reader, void (*row)(void *ctx, const struct db_bar_series *row),
                  void *ctx)
{
    struct series_key key = {INT64_MIN, 0, ""};
    struct db_bar_series series;
    int r;
    while ((r = next_series(reader, &key)) > 0) {
        r = read_series(reader, &key, &series);
        if (r < 0)
            return r;
        row(ctx, &series);
    }
    return r;
}

int db_series_first(struct db_reader *reader, int64_t symbol, int64_t interval_ns, enum bar_source source,
                    int64_t *ret_open_ns)
{
    int r = db_query_first(reader, "SELECT open_ns FROM bars WHERE " SERIES " ORDER BY open_ns LIMIT 1",
                           RECORD_PARAMS(symbol, interval_ns, db_words_bar_source.names[source]),
                           RECORD_INTO(ret_open_ns));
    return r < 0 ? r : r == 0 ? -ENOENT : 0;
}

int db_series_bars(struct db_reader *reader, int64_t symbol, int64_t interval_ns, enum bar_source source,
                   int64_t from_ns, int64_t to_ns, void (*row)(void *ctx, const struct bar *row), void *ctx)
{
    DB_QUERY_EACH(struct bar, &db_record_bars,
                  DB_SELECT("bars", RECORD_STORED_BAR) "WHERE " SERIES
                                                       " AND open_ns >= ?4 AND open_ns < ?5 ORDER BY open_ns",
                  RECORD_PARAMS(symbol, interval_ns, db_words_bar_source.names[source], from_ns, to_ns));
}
