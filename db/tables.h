/* Every table whose rows are sealed, counted or salvaged, one row each: the checks, the counts, the salvage
 * of a damaged database and the help of `papertape ledger` follow. */
#ifndef DB_TABLES_H
#define DB_TABLES_H

#include <stdbool.h>
#include <stddef.h>

/* COUNTED: sealed, and counted in meta, at which place of that row's text (db/counts.h). SEALED; PLAIN:
 * salvaged only. What follows the name is struct db_table's, in words of tables.c; the order is that of the
 * checks. */
/* clang-format off */
#define DB_TABLES(COUNTED, SEALED, PLAIN) \
    COUNTED(2, ORDERS, "orders", NUMBERED, .columns = DB_ORDER_COLUMNS ", rule, hash", \
            .seal = DB_ORDER_SEAL, .marked = true, .settled = "state NOT IN " DB_LIVE_STATES) \
    COUNTED(3, FILLS, "fills", NUMBERED, .columns = DB_FILL_COLUMNS ", rule, hash", .seal = DB_FILL_SEAL, \
            .marked = true) \
    COUNTED(4, LEDGER, "ledger", NUMBERED, .columns = DB_LEDGER_COLUMNS, .marked = true) \
    COUNTED(0, ACCOUNTS, "accounts", ID, .columns = DB_ACCOUNT_COLUMNS ", hash", \
            .seal = "seal(" DB_ACCOUNT_SEALED ", " DB_ACCOUNT_COLUMNS ")") \
    COUNTED(1, SYMBOLS, "symbols", ID, .columns = DB_SYMBOL_COLUMNS ", hash", \
            .seal = "seal(" DB_SYMBOL_SEALED ", " DB_SYMBOL_COLUMNS ")") \
    SEALED("positions", .key = NAME_OF_ACCOUNT " || ' ' || " NAME_OF_SYMBOL, \
           BY("account, symbol", "account, symbol"), SEAL(DB_POSITION_COLUMNS)) \
    COUNTED(5, EQUITY, "equity", .key = NAME_OF_ACCOUNT " || ' ' || ts_ns", \
            BY("account, ts_ns", "account, ts_ns DESC"), SEAL(DB_EQUITY_COLUMNS), SALVAGED) \
    SEALED("marks", .key = NAME_OF_ACCOUNT " || ' ' || ts_ns || ' ' || " NAME_OF_SYMBOL, \
           BY("account, ts_ns, symbol", "account, ts_ns DESC, symbol"), SEAL(DB_MARK_COLUMNS), SALVAGED) \
    COUNTED(6, COMMANDS, "commands", ID, .columns = DB_COMMAND_COLUMNS ", hash", \
            .seal = "seal(" DB_COMMAND_SEALED ", " DB_COMMAND_COLUMNS ")", .marked = true, \
            .settled = "state <> 'pending'") \
    COUNTED(7, ALERTS, "alerts", ID, SEAL(DB_ALERT_COLUMNS), SALVAGED) \
    COUNTED(8, ACTIONS, "corporate_actions", NUMBERED, .columns = DB_ACTION_COLUMNS ", hash", \
            .seal = "seal(" DB_ACTION_SEALED ", " DB_ACTION_COLUMNS ")") \
    COUNTED(10, RECEIVABLES, "receivables", ID, SEAL(RECORD_COLUMNS(RECORD_RECEIVABLES))) \
    COUNTED(11, FEE_RATES, "fee_rates", ID, SEAL(RECORD_COLUMNS(RECORD_FEE_RATES))) \
    COUNTED(9, REVISIONS, "revisions", NUMBERED, SEAL(DB_REVISION_COLUMNS)) \
    COUNTED(12, CAUSES, "ledger_causes", ID, SEAL(DB_CAUSE_COLUMNS)) \
    COUNTED(13, TERMS, "account_terms", ID, .columns = DB_TERMS_COLUMNS ", hash", \
            .seal = "seal(" DB_TERMS_SEALED ", " DB_TERMS_COLUMNS ")") \
    COUNTED(14, ACCRUALS, "ledger_accruals", ID, SEAL(DB_ACCRUAL_COLUMNS)) \
    SEALED("meta", .key = "key", BY("key", "key"), SEAL("key, value"), SALVAGED, \
           .where = "key NOT IN ('event_seq', 'counts', 'paused')") \
    SEALED("rebuilds", ID, SEAL(RECORD_COLUMNS(RECORD_REBUILD)), SALVAGED) \
    SEALED("rebuild_sources", .key = "rebuild || ' ' || name", BY("rebuild, name", "rebuild DESC, name"), \
           SEAL(RECORD_COLUMNS(RECORD_REBUILD_SOURCE)), SALVAGED) \
    SEALED("salvaged", .key = "name || ' ' || first", BY("name, first", "name, first"), \
           SEAL(DB_SALVAGED_COLUMNS)) \
    SEALED("pruned", .key = "name", BY("name", "name"), SEAL(DB_PRUNED_COLUMNS), SALVAGED) \
    SEALED("base", .key = "id", BY("id", "id"), SEAL(DB_BASE_COLUMNS)) \
    SEALED("base_accounts", .key = "account", BY("account", "account"), \
           SEAL(RECORD_COLUMNS(RECORD_BASE_ACCOUNT))) \
    SEALED("base_balances", .key = NAME_OF_ACCOUNT " || ' ' || asset", BY("account, asset", "account, asset"), \
           SEAL(RECORD_COLUMNS(RECORD_BASE_BALANCE))) \
    SEALED("base_positions", .key = NAME_OF_ACCOUNT " || ' ' || symbol", \
           BY("account, symbol", "account, symbol"), SEAL(RECORD_COLUMNS(RECORD_BASE_POSITION))) \
    SEALED("base_orders", ID, SEAL(RECORD_COLUMNS(RECORD_BASE_ORDER))) \
    SEALED("log_notes", .key = "kind || ' ' || to_seq", BY("to_seq, kind", "to_seq DESC, kind"), \
           SEAL(RECORD_COLUMNS(RECORD_LOG_NOTES)), SALVAGED) \
    PLAIN("bars", COPY(RECORD_COLUMNS(RECORD_BAR_KEY) ", " RECORD_COLUMNS(RECORD_STORED_BAR) ", split", \
               "symbol, interval_ns, source, open_ns")) \
    PLAIN("book_bars", COPY(RECORD_COLUMNS(RECORD_BOOK_BARS), "symbol, interval_ns, open_ns")) \
    PLAIN("gaps", COPY(RECORD_COLUMNS(RECORD_GAPS), "symbol, interval_ns, from_open_ns")) \
    PLAIN("account_margins", COPY(RECORD_COLUMNS(RECORD_MARGINS), "account")) \
    PLAIN("market_sessions", COPY(RECORD_COLUMNS(RECORD_SESSIONS), "calendar")) \
    PLAIN("venue_bans", COPY(RECORD_COLUMNS(RECORD_BANS), "venue")) \
    PLAIN("runs", .columns = RECORD_COLUMNS(RECORD_RUNS), BY("run", "run"), .by_number = true) \
    PLAIN("trainings", COPY(RECORD_COLUMNS(RECORD_TRAINING), "name")) \
    PLAIN("training_points", COPY(RECORD_COLUMNS(RECORD_TRAINING_POINT), "training, steps")) \
    PLAIN("training_evaluations", COPY(RECORD_COLUMNS(RECORD_TRAINING_EVALUATION), "training, steps")) \
    PLAIN("training_states", COPY(RECORD_COLUMNS(RECORD_TRAINING_STATE), "training, ts_ns")) \
    PLAIN("policies", COPY(RECORD_COLUMNS(RECORD_POLICY), "name")) \
    PLAIN("order_policies", COPY(RECORD_COLUMNS(RECORD_ORDER_POLICY), "order_id"), .by_number = true) \
    PLAIN("devices", COPY(RECORD_COLUMNS(RECORD_DEVICE), "device")) \
    PLAIN("device_samples", COPY(RECORD_COLUMNS(RECORD_DEVICE_SAMPLE), "device, period_s, statistic, ts_ns")) \
    PLAIN("device_processes", COPY(RECORD_COLUMNS(RECORD_DEVICE_PROCESS), "device, pid, first_ns")) \
    PLAIN("processes", COPY(RECORD_COLUMNS(RECORD_PROCESS), "role")) \
    PLAIN("process_samples", COPY(RECORD_COLUMNS(RECORD_PROCESS_SAMPLE), "role, period_s, statistic, ts_ns"))
