/* Temporary views have the tables' names, and so come before them wherever a query names one. */
#include "db/as_of.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "db/report/internal.h"
#include "db/row_hash.h"

#define THEN "(SELECT ts_ns FROM temp.as_of)"
/* Of an order: sums of its fills up to then. */
#define FILLS(value) "(SELECT " value " FROM main.fills f WHERE f.order_id = r.id AND f.ts_ns <= " THEN ")"
#define FILLED       FILLS("ifnull(sum(f.qty), 0)")
/* A bracket's exit waits until its entry has ended. */
#define HELD \
    "r.parent > 0 AND NOT EXISTS (SELECT 1 FROM main.orders e WHERE e.id = r.parent AND e.updated_ns <= " THEN \
    " AND e.state NOT IN " DB_LIVE_STATES ")"
/* An order's column: `then` where the order has changed since. */
#define SINCE(column, then) "iif(r.updated_ns > " THEN ", " then ", r." column ")"
#define STATE \
    "CASE WHEN " FILLED " >= r.qty THEN 'FILLED' WHEN " FILLED " > 0 THEN 'PARTIAL' WHEN " HELD \
    " THEN 'HELD' WHEN r.effective_ns > " THEN " THEN 'PENDING' ELSE 'OPEN' END"
#define CHANGED_NS "max(r.created_ns, iif(" HELD ", 0, " EFFECTIVE "), " FILLS("ifnull(max(f.ts_ns), 0)") ")"
#define EFFECTIVE  UNTIL("effective_ns", "0")
/* Of an account: its newest point of equity then. */
#define POINT(value) \
    "ifnull((SELECT " value " FROM main.equity e WHERE e.account = r.id AND e.ts_ns <= " THEN \
    " ORDER BY e.ts_ns DESC LIMIT 1), 0)"
/* Of a training: the newest point of its curve then. */
#define CURVE(value) \
    "(SELECT " value " FROM main.training_points p WHERE p.training = r.name AND p.ts_ns <= " THEN \
    " ORDER BY p.ts_ns DESC LIMIT 1)"
/* What had not happened yet. */
#define UNTIL(column, without) "iif(r." column " <= " THEN ", r." column ", " without ")"

enum { OTHERS_MAX = 10 };

