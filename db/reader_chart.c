/* What the chart is drawn from. */
#include <errno.h>
#include <string.h>

#include "db/reader_query.h"

int db_reader_chart_series(struct db_reader *reader, const char *symbol,
                           void (*row)(void *ctx, const struct db_chart_row *row), void *ctx)
{
    struct db_symbol_row listed = {0};
    sqlite3_stmt *stmt;
    int r = symbol ? db_reader_symbol(reader, symbol, &listed) : 0;
    if (r == 0)
        r = db_query(reader,
                     "SELECT symbol, interval_ns, base_ns, next_ns, specs, names, memory FROM chart_series "
                     "WHERE symbol = ?1 OR ?1 = 0 ORDER BY symbol, interval_ns",
                     &stmt);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, listed.id);
    while ((r = db_query_step(reader, stmt)) > 0) {
        struct db_chart_row series = {
            .symbol = db_reader_symbol_id(reader, sqlite3_column_int64(stmt, 0)),
            .series = {.interval_ns = sqlite3_column_int64(stmt, 1),
                       .base_ns = sqlite3_column_int64(stmt, 2),
                       .next_ns = sqlite3_column_int64(stmt, 3),
                       .specs = db_column_text(stmt, 4),
                       .names = db_column_text(stmt, 5),
                       .memory = sqlite3_column_blob(stmt, 6),
                       .memory_size = (size_t)sqlite3_column_bytes(stmt, 6)},
        };
        if (!series.symbol)
            return db_query_end(
                stmt, db_query_bad(reader, "chart_series", sqlite3_column_int64(stmt, 0), "unknown symbol"));
        row(ctx, &series);
    }
    return db_query_end(stmt, r);
}

int db_reader_chart_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t n,
                         void (*row)(void *ctx, const struct db_chart_bar *row), void *ctx)
{
    struct db_symbol_row listed;
    sqlite3_stmt *stmt;
    int r = db_reader_symbol(reader, symbol, &listed);
    if (r == 0)
        r = db_query(reader,
                     "SELECT * FROM (SELECT open_ns, open, high, low, close, volume, outputs FROM chart_bars "
                     "WHERE symbol = ?1 AND interval_ns = ?2 ORDER BY open_ns DESC LIMIT ?3) ORDER BY "
                     "open_ns",
                     &stmt);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, listed.id);
    sqlite3_bind_int64(stmt, 2, interval_ns);
    sqlite3_bind_int64(stmt, 3, n);
    while ((r = db_query_step(reader, stmt)) > 0) {
        double outputs[DB_CHART_OUTPUTS_MAX];
        int bytes = sqlite3_column_bytes(stmt, 6);
        const char *volume = db_column_text(stmt, 5);
        struct db_chart_bar bar = {
            .interval_ns = interval_ns,
            .bar = {.open_ns = sqlite3_column_int64(stmt, 0),
                    .open = sqlite3_column_int64(stmt, 1),
                    .high = sqlite3_column_int64(stmt, 2),
                    .low = sqlite3_column_int64(stmt, 3),
                    .close = sqlite3_column_int64(stmt, 4),
                    .first_trade_id = -1,
                    .last_trade_id = -1},
            .outputs = outputs,
            .n_outputs = (size_t)bytes / sizeof *outputs,
        };
        if (bytes > (int)sizeof outputs || decimal_parse128(volume, strlen(volume), 0, &bar.bar.volume) < 0)
            return db_query_end(stmt, db_query_bad(reader, "chart_bars", bar.bar.open_ns,
                                                   "too many outputs, or the volume is no number"));
        if (bytes > 0)
            memcpy(outputs, sqlite3_column_blob(stmt, 6), (size_t)bytes);
        row(ctx, &bar);
    }
    return db_query_end(stmt, r);
}
