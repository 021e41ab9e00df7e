/* Reads the market's and the service's history: prices, bars, equity, alerts, commands. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "db/reader_query.h"
#include "db/records.h"
#include "db/row_hash.h"
#include "engine/split.h"
#include "record/market.h"

int db_reader_prices(struct db_reader *reader, void (*row)(void *ctx, const struct db_price_row *row),
                     void *ctx)
{
    DB_QUERY_MAKE(struct db_price, &db_record_prices, DB_SELECT("prices", RECORD_PRICES) "ORDER BY symbol",
                  NULL, &(struct db_price_row){named.symbol, each});
}

/* The width of a span so that `points` of them cover all points; 1 for every point. */
static int span_of(struct db_reader *reader, int account, int64_t from_ns, int points, int64_t *ret_ns)
{
    int64_t first, last;
    int r =
        db_query_first(reader, "SELECT min(ts_ns), max(ts_ns) FROM equity WHERE account = ?1 AND ts_ns >= ?2",
                       RECORD_PARAMS(account, from_ns), RECORD_INTO(&first, &last));
    if (r > 0)
        *ret_ns = points > 0 ? (last - first) / points + 1 : 1;
    return r < 0 ? r : 0;
}

int db_reader_equity(struct db_reader *reader, int account, int64_t from_ns, int points,
                     void (*row)(void *ctx, const struct db_equity_point *row), void *ctx)
{
    int64_t span_ns = 1;
    /* Versions before kept a point at 0, of before an account's first deposit. */
    from_ns = from_ns > 0 ? from_ns : 1;
    int r = span_of(reader, account, from_ns, points, &span_ns);
    if (r < 0)
        return r;
    /* Spans are counted back from the newest point, so that it is always there; max() picks the row that the
     * bare columns come from. */
    sqlite3_stmt *stmt;
    struct db_equity_point point;
    r = db_query(
        reader,
        "SELECT max(ts_ns), equity, cash, peak, day_equity FROM equity WHERE account = ?1 AND ts_ns >= ?2 "
        "GROUP BY ((SELECT max(ts_ns) FROM equity WHERE account = ?1) - ts_ns) / ?3 ORDER BY ts_ns",
        RECORD_PARAMS(account, from_ns, span_ns), &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt,
                                        RECORD_INTO(&point.ts_ns, &point.equity, &point.cash, &point.peak,
                                                    &point.day_equity))) > 0)
        row(ctx, &point);
    return db_query_end(stmt, r);
}

/* Of each span of an account's points the row that `of` picks, max() or min() of an expression. */
#define SPAN_POINT(of) \
    "SELECT ts_ns, equity, cash, peak, day_equity FROM (SELECT ts_ns, equity, cash, peak, day_equity, " of \
    " AS picked FROM equity WHERE account = ?1 AND ts_ns >= ?2 " \
    "GROUP BY ((SELECT max(ts_ns) FROM equity WHERE account = ?1) - ts_ns) / ?3) WHERE picked IS NOT NULL"

int db_reader_equity_extremes(struct db_reader *reader, int account, int64_t from_ns, int spans,
                              void (*row)(void *ctx, const struct db_equity_point *row), void *ctx)
{
    static const char sql[] =
        SPAN_POINT("max(ts_ns)") " UNION " SPAN_POINT("max(equity)") " UNION " SPAN_POINT(
            "min(equity)") " UNION " SPAN_POINT("min(CAST(equity AS REAL) / peak)") " ORDER BY 1";
    struct db_equity_point point;
    sqlite3_stmt *stmt;
    int64_t span_ns = 1;

    from_ns = from_ns > 0 ? from_ns : 1;
    int r = span_of(reader, account, from_ns, spans, &span_ns);
    if (r < 0)
        return r;
    r = db_query(reader, sql, RECORD_PARAMS(account, from_ns, span_ns), &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt,
                                        RECORD_INTO(&point.ts_ns, &point.equity, &point.cash, &point.peak,
                                                    &point.day_equity))) > 0)
        row(ctx, &point);
    return db_query_end(stmt, r);
}

