/* The list of the database's rebuilds, and the source of each table's rows. */
#ifndef DB_REBUILT_H
#define DB_REBUILT_H

#include <jansson.h>
#include <sqlite3.h>

#include "db/reader.h"

enum { DB_REBUILT_WORDS = 256, DB_REBUILT_SOURCES_MAX = 32 };

/* In a source's words, where rows of its table are gone, and where they may be. */
#define DB_REBUILT_LOST "lost"
#define DB_REBUILT_PART "not all of it could be read"

struct db_rebuild {
    int64_t id, ts_ns;
    char why[DB_ERROR_MAX],
        aside[DB_REBUILT_WORDS];  /* what was wrong with the former file, and its name now */
    uint64_t first_seq, last_seq; /* of the events: after the first, to the last */
};
struct db_rebuild_source {
    int64_t rebuild; /* its number */
    char table[48];
    char source[DB_REBUILT_WORDS]; /* "event log from event 5124", "salvaged: 812 rows of …", "lost" */
    int64_t logged, salvaged;
};

/* Appends one; *ret_id its number. A SQLite result code. */
int db_rebuild_put(sqlite3 *db, const struct db_rebuild *rebuild, int64_t *ret_id);
int db_rebuild_put_source(sqlite3 *db, const struct db_rebuild_source *source);

/* SQLite quotes bytes of a damaged file: what is not printable ASCII becomes '?', so that alerts and JSON
 * can hold it. */
void db_rebuilt_clean(char *words);

/* Both, and from which event on the record is complete. */
struct db_rebuilt {
    struct db_rebuild rebuild;
    uint64_t whole_from; /* the first event of which every row is there: 1 for all of them */
    int n_sources;
    struct db_rebuild_source sources[DB_REBUILT_SOURCES_MAX];
};
/* The newest: 1; 0: the database was never built again; -errno with db_reader_error(). */
int db_reader_rebuilt(struct db_reader *reader, struct db_rebuilt *ret);
/* {"ts_ns", "why", "aside", "whole_from", "last_event", "lost", "sources": [{"table", "source", "logged",
 * "salvaged"}]}, to be freed by the caller; NULL without memory. */
json_t *db_rebuilt_json(const struct db_rebuilt *rebuilt);

#endif
