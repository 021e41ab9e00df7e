/* A record as a daemon leaves it: the engine, driven at random by every kind of event and command, and all
 * that leaves it stored by the writer. */
#ifndef TESTS_DB_BOOKS_H
#define TESTS_DB_BOOKS_H

#include <errno.h>
#include <sqlite3.h>

#include "db/writer.h"
#include "engine/event.h"
#include "tests/check.h"
#include "tests/db/fixture.h"
#include "tests/engine/driver.h"

/* The record: what is sealed or chained. */
static const struct {
    const char *name, *key, *row; /* the columns that name a row, and how verify writes them */
} books_tables[] = {
    {"orders", "id", "id"},
    {"fills", "id", "id"},
    {"ledger", "id", "id"},
    {"accounts", "id", "id"},
    {"symbols", "id", "id"},
    {"positions", "account, symbol",
     "(SELECT name FROM accounts WHERE id = account) || ' ' || (SELECT name FROM symbols WHERE id = symbol)"},
    {"equity", "account, ts_ns", "(SELECT name FROM accounts WHERE id = account) || ' ' || ts_ns"},
    {"commands", "id", "id"},
    {"alerts", "id", "id"},
    {"corporate_actions", "id", "id"},
    {"receivables", "id", "id"},
    {"revisions", "id", "id"},
    {"meta", "key", "key"},
};
enum { BOOKS_TABLES = sizeof books_tables / sizeof *books_tables };

struct books {
    struct driver driver;
    struct engine *engine;
    struct db_writer *writer;
    uint64_t command, alert, fills, orders, actions, margin_calls, rows[LEDGER_KINDS], marks;
    uint64_t receivables[RECEIVABLE_KINDS];
    int64_t point_ns;              /* of the newest point of equity */
    struct market_session session; /* the last */
    enum db_command_state outcome;
    uint64_t outcome_order;
};

static void books_order(void *ctx, const struct order *order)
{
    struct books *b = ctx;
    b->orders++;
    db_writer_put_order(b->writer, order);
}

static void books_fill(void *ctx, const struct fill *fill)
{
    struct books *b = ctx;
    b->fills++;
    db_writer_put_fill(b->writer, fill);
}

static void books_ledger(void *ctx, const struct ledger_row *row)
{
    struct books *b = ctx;
    b->rows[row->kind]++;
    db_writer_put_ledger(b->writer, row);
}

static void books_cause(void *ctx, const struct ledger_cause *cause)
{
    struct books *b = ctx;
    db_writer_put_cause(b->writer, cause);
}

static void books_receivable(void *ctx, const struct receivable_row *row)
{
    struct books *b = ctx;
    b->receivables[row->kind]++;
    db_writer_put_receivable(b->writer, row);
}

static void books_fee_rate(void *ctx, const struct fee_rate_change *change)
{
    struct books *b = ctx;
    db_writer_put_fee_rate(b->writer, change);
}

static void books_position(void *ctx, int account, int symbol, const struct position *position, int64_t ts_ns)
{
    struct books *b = ctx;
    (void)ts_ns;
    db_writer_put_position(b->writer, account, symbol, position);
}

static void books_equity(void *ctx, const struct equity_point *point)
{
    struct books *b = ctx;
    const struct account *account = engine_account(b->engine, point->account);
    b->point_ns = point->ts_ns;
    db_writer_put_equity(b->writer, &(struct db_equity){point->account, DB_EQUITY_LIVE, point->ts_ns,
                                                        point->equity, point->cash, point->peak, account->day,
                                                        account->day_equity, account->killed_ns});
}

static void books_mark(void *ctx, const struct engine_mark *mark)
{
    struct books *b = ctx;
    b->marks++;
    db_writer_put_mark(b->writer, &(struct db_mark){.account = mark->account,
                                                    .symbol = mark->symbol,
                                                    .ts_ns = mark->ts_ns,
                                                    .qty = mark->qty,
                                                    .mark = mark->mark,
                                                    .mark_ns = mark->mark_ns});
}

