/* What several venues brought: db/store_venues.c wrote it. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/reader_query.h"
#include "db/row_hash.h"

#define BOOK_COLUMNS \
    "open_ns, spread_open, spread_high, spread_low, spread_close, imbalance_open, imbalance_high, " \
    "imbalance_low, imbalance_close, microprice_open, microprice_high, microprice_low, microprice_close"

static int book_bars(struct db_reader *reader, const char *sql, const char *name, int64_t interval_ns,
                     int64_t a, int64_t b, void (*row)(void *ctx, const struct engine_book_bar *row),
                     void *ctx)
{
    struct db_symbol_row symbol;
    sqlite3_stmt *stmt;
    int r = db_reader_symbol(reader, name, &symbol);
    if (r == 0)
        r = db_query(reader, sql, &stmt);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, symbol.id);
    sqlite3_bind_int64(stmt, 2, interval_ns);
    sqlite3_bind_int64(stmt, 3, a);
    if (sqlite3_bind_parameter_count(stmt) > 3)
        sqlite3_bind_int64(stmt, 4, b);
    while ((r = db_query_step(reader, stmt)) > 0) {
        struct engine_book_bar bar = {.open_ns = sqlite3_column_int64(stmt, 0)};
        for (int m = 0, c = 1; m < BOOK_MEASURES; m++) {
            bar.measures[m].open = sqlite3_column_double(stmt, c++);
            bar.measures[m].high = sqlite3_column_double(stmt, c++);
            bar.measures[m].low = sqlite3_column_double(stmt, c++);
            bar.measures[m].close = sqlite3_column_double(stmt, c++);
        }
        row(ctx, &bar);
    }
    return db_query_end(stmt, r);
}

int db_reader_book_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t from_ns,
                        int64_t to_ns, void (*row)(void *ctx, const struct engine_book_bar *row), void *ctx)
{
    return book_bars(reader,
                     "SELECT " BOOK_COLUMNS " FROM book_bars WHERE symbol = ?1 AND interval_ns = ?2 "
                     "AND open_ns BETWEEN ?3 AND ?4 ORDER BY open_ns",
                     symbol, interval_ns, from_ns, to_ns, row, ctx);
}

int db_reader_last_book_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t n,
                             void (*row)(void *ctx, const struct engine_book_bar *row), void *ctx)
{
    return book_bars(reader,
                     "SELECT * FROM (SELECT " BOOK_COLUMNS " FROM book_bars WHERE symbol = ?1 AND "
                     "interval_ns = ?2 ORDER BY open_ns DESC LIMIT ?3) ORDER BY open_ns",
                     symbol, interval_ns, n, 0, row, ctx);
}

static bool number(const json_t *object, const char *key, int64_t *ret)
{
    const json_t *value = json_object_get(object, key);
    *ret = json_integer_value(value);
    return json_is_integer(value);
}

/* "" is none; false for a text that is no bar. */
static bool read_bar(const char *text, bool *ret_known, struct bar *ret)
{
    *ret_known = text[0] != '\0';
    *ret = (struct bar){.first_trade_id = -1, .last_trade_id = -1};
    if (!*ret_known)
        return true;
    json_t *object = json_loads(text, 0, NULL);
    const char *volume = json_string_value(json_object_get(object, "volume"));
    bool good = number(object, "open_ns", &ret->open_ns) && number(object, "open", &ret->open) &&
                number(object, "high", &ret->high) && number(object, "low", &ret->low) &&
                number(object, "close", &ret->close) && number(object, "trades", &ret->trades) && volume &&
                decimal_parse128(volume, strlen(volume), 0, &ret->volume) == 0;
    json_decref(object);
    return good;
}

