/* What each row of the record, which is sealed and never forgotten, binds to its statement. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "db/records.h"
#include "db/row_hash.h"
#include "db/store_bind.h"
#include "exchange/fill.h"
#include "record/ledger_row.h"
#include "record/sqlite.h"
#include "strategy/strategy.h"

#define HOUR_NS   INT64_C(3600000000000)
#define WINDOW_NS (8 * 24 * HOUR_NS) /* of equity at full detail */

int db_conflict(struct db_store *store, const char *what, uint64_t id, bool again)
{
    snprintf(store->error, sizeof store->error, "%s %" PRIu64 " is already stored, with other values", what,
             id);
    memcpy(store->conflict, store->error, sizeof store->conflict);
    store->conflicts++;
    return again ? SQLITE_OK : SQLITE_CONSTRAINT;
}

/* Asks whether what is stored is this row: a statement that answers 1. */
static int compare(struct db_store *store, struct binding *b, const char *what, uint64_t id, bool again)
{
    int64_t same = 0;
    int rc = run_returning(store, b, &same);
    return rc == SQLITE_OK && same != 1 ? db_conflict(store, what, id, again) : rc;
}

int db_apply_meta(struct db_store *store, const char *key)
{
    struct binding b = bind(store, DB_SQL_META);
    text(&b, key);
    text(&b, key + strlen(key) + 1);
    return run(store, &b);
}

/* A strategy's parameters by name, for the caller to free; NULL without memory. */
static char *params_json(const struct db_account *row)
{
    const struct strategy *strategy = strategy_find(row->strategy);
    json_t *object = json_object();
    for (size_t i = 0; strategy && i < strategy->n_params; i++)
        if (json_object_set_new(object, strategy->params[i].name, json_real(row->params[i])) < 0)
            break; /* an object that is short of one is refused when it is read */
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    return text;
}

int db_apply_account(struct db_store *store, const struct db_account *row, bool again)
{
    char *params = params_json(row);
    if (!params)
        return SQLITE_NOMEM;
    int64_t id = -1;
    const struct db_account_stored stored = {.row = {.account = *row}, .params = params};
    struct binding b =
        db_bind_record(store, again ? DB_SQL_ACCOUNT_KNOWN : DB_SQL_ACCOUNT, &db_record_accounts, &stored);
    int rc =
        again ? compare(store, &b, "account", (uint64_t)row->number, true) : run_returning(store, &b, &id);
    free(params);
    if (rc != SQLITE_OK || again)
        return rc;
    if (id < 0) {
        snprintf(store->error, sizeof store->error, "account %s: the currency of account %d cannot change",
                 row->name, row->number);
        return SQLITE_CONSTRAINT;
    }
    b = bind(store, DB_SQL_ACCOUNT_SEAL);
    integer(&b, id);
    return run(store, &b);
}

int db_apply_symbol(struct db_store *store, const struct db_row_symbol *row)
{
    const struct symbol *s = &row->row.symbol;
    struct binding b = db_bind_record(store, DB_SQL_SYMBOL, &db_record_symbols, &row->row);
    int64_t id = 0;
    int rc = run_returning(store, &b, &id);
    if (rc == SQLITE_OK && id == 0) {
        snprintf(store->error, sizeof store->error,
                 "symbol %s: its assets or scales are not those stored before", s->name);
        return SQLITE_CONSTRAINT;
    }
    if (rc != SQLITE_OK)
        return rc;
    store->symbol_ids[row->index] = id;
    struct db_symbol_name *known = &store->symbols[row->index];
    snprintf(known->venue, sizeof known->venue, "%.*s", VENUE_NAME_MAX - 1, row->row.venue);
    snprintf(known->name, sizeof known->name, "%s", s->name);
    b = bind(store, DB_SQL_SYMBOL_SEAL);
    integer(&b, id);
    return run(store, &b);
}

static int64_t id_of_symbol(void *ctx, int index)
{
    return symbol_id(ctx, index);
}

struct binding db_bind_record(struct db_store *store, enum db_statement which, const struct record *record,
                              const void *row)
{
    const struct record_ids ids = {.ctx = store, .symbol_id = id_of_symbol};
    struct binding b = bind(store, which);
    record_sqlite_bind(b.stmt, record, row, &ids);
    return b;
}

int db_apply_order(struct db_store *store, const struct order *order, bool again)
{
    struct binding b =
        db_bind_record(store, again ? DB_SQL_ORDER_KNOWN : DB_SQL_ORDER, &record_orders, order);
    if (again)
        return compare(store, &b, "order", order->id, true);
    int rc = run(store, &b);
    if (rc != SQLITE_OK || sqlite3_changes(store->db) == 1)
        return rc;
    b = db_bind_record(store, DB_SQL_ORDER_SAME, &record_orders, order);
    return compare(store, &b, "order", order->id, false);
}

