/* What each kind of row binds to its statement. */
#include <stdio.h>
#include <string.h>

#include "db/row_hash.h"
#include "db/store.h"
#include "engine/ledger.h"
#include "exchange/fill.h"

#define HOUR_NS   INT64_C(3600000000000)
#define WINDOW_NS (8 * 24 * HOUR_NS) /* of equity at full detail, and of telemetry at all */

bool db_row_is_money(enum db_row_kind kind)
{
    switch (kind) {
    case DB_ROW_ACCOUNT:
    case DB_ROW_SYMBOL:
    case DB_ROW_ORDER:
    case DB_ROW_FILL:
    case DB_ROW_LEDGER:
    case DB_ROW_POSITION:
    case DB_ROW_COMMAND:
    case DB_ROW_META:
        return true;
    default:
        return false;
    }
}

/* Values are bound in the order of the statement's parameters; texts and blobs outlive the step. */
struct binding {
    sqlite3_stmt *stmt;
    int n;
};

static struct binding bind(struct db_store *store, enum db_statement which)
{
    return (struct binding){store->statements[which], 0};
}

static void integer(struct binding *b, int64_t value)
{
    sqlite3_bind_int64(b->stmt, ++b->n, value);
}

static void text(struct binding *b, const char *value)
{
    sqlite3_bind_text(b->stmt, ++b->n, value, -1, SQLITE_STATIC);
}

static void blob(struct binding *b, const void *value, int size)
{
    sqlite3_bind_blob(b->stmt, ++b->n, value, size, SQLITE_STATIC);
}

/* The database's id of a symbol, or null where the index is none. */
static int64_t symbol_id(const struct db_store *store, int index)
{
    return index >= 0 && index < SYMBOLS_MAX ? store->symbol_ids[index] : 0;
}

static void symbol(struct binding *b, const struct db_store *store, int index)
{
    int64_t id = symbol_id(store, index);
    if (id)
        integer(b, id);
    else
        sqlite3_bind_null(b->stmt, ++b->n);
}

/* Steps to the end. The first column of the first row, if there is one, goes to *ret. */
static int run_returning(struct db_store *store, struct binding *b, int64_t *ret)
{
    if (sqlite3_step(b->stmt) == SQLITE_ROW) {
        *ret = sqlite3_column_int64(b->stmt, 0);
        sqlite3_step(b->stmt);
    }
    int rc = sqlite3_reset(b->stmt);
    if (rc != SQLITE_OK)
        snprintf(store->error, sizeof store->error, "%s", sqlite3_errmsg(store->db));
    sqlite3_clear_bindings(b->stmt);
    return rc;
}

static int run(struct db_store *store, struct binding *b)
{
    int64_t ignored;
    return run_returning(store, b, &ignored);
}

/* A row that is already there is the same row, or the database is not what we think it is. */
static int run_once(struct db_store *store, struct binding *b, enum db_statement hash_of, uint64_t id,
                    const char *what, const void *hash)
{
    int rc = run(store, b);
    if (rc != SQLITE_OK || sqlite3_changes(store->db) == 1)
        return rc;
    sqlite3_stmt *stmt = store->statements[hash_of];
    sqlite3_bind_int64(stmt, 1, (int64_t)id);
    bool same = sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_bytes(stmt, 0) == DB_ROW_HASH_SIZE &&
                memcmp(sqlite3_column_blob(stmt, 0), hash, DB_ROW_HASH_SIZE) == 0;
    rc = sqlite3_reset(stmt);
    if (rc == SQLITE_OK && !same) {
        snprintf(store->error, sizeof store->error, "%s %llu is already stored, with other values", what,
                 (unsigned long long)id);
        return SQLITE_CONSTRAINT;
    }
    return rc;
}

static int apply_meta(struct db_store *store, const char *key)
{
    struct binding b = bind(store, DB_SQL_META);
    text(&b, key);
    text(&b, key + strlen(key) + 1);
    return run(store, &b);
}

