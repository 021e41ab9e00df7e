/* Reads the chart's data. */
#include <errno.h>
#include <string.h>

#include "db/reader_query.h"
#include "db/records.h"
#include "record/market.h"

#define CHART_SERIES "SELECT " RECORD_COLUMNS(RECORD_CHART_SERIES)
#define CHART_BARS   "SELECT " RECORD_COLUMNS(RECORD_CHART_BAR)

int db_reader_chart_series(struct db_reader *reader, const char *symbol,
                           void (*row)(void *ctx, const struct db_chart_row *row), void *ctx)
{
    struct db_symbol_row listed = {0};
    sqlite3_stmt *stmt;
    int r = symbol ? db_reader_symbol(reader, symbol, &listed) : 0;
    if (r == 0)
        r = db_query(reader,
                     CHART_SERIES ", memory FROM chart_series WHERE symbol = ?1 OR ?1 = 0 ORDER BY symbol, "
                                  "interval_ns",
                     RECORD_PARAMS(listed.id), &stmt);
    if (r < 0)
        return r;
    struct db_chart_row series;
    struct db_named named;
    while ((r = db_query_row(reader, stmt, &db_record_chart_series, &series.series, &named)) > 0) {
        series.symbol = named.symbol;
        series.series.memory = record_sqlite_blob(stmt, &db_record_chart_series, &series.series.memory_size);
        row(ctx, &series);
    }
    return db_query_end(stmt, r);
}

#define OF_CHART CHART_BARS ", outputs FROM chart_bars WHERE symbol = ?1 AND interval_ns = ?2 "

static const char until[] =
    "SELECT * FROM (" OF_CHART "AND open_ns <= ?3 ORDER BY open_ns DESC LIMIT ?4) ORDER BY open_ns";
static const char after[] = OF_CHART "AND open_ns > ?3 ORDER BY open_ns LIMIT ?4";

struct chart_query {
    const char *sql, *symbol;
    int64_t interval_ns, at_ns, n;
};

static int chart_bars(struct db_reader *reader, const struct chart_query *query,
                      void (*row)(void *ctx, const struct db_chart_bar *row), void *ctx)
{
    struct db_symbol_row listed;
    sqlite3_stmt *stmt;
    int r = db_reader_symbol(reader, query->symbol, &listed);
    if (r == 0)
        r = db_query(reader, query->sql, RECORD_PARAMS(listed.id, query->interval_ns, query->at_ns, query->n),
                     &stmt);
    if (r < 0)
        return r;
    double outputs[DB_CHART_OUTPUTS_MAX];
    struct db_chart_bar bar = {.interval_ns = query->interval_ns,
                               .bar = {.first_trade_id = -1, .last_trade_id = -1},
                               .outputs = outputs};
    while ((r = db_query_row(reader, stmt, &db_record_chart_bars, &bar.bar, NULL)) > 0) {
        size_t size;
        const void *blob = record_sqlite_blob(stmt, &db_record_chart_bars, &size);
        if (size > sizeof outputs) {
            r = db_query_bad_row(reader, stmt, "chart_bars", "too many outputs");
            if (db_query_leaves(reader, r))
                continue;
            return db_query_end(stmt, r);
        }
        if (size > 0)
            memcpy(outputs, blob, size);
        bar.n_outputs = size / sizeof *outputs;
        row(ctx, &bar);
    }
    return db_query_end(stmt, r);
}

int db_reader_chart_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t n,
                         void (*row)(void *ctx, const struct db_chart_bar *row), void *ctx)
{
    return chart_bars(reader, &(struct chart_query){until, symbol, interval_ns, INT64_MAX, n}, row, ctx);
}

int db_reader_chart_bars_until(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                               int64_t at_ns, int64_t n,
                               void (*row)(void *ctx, const struct db_chart_bar *row), void *ctx)
{
    return chart_bars(reader, &(struct chart_query){until, symbol, interval_ns, at_ns, n}, row, ctx);
}

int db_reader_chart_bars_after(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                               int64_t at_ns, int64_t n,
                               void (*row)(void *ctx, const struct db_chart_bar *row), void *ctx)
{
    return chart_bars(reader, &(struct chart_query){after, symbol, interval_ns, at_ns, n}, row, ctx);
}
