/* Seals: SHA-256 of a stored row's one spelling, so that an altered cell is found, and its row named.
 *
 * SQL's seal(rule, value, …) hashes the values as they are stored. The column `hash` of a table that
 * db/tables.h says to be sealed is seal() of the table's other columns in their order, by rule 2.
 *
 * Orders and fills say their rule in the column `rule`, which is not among those. Rule 1 is of the rows
 * that schema version 1 wrote: it knows the columns of that version only, an unknown account as -1 and an
 * unknown symbol as 0, and the columns that it does not know hold what those orders and fills were (GTC,
 * alone, …).
 *
 * Rule 1 joins the values with '|'. Rule 2 does the same, but each is spelled so that no two rows share a
 * spelling: n for null, an integer in decimal, r and the 16 hexadecimal digits of a real's bits, t or b,
 * the number of bytes and a colon before those of a text or a blob.
 *
 * seal(n, value, …) with n above 2 is rule 2 of the first n values; of the others it has those that are
 * neither null nor 0 nor '', each after its place. So columns that came later leave the seals of older rows
 * as they are: DB_ORDER_SEALED, DB_FILL_SEALED, DB_ACCOUNT_SEALED, DB_COMMAND_SEALED, DB_TERMS_SEALED,
 * DB_SYMBOL_SEALED and DB_ACTION_SEALED, the
 * columns that rule 2 began with.
 *
 * The ledger is not sealed so, but chained: record/ledger_row.h. Bars, gaps, prices, samples and feed
 * states are no part of the record and have no seal. */
#ifndef DB_ROW_HASH_H
#define DB_ROW_HASH_H

#include <sqlite3.h>

#include "record/account.h"
#include "record/ledger_cause.h"
#include "record/order.h"
#include "record/symbol.h"

enum { DB_ROW_HASH_SIZE = 32 };

/* The states of order_live(), for an order's column. */
#define DB_LIVE_STATES "('PENDING', 'HELD', 'OPEN', 'PARTIAL', 'UNKNOWN')"

/* Registers seal() with a connection: it returns 32 bytes, or an error for an unknown rule. A SQLite result
 * code. */
int db_row_hash_register(sqlite3 *db);

/* The columns that a seal covers, in order. */
#define DB_ORDER_COLUMNS RECORD_COLUMNS(RECORD_ORDER)
#define DB_ORDER_COLUMNS_1 \
    "id, ifnull(account, -1), ifnull(symbol, 0), side, type, state, reason, qty, filled, price, " \
    "stop_price, " \
    "cost, created_ns, effective_ns, updated_ns, input_seq, by_hand, tag"
#define DB_ORDER_SEALED "30"
#define DB_FILL_COLUMNS RECORD_COLUMNS(RECORD_FILL)
#define DB_FILL_SEALED  "13"
#define DB_FILL_COLUMNS_1 \
    "id, order_id, account, symbol, side, ts_ns, price, qty, notional, fee, maker, input_seq"
#define DB_POSITION_COLUMNS RECORD_COLUMNS(RECORD_POSITIONS)
#define DB_EQUITY_COLUMNS   RECORD_COLUMNS(RECORD_EQUITY)
#define DB_MARK_COLUMNS     RECORD_COLUMNS(RECORD_MARKS)
#define DB_ACCOUNT_COLUMNS \
    RECORD_ACCOUNT_OF(RECORD_COLUMN_FIRST_, RECORD_COLUMN_NEXT_, RECORD_COLUMN_NEXT_) \
    RECORD_ACCOUNT_NOW(RECORD_COLUMN_NEXT_) \
    RECORD_ACCOUNT_SINCE_12(RECORD_COLUMN_NEXT_, RECORD_COLUMN_NEXT_) \
    RECORD_ACCOUNT_CLOSED(RECORD_COLUMN_NEXT_)
#define DB_ACCOUNT_SEALED   "26"
#define DB_COMMAND_COLUMNS  RECORD_COLUMNS(RECORD_COMMANDS)
#define DB_COMMAND_SEALED   "10"
#define DB_ALERT_COLUMNS    RECORD_COLUMNS(RECORD_ALERTS)
#define DB_TERMS_COLUMNS    RECORD_COLUMNS(RECORD_TERMS)
#define DB_TERMS_SEALED     "41"
#define DB_ACCRUAL_COLUMNS  RECORD_COLUMNS(RECORD_ACCRUAL)
#define DB_CAUSE_COLUMNS    RECORD_COLUMNS(RECORD_LEDGER_CAUSE)
#define DB_SYMBOL_COLUMNS   RECORD_COLUMNS(RECORD_SYMBOLS)
#define DB_SYMBOL_SEALED    "32"
#define DB_REVISION_COLUMNS RECORD_COLUMNS(RECORD_REVISIONS)
#define DB_BASE_COLUMNS     "id, " RECORD_COLUMNS(RECORD_BASE)
#define DB_SALVAGED_COLUMNS "name, first, last"
#define DB_PRUNED_COLUMNS   "name, last, rows, digest, ts_ns"
#define DB_ACTION_COLUMNS   RECORD_COLUMNS(RECORD_ACTIONS)
#define DB_ACTION_SEALED    "10"

/* ", currency, …": the terms, as columns of `accounts` AS a, of `account_terms` AS t, and without an alias.
 */
#define DB_TERMS_OF_NONE                RECORD_TERMS_ACCOUNT(RECORD_COLUMN_NEXT_, RECORD_COLUMN_NEXT_)
#define DB_TERMS_OF_A                   RECORD_TERMS_ACCOUNT(DB_TERM_A_, DB_TERM_A_)
#define DB_TERMS_OF_T                   RECORD_TERMS_ACCOUNT(DB_TERM_T_, DB_TERM_T_)
#define DB_TERM_A_(member, column, ...) ", a." column
#define DB_TERM_T_(member, column, ...) ", t." column
/* The epoch of an account, by its alias: 1, and one more after each reset. */
#define DB_EPOCH_OF(a) \
    "(1 + (SELECT count(*) FROM ledger AS r WHERE r.kind = 'reset' AND r.account = " a \
    ".id AND r.asset = " a ".currency))"

/* A row with its seal. */
#define DB_SEALED_INSERT(table, LIST) \
    "INSERT INTO " table \
    " (" RECORD_COLUMNS(LIST) ", hash) VALUES (" RECORD_VALUES(LIST) ", seal(2, " RECORD_VALUES(LIST) "))"

/* The hash that an order and a fill should have. Version 1 did not have the columns that are compared. */
#define DB_ORDER_SEAL \
    "CASE rule WHEN 2 THEN seal(" DB_ORDER_SEALED ", " DB_ORDER_COLUMNS \
    ") WHEN 1 THEN iif((tif, trail, trail_e6, peak, " \
    "triggered, post_only, reduce_only, group_id, parent, expires_ns, amends, client_id) IS ('GTC', 0, 0, " \
    "0, 0, " \
    "0, 0, 0, 0, 0, 0, ''), seal(1, " DB_ORDER_COLUMNS_1 "), NULL) END"
#define DB_FILL_SEAL \
    "CASE rule WHEN 2 THEN seal(" DB_FILL_SEALED ", " DB_FILL_COLUMNS \
    ") WHEN 1 THEN iif(fee_e6 = 0, seal(1, " DB_FILL_COLUMNS_1 "), NULL) END"

#endif