static const struct past {
    const char *table, *where;
    struct {
        const char *column, *sql; /* in place of the stored one */
    } others[OTHERS_MAX];
} tables[] = {
    {"orders",
     "r.created_ns <= " THEN,
     {{"state", SINCE("state", STATE)},
      {"filled", SINCE("filled", "min(" FILLED ", r.qty)")},
      {"cost", SINCE("cost", FILLS("ifnull(sum(f.notional), 0)"))},
      {"reason", SINCE("reason", "''")},
      {"triggered", SINCE("triggered", "r.triggered AND " FILLED " > 0")},
      {"updated_ns", SINCE("updated_ns", CHANGED_NS)}}},
    {"alerts",
     "r.ts_ns <= " THEN,
     {{"last_ns", UNTIL("last_ns", "r.ts_ns")},
      {"count", "iif(r.last_ns <= " THEN ", r.count, 1)"},
      {"acked_ns", UNTIL("acked_ns", "NULL")},
      {"closed_ns", UNTIL("closed_ns", "NULL")}}},
    {"accounts",
     "r.created_ns <= " THEN,
     {{"equity_peak", POINT("e.peak")},
      {"day_equity", POINT("e.day_equity")},
      {"day", THEN " / 86400000000000"},
      {"killed_ns", UNTIL("killed_ns", "0")},
      {"closed_ns", UNTIL("closed_ns", "0")}}},
    {"trainings",
     "r.created_ns <= " THEN,
     {{"state",
       "ifnull((SELECT s.state FROM main.training_states s WHERE s.training = r.name AND s.ts_ns <= " THEN
       " ORDER BY s.ts_ns DESC LIMIT 1), r.state)"},
      {"steps", "ifnull(" CURVE("p.steps") ", 0)"},
      {"iteration", "ifnull(" CURVE("p.iteration") ", 0)"},
      {"steps_s", CURVE("p.steps_s")},
      {"return", CURVE("p.return")},
      {"started_ns", UNTIL("started_ns", "0")},
      {"ended_ns", UNTIL("ended_ns", "0")},
      {"heard_ns", UNTIL("heard_ns", THEN)},
      {"reason", "iif(r.heard_ns <= " THEN ", r.reason, '')"},
      {"cause", "iif(r.heard_ns <= " THEN ", r.cause, '')"}}},
    {"gaps", "r.found_ns <= " THEN, {{"filled_ns", UNTIL("filled_ns", "NULL")}}},
    {"devices", "r.first_ns <= " THEN, {{"last_ns", UNTIL("last_ns", THEN)}}},
    {"processes", "r.first_ns <= " THEN, {{"last_ns", UNTIL("last_ns", THEN)}}},
    {"bars", "r.open_ns < " THEN " AND r.open_ns + r.interval_ns <= " THEN, {{0}}},
    {"chart_bars", "r.open_ns < " THEN " AND r.open_ns + r.interval_ns <= " THEN, {{0}}},
    {"policies", "r.since_ns <= " THEN, {{0}}},
    {"device_processes", "r.first_ns <= " THEN, {{0}}},
    {"fills", "r.ts_ns <= " THEN, {{0}}},
    {"ledger", "r.ts_ns <= " THEN, {{0}}},
    {"equity", "r.ts_ns <= " THEN, {{0}}},
    {"commands", "r.ts_ns <= " THEN, {{0}}},
    {"corporate_actions", "r.ts_ns <= " THEN, {{0}}},
    {"revisions", "r.ts_ns <= " THEN, {{0}}},
    {"account_margins", "r.ts_ns <= " THEN, {{0}}},
    {"marks", "r.ts_ns <= " THEN, {{0}}},
    {"receivables", "r.ts_ns <= " THEN, {{0}}},
    {"fee_rates", "r.ts_ns <= " THEN, {{0}}},
    {"account_terms", "r.since_ns <= " THEN, {{0}}},
    {"ledger_accruals", "r.ts_ns <= " THEN, {{0}}},
    {"training_points", "r.ts_ns <= " THEN, {{0}}},
    {"training_states", "r.ts_ns <= " THEN, {{0}}},
    {"training_evaluations", "r.ts_ns <= " THEN, {{0}}},
    {"device_samples", "r.ts_ns <= " THEN, {{0}}},
    {"process_samples", "r.ts_ns <= " THEN, {{0}}},
};

static const char *replaced(const struct past *past, const char *column)
{
    for (int i = 0; i < OTHERS_MAX && past->others[i].column; i++)
        if (strcmp(past->others[i].column, column) == 0)
            return past->others[i].sql;
    return NULL;
}

/* "CREATE TEMP VIEW …": every column of the table, in its order, of rows for which `more` holds too. 0 or
 * -errno. */
static int put_view(struct db_reader *reader, const struct past *past, const char *more, sqlite3_str *sql)
{
    sqlite3_stmt *stmt;
    const char *column, *before = "";
    int r =
        db_query(reader, "SELECT name FROM pragma_table_info(?1, 'main')", RECORD_PARAMS(past->table), &stmt);

    sqlite3_str_appendf(sql, "CREATE TEMP VIEW %s AS SELECT ", past->table);
    while (r >= 0 && (r = db_query_next(reader, stmt, RECORD_INTO(&column))) > 0) {
        const char *other = replaced(past, column);
        if (other)
            sqlite3_str_appendf(sql, "%s%s AS \"%w\"", before, other, column);
        else
            sqlite3_str_appendf(sql, "%sr.\"%w\"", before, column);
        before = ", ";
    }
    sqlite3_str_appendf(sql, " FROM main.%s r WHERE (%s) AND %s;", past->table, past->where, more);
    return db_query_end(stmt, r);
}