static void books_alert(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                        const char *text)
{
    (void)of;
    struct books *b = ctx;
    b->margin_calls += strcmp(code, "MARGIN_CALL") == 0;
    struct db_alert alert = {
        .id = ++b->alert, .ts_ns = ts_ns, .last_ns = ts_ns, .count = 1, .code = code, .text = text};
    db_writer_put_alert(b->writer, &alert);
}

static void books_account(void *ctx, int index)
{
    struct books *b = ctx;
    struct db_account account;
    db_account_of(index, engine_account_spec(b->engine, index), b->driver.now_ns, &account);
    account.closed_ns = engine_account(b->engine, index)->closed_ns;
    account.change.event = b->driver.seq;
    account.change.since_ns = b->driver.now_ns;
    db_writer_put_account(b->writer, &account);
}

static void books_command_done(void *ctx, const struct event_command *command, enum order_reason reason,
                               uint64_t order)
{
    struct books *b = ctx;
    (void)command;
    b->outcome = reason == ORDER_OK ? DB_COMMAND_DONE : DB_COMMAND_REFUSED;
    b->outcome_order = order;
}

static void books_action(void *ctx, int symbol, const struct corporate_action *action, int64_t ts_ns)
{
    struct books *b = ctx;
    struct db_action row = {.symbol = symbol, .action = *action, .ts_ns = ts_ns, .input_seq = b->driver.seq};
    b->actions++;
    db_writer_put_action(b->writer, &row);
}

static void books_bar(void *ctx, int symbol, enum bar_source source, const struct bar *bar)
{
    struct books *b = ctx;
    db_writer_put_bar(b->writer, symbol, DRIVER_INTERVAL_NS, source, bar);
}

static void books_session(void *ctx, const struct market_session *reported, int64_t ts_ns)
{
    struct books *b = ctx;
    struct db_session row = {.session = *reported, .since_ns = ts_ns};
    b->session = *reported;
    db_writer_put_session(b->writer, &row);
}

/* A correction, a cancelled trade, a late bar. */
static inline void books_revisions(struct books *b)
{
    const struct bar bar = {
        .open_ns = DRIVER_START_NS, .open = 5, .high = 9, .low = 1, .close = 7, .volume = 11};
    const struct market_correction trade = {.id = 8, .new_id = 9, .old_price = 3, .old_qty = 4, .code = "12"};
    for (int kind = REVISION_CORRECTION; kind <= REVISION_BAR; kind++) {
        struct engine_revision reported = {.kind = (enum revision_kind)kind,
                                           .symbol = kind,
                                           .ts_ns = DRIVER_START_NS + kind,
                                           .correction = kind == REVISION_BAR ? NULL : &trade,
                                           .old = &bar,
                                           .now = kind == REVISION_CANCEL ? NULL : &bar};
        struct db_revision row;
        db_revision_of(&reported, 1, &row);
        db_writer_put_revision(b->writer, &row);
    }
}

/* Before the engine is made; NULL: nothing. */
static void (*books_prepare)(struct driver *driver);
/* Changes an event before it is handled. */
static void (*books_change)(struct event *event);
/* Bars are stored too: they are no part of the record. */
static bool books_bars;
/* Events between two clean stops, of which the last is at the end; 0: there is none. */
static int books_stop_every;

/* The engine, its accounts and symbols; the first deposits. */
static inline void books_open(struct books *b, struct db_writer *writer, uint64_t seed)
{
    memset(b, 0, sizeof *b);
    driver_init(&b->driver, seed);
    driver_venues(&b->driver);
    for (int a = 0; a < DRIVER_ACCOUNTS; a++) { /* a parameter that is stored as a word */
        struct account_spec *spec = &b->driver.accounts[a];
        if (spec->strategy)
            strategy_set(spec->strategy, spec->params, "average", "ema", NULL);
    }
    b->driver.calendars = false; /* no row is of them */
    if (books_prepare)
        books_prepare(&b->driver);
    b->writer = writer;
    struct engine_sink sink = {.ctx = b,
                               .bar = books_bars ? books_bar : NULL,
                               .order = books_order,
                               .fill = books_fill,
                               .ledger = books_ledger,
                               .cause = books_cause,
                               .receivable = books_receivable,
                               .fee_rate = books_fee_rate,
                               .position = books_position,
                               .equity = books_equity,
                               .mark = books_mark,
                               .alert = books_alert,
                               .account = books_account,
                               .action = books_action,
                               .session = books_session,
                               .command_done = books_command_done};
    CHECK_INT(engine_create(&b->driver.config, &sink, &b->engine), 0);
    db_writer_group_begin(writer);
    db_writer_put_event(writer, 1); /* what is there before it comes with it */
    for (int s = 0; s < DRIVER_SYMBOLS; s++)
        db_writer_put_symbol(writer, s, b->driver.symbols[s].venue, &b->driver.symbols[s], b->driver.now_ns);
    for (int a = 0; a < DRIVER_ACCOUNTS; a++)
        books_account(b, a);
    CHECK_INT(engine_start(b->engine, b->driver.now_ns), 0);
    books_revisions(b);
    db_writer_group_end(writer);
}

