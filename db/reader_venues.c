/* Reads the rows of db/store_venues.c. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "db/reader_query.h"
#include "db/records.h"
#include "db/row_hash.h"
#include "db/store.h"
#include "record/market.h"

#define BOOK_BARS DB_SELECT("book_bars", RECORD_BOOK_BARS)

static int book_bars(struct db_reader *reader, const char *sql, const char *name, int64_t interval_ns,
                     int64_t a, int64_t b, void (*row)(void *ctx, const struct engine_book_bar *row),
                     void *ctx)
{
    struct db_symbol_row symbol;
    sqlite3_stmt *stmt = NULL;
    int r = db_reader_symbol(reader, name, &symbol);
    struct db_row_book_bar bar;
    if (r == 0)
        r = db_query(reader, sql, RECORD_PARAMS(symbol.id, interval_ns, a, b), &stmt);
    while (r >= 0 && (r = db_query_row(reader, stmt, &db_record_book_bars, &bar, NULL)) > 0)
        row(ctx, &bar.bar);
    return db_query_end(stmt, r);
}

int db_reader_book_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t from_ns,
                        int64_t to_ns, void (*row)(void *ctx, const struct engine_book_bar *row), void *ctx)
{
    return book_bars(reader,
                     BOOK_BARS "WHERE symbol = ?1 AND interval_ns = ?2 "
                               "AND open_ns BETWEEN ?3 AND ?4 ORDER BY open_ns",
                     symbol, interval_ns, from_ns, to_ns, row, ctx);
}

int db_reader_last_book_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t n,
                             void (*row)(void *ctx, const struct engine_book_bar *row), void *ctx)
{
    return book_bars(reader,
                     "SELECT * FROM (" BOOK_BARS "WHERE symbol = ?1 AND "
                     "interval_ns = ?2 ORDER BY open_ns DESC LIMIT ?3) ORDER BY open_ns",
                     symbol, interval_ns, n, 0, row, ctx);
}

static bool number(const json_t *object, const char *key, int64_t *ret)
{
    const json_t *value = json_object_get(object, key);
    *ret = json_integer_value(value);
    return json_is_integer(value);
}

/* "" is none; false for a text that is not a bar. */
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

int db_reader_revisions(struct db_reader *reader, const char *symbol, int64_t from_ns, int64_t to_ns,
                        void (*row)(void *ctx, const struct db_revision_row *row), void *ctx)
{
    struct db_symbol_row listed = {0};
    sqlite3_stmt *stmt = NULL;
    int r = symbol ? db_reader_symbol(reader, symbol, &listed) : 0;
    if (r == 0)
        r = db_query(reader,
                     "SELECT " DB_REVISION_COLUMNS " FROM revisions WHERE (symbol = ?1 OR ?1 = 0) AND ts_ns "
                     "BETWEEN ?2 AND ?3 ORDER BY id",
                     RECORD_PARAMS(listed.id, from_ns, to_ns), &stmt);
    struct db_revision revision = {0};
    struct db_named named;
    while (r >= 0 && (r = db_query_row(reader, stmt, &db_record_revisions, &revision, &named)) > 0) {
        if (!read_bar(revision.old_bar, &revision.has_old, &revision.old) ||
            !read_bar(revision.new_bar, &revision.has_now, &revision.now))
            return db_query_end(stmt, db_query_bad_row(reader, stmt, "revisions", "a bar is none"));
        row(ctx, &(struct db_revision_row){revision, named.symbol});
    }
    return db_query_end(stmt, r);
}

/* Finds a symbol's intervals and the first bar of each by the table's key, so the time does not depend on
 * the number of bars. */
