/* A record's rows in SQLite: RECORD_COLUMNS and RECORD_VALUES (record/field.h) are the statement's. */
#ifndef RECORD_SQLITE_H
#define RECORD_SQLITE_H

#include <sqlite3.h>

#include "record/field.h"

/* Whose numbers of accounts and symbols are in the database under which ids. Accounts have their number as
 * their id. A function that is NULL takes every id as it is. */
struct record_ids {
    void *ctx;
    int64_t (*symbol_id)(void *ctx, int index); /* 0: none, stored as null */
    bool (*account)(void *ctx, int64_t id);     /* is there one? */
    int (*symbol)(void *ctx, int64_t id);       /* its index; -1: there is none */
};

/* Binds every value to the parameter that is named after its column: to the first ones, in order, where the
 * first and the last field's stand at their places. Texts and hashes are the row's own: they outlive the
 * step. */
void record_sqlite_bind(sqlite3_stmt *stmt, const struct record *record, const void *row,
                        const struct record_ids *ids);

/* Reads a row whose first columns are the record's. NULL; or the first field whose value is none: a word that
 * is unknown, an account or a symbol that is not there, a text that is too long, a hash of another size, a
 * volume that is no number, a number that the member cannot hold. Then what precedes it is set. Null is 0,
 * "", NaN, or -1: an account, a symbol, what is not known. A RECORD_STRING is the statement's until its next
 * step. */
const struct record_field *record_sqlite_read(sqlite3_stmt *stmt, const struct record *record, void *row,
                                              const struct record_ids *ids);

#endif
