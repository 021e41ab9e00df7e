/* The database's housekeeping: rows that are no longer kept are deleted, free pages go back to the disk, the
 * planner's statistics are renewed. Each step is short, and between two of them others are committed. */
#ifndef DB_KEEPING_H
#define DB_KEEPING_H

#include "db/retention.h"
#include "db/store.h"

enum db_keeping_stage {
    DB_KEEPING_DONE,
    DB_KEEPING_OF_ALERTS,
    DB_KEEPING_OF_COMMANDS,
    DB_KEEPING_OF_BARS,
    DB_KEEPING_OF_PAGES,
    DB_KEEPING_OF_STATISTICS,
};

/* {0} before the first. */
struct db_keeping {
    enum db_keeping_stage stage;
    struct db_retention before;
    int64_t id;                  /* of alerts or commands: what is up to it was looked at */
    int64_t symbol, interval_ns; /* of bars: the series … */
    char source[16];             /* … "" before the first */
    int64_t alerts, commands, bars, pages,
        day; /* deleted and given back so far; day of the last statistics */
};

/* Starts from the beginning. */
void db_keeping_begin(struct db_keeping *keeping, const struct db_retention *before);

/* The next step, in a transaction of its own: a few hundred rows at most. `now_ns`: the wall's. A SQLite
 * result code; on an error nothing has changed, with store->error. */
int db_keeping_step(struct db_keeping *keeping, struct db_store *store, int64_t now_ns);

#endif