/* One event, in one group, with the row of its command. Returns the ticket of its last row. */
static inline uint64_t books_event(struct books *b)
{
    struct event event;
    driver_next(&b->driver, b->engine, &event);
    if (books_change)
        books_change(&event);
    db_writer_group_begin(b->writer);
    db_writer_put_event(b->writer, event.seq);
    int r = engine_handle(b->engine, &event);
    CHECK(r == 0 || (r == -EINVAL && event.kind == EVENT_ACTION)); /* an invalid one */
    if (event.kind == EVENT_COMMAND) {
        struct db_command row = {.id = ++b->command,
                                 .ts_ns = event.recv_ns,
                                 .peer_uid = 1000,
                                 .peer_pid = 7,
                                 .cmd = "command",
                                 .args = "{\"a\":1}",
                                 .state = b->outcome,
                                 .result = "{}",
                                 .key = event.command.key,
                                 .order_id = b->outcome_order};
        db_writer_put_command(b->writer, &row);
    }
    db_writer_group_end(b->writer);
    return db_writer_last(b->writer);
}

static inline void books_stop(struct books *b)
{
    struct event event = {.seq = ++b->driver.seq, .recv_ns = b->driver.now_ns, .kind = EVENT_STOP};
    db_writer_group_begin(b->writer);
    db_writer_put_event(b->writer, event.seq);
    CHECK_INT(engine_handle(b->engine, &event), 0);
    db_writer_group_end(b->writer);
}

static inline void books_close(struct books *b)
{
    engine_destroy(b->engine);
    b->engine = NULL;
}

/* A whole record in a new database. */
static inline void books_keep(struct books *b, const char *path, uint64_t seed, int events)
{
    const struct db_writer_config config = {0};
    struct db_writer *writer = fixture_writer(path, &config);
    books_open(b, writer, seed);
    for (int i = 0; i < events; i++) {
        books_event(b);
        if (books_stop_every > 0 && (i + 1) % books_stop_every == 0)
            books_stop(b);
    }
    fixture_close(writer);
}

static inline uint64_t books_mix(uint64_t digest, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ at[i]) * UINT64_C(1099511628211);
    return digest;
}

/* All that the record says, as it reads; 0 when it cannot be read. */
static inline uint64_t books_digest(const char *path)
{
    sqlite3 *db = NULL;
    uint64_t sum = UINT64_C(14695981039346656037);
    bool good = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK;
    for (int t = 0; good && t < BOOKS_TABLES; t++) {
        sqlite3_stmt *stmt = NULL;
        char *sql =
            sqlite3_mprintf("SELECT * FROM %s ORDER BY %s", books_tables[t].name, books_tables[t].key);
        good = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK;
        sqlite3_free(sql);
        int rc = SQLITE_DONE;
        while (good && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
            for (int c = 0; c < sqlite3_column_count(stmt); c++) {
                int type = sqlite3_column_type(stmt, c);
                const void *bytes = sqlite3_column_blob(stmt, c);
                sum = books_mix(sum, &type, sizeof type);
                sum = books_mix(sum, bytes ? bytes : "", (size_t)sqlite3_column_bytes(stmt, c));
            }
        good = good && rc == SQLITE_DONE;
        sqlite3_finalize(stmt);
    }
    sqlite3_close(db);
    return good ? sum : 0;
}

#endif