/* NULL, or what is wrong with the row. */
static const char *read_revision(struct db_reader *reader, sqlite3_stmt *stmt, struct db_revision_row *row)
{
    struct db_revision *revision = &row->revision;
    int kind = db_revision_parse(db_column_text(stmt, 3));
    *row = (struct db_revision_row){
        .id = (uint64_t)sqlite3_column_int64(stmt, 0),
        .symbol = db_reader_symbol_id(reader, sqlite3_column_int64(stmt, 2)),
        .revision = {.kind = (enum revision_kind)kind,
                     .source = strcmp(db_column_text(stmt, 4), "venue") == 0 ? BAR_VENUE : BAR_TRADES,
                     .ts_ns = sqlite3_column_int64(stmt, 1),
                     .at_ns = sqlite3_column_int64(stmt, 5),
                     .correction = {.id = sqlite3_column_int64(stmt, 6),
                                    .new_id = sqlite3_column_int64(stmt, 7),
                                    .old_price = sqlite3_column_int64(stmt, 8),
                                    .old_qty = sqlite3_column_int64(stmt, 9),
                                    .price = sqlite3_column_int64(stmt, 10),
                                    .qty = sqlite3_column_int64(stmt, 11)},
                     .applied = sqlite3_column_int(stmt, 15),
                     .input_seq = (uint64_t)sqlite3_column_int64(stmt, 16)},
    };
    if (kind < 0)
        return "unknown kind";
    if (!row->symbol)
        return "unknown symbol";
    if (!db_column_name(stmt, 14, revision->correction.code, sizeof revision->correction.code))
        return "too long a code";
    return read_bar(db_column_text(stmt, 12), &revision->has_old, &revision->old) &&
                   read_bar(db_column_text(stmt, 13), &revision->has_now, &revision->now)
               ? NULL
               : "a bar is none";
}

int db_reader_revisions(struct db_reader *reader, const char *symbol, int64_t from_ns, int64_t to_ns,
                        void (*row)(void *ctx, const struct db_revision_row *row), void *ctx)
{
    struct db_symbol_row listed = {0};
    sqlite3_stmt *stmt;
    int r = symbol ? db_reader_symbol(reader, symbol, &listed) : 0;
    if (r == 0)
        r = db_query(reader,
                     "SELECT " DB_REVISION_COLUMNS " FROM revisions WHERE (symbol = ?1 OR ?1 = 0) AND ts_ns "
                     "BETWEEN ?2 AND ?3 ORDER BY id",
                     &stmt);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, listed.id);
    sqlite3_bind_int64(stmt, 2, from_ns);
    sqlite3_bind_int64(stmt, 3, to_ns);
    while ((r = db_query_step(reader, stmt)) > 0) {
        struct db_revision_row revision;
        const char *wrong = read_revision(reader, stmt, &revision);
        if (wrong)
            return db_query_end(stmt,
                                db_query_bad(reader, "revisions", sqlite3_column_int64(stmt, 0), wrong));
        row(ctx, &revision);
    }
    return db_query_end(stmt, r);
}

/* A symbol's intervals and the first bar of each are found by the table's key, whatever it holds. */
int db_reader_first_moments(struct db_reader *reader,
                            void (*row)(void *ctx, const struct db_symbol_row *symbol, int64_t first_ns),
                            void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(
        reader,
        "WITH RECURSIVE kept (symbol, interval_ns) AS ("
        "SELECT id, (SELECT min(interval_ns) FROM bars WHERE symbol = symbols.id) FROM symbols UNION ALL "
        "SELECT symbol, (SELECT min(interval_ns) FROM bars WHERE symbol = kept.symbol "
        "AND interval_ns > kept.interval_ns) FROM kept WHERE interval_ns IS NOT NULL), "
        "firsts (symbol, ns) AS ("
        "SELECT symbol, interval_ns + (SELECT min(open_ns) FROM bars WHERE symbol = kept.symbol "
        "AND interval_ns = kept.interval_ns AND source = 'trades') FROM kept UNION ALL "
        "SELECT symbol, min(created_ns) FROM orders GROUP BY symbol) "
        "SELECT symbol, min(ns) FROM firsts WHERE symbol IS NOT NULL AND ns IS NOT NULL GROUP BY symbol",
        &stmt);
    if (r < 0)
        return r;
    while ((r = db_query_step(reader, stmt)) > 0) {
        const struct db_symbol_row *symbol = db_reader_symbol_id(reader, sqlite3_column_int64(stmt, 0));
        if (symbol)
            row(ctx, symbol, sqlite3_column_int64(stmt, 1));
    }
    return db_query_end(stmt, r);
}