static int apply_account(struct db_store *store, const struct db_account *row)
{
    struct binding b = bind(store, DB_SQL_ACCOUNT);
    int64_t id = -1;
    integer(&b, row->number);
    text(&b, row->name);
    text(&b, row->currency);
    integer(&b, row->currency_scale);
    integer(&b, row->created_ns);
    int rc = run_returning(store, &b, &id);
    if (rc == SQLITE_OK && id < 0) {
        snprintf(store->error, sizeof store->error, "account %s: the currency of account %d cannot change",
                 row->name, row->number);
        return SQLITE_CONSTRAINT;
    }
    return rc;
}

static int apply_symbol(struct db_store *store, const struct db_row_symbol *row)
{
    const struct symbol *s = &row->symbol;
    const struct symbol_filters *f = &s->filters;
    const int64_t numbers[] = {
        s->price_scale,
        s->qty_scale,
        s->quote_scale,
        s->trading,
        f->price_min,
        f->price_max,
        f->tick,
        f->qty_min,
        f->qty_max,
        f->step,
        f->market_qty_min,
        f->market_qty_max,
        f->market_step,
        f->notional_min,
        f->notional_max,
        f->notional_min_market,
        f->notional_max_market,
        f->bid_up_e4,
        f->bid_down_e4,
        f->ask_up_e4,
        f->ask_down_e4,
        f->orders_max,
        row->seen_ns,
    };
    struct binding b = bind(store, DB_SQL_SYMBOL);
    int64_t id = 0;
    text(&b, (const char *)(row + 1));
    text(&b, s->name);
    text(&b, s->base);
    text(&b, s->quote);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        integer(&b, numbers[i]);
    int rc = run_returning(store, &b, &id);
    if (rc == SQLITE_OK && id == 0) {
        snprintf(store->error, sizeof store->error,
                 "symbol %s: its assets or scales are not those stored before", s->name);
        return SQLITE_CONSTRAINT;
    }
    if (rc == SQLITE_OK)
        store->symbol_ids[row->index] = id;
    return rc;
}

static struct binding bind_bar(struct db_store *store, enum db_statement which, const struct db_row_bar *row,
                               const char *volume, const char *quote_volume)
{
    const struct bar *bar = &row->bar;
    struct binding b = bind(store, which);
    symbol(&b, store, row->symbol);
    integer(&b, row->interval_ns);
    text(&b, row->source == BAR_VENUE ? "venue" : "trades");
    integer(&b, bar->open_ns);
    integer(&b, bar->open);
    integer(&b, bar->high);
    integer(&b, bar->low);
    integer(&b, bar->close);
    text(&b, volume);
    text(&b, quote_volume);
    integer(&b, bar->trades);
    integer(&b, bar->first_trade_id);
    integer(&b, bar->last_trade_id);
    return b;
}

static int apply_bar(struct db_store *store, const struct db_row_bar *row)
{
    char volume[DECIMAL_TEXT_MAX], quote_volume[DECIMAL_TEXT_MAX];
    decimal_format(row->bar.volume, 0, volume);
    decimal_format(row->bar.quote_volume, 0, quote_volume);
    struct binding b = bind_bar(store, DB_SQL_BAR, row, volume, quote_volume);
    int rc = run(store, &b);
    if (rc != SQLITE_OK || sqlite3_changes(store->db) == 1)
        return rc;
    b = bind_bar(store, DB_SQL_BAR_CORRECT, row, volume, quote_volume);
    rc = run(store, &b);
    if (rc == SQLITE_OK)
        store->bars_corrected += (uint64_t)sqlite3_changes(store->db);
    return rc;
}

static int apply_gap(struct db_store *store, const struct db_gap *row)
{
    struct binding b = bind(store, DB_SQL_GAP);
    symbol(&b, store, row->symbol);
    integer(&b, row->interval_ns);
    integer(&b, row->from_open_ns);
    integer(&b, row->to_open_ns);
    integer(&b, row->found_ns);
    integer(&b, row->filled_ns);
    return run(store, &b);
}

static int apply_price(struct db_store *store, const struct db_price *row)
{
    struct binding b = bind(store, DB_SQL_PRICE);
    symbol(&b, store, row->symbol);
    integer(&b, row->last);
    integer(&b, row->bid);
    integer(&b, row->ask);
    integer(&b, row->mark);
    integer(&b, row->ts_ns);
    integer(&b, row->recv_wall_ns);
    return run(store, &b);
}