/* Versions before kept a point at 0, of before an account's first deposit. */
#define POINTS \
    "SELECT ts_ns, equity, cash, peak, day_equity FROM equity WHERE account = ?1 AND ts_ns > 0 AND "

int db_reader_equity_after(struct db_reader *reader, int account, int64_t after_ns, int64_t limit,
                           void (*row)(void *ctx, const struct db_equity_point *row), void *ctx)
{
    sqlite3_stmt *stmt;
    struct db_equity_point point;
    int r = db_query(reader, POINTS "ts_ns > ?2 ORDER BY ts_ns LIMIT ?3",
                     RECORD_PARAMS(account, after_ns, limit), &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt,
                                        RECORD_INTO(&point.ts_ns, &point.equity, &point.cash, &point.peak,
                                                    &point.day_equity))) > 0)
        row(ctx, &point);
    return db_query_end(stmt, r);
}

int db_reader_marks(struct db_reader *reader, void (*row)(void *ctx, const struct db_mark_row *row),
                    void *ctx)
{
    DB_QUERY_MAKE(struct db_mark, &db_record_marks,
                  DB_SELECT("marks", RECORD_MARKS) "ORDER BY account, ts_ns, symbol", NULL,
                  &(struct db_mark_row){each, named.account, named.symbol});
}

int db_reader_equity_before(struct db_reader *reader, int account, int64_t before_ns,
                            struct db_equity_point *ret)
{
    int r = db_query_first(reader, POINTS "ts_ns < ?2 ORDER BY ts_ns DESC LIMIT 1",
                           RECORD_PARAMS(account, before_ns),
                           RECORD_INTO(&ret->ts_ns, &ret->equity, &ret->cash, &ret->peak, &ret->day_equity));
    return r < 0 ? r : r == 0 ? -ENOENT : 0;
}

int db_reader_margins(struct db_reader *reader, void (*row)(void *ctx, const struct db_margin *row),
                      void *ctx)
{
    DB_QUERY_EACH(struct db_margin, &db_record_margins,
                  DB_SELECT("account_margins", RECORD_MARGINS) "ORDER BY account", NULL);
}

int db_reader_drawdown(struct db_reader *reader, int account, double *ret)
{
    double lowest = NAN;
    int r = db_query_first(
        reader, "SELECT min(CAST(equity AS REAL) / peak - 1) FROM equity WHERE account = ?1 AND peak > 0",
        RECORD_PARAMS(account), RECORD_INTO(&lowest));
    if (!isnan(lowest))
        *ret = lowest;
    return r < 0 ? r : isnan(lowest) ? -ENOENT : 0;
}

int db_reader_interest(struct db_reader *reader, int account, const char *asset, int64_t *ret)
{
    int r = db_query_first(reader,
                           "SELECT ifnull(sum(-amount), 0) FROM ledger WHERE account = ?1 AND asset = ?2 AND "
                           "kind = 'interest'",
                           RECORD_PARAMS(account, asset), RECORD_INTO(ret));
    return r < 0 ? r : 0;
}

#define ALERT_OPEN  "acked_ns IS NULL AND closed_ns IS NULL"
#define ALERT_LASTS "lasts = 1 AND closed_ns IS NULL"

