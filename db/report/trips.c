/* The walk of the reports through the ledger, kept by a reader, so that each look takes only what is new. */
#include "db/report/trips.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/report/internal.h"

enum {
    PRICES_EVERY = 32, /* looks for bars of another kind once in so many valuations */
    STORED_AT_ONCE = 256,
};

/* A closed one, until it is stored. */
struct trip {
    int64_t account, symbol, id, first_fill, fills, opened_ns, closed_ns, qty, profit, fees;
    double entry, exit, share;
    bool is_short;
    int source;
};

struct db_trips {
    bool started;
    uint64_t mark;           /* of all that the walk depends on beside the ledger */
    struct db_report report; /* its accounts, for the walk */
    struct report_prices prices;
    struct report_walk walk;
    struct trip closed[STORED_AT_ONCE]; /* that are not stored yet */
    size_t n_closed;
    bool broken; /* some could not be stored */
    unsigned valued;
    int r;
};

/* ---- closed ones ---- */

static int insert(struct db_trips *trips, sqlite3_stmt *stmt, const struct trip *t)
{
    const struct record_param params[] = {record_param_number(t->id),
                                          record_param_number(t->account),
                                          record_param_number(t->symbol),
                                          record_param_text(trips->walk.sources[t->source]),
                                          record_param_text(t->is_short ? "SHORT" : "LONG"),
                                          record_param_number(t->opened_ns),
                                          record_param_number(t->closed_ns),
                                          record_param_number(t->first_fill),
                                          record_param_number(t->fills),
                                          record_param_number(t->qty),
                                          record_param_real(t->entry),
                                          record_param_real(t->exit),
                                          record_param_real(t->share),
                                          record_param_number(t->profit),
                                          record_param_number(t->fees),
                                          {0}};

    record_sqlite_params(stmt, params);
    int rc = sqlite3_step(stmt);
    sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? 0 : rc;
}

static int store(struct db_trips *trips, struct db_reader *reader)
{
    sqlite3_stmt *stmt = NULL;

    if (trips->n_closed == 0)
        return 0;
    db_reader_temp_writable(reader, true);
    int r = db_query(reader, "INSERT INTO temp.trips VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", NULL, &stmt);
    for (size_t i = 0; i < trips->n_closed && r == 0; i++)
        if (insert(trips, stmt, &trips->closed[i]) != 0) {
            snprintf(reader->error, sizeof reader->error, "%s", sqlite3_errmsg(reader->db));
            r = db_errno(sqlite3_errcode(reader->db));
        }
    sqlite3_finalize(stmt);
    db_reader_temp_writable(reader, false);
    trips->n_closed = 0;
    return r;
}

static double amount(int128_t units, int scale)
{
    return (double)units / (double)decimal_pow10(scale);
}

static double price_of(int128_t notional, int quote_scale, int64_t qty, int qty_scale)
{
    return amount(notional, quote_scale) / decimal_to_double(qty, qty_scale);
}

static int on_closed(void *ctx, const struct report_holding *row, const struct report_fill *fill,
                     int64_t profit)
{
    struct db_trips *trips = ctx;
    const struct report_trip *trip = &row->trip;
    const struct db_symbol_row *symbol;
    int r = db_reader_symbol_id(trips->prices.reader, row->symbol, &symbol);

    if (r < 0 || !symbol)
        return r < 0 ? r : -EBADMSG;
    if (trips->n_closed == STORED_AT_ONCE && (r = store(trips, trips->prices.reader)) < 0) {
        trips->broken = true;
        return r;
    }
    const int money = symbol->symbol.quote_scale, size = symbol->symbol.qty_scale;
    trips->closed[trips->n_closed++] =
        (struct trip){.account = row->account,
                      .symbol = row->symbol,
                      .id = fill->id,
                      .first_fill = trip->first_fill,
                      .fills = trip->fills,
                      .opened_ns = row->opened_ns,
                      .closed_ns = fill->ts_ns,
                      .qty = trip->entered,
                      .profit = profit,
                      .fees = row->position.fees - row->opened_fees,
                      .entry = price_of(trip->entry, money, trip->entered, size),
                      .exit = price_of(trip->exit, money, trip->left, size),
                      .share = amount(profit, money) / amount(trip->entry, money),
                      .is_short = fill->side == ORDER_BUY,
                      .source = trip->source};
    return 0;
}

