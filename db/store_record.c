/* Binds each row of the record, which is sealed and never deleted, to its statement. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/records.h"
#include "db/row_hash.h"
#include "db/store_bind.h"
#include "exchange/fill.h"
#include "record/ledger_cause.h"
#include "record/ledger_row.h"
#include "record/sqlite.h"
#include "strategy/param_json.h"
#include "strategy/strategy.h"

#define HOUR_NS INT64_C(3600000000000)

int db_conflict(struct db_store *store, const char *what, uint64_t id, bool again)
{
    snprintf(store->error, sizeof store->error, "%s %" PRIu64 " is already stored, with other values", what,
             id);
    memcpy(store->conflict, store->error, sizeof store->conflict);
    store->conflicts++;
    return again ? SQLITE_OK : SQLITE_CONSTRAINT;
}

static int64_t id_of_symbol(void *ctx, int index)
{
    return symbol_id(ctx, index);
}

void db_store_bind(struct db_store *store, enum db_statement which, const struct record *record,
                   const void *row)
{
    const struct record_ids ids = {.ctx = store, .symbol_id = id_of_symbol};
    struct record_places *places = store->places[which];
    if (places->record && places->record != record)
        places++;
    if (places->record != record)
        record_sqlite_places(store->statements[which], record, places);
    record_sqlite_bind_at(store->statements[which], places, row, &ids);
}

int db_store_run(struct db_store *store, enum db_statement which, const struct record_param *params,
                 int64_t *ret)
{
    sqlite3_stmt *stmt = store->statements[which];
    record_sqlite_params(stmt, params);
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        if (ret)
            record_sqlite_take(stmt, RECORD_INTO(ret));
        sqlite3_step(stmt);
    }
    int rc = sqlite3_reset(stmt);
    if (rc != SQLITE_OK)
        snprintf(store->error, sizeof store->error, "%s", sqlite3_errmsg(store->db));
    sqlite3_clear_bindings(stmt);
    return rc;
}

int db_store_put(struct db_store *store, enum db_statement which, const struct record *record,
                 const void *row, int64_t *ret)
{
    db_store_bind(store, which, record, row);
    return db_store_run(store, which, NULL, ret);
}

/* Is the stored row this one? By a statement that returns 1. */
static int compare(struct db_store *store, enum db_statement which, const struct record *record,
                   const void *row, const char *what, uint64_t id)
{
    int64_t same = 0;
    int rc = db_store_put(store, which, record, row, &same);
    return rc == SQLITE_OK && same != 1 ? db_conflict(store, what, id, store->again) : rc;
}

int db_apply_meta(struct db_store *store, const void *data)
{
    const char *key = data;
    return db_store_run(store, DB_SQL_META, RECORD_PARAMS(key, (const char *)(key + strlen(key) + 1)), NULL);
}

/* A strategy's parameters by name, for the caller to free; NULL without memory. */
static char *params_json(const struct db_account *row)
{
    const struct strategy *strategy = strategy_find(row->strategy);
    json_t *object = json_object();
    size_t n = strategy ? strategy_params_stored(strategy, row->params) : 0;
    for (size_t i = 0; i < n; i++)
        if (json_object_set_new(object, strategy->params[i].name,
                                strategy_param_json(&strategy->params[i], row->params[i])) < 0)
            break; /* an object that is short of one is refused when it is read */
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    return text;
}

/* A row of its terms, where they are others than before. */
static int put_terms(struct db_store *store, const struct db_account *row)
{
    const struct db_terms terms = {.account = *row};
    int64_t id = 0;
    int rc = db_store_put(store, DB_SQL_TERMS, &db_record_terms, &terms, &id);
    if (rc != SQLITE_OK || id == 0)
        return rc;
    return db_store_run(store, DB_SQL_TERMS_SEAL, RECORD_PARAMS(id), NULL);
}