/* clang-format on */

struct db_table {
    const char *name;
    const char *key;         /* a row's name as text; NULL: not sealed */
    const char *by, *newest; /* the order of rows, and of a sealed table the newest first */
    const char *columns;     /* all that a copy of a row needs */
    const char *seal;        /* what the column `hash` should be; NULL: none, or the ledger's chain */
    const char *where;       /* which rows are salvaged; NULL: all */
    const char
        *settled;   /* which rows never change again (db/books/chain.h); NULL: all if `numbered`, else none */
    int counted;    /* enum db_counted */
    bool numbered;  /* 1, 2, 3 …, or from the base on */
    bool by_number; /* `by` is one column, of whole numbers */
    bool salvaged;  /* with all that the event log does not know; others by db/salvage_record.c */
    bool marked;    /* those that were salvaged are listed in `salvaged` */
};

extern const struct db_table db_tables[];
extern const size_t db_tables_count;

/* A table by its name, which must exist. */
const struct db_table *db_table_named(const char *name);

#define DB_SEALED_ALTERED "was altered: its values and its hash disagree"

/* ", orders, fills …": those that are sealed. */
#define DB_TABLES_COUNTED_NAME_(at, counted, name, ...) ", " name
#define DB_TABLES_SEALED_NAME_(name, ...)               ", " name
#define DB_TABLES_NO_NAME_(...)
#define DB_SEALED_NAMES DB_TABLES(DB_TABLES_COUNTED_NAME_, DB_TABLES_SEALED_NAME_, DB_TABLES_NO_NAME_)

#endif
