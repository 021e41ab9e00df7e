/* The tables whose rows carry a seal (db/row_hash.h) or a chain of hashes: one list for every check. */
#ifndef DB_SEALED_H
#define DB_SEALED_H

#include <stdbool.h>
#include <stddef.h>

struct db_sealed {
    const char *table;
    bool numbered;                 /* 1, 2, 3 …, or from the base on */
    const char *key, *by, *newest; /* the row's name as text; the order of rows, and the newest first */
    const char *seal;              /* what the column `hash` should be; NULL: chained */
};

extern const struct db_sealed db_sealed[];
extern const size_t db_sealed_count;

#define DB_SEALED_ALTERED "was altered: its values and its hash disagree"

#endif