int db_apply_account(struct db_store *store, const void *data)
{
    const struct db_account *row = data;
    char *params = params_json(row);
    if (!params)
        return SQLITE_NOMEM;
    int64_t id = -1;
    const struct db_account_stored stored = {.row = {.account = *row}, .params = params};
    int rc = store->again ? compare(store, DB_SQL_ACCOUNT_KNOWN, &db_record_accounts, &stored, "account",
                                    (uint64_t)row->number)
                          : db_store_put(store, DB_SQL_ACCOUNT, &db_record_accounts, &stored, &id);
    free(params);
    if (rc != SQLITE_OK || store->again)
        return rc;
    if (id < 0) {
        snprintf(store->error, sizeof store->error, "account %s: the currency of account %d cannot change",
                 row->name, row->number);
        return SQLITE_CONSTRAINT;
    }
    rc = db_store_run(store, DB_SQL_ACCOUNT_SEAL, RECORD_PARAMS(id), NULL);
    return rc == SQLITE_OK ? put_terms(store, row) : rc;
}

/* A stock whose name is not its first one continues the row that it had under another (symbol_renamed()). */
static int rename_symbol(struct db_store *store, const struct db_row_symbol *row)
{
    const struct symbol *s = &row->row.symbol;
    if (!s->calendar[0] || strcmp(s->name, s->base) == 0)
        return SQLITE_OK;
    return db_store_run(store, DB_SQL_SYMBOL_RENAME,
                        RECORD_PARAMS(s->name, row->row.venue, s->base, s->quote), NULL);
}

int db_apply_symbol(struct db_store *store, const void *data)
{
    const struct db_row_symbol *row = data;
    const struct symbol *s = &row->row.symbol;
    int64_t id = 0;
    int rc = rename_symbol(store, row);
    if (rc != SQLITE_OK)
        return rc;
    rc = db_store_put(store, DB_SQL_SYMBOL, &db_record_symbols, &row->row, &id);
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
    return db_store_run(store, DB_SQL_SYMBOL_SEAL, RECORD_PARAMS(id), NULL);
}

/* A row that never changes once it has ended: stored, or compared with what is stored. */
static int put_once(struct db_store *store, enum db_statement put, enum db_statement same,
                    const struct record *record, const void *row, const char *what, uint64_t id)
{
    int rc = store->again ? SQLITE_OK : db_store_put(store, put, record, row, NULL);
    if (rc != SQLITE_OK || (!store->again && sqlite3_changes(store->db) == 1))
        return rc;
    return compare(store, same, record, row, what, id);
}

int db_apply_order(struct db_store *store, const void *data)
{
    const struct order *order = data;
    return put_once(store, DB_SQL_ORDER, store->again ? DB_SQL_ORDER_KNOWN : DB_SQL_ORDER_SAME,
                    &record_orders, order, "order", order->id);
}

int db_apply_fill(struct db_store *store, const void *data)
{
    const struct fill *fill = data;
    return put_once(store, DB_SQL_FILL, DB_SQL_FILL_SAME, &record_fills, fill, "fill", fill->id);
}

int db_apply_receivable(struct db_store *store, const void *data)
{
    const struct receivable_row *row = data;
    return put_once(store, DB_SQL_RECEIVABLE, DB_SQL_RECEIVABLE_SAME, &engine_record_receivables, row,
                    "receivable", row->id);
}

int db_apply_fee_rate(struct db_store *store, const void *data)
{
    const struct fee_rate_change *row = data;
    return put_once(store, DB_SQL_FEE_RATE, DB_SQL_FEE_RATE_SAME, &engine_record_fee_rates, row,
                    "change of fees", row->id);
}

int db_apply_ledger(struct db_store *store, const void *data)
{
    const struct ledger_row *row = data;
    return put_once(store, DB_SQL_LEDGER, DB_SQL_LEDGER_SAME, &record_ledger, row, "ledger row", row->id);
}

int db_apply_cause(struct db_store *store, const void *data)
{
    const struct ledger_cause *row = data;
    return put_once(store, DB_SQL_CAUSE, DB_SQL_CAUSE_SAME, &record_ledger_causes, row, "cause of ledger row",
                    row->id);
}

