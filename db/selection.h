/* Which rows of a list are wanted: one rule for all lists. */
#ifndef DB_SELECTION_H
#define DB_SELECTION_H

#include "db/reader.h"

/* A row belongs to a period from from_ns on, which belongs to it, up to to_ns, which does not: so periods
 * that follow each other have each row once. */
struct db_selection {
    const char *account;    /* of this account alone; NULL: of all */
    int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: without an end there */
    int64_t at_ns;          /* as of that moment, which belongs to it: db/as_of.h; 0: now */
};
#define DB_SELECTION_ALL \
    { \
        .from_ns = INT64_MIN, .to_ns = INT64_MAX \
    }

bool db_selection_has(const struct db_selection *selection, int64_t ts_ns); /* is it in the period? */

/* The table of a list and its columns that decide: the account's number, the row's time. NULL: it has none,
 * and the selection no such limit. */
struct db_selected {
    const char *table, *account, *time;
};

/* From then on the reader finds the selected rows of that table alone, and all tables as they were at at_ns.
 * At most once a reader. 0; -ENOENT with db_reader_error(): there is no such account; as db_reader_as_of().
 */
int db_reader_select(struct db_reader *reader, const struct db_selection *selection,
                     const struct db_selected *of);

#endif