static int apply_order(struct db_store *store, const struct order *o)
{
    uint8_t hash[DB_ROW_HASH_SIZE];
    if (db_hash_order(o, symbol_id(store, o->symbol), hash) < 0)
        return SQLITE_NOMEM;
    struct binding b = bind(store, DB_SQL_ORDER);
    integer(&b, (int64_t)o->id);
    if (o->account >= 0)
        integer(&b, o->account);
    else
        sqlite3_bind_null(b.stmt, ++b.n);
    symbol(&b, store, o->symbol);
    text(&b, order_side_name(o->side));
    text(&b, order_type_name(o->type));
    text(&b, order_state_name(o->state));
    text(&b, order_reason_name(o->reason));
    integer(&b, o->qty);
    integer(&b, o->filled);
    integer(&b, o->price);
    integer(&b, o->stop_price);
    integer(&b, o->cost);
    integer(&b, o->created_ns);
    integer(&b, o->effective_ns);
    integer(&b, o->updated_ns);
    integer(&b, (int64_t)o->input_seq);
    integer(&b, o->by_hand);
    text(&b, o->tag);
    blob(&b, hash, sizeof hash);
    return run(store, &b);
}

static int apply_fill(struct db_store *store, const struct fill *f)
{
    uint8_t hash[DB_ROW_HASH_SIZE];
    if (db_hash_fill(f, symbol_id(store, f->symbol), hash) < 0)
        return SQLITE_NOMEM;
    struct binding b = bind(store, DB_SQL_FILL);
    integer(&b, (int64_t)f->id);
    integer(&b, (int64_t)f->order_id);
    integer(&b, f->account);
    symbol(&b, store, f->symbol);
    text(&b, order_side_name(f->side));
    integer(&b, f->ts_ns);
    integer(&b, f->price);
    integer(&b, f->qty);
    integer(&b, f->notional);
    integer(&b, f->fee);
    integer(&b, f->maker);
    integer(&b, (int64_t)f->input_seq);
    blob(&b, hash, sizeof hash);
    return run_once(store, &b, DB_SQL_FILL_HASH, f->id, "fill", hash);
}

static int apply_ledger(struct db_store *store, const struct ledger_row *row)
{
    struct binding b = bind(store, DB_SQL_LEDGER);
    integer(&b, (int64_t)row->id);
    integer(&b, row->ts_ns);
    integer(&b, row->account);
    text(&b, row->asset);
    integer(&b, row->scale);
    text(&b, ledger_kind_name(row->kind));
    integer(&b, row->amount);
    integer(&b, row->balance);
    integer(&b, (int64_t)row->order_id);
    integer(&b, (int64_t)row->fill_id);
    blob(&b, row->hash, LEDGER_HASH_SIZE);
    return run_once(store, &b, DB_SQL_LEDGER_HASH, row->id, "ledger row", row->hash);
}

static int apply_position(struct db_store *store, const struct db_row_position *row)
{
    const struct position *p = &row->position;
    struct binding b = bind(store, DB_SQL_POSITION);
    integer(&b, row->account);
    symbol(&b, store, row->symbol);
    integer(&b, p->qty);
    integer(&b, p->cost);
    integer(&b, p->realized);
    integer(&b, p->fees);
    integer(&b, p->opened_ns);
    integer(&b, p->updated_ns);
    return run(store, &b);
}

static int apply_equity(struct db_store *store, const struct db_row_equity *row)
{
    struct binding b = bind(store, DB_SQL_EQUITY);
    integer(&b, row->account);
    integer(&b, row->ts_ns);
    integer(&b, row->equity);
    integer(&b, row->cash);
    int rc = run(store, &b);
    if (rc != SQLITE_OK)
        return rc;
    b = bind(store, DB_SQL_EQUITY_ACCOUNT);
    integer(&b, row->account);
    integer(&b, row->peak);
    integer(&b, row->day);
    integer(&b, row->day_equity);
    rc = run(store, &b);
    if (rc != SQLITE_OK || row->ts_ns / HOUR_NS <= store->equity_hour[row->account])
        return rc;
    b = bind(store, DB_SQL_EQUITY_THIN);
    integer(&b, row->account);
    integer(&b, row->ts_ns - WINDOW_NS);
    rc = run(store, &b);
    if (rc == SQLITE_OK)
        store->equity_hour[row->account] = row->ts_ns / HOUR_NS;
    return rc;
}

