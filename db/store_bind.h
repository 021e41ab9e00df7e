/* Internal to the store: binds a row's values to its statement, and steps it. */
#ifndef DB_STORE_BIND_H
#define DB_STORE_BIND_H

#include "db/store.h"
#include "exchange/fill.h"
#include "record/ledger_row.h"
#include "record/sqlite.h"

/* Runs a statement, of parameters or of a row's values, each at that of its column. The first column of the
 * first row, if there is one, goes to *ret, which may be NULL. SQLite result codes. */
int db_store_run(struct db_store *store, enum db_statement which, const struct record_param *params,
                 int64_t *ret);
int db_store_put(struct db_store *store, enum db_statement which, const struct record *record,
                 const void *row, int64_t *ret);
/* Binds without running, where more than one record has a part. */
void db_store_bind(struct db_store *store, enum db_statement which, const struct record *record,
                   const void *row);

/* The database's id of a symbol; 0 for an index without a symbol, which is stored as null. */
static inline int64_t symbol_id(const struct db_store *store, int index)
{
    return index >= 0 && index < SYMBOLS_MAX ? store->symbol_ids[index] : 0;
}

/* Each stores a row of its kind, as it was queued: the record in store_record.c, the chart, trainings and
 * what several venues bring in store_chart.c, store_training.c, store_venues.c, and others in
 * store_apply.c. */
#define DB_APPLY_(kind, name, ...) int db_apply_##name(struct db_store *store, const void *data);
#define DB_APPLY_NONE_(...)
DB_ROWS(DB_APPLY_, DB_APPLY_NONE_)

/* A stored row contradicts a new one: for an event that is stored already this is counted and the stored
 * row stays, else the database is not in the expected state. */
int db_conflict(struct db_store *store, const char *what, uint64_t id, bool again);

#endif
