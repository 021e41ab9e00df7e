/* How long rows are kept that are no part of accounts, orders and fills: db/keeping.h deletes the others. */
#ifndef DB_RETENTION_H
#define DB_RETENTION_H

#include <stdint.h>

/* What is older is not kept, nanoseconds since 1970; 0: all is. An alert that is open, the newest
 * DB_KEEPING_COMMANDS commands and the newest DB_KEEPING_BARS bars of a symbol, interval and source always
 * are. */
struct db_retention {
    int64_t alerts_ns, commands_ns, bars_ns;
};

enum { DB_KEEPING_COMMANDS = 10000, DB_KEEPING_BARS = 2000 };

#endif
