/* The schema's version, and its migrations.
 *
 * db/schema/NNN_name.sql holds migration NNN; PRAGMA user_version is the number of the last one applied,
 * and PRAGMA application_id says that the file is Papertape's. */
#ifndef DB_MIGRATE_H
#define DB_MIGRATE_H

#include <sqlite3.h>
#include <stddef.h>

enum {
    DB_APPLICATION_ID = 0x50415054, /* "PAPT" */
    DB_ERROR_MAX = 512,             /* enough for any error text of db/ */
};

struct db_migration {
    const char *name, *sql;
    /* Work that SQL cannot do, after it, in its transaction: a SQLite result code. NULL: nothing. */
    int (*after)(sqlite3 *db);
};

/* Compiled in, by meson.build; db_migrations[0] is 001. */
extern const struct db_migration db_migrations[];
extern const int db_migrations_count;

/* Finds what `db` is: *ret_version is 0 for an empty file, else the schema's version, 1..known. 0;
 * -EMEDIUMTYPE for another program's database or no database at all; -EOVERFLOW for a version above
 * `known`; -EIO, -EBUSY, -ENOMEM from SQLite. The text of a failure goes to err. Writes nothing. */
int db_schema_check(sqlite3 *db, int known, int *ret_version, char *err, size_t err_size);

/* Brings `db` to version `count`, each migration in a transaction of its own. Returns 0 or an error as
 * above, or -EBADMSG for a migration that fails, or after which a row names one that is not there; that
 * leaves the database at the version before it. Foreign keys are off meanwhile, as SQLite requires for
 * rebuilding tables. */
int db_migrate(sqlite3 *db, const struct db_migration *migrations, int count, char *err, size_t err_size);

/* Does the schema of `db`, which is of version `count`, equal what these migrations make, object by object?
 * 0; -EBADMSG with the first that differs; an error as above. */
int db_schema_same(sqlite3 *db, const struct db_migration *migrations, int count, char *err, size_t err_size);

/* Named in the migrations. */
int db_migrate_positions(sqlite3 *db);

/* The errno of a SQLite result code: -ENOSPC, -EIO, -EROFS, -EBUSY, -ENOMEM, -EACCES, -EINTR … */
int db_errno(int sqlite_rc);

#endif