int db_apply_fill(struct db_store *store, const struct fill *fill, bool again)
{
    struct binding b;
    if (!again) {
        b = db_bind_record(store, DB_SQL_FILL, &record_fills, fill);
        int rc = run(store, &b);
        if (rc != SQLITE_OK || sqlite3_changes(store->db) == 1)
            return rc;
    }
    b = db_bind_record(store, DB_SQL_FILL_SAME, &record_fills, fill);
    return compare(store, &b, "fill", fill->id, again);
}

int db_apply_ledger(struct db_store *store, const struct ledger_row *row, bool again)
{
    struct binding b;
    if (!again) {
        b = db_bind_record(store, DB_SQL_LEDGER, &record_ledger, row);
        int rc = run(store, &b);
        if (rc != SQLITE_OK || sqlite3_changes(store->db) == 1)
            return rc;
    }
    b = db_bind_record(store, DB_SQL_LEDGER_SAME, &record_ledger, row);
    return compare(store, &b, "ledger row", row->id, again);
}

/* A point of equity, new or over the one of that time, which a history that is kept whole does not have. */
static int apply_point(struct db_store *store, const struct db_row_equity *row)
{
    int64_t known = 0;
    bool live = row->kind == DB_EQUITY_LIVE;
    struct binding b = db_bind_record(store, DB_SQL_EQUITY_KNOWN, &db_record_equity, row);
    int rc = live ? run_returning(store, &b, &known) : SQLITE_OK;
    if (rc == SQLITE_OK) {
        b = db_bind_record(store, live ? DB_SQL_EQUITY : DB_SQL_EQUITY_NEW, &db_record_equity, row);
        rc = run(store, &b);
    }
    if (rc == SQLITE_OK)
        store->counts.rows[DB_COUNT_EQUITY] += !known;
    return rc;
}

static int note_equity(struct db_store *store, const struct db_row_equity *row)
{
    struct binding b = bind(store, DB_SQL_EQUITY_ACCOUNT);
    integer(&b, row->account);
    integer(&b, row->peak);
    integer(&b, row->day);
    integer(&b, row->day_equity);
    integer(&b, row->killed_ns);
    int rc = run(store, &b);
    if (rc != SQLITE_OK)
        return rc;
    b = bind(store, DB_SQL_ACCOUNT_SEAL);
    integer(&b, row->account);
    return run(store, &b);
}

/* Once an hour, of the hours that left the window since: those before them are thinned already, so that a row
 * costs the same however long the history is. */
static int thin_equity(struct db_store *store, const struct db_row_equity *row)
{
    int64_t hour = row->ts_ns / HOUR_NS, last = store->equity_hour[row->account];
    if (hour <= last)
        return SQLITE_OK;
    struct binding b = bind(store, DB_SQL_EQUITY_THIN);
    integer(&b, row->account);
    integer(&b, row->ts_ns - WINDOW_NS);
    integer(&b, last > 0 ? last * HOUR_NS - WINDOW_NS : INT64_MIN);
    int rc = run(store, &b);
    if (rc != SQLITE_OK)
        return rc;
    store->counts.rows[DB_COUNT_EQUITY] -= sqlite3_changes(store->db);
    store->equity_hour[row->account] = hour;
    return SQLITE_OK;
}

int db_apply_equity(struct db_store *store, const struct db_row_equity *row)
{
    int rc = apply_point(store, row);
    if (rc == SQLITE_OK && row->kind != DB_EQUITY_PAST)
        rc = note_equity(store, row);
    if (rc == SQLITE_OK && row->kind == DB_EQUITY_LIVE)
        rc = thin_equity(store, row);
    return rc;
}

int db_apply_command(struct db_store *store, const struct db_command *row, bool again)
{
    struct binding b;
    if (!again) {
        b = db_bind_record(store, DB_SQL_COMMAND, &db_record_commands, row);
        int rc = run(store, &b);
        if (rc != SQLITE_OK)
            return rc;
        if (sqlite3_changes(store->db) == 1) {
            b = bind(store, DB_SQL_COMMAND_SEAL);
            integer(&b, (int64_t)row->id);
            return run(store, &b);
        }
    }
    b = db_bind_record(store, DB_SQL_COMMAND_KNOWN, &db_record_commands, row);
    return compare(store, &b, "command", row->id, again);
}

int db_apply_alert(struct db_store *store, const struct db_alert *row)
{
    struct binding b = db_bind_record(store, DB_SQL_ALERT, &db_record_alerts, row);
    int rc = run(store, &b);
    if (rc != SQLITE_OK)
        return rc;
    b = bind(store, DB_SQL_ALERT_SEAL);
    integer(&b, (int64_t)row->id);
    return run(store, &b);
}
