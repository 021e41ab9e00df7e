/* Inside the store: binding a row's values to its statement, and stepping it. */
#ifndef DB_STORE_BIND_H
#define DB_STORE_BIND_H

#include <stdio.h>

#include "db/store.h"
#include "exchange/fill.h"
#include "record/ledger_row.h"

/* Values are bound in the order of the statement's parameters; texts and blobs outlive the step. */
struct binding {
    sqlite3_stmt *stmt;
    int n;
};

static inline struct binding bind(struct db_store *store, enum db_statement which)
{
    return (struct binding){store->statements[which], 0};
}

static inline void integer(struct binding *b, int64_t value)
{
    sqlite3_bind_int64(b->stmt, ++b->n, value);
}

static inline void real(struct binding *b, double value)
{
    sqlite3_bind_double(b->stmt, ++b->n, value);
}

static inline void text(struct binding *b, const char *value)
{
    sqlite3_bind_text(b->stmt, ++b->n, value, -1, SQLITE_STATIC);
}

static inline void blob(struct binding *b, const void *value, int size)
{
    sqlite3_bind_blob(b->stmt, ++b->n, value, size, SQLITE_STATIC);
}

/* The database's id of a symbol, or null where the index is none. */
static inline int64_t symbol_id(const struct db_store *store, int index)
{
    return index >= 0 && index < SYMBOLS_MAX ? store->symbol_ids[index] : 0;
}

static inline void symbol(struct binding *b, const struct db_store *store, int index)
{
    int64_t id = symbol_id(store, index);
    if (id)
        integer(b, id);
    else
        sqlite3_bind_null(b->stmt, ++b->n);
}

/* A row's values, each to the parameter of its column: store_record.c. */
struct binding db_bind_record(struct db_store *store, enum db_statement which, const struct record *record,
                              const void *row);

/* Steps to the end. The first column of the first row, if there is one, goes to *ret. */
static inline int run_returning(struct db_store *store, struct binding *b, int64_t *ret)
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

static inline int run(struct db_store *store, struct binding *b)
{
    int64_t ignored;
    return run_returning(store, b, &ignored);
}

/* The record's rows: store_record.c. SQLite result codes; `again`: of an event that is stored already. */
int db_apply_meta(struct db_store *store, const char *key);
int db_apply_account(struct db_store *store, const struct db_account *row, bool again);
int db_apply_symbol(struct db_store *store, const struct db_row_symbol *row);
int db_apply_order(struct db_store *store, const struct order *order, bool again);
int db_apply_fill(struct db_store *store, const struct fill *fill, bool again);
int db_apply_ledger(struct db_store *store, const struct ledger_row *row, bool again);
int db_apply_equity(struct db_store *store, const struct db_row_equity *row);
int db_apply_command(struct db_store *store, const struct db_command *row, bool again);
int db_apply_alert(struct db_store *store, const struct db_alert *row);

/* The chart's rows: store_chart.c. */
int db_apply_chart_series(struct db_store *store, const struct db_row_chart_series *row);
int db_apply_chart_bar(struct db_store *store, const struct db_row_chart_bar *row);

/* Trainings and policies: store_training.c. */
int db_apply_training(struct db_store *store, const struct db_training *row);
int db_apply_training_point(struct db_store *store, const struct db_training_point *row);
int db_apply_training_evaluation(struct db_store *store, const struct db_training_evaluation *row);
int db_apply_training_state(struct db_store *store, const struct db_training_state *row);
int db_apply_training_rewind(struct db_store *store, const struct db_row_training_rewind *row);

/* Of several venues, sessions and corporate actions: store_venues.c. */
int db_apply_streamed(struct db_store *store, const struct db_row_streamed *row);
int db_apply_book_bar(struct db_store *store, const struct db_row_book_bar *row);
int db_apply_revision(struct db_store *store, const struct db_revision *row);
int db_apply_action(struct db_store *store, const struct db_action *row, bool again);

/* What is stored contradicts what comes: of an event that is stored already that is counted and stays, else
 * the database is not what we think it is. */
int db_conflict(struct db_store *store, const char *what, uint64_t id, bool again);

#endif