static int apply_command(struct db_store *store, const struct db_command *row)
{
    const char *cmd = (const char *)(row + 1), *args = cmd + strlen(cmd) + 1,
               *result = args + strlen(args) + 1;
    struct binding b = bind(store, DB_SQL_COMMAND);
    integer(&b, (int64_t)row->id);
    integer(&b, row->ts_ns);
    integer(&b, row->peer_uid);
    integer(&b, row->peer_pid);
    text(&b, cmd);
    text(&b, args);
    text(&b, db_command_state_name(row->state));
    text(&b, result);
    return run(store, &b);
}

static int apply_alert(struct db_store *store, const struct db_alert *row)
{
    const char *code = (const char *)(row + 1);
    struct binding b = bind(store, DB_SQL_ALERT);
    integer(&b, (int64_t)row->id);
    integer(&b, row->ts_ns);
    integer(&b, row->last_ns);
    integer(&b, row->count);
    text(&b, code);
    text(&b, db_severity_name(row->severity));
    text(&b, code + strlen(code) + 1);
    integer(&b, row->acked_ns);
    return run(store, &b);
}

static int apply_telemetry(struct db_store *store, const struct db_telemetry *row)
{
    struct binding b = bind(store, DB_SQL_TELEMETRY);
    text(&b, (const char *)(row + 1));
    integer(&b, row->ts_ns);
    sqlite3_bind_double(b.stmt, ++b.n, row->value);
    int rc = run(store, &b);
    if (rc != SQLITE_OK || row->ts_ns / HOUR_NS <= store->telemetry_hour)
        return rc;
    b = bind(store, DB_SQL_TELEMETRY_THIN);
    integer(&b, row->ts_ns - WINDOW_NS);
    rc = run(store, &b);
    if (rc == SQLITE_OK)
        store->telemetry_hour = row->ts_ns / HOUR_NS;
    return rc;
}

static int apply_feed(struct db_store *store, const struct db_feed *row)
{
    const char *stream = (const char *)(row + 1);
    struct binding b = bind(store, DB_SQL_FEED);
    text(&b, stream);
    symbol(&b, store, row->symbol);
    text(&b, db_feed_state_name(row->state));
    text(&b, stream + strlen(stream) + 1);
    integer(&b, row->last_recv_ns);
    integer(&b, row->limit_ns);
    integer(&b, row->frames);
    integer(&b, row->bytes);
    integer(&b, row->bad_frames);
    integer(&b, row->connects);
    return run(store, &b);
}

int db_store_apply(struct db_store *store, const struct db_row_header *row)
{
    const void *data = row + 1;
    switch ((enum db_row_kind)row->kind) {
    case DB_ROW_META:
        return apply_meta(store, data);
    case DB_ROW_ACCOUNT:
        return apply_account(store, data);
    case DB_ROW_SYMBOL:
        return apply_symbol(store, data);
    case DB_ROW_BAR:
        return apply_bar(store, data);
    case DB_ROW_GAP:
        return apply_gap(store, data);
    case DB_ROW_PRICE:
        return apply_price(store, data);
    case DB_ROW_ORDER:
        return apply_order(store, data);
    case DB_ROW_FILL:
        return apply_fill(store, data);
    case DB_ROW_LEDGER:
        return apply_ledger(store, data);
    case DB_ROW_POSITION:
        return apply_position(store, data);
    case DB_ROW_EQUITY:
        return apply_equity(store, data);
    case DB_ROW_COMMAND:
        return apply_command(store, data);
    case DB_ROW_ALERT:
        return apply_alert(store, data);
    case DB_ROW_TELEMETRY:
        return apply_telemetry(store, data);
    case DB_ROW_FEED:
        return apply_feed(store, data);
    case DB_ROW_KINDS:
        break;
    }
    snprintf(store->error, sizeof store->error, "no such kind of row");
    return SQLITE_INTERNAL;
}