/* ---- the walk's beginning ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t n) /* FNV-1a */
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

struct marking {
    uint64_t hash;
};

static void mark_account(void *ctx, const struct db_account_row *row)
{
    struct marking *marking = ctx;

    marking->hash = mix(marking->hash, row->account.name, strlen(row->account.name) + 1);
    marking->hash = mix(marking->hash, row->account.strategy, strlen(row->account.strategy) + 1);
}

/* The names that sources have, the splits, the base: where one changes, all is read again. */
static int read_mark(struct db_reader *reader, uint64_t *ret, struct db_base *ret_base)
{
    struct marking marking = {UINT64_C(14695981039346656037)};
    int64_t actions, symbols;
    const char *policy;
    sqlite3_stmt *stmt;
    int r = db_base_read(reader, ret_base);

    r = r < 0 ? r : db_reader_accounts(reader, mark_account, &marking);
    if (r == 0)
        r = db_query_first(reader,
                           "SELECT (SELECT count(*) FROM corporate_actions), (SELECT count(*) FROM symbols)",
                           NULL, RECORD_INTO(&actions, &symbols));
    if (r < 0)
        return r;
    r = db_query(reader, "SELECT hex(policy) || ifnull(name, '') FROM policies ORDER BY policy", NULL, &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt, RECORD_INTO(&policy))) > 0)
        marking.hash = mix(marking.hash, policy, strlen(policy) + 1);
    r = db_query_end(stmt, r);
    marking.hash = mix(marking.hash, &actions, sizeof actions);
    marking.hash = mix(marking.hash, &symbols, sizeof symbols);
    marking.hash = mix(marking.hash, &ret_base->event_seq, sizeof ret_base->event_seq);
    *ret = marking.hash;
    return r;
}

static void forget(struct db_trips *trips)
{
    db_report_walk_finish(&trips->walk);
    db_report_prices_finish(&trips->prices);
    db_report_finish(&trips->report);
    *trips = (struct db_trips){0};
}

void db_trips_destroy(struct db_trips *trips)
{
    if (!trips)
        return;
    forget(trips);
    free(trips);
}

static void take_account(void *ctx, const struct db_account_row *row)
{
    struct db_trips *trips = ctx;
    struct db_report *report = &trips->report;
    struct db_report_account *more = reallocarray(report->accounts, report->n_accounts + 1, sizeof *more);

    if (!more) {
        trips->r = -ENOMEM;
        return;
    }
    report->accounts = more;
    more[report->n_accounts++] = (struct db_report_account){
        .account = row->account, .from_ns = trips->walk.from_ns, .to_ns = trips->walk.to_ns};
}

#define TABLE \
    "DROP TABLE IF EXISTS temp.trips; CREATE TABLE temp.trips (" \
    "id INTEGER PRIMARY KEY, account INTEGER, symbol INTEGER, source TEXT, side TEXT, opened_ns INTEGER, " \
    "closed_ns INTEGER, first_fill INTEGER, fills INTEGER, qty INTEGER, entry REAL, exit REAL, share REAL, " \
    "profit INTEGER, fees INTEGER)"

static int start(struct db_trips *trips, struct db_reader *reader, uint64_t mark, const struct db_base *base)
{
    int r = db_reader_write_temp(reader, TABLE);

    forget(trips);
    trips->mark = mark;
    trips->walk = (struct report_walk){.prices = &trips->prices,
                                       .report = &trips->report,
                                       .from_ns = base->event_seq > 0 ? base->ts_ns : 1,
                                       .to_ns = INT64_MAX,
                                       .to_id = INT64_MAX,
                                       .holdings = {.closed = on_closed, .ctx = trips}};
    r = r < 0 ? r : db_reader_accounts(reader, take_account, trips);
    r = r < 0 ? r : trips->r;
    r = r < 0 ? r : db_report_prices_open(reader, &trips->prices);
    r = r < 0 ? r : db_report_walk_begin(&trips->walk, base);
    trips->started = r == 0;
    return r;
}