int db_apply_accrual(struct db_store *store, const void *data)
{
    int64_t id = 0;
    int rc = db_store_put(store, DB_SQL_ACCRUAL, &record_ledger_accruals, data, &id);
    return rc == SQLITE_OK && id ? db_store_run(store, DB_SQL_ACCRUAL_SEAL, RECORD_PARAMS(id), NULL) : rc;
}

/* Adds a point of equity, or replaces the one of that time, which a history that is kept whole does not
 * have. */
static int apply_point(struct db_store *store, const struct db_equity *row)
{
    int64_t known = 0;
    bool live = row->kind == DB_EQUITY_LIVE;
    int rc = live ? db_store_put(store, DB_SQL_EQUITY_KNOWN, &db_record_equity, row, &known) : SQLITE_OK;
    if (rc == SQLITE_OK)
        rc = db_store_put(store, live ? DB_SQL_EQUITY : DB_SQL_EQUITY_NEW, &db_record_equity, row, NULL);
    if (rc == SQLITE_OK)
        store->counts.rows[DB_COUNT_EQUITY] += !known;
    return rc;
}

static int note_equity(struct db_store *store, const struct db_equity *row)
{
    int rc =
        db_store_run(store, DB_SQL_EQUITY_ACCOUNT,
                     RECORD_PARAMS(row->account, row->peak, row->day, row->day_equity, row->killed_ns), NULL);
    return rc == SQLITE_OK ? db_store_run(store, DB_SQL_ACCOUNT_SEAL, RECORD_PARAMS(row->account), NULL) : rc;
}

/* A point whose day_equity is not that of the one before is a day's first, or money moved there: it stays,
 * since a return is exact only from such a point to the next.
 *
 * Once an hour, of the hours that left the window since: those before them are thinned already, so that a row
 * costs the same however long the history is. */
static int thin_equity(struct db_store *store, const struct db_equity *row)
{
    int64_t hour = row->ts_ns / HOUR_NS, last = store->equity_hour[row->account];
    if (hour <= last)
        return SQLITE_OK;
    int rc = db_store_run(store, DB_SQL_EQUITY_THIN,
                          RECORD_PARAMS(row->account, row->ts_ns - DB_EQUITY_WHOLE_NS,
                                        last > 0 ? last * HOUR_NS - DB_EQUITY_WHOLE_NS : INT64_MIN),
                          NULL);
    if (rc != SQLITE_OK)
        return rc;
    store->counts.rows[DB_COUNT_EQUITY] -= sqlite3_changes(store->db);
    store->equity_hour[row->account] = hour;
    return SQLITE_OK;
}

int db_apply_equity(struct db_store *store, const void *data)
{
    const struct db_equity *row = data;
    int rc = apply_point(store, row);
    if (rc == SQLITE_OK && row->kind != DB_EQUITY_PAST)
        rc = note_equity(store, row);
    if (rc == SQLITE_OK && row->kind == DB_EQUITY_LIVE)
        rc = thin_equity(store, row);
    return rc;
}

int db_apply_command(struct db_store *store, const void *data)
{
    const struct db_command *row = data;
    int rc =
        put_once(store, DB_SQL_COMMAND, DB_SQL_COMMAND_KNOWN, &db_record_commands, row, "command", row->id);
    bool put = rc == SQLITE_OK && !store->again && sqlite3_changes(store->db) == 1;
    return put ? db_store_run(store, DB_SQL_COMMAND_SEAL, RECORD_PARAMS(row->id), NULL) : rc;
}

int db_apply_alert(struct db_store *store, const void *data)
{
    const struct db_alert *row = data;
    int rc = db_store_put(store, DB_SQL_ALERT, &db_record_alerts, row, NULL);
    return rc == SQLITE_OK ? db_store_run(store, DB_SQL_ALERT_SEAL, RECORD_PARAMS(row->id), NULL) : rc;
}
