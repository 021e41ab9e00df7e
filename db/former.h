/* What an upgrade of the schema leaves for the way back: STATE/former/schema-N, a state directory as it was
 * before the first of the migrations, which `papertape restore` takes. It has a copy of the database, and
 * further names of the segments of the event log and of the policies, none of which ever changes, so that
 * they take no room until retention would have deleted them. Where the log or the policies are on another
 * file system they are not in it, and stay where they are. */
#ifndef DB_FORMER_H
#define DB_FORMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/state.h"

enum {
    DB_FORMER_DAYS = 30, /* older ones are removed, … */
    DB_FORMER_MAX = 2,   /* … and all but the newest so many */
    DB_FORMER_PATH_MAX = STATE_PATH_MAX + 32,
};

/* Would opening this database for writing migrate it? The number of the schema that it has; 0: no. Also 0
 * where it cannot be read, or is refused: the code that opens it says why. Writes nothing. */
int db_former_schema(const char *database);

/* Keeps it; no process has the database open for writing. One of the same schema is replaced. `folder` is its
 * path. It is on the disk when this returns 0. -EBADMSG or -EMEDIUMTYPE: the database is damaged; -ENOSPC and
 * others; err: one sentence. A failure leaves nothing. */
int db_former_keep(const struct state_dir *state, int schema, char folder[static DB_FORMER_PATH_MAX],
                   char *err, size_t err_size);

/* Is that such a folder? By its name: STATE/former/schema-N. */
bool db_former_is(const char *folder);

/* Removes what DB_FORMER_DAYS and DB_FORMER_MAX say, and unfinished ones. How many schemas' it removed, or
 * -errno. Any thread may call it, none while db_former_keep() runs. */
int db_former_prune(const struct state_dir *state, int64_t now_ns);

#endif
