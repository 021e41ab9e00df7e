/* The salvage's internals: salvage.c reads tables around faults, salvage_record.c has the tables and the
 * conditions for taking their rows. */
#ifndef DB_SALVAGE_INTERNAL_H
#define DB_SALVAGE_INTERNAL_H

#include "db/migrate.h"
#include "db/salvage.h"
#include "db/tables.h"

enum { SALVAGE_TABLES_MAX = 128 /* each is copied three times at most */, SALVAGE_COLUMNS_MAX = 64 };

struct db_salvage {
    sqlite3 *from, *to;
    struct db_salvaged tables[SALVAGE_TABLES_MAX];
    int n_tables;
};

/* How a table's rows are copied where that is not INSERT OR IGNORE of all of them. */
struct salvage_way {
    const char *where;           /* which are wanted; NULL: see the table */
    const char *into, *conflict; /* the statement's beginning and end around the values */
    bool replaces;               /* rows that are there; else those stay */
    bool candidates;             /* not yet taken: the caller marks them */
};

/* Copies what can be read of rows, where the table is by number of those above `low` and at most `high`.
 * `way` may be NULL. 0 or a SQLite result code of `to`. */
int db_salvage_copy(struct db_salvage *salvage, const struct db_table *table, const struct salvage_way *way,
                    int64_t low, int64_t high);

#endif
