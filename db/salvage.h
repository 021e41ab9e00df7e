/* Reads what can be read of a damaged database, row by row, around the pages that cannot.
 *
 * A table is read by its key, forwards and backwards; where its key is one number, islands between faults
 * are searched as well. Rows of the record are taken only where their seals verify, ledger rows only where
 * their hash follows from the row before, and no row that references a missing one. Tables without seals
 * (bars, samples, trainings …) are taken as far as the schema's constraints allow. The file itself is
 * never written. */
#ifndef DB_SALVAGE_H
#define DB_SALVAGE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "db/base.h"
#include "db/row.h"

struct db_salvage;

/* The result for one table. */
struct db_salvaged {
    const char *table;
    int64_t rows;    /* that were taken */
    int64_t refused; /* that could be read but were not taken: their seals do not verify, or they reference
                        missing rows */
    int faults;      /* places that could not be read */
};

/* Opens the damaged file beside the new one, `to`. 0; -EMEDIUMTYPE when it is no database of Papertape's, or
 * cannot be read at all; -errno; err: one sentence. */
int db_salvage_open(const char *path, sqlite3 *to, struct db_salvage **ret, char *err, size_t err_size);
void db_salvage_close(struct db_salvage *salvage); /* NULL is fine */

/* Before the log is played: symbols and accounts with their numbers, and what took effect up to event
 * `first_seq`, the first state of the log. 0 or a SQLite result code of `to`. */
int db_salvage_before(struct db_salvage *salvage, uint64_t first_seq);

/* After it: the rest. Orders, fills and ledger rows up to the base's numbers, none without a base. 0 or a
 * SQLite result code of `to`. */
int db_salvage_after(struct db_salvage *salvage, const struct db_base *base);

/* How far a file's record goes. */
struct db_salvage_ends {
    uint64_t event_seq, order, fill, ledger;
};
/* Of the damaged file, as far as it can be read: 0 where it cannot. */
void db_salvage_ends(struct db_salvage *salvage, struct db_salvage_ends *ret);

/* Where the damaged file goes beyond the log's readable end: takes its rows after `from`, and its newer
 * versions of older ones, ledger rows where they chain from `hash`, that of row from->ledger. db_verify()
 * decides whether the result is complete. 0 or a SQLite result code of `to`. */
int db_salvage_beyond(struct db_salvage *salvage, const struct db_salvage_ends *from,
                      const uint8_t hash[static LEDGER_HASH_SIZE]);

/* The hash of a ledger row of the damaged file; false where it cannot be read. */
bool db_salvage_ledger_hash(struct db_salvage *salvage, uint64_t id, uint8_t ret[static LEDGER_HASH_SIZE]);

/* Puts a command that a state of the log held, where it has no row. A SQLite result code. */
int db_salvage_command(sqlite3 *to, const struct db_command *row);

/* The i-th of n tables. */
int db_salvage_tables(const struct db_salvage *salvage);
const struct db_salvaged *db_salvage_table(const struct db_salvage *salvage, int i);

#endif
