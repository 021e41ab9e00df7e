/* Internal to db_attest(): one table against every anchor, in one pass over its rows. */
#ifndef DB_BOOKS_FOLLOW_H
#define DB_BOOKS_FOLLOW_H

#include "db/books/attest.h"

/* Notes why an anchor does not hold, if it did until now. */
__attribute__((format(printf, 2, 3))) void db_anchor_fails(struct db_anchor *anchor, const char *format, ...);

/* A table whose rows settle; *ret_last: its greatest id. A SQLite result code. */
int db_follow(sqlite3 *db, const struct db_table *table, struct db_anchors *anchors, uint64_t *ret_first,
              uint64_t *ret_last);

/* The event log. 0 or -ENOMEM; *ret_first: the number of its oldest segment, 0 where it has none. */
int db_follow_log(const char *events, struct db_anchors *anchors, uint32_t *ret_first);

#endif
