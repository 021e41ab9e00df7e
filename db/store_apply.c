/* What each kind of row binds to its statement: the market and the running of the daemon here, the record in
 * store_record.c. */
#include "db/records.h"
#include "db/store_bind.h"
#include "record/market.h"

#define HOUR_NS   INT64_C(3600000000000)
#define WINDOW_NS (8 * 24 * HOUR_NS) /* of telemetry */

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
    case DB_ROW_POLICY:
    case DB_ROW_ORDER_POLICY:
    case DB_ROW_STREAMED:
    case DB_ROW_ACTION:
        return true;
    default:
        return false;
    }
}

static struct binding bind_bar(struct db_store *store, enum db_statement which, const struct db_row_bar *row)
{
    db_bind_record(store, which, &record_bars, &row->bar);
    return db_bind_record(store, which, &db_record_bar_keys, row);
}

/* `may_insert` false: only a bar that is stored already. */
static int apply_bar(struct db_store *store, const struct db_row_bar *row, bool may_insert)
{
    struct binding b;
    int rc = SQLITE_OK;
    if (may_insert) {
        b = bind_bar(store, DB_SQL_BAR, row);
        rc = run(store, &b);
        if (rc != SQLITE_OK || sqlite3_changes(store->db) == 1)
            return rc;
    }
    b = bind_bar(store, DB_SQL_BAR_CORRECT, row);
    rc = run(store, &b);
    bool corrected = rc == SQLITE_OK && sqlite3_changes(store->db) == 1;
    store->bars_corrected += corrected;
    if (!corrected || row->source != BAR_VENUE)
        return rc;
    b = bind_bar(store, DB_SQL_CHART_CORRECT, row); /* its indicators stay as they were shown */
    return run(store, &b);
}

static int drop_bar(struct db_store *store, const struct db_row_bar *row)
{
    struct binding b = bind_bar(store, DB_SQL_BAR_DROP, row);
    int rc = run(store, &b);
    if (rc == SQLITE_OK)
        store->bars_corrected += (uint64_t)sqlite3_changes(store->db);
    return rc;
}

static int apply_telemetry(struct db_store *store, const struct db_telemetry *row)
{
    struct binding b = db_bind_record(store, DB_SQL_TELEMETRY, &db_record_telemetry, row);
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

/* Of an event that is stored already: its group was committed whole, and what was put later is newer. */
static int apply_again(struct db_store *store, const struct db_row_header *row)
{
    const void *data = row + 1;
    switch ((enum db_row_kind)row->kind) {
    case DB_ROW_ACCOUNT:
        return db_apply_account(store, data, true);
    case DB_ROW_SYMBOL: /* tells the store the symbol's id */
        return db_apply_symbol(store, data);
    case DB_ROW_ORDER:
        return db_apply_order(store, data, true);
    case DB_ROW_FILL:
        return db_apply_fill(store, data, true);
    case DB_ROW_LEDGER:
        return db_apply_ledger(store, data, true);
    case DB_ROW_COMMAND:
        return db_apply_command(store, data, true);
    case DB_ROW_ACTION:
        return db_apply_action(store, data, true);
    default:
        return SQLITE_OK;
    }
}

static int apply(struct db_store *store, enum db_statement which, const struct db_row_header *row)
{
    struct binding b = db_bind_record(store, which, db_record_of(row->kind), row + 1);
    return run(store, &b);
}

int db_store_apply(struct db_store *store, struct db_row_header *row)
{
    void *data = row + 1;
    const struct record *record = db_record_of(row->kind);
    if (record)
        record_set_strings(record, data, (const char *)data + record->size);
    if (row->event && row->event <= store->known_event)
        return apply_again(store, row);
    switch ((enum db_row_kind)row->kind) {
    case DB_ROW_META:
        return db_apply_meta(store, data);
    case DB_ROW_ACCOUNT:
        return db_apply_account(store, data, false);
    case DB_ROW_SYMBOL:
        return db_apply_symbol(store, data);
    case DB_ROW_BAR:
        return apply_bar(store, data, true);
    case DB_ROW_GAP:
        return apply(store, DB_SQL_GAP, row);
    case DB_ROW_PRICE:
        return apply(store, DB_SQL_PRICE, row);
    case DB_ROW_ORDER:
        return db_apply_order(store, data, false);
    case DB_ROW_FILL:
        return db_apply_fill(store, data, false);
    case DB_ROW_LEDGER:
        return db_apply_ledger(store, data, false);
    case DB_ROW_POSITION:
        return apply(store, DB_SQL_POSITION, row);
    case DB_ROW_EQUITY:
        return db_apply_equity(store, data);
    case DB_ROW_COMMAND:
        return db_apply_command(store, data, false);
    case DB_ROW_ALERT:
        return db_apply_alert(store, data);
    case DB_ROW_TELEMETRY:
        return apply_telemetry(store, data);
    case DB_ROW_FEED:
        return apply(store, DB_SQL_FEED, row);
    case DB_ROW_CHART_SERIES:
        return db_apply_chart_series(store, data);
    case DB_ROW_CHART_BAR:
        return db_apply_chart_bar(store, data);
    case DB_ROW_TRAINING:
        return db_apply_training(store, data);
    case DB_ROW_TRAINING_POINT:
        return db_apply_training_point(store, data);
    case DB_ROW_TRAINING_EVALUATION:
        return db_apply_training_evaluation(store, data);
    case DB_ROW_TRAINING_STATE:
        return db_apply_training_state(store, data);
    case DB_ROW_TRAINING_REWIND:
        return db_apply_training_rewind(store, data);
    case DB_ROW_POLICY:
        return apply(store, DB_SQL_POLICY, row);
    case DB_ROW_ORDER_POLICY:
        return apply(store, DB_SQL_ORDER_POLICY, row);
    case DB_ROW_STREAMED:
        return db_apply_streamed(store, data);
    case DB_ROW_BAR_CORRECT:
        return apply_bar(store, data, false);
    case DB_ROW_BAR_DROP:
        return drop_bar(store, data);
    case DB_ROW_BOOK_BAR:
        return db_apply_book_bar(store, data);
    case DB_ROW_REVISION:
        return db_apply_revision(store, data);
    case DB_ROW_ACTION:
        return db_apply_action(store, data, false);
    case DB_ROW_SESSION:
        return apply(store, DB_SQL_SESSION, row);
    case DB_ROW_VENUE:
        return apply(store, DB_SQL_VENUE, row);
    case DB_ROW_BAN:
        return apply(store, ((const struct db_ban *)data)->until_ns ? DB_SQL_BAN : DB_SQL_BAN_OVER, row);
    case DB_ROW_KINDS:
        break;
    }
    snprintf(store->error, sizeof store->error, "no such kind of row");
    return SQLITE_INTERNAL;
}