int db_reader_actions(struct db_reader *reader, const char *symbol,
                      void (*row)(void *ctx, const struct db_action_row *row), void *ctx)
{
    struct db_symbol_row listed = {0};
    sqlite3_stmt *stmt;
    int r = symbol ? db_reader_symbol(reader, symbol, &listed) : 0;
    if (r == 0)
        r = db_query(reader,
                     "SELECT " DB_ACTION_COLUMNS
                     " FROM corporate_actions WHERE symbol = ?1 OR ?1 = 0 ORDER BY id",
                     &stmt);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, listed.id);
    while ((r = db_query_step(reader, stmt)) > 0) {
        struct db_action_row action = {
            .id = (uint64_t)sqlite3_column_int64(stmt, 0),
            .symbol = db_reader_symbol_id(reader, sqlite3_column_int64(stmt, 1)),
            .action = {.action = {.kind = strcmp(db_column_text(stmt, 3), "split") == 0 ? ACTION_SPLIT
                                                                                        : ACTION_DIVIDEND,
                                  .ex_ns = sqlite3_column_int64(stmt, 4),
                                  .shares = sqlite3_column_int64(stmt, 5),
                                  .per = sqlite3_column_int64(stmt, 6),
                                  .cash = sqlite3_column_int64(stmt, 7)},
                       .ts_ns = sqlite3_column_int64(stmt, 8),
                       .input_seq = (uint64_t)sqlite3_column_int64(stmt, 9)},
        };
        struct corporate_action *told = &action.action.action;
        if (!action.symbol || !db_column_name(stmt, 2, told->id, sizeof told->id))
            return db_query_end(stmt, db_query_bad(reader, "corporate_actions", (int64_t)action.id,
                                                   action.symbol ? "too long a name" : "unknown symbol"));
        row(ctx, &action);
    }
    return db_query_end(stmt, r);
}

static int parse_phase(const char *name)
{
    for (int i = 0; i < MARKET_PHASES; i++)
        if (strcmp(market_phase_name((enum market_phase)i), name) == 0)
            return i;
    return -EINVAL;
}

int db_reader_sessions(struct db_reader *reader, void (*row)(void *ctx, const struct db_session *row),
                       void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(
        reader, "SELECT calendar, phase, since_ns, next_ns FROM market_sessions ORDER BY calendar", &stmt);
    if (r < 0)
        return r;
    for (int64_t n = 1; (r = db_query_step(reader, stmt)) > 0; n++) {
        int phase = parse_phase(db_column_text(stmt, 1));
        struct db_session session = {
            .session = {.phase = (enum market_phase)phase, .next_ns = sqlite3_column_int64(stmt, 3)},
            .since_ns = sqlite3_column_int64(stmt, 2),
        };
        if (phase < 0 || !db_column_name(stmt, 0, session.session.calendar, sizeof session.session.calendar))
            return db_query_end(stmt, db_query_bad(reader, "market_sessions", n,
                                                   phase < 0 ? "unknown phase" : "too long a name"));
        row(ctx, &session);
    }
    return db_query_end(stmt, r);
}

static double real_or_nan(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL ? NAN : sqlite3_column_double(stmt, column);
}

int db_reader_venues(struct db_reader *reader, void (*row)(void *ctx, const struct db_venue *row), void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader,
                     "SELECT venue, state, detail, market, last_recv_ns, frames, bad_frames, connects, "
                     "renewals, latency_p50_ms, latency_p99_ms, clock_offset_ms FROM venue_status "
                     "ORDER BY venue",
                     &stmt);
    if (r < 0)
        return r;
    for (int64_t n = 1; (r = db_query_step(reader, stmt)) > 0; n++) {
        int state = db_feed_state_parse(db_column_text(stmt, 1));
        if (state < 0)
            return db_query_end(stmt, db_query_bad(reader, "venue_status", n, "unknown state"));
        struct db_venue venue = {
            .state = (enum db_feed_state)state,
            .last_recv_ns = sqlite3_column_int64(stmt, 4),
            .frames = sqlite3_column_int64(stmt, 5),
            .bad_frames = sqlite3_column_int64(stmt, 6),
            .connects = sqlite3_column_int64(stmt, 7),
            .renewals = sqlite3_column_int64(stmt, 8),
            .latency_p50_ms = real_or_nan(stmt, 9),
            .latency_p99_ms = real_or_nan(stmt, 10),
            .clock_offset_ms = real_or_nan(stmt, 11),
            .venue = db_column_text(stmt, 0),
            .detail = db_column_text(stmt, 2),
            .market = db_column_text(stmt, 3),
        };
        row(ctx, &venue);
    }
    return db_query_end(stmt, r);
}

int db_reader_bans(struct db_reader *reader, void (*row)(void *ctx, const struct db_ban *row), void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, "SELECT venue, until_ns, why FROM venue_bans ORDER BY venue", &stmt);
    if (r < 0)
        return r;
    while ((r = db_query_step(reader, stmt)) > 0) {
        struct db_ban ban = {
            .until_ns = sqlite3_column_int64(stmt, 1),
            .venue = db_column_text(stmt, 0),
            .why = db_column_text(stmt, 2),
        };
        row(ctx, &ban);
    }
    return db_query_end(stmt, r);
}