int db_reader_as_of(struct db_reader *reader, int64_t ts_ns)
{
    struct db_base base;
    int r = db_base_read(reader, &base);

    if (r == 0 && base.event_seq > 0 && ts_ns < base.ts_ns) {
        char time[DB_REPORT_TIME_MAX];
        snprintf(reader->error, sizeof reader->error,
                 "the record was built again, and begins at %s: nothing is known of before",
                 db_report_time(base.ts_ns, time));
        return -ENODATA;
    }
    sqlite3_str *sql = sqlite3_str_new(reader->db);
    sqlite3_str_appendf(sql, "CREATE TEMP TABLE as_of AS SELECT %lld AS ts_ns;", (long long)ts_ns);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && r == 0; i++)
        r = put_view(reader, &tables[i], "1", sql);
    char *text = sqlite3_str_finish(sql);
    if (r == 0)
        r = text ? db_reader_write_temp(reader, text) : -ENOMEM;
    sqlite3_free(text);
    if (r == 0)
        reader->as_of_ns = ts_ns;
    reader->n_symbols = reader->n_accounts = 0; /* those of then are read again */
    return r;
}

static const struct past *past_of(const char *table)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i].table, table) == 0)
            return &tables[i];
    return NULL;
}

int db_as_of_narrow(struct db_reader *reader, const char *table, const char *where)
{
    const struct past *past = reader->as_of_ns > 0 ? past_of(table) : NULL;
    sqlite3_str *sql = sqlite3_str_new(reader->db);
    int r = 0;

    if (past)
        sqlite3_str_appendf(sql, "DROP VIEW temp.%s;", table);
    if (past)
        r = put_view(reader, past, where, sql);
    else
        sqlite3_str_appendf(sql, "CREATE TEMP VIEW %s AS SELECT * FROM main.%s r WHERE %s;", table, table,
                            where);
    char *text = sqlite3_str_finish(sql);
    if (r == 0)
        r = text ? db_reader_write_temp(reader, text) : -ENOMEM;
    sqlite3_free(text);
    return r;
}

/* ---- positions and prices ---- */

static int pass_position(struct db_reader *reader, const struct report_holding *holding,
                         void (*row)(void *ctx, const struct db_position_row *row), void *ctx)
{
    struct db_position_row position = {.position = holding->position};
    int r = db_reader_symbol_id(reader, holding->symbol, &position.symbol);

    for (size_t i = 0; i < reader->n_accounts; i++)
        if (reader->accounts[i].account.number == holding->account)
            position.account = &reader->accounts[i].account;
    if (r == 0 && position.symbol && position.account)
        row(ctx, &position);
    return r;
}

int db_as_of_positions(struct db_reader *reader, void (*row)(void *ctx, const struct db_position_row *row),
                       void *ctx)
{
    struct db_report none = {0}; /* no period counts: the positions alone are wanted */
    struct report_prices prices = {0};
    struct report_walk walk = {.prices = &prices,
                               .report = &none,
                               .from_ns = INT64_MAX,
                               .to_ns = INT64_MAX,
                               .from_id = INT64_MAX,
                               .to_id = INT64_MAX};
    struct db_base base;
    int r = db_base_read(reader, &base);

    reader->error[0] = '\0';
    r = r < 0 ? r : db_reader_load_accounts(reader);
    r = r < 0 ? r : db_report_prices_open(reader, &prices);
    if (r < 0)
        return r;
    r = db_report_walk_begin(&walk, &base);
    r = r < 0 ? r : db_report_walk_read(&walk, &base);
    for (size_t i = 0; i < walk.holdings.n && r == 0; i++)
        if (walk.holdings.rows[i].source == REPORT_WHOLE)
            r = pass_position(reader, &walk.holdings.rows[i], row, ctx);
    db_report_walk_finish(&walk);
    db_report_prices_finish(&prices);
    return r;
}