int db_reader_alerts(struct db_reader *reader, enum db_alerts which, int64_t limit,
                     void (*row)(void *ctx, const struct db_alert *row), void *ctx)
{
    static const char *const queries[] = {
        [DB_ALERTS_OPEN] =
            "SELECT " DB_ALERT_COLUMNS " FROM alerts WHERE " ALERT_OPEN " ORDER BY id DESC LIMIT ?1",
        /* A union of two, each by its index: an OR would read the whole table. */
        [DB_ALERTS_HELD] =
            "SELECT " DB_ALERT_COLUMNS " FROM alerts WHERE " ALERT_OPEN " UNION SELECT " DB_ALERT_COLUMNS
            " FROM alerts WHERE " ALERT_LASTS " ORDER BY id DESC LIMIT ?1",
        [DB_ALERTS_ALL] =
            "SELECT * FROM (SELECT * FROM (SELECT " DB_ALERT_COLUMNS " FROM alerts WHERE " ALERT_OPEN
            " ORDER BY id DESC LIMIT ?1) UNION SELECT * FROM (SELECT " DB_ALERT_COLUMNS
            " FROM alerts ORDER BY id DESC LIMIT ?1)) "
            "ORDER BY (acked_ns IS NULL AND closed_ns IS NULL) DESC, id DESC LIMIT ?1",
    };
    DB_QUERY_EACH(struct db_alert, &db_record_alerts, queries[which], RECORD_PARAMS(limit ? limit : -1));
}

int db_reader_alerts_open(struct db_reader *reader, int64_t *ret)
{
    int r = db_query_first(reader, "SELECT count(*) FROM alerts WHERE " ALERT_OPEN, NULL, RECORD_INTO(ret));

    return r < 0 ? r : 0;
}

int db_reader_last_alert(struct db_reader *reader, uint64_t *ret)
{
    int r = db_query_first(reader,
                           "SELECT max(ifnull((SELECT max(id) FROM alerts), 0), "
                           "ifnull((SELECT CAST (value AS INTEGER) FROM meta WHERE key = 'last_alert'), 0))",
                           NULL, RECORD_INTO(ret));
    return r < 0 ? r : 0;
}

int db_reader_commands(struct db_reader *reader, int64_t limit,
                       void (*row)(void *ctx, const struct db_command *row), void *ctx)
{
    DB_QUERY_EACH(struct db_command, &db_record_commands,
                  "SELECT " DB_COMMAND_COLUMNS " FROM commands ORDER BY id DESC LIMIT ?1",
                  RECORD_PARAMS(limit ? limit : -1));
}

int db_reader_command_at(struct db_reader *reader, int64_t ts_ns,
                         void (*row)(void *ctx, const struct db_command *row), void *ctx)
{
    DB_QUERY_EACH(struct db_command, &db_record_commands,
                  "SELECT " DB_COMMAND_COLUMNS " FROM commands WHERE ts_ns = ?1 AND state = 'done' LIMIT 1",
                  RECORD_PARAMS(ts_ns));
}

int db_reader_order_refusal(struct db_reader *reader, uint64_t order_id,
                            void (*row)(void *ctx, const struct db_command *row), void *ctx)
{
    DB_QUERY_EACH(struct db_command, &db_record_commands,
                  "SELECT " DB_COMMAND_COLUMNS " FROM commands WHERE state = 'refused' AND order_id = "
                  "(SELECT iif(group_id > 0, group_id, id) FROM orders WHERE id = ?1 AND state = 'REJECTED') "
                  "ORDER BY id DESC LIMIT 1",
                  RECORD_PARAMS(order_id));
}

/* The splits of a symbol, oldest first. */
struct splits {
    struct stock_split *list;
    int64_t *ids;
    size_t n;
};

static void splits_finish(struct splits *splits)
{
    free(splits->list);
    free(splits->ids);
}

static int read_splits(struct db_reader *reader, int64_t symbol, struct splits *ret)
{
    sqlite3_stmt *stmt;
    int r =
        db_query(reader,
                 "SELECT id, shares, per, ex_ns FROM corporate_actions WHERE symbol = ?1 AND kind = 'split' "
                 "ORDER BY id",
                 RECORD_PARAMS(symbol), &stmt);
    struct stock_split split;
    int64_t id;
    while (r >= 0 &&
           (r = db_query_next(reader, stmt, RECORD_INTO(&id, &split.shares, &split.per, &split.ex_ns))) > 0) {
        struct stock_split *list = realloc(ret->list, (ret->n + 1) * sizeof *list);
        ret->list = list ? list : ret->list;
        int64_t *ids = realloc(ret->ids, (ret->n + 1) * sizeof *ids);
        ret->ids = ids ? ids : ret->ids;
        if (!list || !ids)
            return db_query_end(stmt, -ENOMEM);
        ids[ret->n] = id;
        list[ret->n++] = split;
        if (!engine_split_valid(&split))
            return db_query_end(stmt, db_query_bad(reader, "corporate_actions", id, "no split is like that"));
    }
    return db_query_end(stmt, r);
}

