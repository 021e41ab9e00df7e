/* The writing connection: opens and migrates the database, and puts queued rows into it. Only the writer
 * thread uses one, and only one process has a writer. */
#ifndef DB_STORE_H
#define DB_STORE_H

#include <sqlite3.h>

#include "db/counts.h"
#include "db/migrate.h"
#include "db/queue.h"
#include "db/row.h"
#include "db/store_sql.h"
#include "exchange/bar.h"
#include "record/sqlite.h"

/* Queued forms of rows whose public form is several arguments. */
struct db_row_symbol {
    int index;
    struct db_symbol_row row;
};
struct db_row_bar {
    int symbol;
    enum bar_source source;
    int64_t interval_ns;
    struct bar bar;
    bool past; /* one that is stored stays as it is */
};
struct db_row_streamed {
    int index;
    int streamed; /* as in struct db_symbol_row */
};
struct db_row_book_bar {
    int64_t interval_ns;
    struct engine_book_bar bar;
};
struct db_row_position {
    int account, symbol;
    struct position position;
};
struct db_row_chart_series { /* then the memory, then the texts: specs, names */
    int symbol;
    bool replaces, gone;
    int64_t interval_ns, base_ns, next_ns;
    size_t memory_size;
};
struct db_row_chart_bar { /* then the outputs */
    int symbol;
    int64_t interval_ns;
    struct bar bar;
    size_t n_outputs;
};

struct db_row_training_rewind { /* text: the training */
    int64_t steps;
};

#define DB_SQL_ID_(name, text) DB_SQL_##name,
enum db_statement { DB_SQL_LIST(DB_SQL_ID_) DB_STATEMENTS };

/* How many rows of one training one of its tables has, as long as it is known without counting. */
enum { DB_HELD_NAME_MAX = 40, DB_HELD_MAX = 192 };
struct db_held {
    enum db_row_kind kind; /* of the table's rows */
    int64_t rows;
    char training[DB_HELD_NAME_MAX];
};

/* Up to when samples are summed up in minutes and in tens of them; 0: not known, the tables say it. */
struct db_rolled {
    int64_t minute_ns, ten_ns;
};

struct db_symbol_name {
    char venue[VENUE_NAME_MAX], name[SYMBOL_NAME_MAX];
};

struct db_store {
    sqlite3 *db;
    sqlite3_stmt *statements[DB_STATEMENTS];
    struct record_places places[DB_STATEMENTS][2]; /* of the records that one binds, once it has */
    int64_t symbol_ids[SYMBOLS_MAX];               /* by the engine's index; 0: not put yet */
    struct db_symbol_name symbols[SYMBOLS_MAX];    /* which they are; "": not put yet */
    int64_t equity_hour[ACCOUNTS_MAX];             /* last thinned */
    struct db_rolled devices, processes;           /* likewise: store_device.c */
    struct db_held held[DB_HELD_MAX];
    int n_held, next_held;       /* next_held: makes room */
    uint64_t known_event;        /* event_seq when it was first opened: up to it, rows are there already */
    uint64_t event_seq;          /* newest event whose rows are committed */
    struct db_counts counts;     /* of the rows, with the open transaction's */
    struct db_counts committed;  /* … without them */
    uint64_t bars_corrected;     /* a stored bar came again with other numbers */
    uint64_t conflicts;          /* so did an order, a fill, a ledger row, a command or an account */
    char conflict[DB_ERROR_MAX]; /* the last of them; "" for none */
    bool again;                  /* the row is of an event that is stored already */
    int wal_pages;               /* at the last commit */
    char error[DB_ERROR_MAX];    /* of the last call that failed */
};

/* What a log that starts over again keeps of its file, in bytes. */
#define DB_STORE_LOG_KEPT "16777216"

/* Where a training's states are merged, in memory. */
#define DB_STORE_TEMPORARY \
    "CREATE TEMP TABLE merged_states (ts_ns INTEGER PRIMARY KEY, state TEXT, utilisation REAL);"

/* Opens `path` for writing, creating it (`create`) or not, puts on the disk what its log holds, as a killed
 * process may have left it in the page cache, migrates it, sets WAL and synchronous=FULL.
 * The symbol table in *store survives a reopening; without `create` its ids are looked up again. 0, or an
 * error of db/migrate.h with store->error set. */
int db_store_open(struct db_store *store, const char *path, bool create);
void db_store_close(struct db_store *store);

/* SQLite result codes; store->error is set when not SQLITE_OK. */
int db_store_begin(struct db_store *store);

/* Rows of an event that was stored when the store was first opened change nothing, but are compared with
 * what is stored. A row that contradicts it is a conflict: SQLITE_OK for one of such an event, else
 * SQLITE_CONSTRAINT. */
int db_store_apply(struct db_store *store, struct db_row_header *row);
/* Notes, in the transaction, the newest event whose rows are in it. */
int db_store_event(struct db_store *store, uint64_t event_seq);
/* Stores the tables' row counts too. */
int db_store_commit(struct db_store *store);
void db_store_rollback(struct db_store *store);

/* Moves the log into the database; with `truncate` also empties the file, unless a reader is in the way,
 * which is no error. *ret_empty (may be NULL): nothing is left in the log. A SQLite result code. */
int db_store_checkpoint(struct db_store *store, bool truncate, bool *ret_empty);

/* The size of the log's file, which shrinks by `truncate` alone; 0 where there is none, or it is not known.
 */
int64_t db_store_log_bytes(struct db_store *store);

/* Writes the log over itself, byte by byte the same, and syncs it. After a failed sync the kernel counts as
 * stored what is not: the log reads well, but transactions that build upon it, or are copied from it into
 * the database, would not survive a loss of power. Only without a transaction. A SQLite result code. */
int db_store_renew_log(struct db_store *store);

/* Must a row of this kind be stored in any case? The others may be skipped when they contradict the schema,
 * since a later value replaces them. */
bool db_row_is_money(enum db_row_kind kind);
/* Does a newer value of it come soon, or does the caller put it again? */
bool db_row_may_be_dropped(enum db_row_kind kind);

#endif
