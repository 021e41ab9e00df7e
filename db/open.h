/* Opening a database that is read, also where nothing can be written. */
#ifndef DB_OPEN_H
#define DB_OPEN_H

#include <sqlite3.h>

/* As sqlite3_open_v2(). A write-ahead log needs shared memory beside it, which cannot be made on a file
 * system that is mounted read-only, as after an error of the disk: where no process has made it and the log
 * holds nothing, the database is opened without either, for reading only. A SQLite result code; *ret is to be
 * closed in any case. */
int db_open(const char *path, int flags, sqlite3 **ret);

#endif