int db_as_of_prices(struct db_reader *reader, void (*row)(void *ctx, const struct db_price_row *row),
                    void *ctx)
{
    const int64_t ts_ns = reader->as_of_ns;
    struct report_prices prices;
    int r = db_report_prices_open(reader, &prices);

    if (r < 0)
        return r;
    for (size_t i = 0; i < reader->n_symbols && r == 0; i++) {
        struct db_price_row price = {.symbol = &reader->symbols[i]};
        r = db_report_price_at(&prices, reader->symbols[i].id, ts_ns, ts_ns, &price.price.mark,
                               &price.price.ts_ns);
        price.price.mark_ns = price.price.ts_ns;
        price.price.last = price.price.mark;
        price.price.recv_wall_ns = price.price.ts_ns;
        if (r == 0 && price.price.mark > 0)
            row(ctx, &price);
    }
    db_report_prices_finish(&prices);
    return r;
}

/* ---- steps ---- */

#define MOMENT(table, column, sign, of) \
    "SELECT " of "(" column ") AS t FROM main." table " WHERE " column " " sign " ?1 "
#define OR_MOMENT(table, column, sign, of) "UNION ALL " MOMENT(table, column, sign, of)
#define MOMENTS_ORDERS(sign, of) \
    OR_MOMENT("orders", "created_ns", sign, of) OR_MOMENT("orders", "updated_ns", sign, of)
#define MOMENTS_ALERTS(sign, of) \
    OR_MOMENT("alerts", "ts_ns", sign, of) OR_MOMENT("alerts", "closed_ns", sign, of)
#define MOMENTS(sign, of) \
    "SELECT " of "(t) AS t FROM (" MOMENT("fills", "ts_ns", sign, of) MOMENTS_ORDERS(sign, of) \
        MOMENTS_ALERTS(sign, of) ")"

static int first_moment(struct db_reader *reader, const char *sql, const struct record_param *params,
                        int64_t *ret)
{
    int64_t at_ns = 0;
    int r = db_query_first(reader, sql, params, RECORD_INTO(&at_ns));

    if (r < 0 || at_ns <= 0)
        return r < 0 ? r : -ENOENT;
    *ret = at_ns;
    return 0;
}

int db_as_of_step(struct db_reader *reader, int64_t ts_ns, bool later, int64_t *ret)
{
    return first_moment(reader, later ? MOMENTS(">", "min") : MOMENTS("<", "max"), RECORD_PARAMS(ts_ns), ret);
}

/* Of bars as they were received, made of trades, and kept for the chart. */
#define BAR_END(table, more, sign, of) \
    "SELECT " of "(open_ns) AS t FROM main." table " WHERE symbol = ?1 AND interval_ns = ?2 " more \
    "AND open_ns " sign " ?3 - ?2 "
#define OR_BAR_END(table, more, sign, of) "UNION ALL " BAR_END(table, more, sign, of)
#define BAR_ENDS(sign, of) \
    "SELECT " of "(t) + ?2 FROM (" BAR_END("bars", "AND source = 'venue' ", sign, of) \
        OR_BAR_END("bars", "AND source = 'trades' ", sign, of) OR_BAR_END("chart_bars", "", sign, of) ")"

int db_as_of_step_bar(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t ts_ns,
                      bool later, int64_t *ret)
{
    struct db_symbol_row row;
    int r = db_reader_symbol(reader, symbol, &row);

    return r < 0 ? r
                 : first_moment(reader, later ? BAR_ENDS(">", "min") : BAR_ENDS("<", "max"),
                                RECORD_PARAMS(row.id, interval_ns, ts_ns), ret);
}

int db_as_of_newest(struct db_reader *reader, int64_t *ret)
{
    static const char sql[] = "SELECT max(t) FROM (" MOMENTS("<=", "max")
        OR_MOMENT("prices", "ts_ns", "<=", "max") OR_MOMENT("equity", "ts_ns", "<=", "max") ")";
    return first_moment(reader, sql, RECORD_PARAMS(INT64_MAX), ret);
}
