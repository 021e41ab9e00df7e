/* Binds each kind of row to its statement: the market and the daemon's state here, the record in
 * store_record.c. */
#include "db/records.h"
#include "db/store_bind.h"
#include "record/market.h"

static int put_bar(struct db_store *store, enum db_statement which, const struct db_row_bar *row)
{
    db_store_bind(store, which, &db_record_bars, &row->bar);
    return db_store_put(store, which, &db_record_bar_keys, row, NULL);
}

/* Only a bar that is stored already. */
int db_apply_bar_correct(struct db_store *store, const void *data)
{
    const struct db_row_bar *row = data;
    int rc = put_bar(store, DB_SQL_BAR_CORRECT, row);
    bool corrected = rc == SQLITE_OK && sqlite3_changes(store->db) == 1;
    store->bars_corrected += corrected;
    if (!corrected || row->source != BAR_VENUE)
        return rc;
    return put_bar(store, DB_SQL_CHART_CORRECT, row); /* its indicators stay as they were shown */
}

int db_apply_bar(struct db_store *store, const void *data)
{
    const struct db_row_bar *row = data;
    int rc = put_bar(store, DB_SQL_BAR, row);
    bool over = rc != SQLITE_OK || sqlite3_changes(store->db) == 1 || row->past;
    return over ? rc : db_apply_bar_correct(store, data);
}

int db_apply_bar_drop(struct db_store *store, const void *data)
{
    int rc = put_bar(store, DB_SQL_BAR_DROP, data);
    if (rc == SQLITE_OK)
        store->bars_corrected += (uint64_t)sqlite3_changes(store->db);
    return rc;
}

int db_apply_ban(struct db_store *store, const void *data)
{
    const struct db_ban *row = data;
    return db_store_put(store, row->until_ns ? DB_SQL_BAN : DB_SQL_BAN_OVER, &db_record_bans, row, NULL);
}

int db_apply_run(struct db_store *store, const void *data)
{
    const struct db_run *row = data;
    int rc = db_store_put(store, DB_SQL_RUN, &db_record_runs, row, NULL);
    if (rc != SQLITE_OK || row->state != DB_RUN_RUNNING)
        return rc;
    return db_store_run(store, DB_SQL_RUN_KILLED, RECORD_PARAMS(row->run), NULL);
}

enum {
    MONEY = 1,   /* db_row_is_money() */
    DROPS = 2,   /* db_row_may_be_dropped() */
    COMPARED = 4 /* a repeat of an event that is stored is compared with what is stored */
};

/* A kind's function, or the statement of its record. */
#define APPLY(kind, name, flags, record) [DB_ROW_##kind] = {flags, db_apply_##name, 0},
#define PUT(kind, flags, record)         [DB_ROW_##kind] = {flags, NULL, DB_SQL_##kind},
static const struct {
    unsigned flags;
    int (*apply)(struct db_store *store, const void *data);
    enum db_statement put;
} kinds[DB_ROW_KINDS] = {DB_ROWS(APPLY, PUT)};

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
        return SQLITE_OK; /* its group was committed whole, and later rows are newer */
    return kinds[row->kind].apply ? kinds[row->kind].apply(store, data)
                                  : db_store_put(store, kinds[row->kind].put, record, data, NULL);
}