int db_reader_first_moments(struct db_reader *reader,
                            void (*row)(void *ctx, const struct db_symbol_row *symbol, int64_t first_ns),
                            void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(
        reader,
        "WITH RECURSIVE kept (symbol, interval_ns) AS (SELECT id, (SELECT min(interval_ns) FROM bars WHERE "
        "symbol = symbols.id) FROM symbols UNION ALL SELECT symbol, (SELECT min(interval_ns) FROM bars WHERE "
        "symbol = kept.symbol AND interval_ns > kept.interval_ns) FROM kept WHERE interval_ns IS NOT NULL), "
        "firsts (symbol, ns) AS (SELECT symbol, interval_ns + (SELECT min(open_ns) FROM bars WHERE symbol = "
        "kept.symbol AND interval_ns = kept.interval_ns AND source = 'trades') FROM kept UNION ALL SELECT "
        "symbol, min(created_ns) FROM orders GROUP BY symbol) SELECT symbol, min(ns) FROM firsts WHERE "
        "symbol IS NOT NULL AND ns IS NOT NULL GROUP BY symbol",
        NULL, &stmt);
    int64_t id, first_ns;
    while (r >= 0 && (r = db_query_next(reader, stmt, RECORD_INTO(&id, &first_ns))) > 0) {
        const struct db_symbol_row *symbol;
        r = db_reader_symbol_id(reader, id, &symbol);
        if (symbol)
            row(ctx, symbol, first_ns);
    }
    return db_query_end(stmt, r);
}

int db_reader_actions(struct db_reader *reader, const char *symbol,
                      void (*row)(void *ctx, const struct db_action_row *row), void *ctx)
{
    struct db_symbol_row listed = {0};
    sqlite3_stmt *stmt = NULL;
    int r = symbol ? db_reader_symbol(reader, symbol, &listed) : 0;
    if (r == 0)
        r = db_query(reader,
                     "SELECT " DB_ACTION_COLUMNS
                     " FROM corporate_actions WHERE symbol = ?1 OR ?1 = 0 ORDER BY id",
                     RECORD_PARAMS(listed.id), &stmt);
    struct db_action action;
    struct db_named named;
    while (r >= 0 && (r = db_query_row(reader, stmt, &db_record_actions, &action, &named)) > 0)
        row(ctx, &(struct db_action_row){action, named.symbol});
    return db_query_end(stmt, r);
}

int db_reader_receivables(struct db_reader *reader,
                          void (*row)(void *ctx, const struct receivable_row *row,
                                      const struct db_account *account),
                          void *ctx)
{
    DB_QUERY_MAKE(struct receivable_row, &engine_record_receivables,
                  DB_SELECT("receivables", RECORD_RECEIVABLES) "ORDER BY id", NULL, &each, named.account);
}

int db_reader_fee_rates(struct db_reader *reader,
                        void (*row)(void *ctx, const struct fee_rate_change *row,
                                    const struct db_account *account),
                        void *ctx)
{
    DB_QUERY_MAKE(struct fee_rate_change, &engine_record_fee_rates,
                  DB_SELECT("fee_rates", RECORD_FEE_RATES) "ORDER BY id", NULL, &each, named.account);
}

int db_reader_sessions(struct db_reader *reader, void (*row)(void *ctx, const struct db_session *row),
                       void *ctx)
{
    DB_QUERY_EACH(struct db_session, &db_record_sessions,
                  DB_SELECT("market_sessions", RECORD_SESSIONS) "ORDER BY calendar", NULL);
}

int db_reader_venues(struct db_reader *reader, void (*row)(void *ctx, const struct db_venue *row), void *ctx)
{
    DB_QUERY_EACH(struct db_venue, &db_record_venues,
                  DB_SELECT("venue_status", RECORD_VENUES) "ORDER BY venue", NULL);
}

int db_reader_bans(struct db_reader *reader, void (*row)(void *ctx, const struct db_ban *row), void *ctx)
{
    DB_QUERY_EACH(struct db_ban, &db_record_bans, DB_SELECT("venue_bans", RECORD_BANS) "ORDER BY venue",
                  NULL);
}