#define BAR_COLUMNS RECORD_COLUMNS(RECORD_STORED_BAR) ", split"

static const char between[] = "SELECT " BAR_COLUMNS " FROM bars WHERE symbol = ?1 AND interval_ns = ?2 AND "
                              "source = ?3 AND open_ns BETWEEN ?4 AND ?5 ORDER BY open_ns";
static const char until[] =
    "SELECT * FROM (SELECT " BAR_COLUMNS " FROM bars WHERE symbol = ?1 AND interval_ns = ?2 AND "
    "source = ?3 AND open_ns <= ?4 ORDER BY open_ns DESC LIMIT ?5) ORDER BY open_ns";
static const char after[] = "SELECT " BAR_COLUMNS " FROM bars WHERE symbol = ?1 AND interval_ns = ?2 AND "
                            "source = ?3 AND open_ns > ?4 ORDER BY open_ns LIMIT ?5";

struct bars_query {
    const char *sql, *name;
    int64_t interval_ns;
    enum bar_source source;
    int64_t a, b;
    bool split;
};

static int bars(struct db_reader *reader, const struct bars_query *query,
                void (*row)(void *ctx, const struct bar *row), void *ctx)
{
    struct db_symbol_row symbol;
    struct splits splits = {0};
    sqlite3_stmt *stmt = NULL;
    int r = db_reader_symbol(reader, query->name, &symbol);
    if (r == 0 && query->split)
        r = read_splits(reader, symbol.id, &splits);
    if (r == 0)
        r = db_query(reader, query->sql,
                     RECORD_PARAMS(symbol.id, query->interval_ns, db_words_bar_source.names[query->source],
                                   query->a, query->b),
                     &stmt);
    struct bar bar;
    while (r >= 0 && (r = db_query_row(reader, stmt, &db_record_bars, &bar, NULL)) > 0) {
        for (size_t i = 0; i < splits.n; i++)
            if (splits.ids[i] > sqlite3_column_int64(stmt, db_record_bars.n))
                engine_split_bar(&splits.list[i], &bar);
        row(ctx, &bar);
    }
    splits_finish(&splits);
    return db_query_end(stmt, r);
}

int db_reader_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns, enum bar_source source,
                   int64_t from_ns, int64_t to_ns, void (*row)(void *ctx, const struct bar *row), void *ctx)
{
    return bars(reader, &(struct bars_query){between, symbol, interval_ns, source, from_ns, to_ns, false},
                row, ctx);
}

int db_reader_last_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                        enum bar_source source, int64_t n, void (*row)(void *ctx, const struct bar *row),
                        void *ctx)
{
    return bars(reader, &(struct bars_query){until, symbol, interval_ns, source, INT64_MAX, n, false}, row,
                ctx);
}

int db_reader_split_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                         enum bar_source source, int64_t from_ns, int64_t to_ns,
                         void (*row)(void *ctx, const struct bar *row), void *ctx)
{
    return bars(reader, &(struct bars_query){between, symbol, interval_ns, source, from_ns, to_ns, true}, row,
                ctx);
}

int db_reader_last_split_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                              enum bar_source source, int64_t n,
                              void (*row)(void *ctx, const struct bar *row), void *ctx)
{
    return bars(reader, &(struct bars_query){until, symbol, interval_ns, source, INT64_MAX, n, true}, row,
                ctx);
}

int db_reader_split_bars_until(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                               enum bar_source source, int64_t at_ns, int64_t n,
                               void (*row)(void *ctx, const struct bar *row), void *ctx)
{
    return bars(reader, &(struct bars_query){until, symbol, interval_ns, source, at_ns, n, true}, row, ctx);
}

