/* The salvage's insides: salvage.c reads tables around faults, salvage_record.c knows the tables and what
 * makes a row of one trustworthy. */
#ifndef DB_SALVAGE_INTERNAL_H
#define DB_SALVAGE_INTERNAL_H

#include "db/migrate.h"
#include "db/salvage.h"

enum { SALVAGE_TABLES_MAX = 48, SALVAGE_COLUMNS_MAX = 48 };

struct db_salvage {
    sqlite3 *from, *to;
    struct db_salvaged tables[SALVAGE_TABLES_MAX];
    int n_tables;
};

/* A table, and which of its rows are wanted. */
struct salvage_table {
    const char *name;
    const char *columns; /* that are copied */
    const char *key;     /* one number; NULL: see order */
    const char *order;   /* without a key of one number: its columns */
    const char *where;   /* NULL: all of them */
    bool replaces;       /* rows that are there; else those stay */
    const char *into,
        *conflict; /* the statement's beginning and end around the values, where they are others */
    bool marked;   /* its rows are listed in `salvaged` */
};

/* Copies what can be read of rows whose key is above `low` and at most `high`. 0 or a SQLite result code of
 * `to`. */
int db_salvage_copy(struct db_salvage *salvage, const struct salvage_table *table, int64_t low, int64_t high);

#endif