/* ---- what is new ---- */

static int follow(struct db_trips *trips, struct db_reader *reader)
{
    struct db_base base;
    uint64_t mark;
    int r = read_mark(reader, &mark, &base);

    if (r < 0)
        return r;
    if (!trips->started || trips->mark != mark)
        r = start(trips, reader, mark, &base);
    r = r < 0 ? r : db_report_walk_read(&trips->walk, &base);
    if (r == -EINTR && !trips->broken) /* what was taken stays */
        return r;
    r = r < 0 ? r : store(trips, reader);
    trips->started = r == 0; /* a statement that failed may have undone the table */
    return r;
}

int db_trips_follow(struct db_reader *reader)
{
    if (!reader->trips && !(reader->trips = calloc(1, sizeof *reader->trips)))
        return -ENOMEM;
    return follow(reader->trips, reader);
}

/* ---- sums ---- */

/* The account as a report of all of the record has it, without what an earlier call has filled in. */
static int renew(struct db_reader *reader, struct db_report_account *account)
{
    struct db_equity_point point;
    const struct db_report_account fresh = {
        .account = account->account, .from_ns = account->from_ns, .to_ns = account->to_ns};
    int r = db_reader_equity_before(reader, account->account.number, INT64_MAX, &point);

    free(account->symbols);
    free(account->strategies);
    *account = fresh;
    if (r == 0)
        account->closing_ns = point.ts_ns;
    return r == -ENOENT ? 0 : r;
}

static int read_version(struct db_reader *reader, int64_t *ret)
{
    int r = db_trips_follow(reader);
    struct db_trips *trips = reader->trips;
    uint64_t hash = trips ? mix(trips->mark, &trips->walk.after_id, sizeof trips->walk.after_id) : 0;

    for (size_t i = 0; r == 0 && i < trips->report.n_accounts; i++) {
        struct db_equity_point point = {0};
        r = db_reader_equity_before(reader, trips->report.accounts[i].account.number, INT64_MAX, &point);
        r = r == -ENOENT ? 0 : r;
        hash = mix(hash, &point.ts_ns, sizeof point.ts_ns);
        hash = mix(hash, &point.equity, sizeof point.equity);
    }
    if (r == 0)
        *ret = (int64_t)hash;
    return r;
}

int db_trips_version(struct db_reader *reader, int64_t *ret)
{
    int r = db_reader_begin(reader);

    if (r < 0)
        return r;
    r = read_version(reader, ret);
    db_reader_end(reader);
    return r;
}

static struct db_trip_sum *next(struct db_trip_sums *sums, const struct db_report_account *account)
{
    struct db_trip_sum *row = &sums->rows[sums->n++];

    *row = (struct db_trip_sum){.scale = account->account.currency_scale};
    memcpy(row->account, account->account.name, sizeof row->account);
    memcpy(row->currency, account->account.currency, sizeof row->currency);
    return row;
}

static void put(const struct db_report_account *account, struct db_trip_sums *sums)
{
    for (size_t i = 0; i < account->n_symbols; i++) {
        const struct db_report_symbol *from = &account->symbols[i];
        struct db_trip_sum *row = next(sums, account);
        snprintf(row->name, sizeof row->name, "%s", from->symbol.name);
        snprintf(row->currency, sizeof row->currency, "%s", from->symbol.quote);
        row->by_symbol = true;
        row->scale = from->symbol.quote_scale;
        row->pnl = from->pnl;
        row->fees = from->fees;
        row->fills = from->fills;
        row->holds = from->qty_to != 0;
        row->trades = from->trades;
    }
    for (size_t i = 0; i < account->n_strategies; i++) {
        const struct db_report_strategy *from = &account->strategies[i];
        struct db_trip_sum *row = next(sums, account);
        memcpy(row->name, from->name, sizeof row->name);
        row->pnl = from->pnl;
        row->fees = from->fees;
        row->fills = from->fills;
        row->holds = from->holds;
        row->trades = from->trades;
    }
}