int db_reader_split_bars_after(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                               enum bar_source source, int64_t at_ns, int64_t n,
                               void (*row)(void *ctx, const struct bar *row), void *ctx)
{
    return bars(reader, &(struct bars_query){after, symbol, interval_ns, source, at_ns, n, true}, row, ctx);
}

/* The nth row of the statement, from 0 on. */
static int one_of_bars(struct db_reader *reader, const char *sql, const struct bars_query *query, int64_t nth,
                       int64_t *ret)
{
    struct db_symbol_row symbol;
    int r = db_reader_symbol(reader, query->name, &symbol);
    if (r < 0)
        return r;
    r = db_query_first(reader, sql,
                       RECORD_PARAMS(symbol.id, query->interval_ns, db_words_bar_source.names[query->source],
                                     query->a, query->b, nth),
                       RECORD_INTO(ret));
    return r < 0 ? r : r == 0 ? -ENOENT : 0;
}

#define OF_SERIES \
    "FROM bars WHERE symbol = ?1 AND interval_ns = ?2 AND source = ?3 AND open_ns BETWEEN ?4 AND ?5"
#define NTH " LIMIT 1 OFFSET ?6"

int db_reader_count_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                         enum bar_source source, int64_t from_ns, int64_t to_ns, int64_t *ret)
{
    return one_of_bars(reader, "SELECT count(*) " OF_SERIES NTH,
                       &(struct bars_query){NULL, symbol, interval_ns, source, from_ns, to_ns, false}, 0,
                       ret);
}

int db_reader_first_bar(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                        enum bar_source source, int64_t *ret_open_ns)
{
    return one_of_bars(reader, "SELECT open_ns " OF_SERIES " ORDER BY open_ns" NTH,
                       &(struct bars_query){NULL, symbol, interval_ns, source, INT64_MIN, INT64_MAX, false},
                       0, ret_open_ns);
}

int db_reader_newest_bar(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                         enum bar_source source, int64_t from_ns, int64_t to_ns, int64_t n,
                         int64_t *ret_open_ns)
{
    return one_of_bars(reader, "SELECT open_ns " OF_SERIES " ORDER BY open_ns DESC" NTH,
                       &(struct bars_query){NULL, symbol, interval_ns, source, from_ns, to_ns, false}, n - 1,
                       ret_open_ns);
}

int db_reader_interval_after(struct db_reader *reader, const char *symbol, int64_t after_ns, int64_t *ret)
{
    struct db_symbol_row listed;
    sqlite3_stmt *stmt = NULL;
    int r = db_reader_symbol(reader, symbol, &listed);
    if (r == 0)
        r = db_query(
            reader,
            "SELECT interval_ns FROM bars WHERE symbol = ?1 AND interval_ns > ?2 ORDER BY interval_ns "
            "LIMIT 1",
            RECORD_PARAMS(listed.id, after_ns), &stmt);
    if (r >= 0)
        r = db_query_next(reader, stmt, RECORD_INTO(ret));
    return db_query_end(stmt, r > 0 ? 0 : r == 0 ? -ENOENT : r);
}

int db_reader_open_gaps(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t limit,
                        void (*row)(void *ctx, const struct db_gap *row), void *ctx)
{
    struct db_symbol_row listed;
    struct db_gap gap = {.symbol = -1, .interval_ns = interval_ns};
    sqlite3_stmt *stmt = NULL;
    int r = db_reader_symbol(reader, symbol, &listed);
    if (r == 0)
        r = db_query(
            reader,
            "SELECT from_open_ns, to_open_ns, found_ns FROM gaps WHERE symbol = ?1 AND interval_ns = ?2 "
            "AND filled_ns IS NULL ORDER BY from_open_ns LIMIT ?3",
            RECORD_PARAMS(listed.id, interval_ns, limit), &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt,
                                        RECORD_INTO(&gap.from_open_ns, &gap.to_open_ns, &gap.found_ns))) > 0)
        row(ctx, &gap);
    return db_query_end(stmt, r);
}
