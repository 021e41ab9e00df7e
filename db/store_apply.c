/* What each kind of row binds to its statement: the market and the running of the daemon here, the record in
 * store_record.c. */
#include "db/records.h"
#include "db/store_bind.h"
#include "record/market.h"

#define HOUR_NS   INT64_C(3600000000000)
#define WINDOW_NS (8 * 24 * HOUR_NS) /* of telemetry */

static int put_bar(struct db_store *store, enum db_statement which, const struct db_row_bar *row)
{
    db_store_bind(store, which, &record_bars, &row->bar);
    return db_store_put(store, which, &db_record_bar_keys, row, NULL);
}

/* Only a bar that is stored already. */
static int correct_bar(struct db_store *store, const void *data)
{
    const struct db_row_bar *row = data;
    int rc = put_bar(store, DB_SQL_BAR_CORRECT, row);
    bool corrected = rc == SQLITE_OK && sqlite3_changes(store->db) == 1;
    store->bars_corrected += corrected;
    if (!corrected || row->source != BAR_VENUE)
        return rc;
    return put_bar(store, DB_SQL_CHART_CORRECT, row); /* its indicators stay as they were shown */
}

static int apply_bar(struct db_store *store, const void *data)
{
    int rc = put_bar(store, DB_SQL_BAR, data);
    return rc != SQLITE_OK || sqlite3_changes(store->db) == 1 ? rc : correct_bar(store, data);
}

static int drop_bar(struct db_store *store, const void *data)
{
    int rc = put_bar(store, DB_SQL_BAR_DROP, data);
    if (rc == SQLITE_OK)
        store->bars_corrected += (uint64_t)sqlite3_changes(store->db);
    return rc;
}

static int apply_telemetry(struct db_store *store, const void *data)
{
    const struct db_telemetry *row = data;
    int rc = db_store_put(store, DB_SQL_TELEMETRY, &db_record_telemetry, row, NULL);
    if (rc != SQLITE_OK || row->ts_ns / HOUR_NS <= store->telemetry_hour)
        return rc;
    rc = db_store_run(store, DB_SQL_TELEMETRY_THIN, RECORD_PARAMS(row->ts_ns - WINDOW_NS), NULL);
    if (rc == SQLITE_OK)
        store->telemetry_hour = row->ts_ns / HOUR_NS;
    return rc;
}

static int apply_ban(struct db_store *store, const void *data)
{
    const struct db_ban *row = data;
    return db_store_put(store, row->until_ns ? DB_SQL_BAN : DB_SQL_BAN_OVER, &db_record_bans, row, NULL);
}

enum {
    MONEY = 1,   /* db_row_is_money() */
    DROPS = 2,   /* db_row_may_be_dropped() */
    COMPARED = 4 /* what comes again of an event that is stored is compared with what is stored */
};

/* A kind's function, or the statement of its record. */
static const struct {
    unsigned flags;
    int (*apply)(struct db_store *store, const void *data);
    enum db_statement put;
} kinds[DB_ROW_KINDS] = {
    [DB_ROW_META] = {MONEY, db_apply_meta},
    [DB_ROW_ACCOUNT] = {MONEY | COMPARED, db_apply_account},
    [DB_ROW_SYMBOL] = {MONEY | COMPARED, db_apply_symbol}, /* also: the symbol's id */
    [DB_ROW_BAR] = {0, apply_bar},
    [DB_ROW_GAP] = {0, NULL, DB_SQL_GAP},
    [DB_ROW_PRICE] = {DROPS, NULL, DB_SQL_PRICE},
    [DB_ROW_ORDER] = {MONEY | COMPARED, db_apply_order},
    [DB_ROW_FILL] = {MONEY | COMPARED, db_apply_fill},
    [DB_ROW_LEDGER] = {MONEY | COMPARED, db_apply_ledger},
    [DB_ROW_POSITION] = {MONEY, NULL, DB_SQL_POSITION},
    [DB_ROW_EQUITY] = {0, db_apply_equity},
    [DB_ROW_COMMAND] = {MONEY | COMPARED, db_apply_command},
    [DB_ROW_ALERT] = {0, db_apply_alert},
    [DB_ROW_TELEMETRY] = {DROPS, apply_telemetry},
    [DB_ROW_FEED] = {DROPS, NULL, DB_SQL_FEED},
    [DB_ROW_CHART_SERIES] = {0, db_apply_chart_series},
    [DB_ROW_CHART_BAR] = {0, db_apply_chart_bar},
    [DB_ROW_TRAINING] = {DROPS, db_apply_training},
    [DB_ROW_TRAINING_POINT] = {DROPS, db_apply_training_point},
    [DB_ROW_TRAINING_EVALUATION] = {DROPS, db_apply_training_evaluation},
    [DB_ROW_TRAINING_STATE] = {DROPS, db_apply_training_state},
    [DB_ROW_TRAINING_REWIND] = {0, db_apply_training_rewind},
    [DB_ROW_POLICY] = {MONEY, NULL, DB_SQL_POLICY},
    [DB_ROW_ORDER_POLICY] = {MONEY, NULL, DB_SQL_ORDER_POLICY},
    [DB_ROW_STREAMED] = {MONEY, db_apply_streamed},
    [DB_ROW_BAR_CORRECT] = {0, correct_bar},
    [DB_ROW_BAR_DROP] = {0, drop_bar},
    [DB_ROW_BOOK_BAR] = {0, db_apply_book_bar},
    [DB_ROW_REVISION] = {0, db_apply_revision},
    [DB_ROW_ACTION] = {MONEY | COMPARED, db_apply_action},
    [DB_ROW_SESSION] = {0, NULL, DB_SQL_SESSION},
    [DB_ROW_VENUE] = {DROPS, NULL, DB_SQL_VENUE},
    [DB_ROW_BAN] = {0, apply_ban},
};

bool db_row_is_money(enum db_row_kind kind)
{
    return kinds[kind].flags & MONEY;
}

bool db_row_may_be_dropped(enum db_row_kind kind)
{
    return kinds[kind].flags & DROPS;
}

int db_store_apply(struct db_store *store, struct db_row_header *row)
{
    void *data = row + 1;
    const struct record *record = db_record_of(row->kind);
    if (record)
        record_set_strings(record, data, (const char *)data + record->size);
    store->again = row->event && row->event <= store->known_event;
    if (store->again && !(kinds[row->kind].flags & COMPARED))
        return SQLITE_OK; /* its group was committed whole, and what was put later is newer */
    return kinds[row->kind].apply ? kinds[row->kind].apply(store, data)
                                  : db_store_put(store, kinds[row->kind].put, record, data, NULL);
}