/* Bars of a kind that were not there before. */
static int renew_prices(struct db_trips *trips, struct db_reader *reader)
{
    if (++trips->valued % PRICES_EVERY != 0)
        return 0;
    db_report_prices_finish(&trips->prices);
    return db_report_prices_open(reader, &trips->prices);
}

int db_trips_sums(struct db_reader *reader, struct db_trip_sums *ret)
{
    struct db_trips *trips = reader->trips;
    struct db_trip_sums sums = {0};
    size_t n = 0;
    int r = renew_prices(trips, reader);

    for (size_t i = 0; i < trips->report.n_accounts && r == 0; i++)
        r = renew(reader, &trips->report.accounts[i]);
    r = r < 0 ? r : db_report_trades_put(&trips->walk);
    for (size_t i = 0; i < trips->report.n_accounts; i++)
        n += trips->report.accounts[i].n_symbols + trips->report.accounts[i].n_strategies;
    if (r == 0 && !(sums.rows = calloc(n + 1, sizeof *sums.rows)))
        r = -ENOMEM;
    for (size_t i = 0; i < trips->report.n_accounts && r == 0; i++)
        put(&trips->report.accounts[i], &sums);
    if (r == 0)
        *ret = sums;
    return r;
}

void db_trip_sums_finish(struct db_trip_sums *sums)
{
    free(sums->rows);
    *sums = (struct db_trip_sums){0};
}

static void merge(struct db_trip_sum *to, const struct db_trip_sum *from)
{
    bool unknown = to->pnl == DB_REPORT_UNKNOWN || from->pnl == DB_REPORT_UNKNOWN;

    to->pnl = unknown ? DB_REPORT_UNKNOWN : to->pnl + from->pnl;
    to->fees += from->fees;
    to->fills += from->fills;
    to->holds |= from->holds;
    metrics_trades_merge(&to->trades, &from->trades);
    if (strcmp(to->account, from->account) != 0)
        to->account[0] = '\0';
}

static double worth(const struct db_trip_sum *row)
{
    return row->pnl == DB_REPORT_UNKNOWN ? -INFINITY : (double)row->pnl / (double)decimal_pow10(row->scale);
}

static int by_worth(const void *a, const void *b)
{
    double x = worth(a), y = worth(b);

    return x != y ? (x < y) - (x > y)
                  : strcmp(((const struct db_trip_sum *)a)->name, ((const struct db_trip_sum *)b)->name);
}

static bool is_of(const struct db_trip_sum *row, const char *account, bool by_symbol)
{
    return row->by_symbol == by_symbol && (!account[0] || strcmp(row->account, account) == 0);
}

/* Are they merged? */
static bool is_same(const struct db_trip_sum *a, const struct db_trip_sum *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->currency, b->currency) == 0 && a->scale == b->scale;
}

size_t db_trip_sums_count(const struct db_trip_sums *sums, const char *account, bool by_symbol)
{
    size_t n = 0;

    for (size_t i = 0; i < sums->n; i++) {
        bool first = is_of(&sums->rows[i], account, by_symbol);
        for (size_t k = 0; k < i && first; k++)
            first = !is_of(&sums->rows[k], account, by_symbol) || !is_same(&sums->rows[k], &sums->rows[i]);
        n += first;
    }
    return n;
}

size_t db_trip_sums_merge(const struct db_trip_sums *sums, const char *account, bool by_symbol,
                          struct db_trip_sum *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < sums->n; i++) {
        const struct db_trip_sum *row = &sums->rows[i];
        size_t at = 0;
        if (!is_of(row, account, by_symbol))
            continue;
        while (at < n && !is_same(&ret[at], row))
            at++;
        if (at < n)
            merge(&ret[at], row);
        else
            ret[n++] = *row;
    }
    qsort(ret, n, sizeof *ret, by_worth);
    return n;
}
