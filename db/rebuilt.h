/* The list of times that a database was built again, and where the rows of each table came from. */
#ifndef DB_REBUILT_H
#define DB_REBUILT_H

#include <sqlite3.h>

#include "db/reader.h"

enum { DB_REBUILT_WORDS = 256 };

struct db_rebuild {
    int64_t id, ts_ns;
    char why[DB_ERROR_MAX],
        aside[DB_REBUILT_WORDS];  /* what was wrong with the former file, and its name now */
    uint64_t first_seq, last_seq; /* of the events: after the first, to the last */
};
struct db_rebuild_source {
    char table[48];
    char source[DB_REBUILT_WORDS]; /* "event log from event 5124", "salvaged: 812 rows of …", "lost" */
    int64_t logged, salvaged;
};

/* Appends one; *ret_id its number. A SQLite result code. */
int db_rebuild_put(sqlite3 *db, const struct db_rebuild *rebuild, int64_t *ret_id);
int db_rebuild_put_source(sqlite3 *db, int64_t rebuild, const struct db_rebuild_source *source);

/* The newest: 1; 0 when the database was never built again; -errno. */
int db_reader_rebuild(struct db_reader *reader, struct db_rebuild *ret);
/* Its list, by table. 0 or -errno. */
int db_reader_rebuild_sources(struct db_reader *reader, int64_t rebuild,
                              void (*row)(void *ctx, const struct db_rebuild_source *source), void *ctx);

#endif
