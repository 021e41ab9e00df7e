/* The base of a record that was rebuilt from an event log without its beginning: what the engine held in
 * the state that the log starts with. Orders, fills and ledger rows with greater numbers are complete and
 * build upon it; those up to these numbers were salvaged one by one (db/salvage.h), and are read, not
 * summed. */
#ifndef DB_BASE_H
#define DB_BASE_H

#include <sqlite3.h>

#include "db/holdings.h"
#include "db/reader.h"

/* All zero: the record begins at its beginning. */
struct db_base {
    uint64_t event_seq, last_order, last_fill, last_ledger, last_action, last_revision;
    int64_t ts_ns;
    uint8_t hash[LEDGER_HASH_SIZE]; /* of ledger row last_ledger */
};
struct db_base_balance {
    int account;
    char asset[ASSET_NAME_MAX];
    int scale;
    int64_t total, borrowed;
};
struct db_base_account {
    int account;
    int64_t deposits, interest_ns;
};
struct db_base_order {
    uint64_t id;
    int64_t filled, cost;
};

/* Replaces what there is by an engine's accounts, positions and live orders now, after event `seq`. Its
 * symbols and accounts have rows already; `venue`: of symbols that name none. A SQLite result code; in the
 * caller's transaction. */
int db_base_put(sqlite3 *db, const struct engine *engine, uint64_t seq, int64_t ts_ns, const char *venue);
/* The same, of the numbers of what was salvaged: up to them rows of these two tables may be missing. */
int db_base_put_salvaged(sqlite3 *db);
/* Older orders that the state did not have as live have ended, though their last row is lost: they become
 * CANCELED. */
int db_base_end_orders(sqlite3 *db);
/* Removes the base: the record is complete from its beginning after all. */
int db_base_drop(sqlite3 *db);

/* Each: 0 or -errno with db_reader_error(). */
int db_base_read(struct db_reader *reader, struct db_base *ret);
int db_base_balances(struct db_reader *reader, void (*row)(void *ctx, const struct db_base_balance *row),
                     void *ctx);
int db_base_orders(struct db_reader *reader, void (*row)(void *ctx, const struct db_base_order *row),
                   void *ctx);
/* Symbols by their ids in the database, or by their indices in the reader. -EBADMSG also for lots that are
 * not the position's. */
int db_base_positions(struct db_reader *reader, bool by_index, struct db_holdings *holdings);

#endif
